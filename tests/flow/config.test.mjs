// Configuration: where it is looked for, what it may say, and the one line that every mistake gets.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { config, describe, fake, folder, prints, program, report, root, run, test, value } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

/** stderr of a run with this configuration, which must fail with exit code 3, nothing on stdout and one line. */
async function mistake(text, options = {}) {
  const path = typeof text === "string" ? join(folder({ "lathe.yaml": text }), "lathe.yaml") : config(text);
  const end = await program("output('never')", ["--config", path], options);
  assert.equal(end.code, 3, end.stderr);
  assert.equal(end.stdout, "");
  assert.match(end.stderr, /^lathe: [^\n]+\n$/);
  return end.stderr;
}
/** A configuration that gives itself away: a module that says who it is. */
const saying = (name) => config("modules: [{name: who, path: who.js}]\n", { "who.js": `export default ${JSON.stringify(name)}` });
const WHO = "import who from 'who'; output(who)";
const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

describe("where it is", () => {
  const [flag, env, here] = ["flag", "env", "here"].map(saying);
  const user = (at, name) => {
    write(join(at, "lathe/lathe.yaml"), "modules: [{name: who, path: who.js}]\n");
    write(join(at, "lathe/who.js"), `export default ${JSON.stringify(name)}`);
  };
  const xdgHome = folder(), homeDir = folder(), cwd = dirname(here);
  user(xdgHome, "xdg");
  user(join(homeDir, ".config"), "home");
  const all = { LATHE_CONFIG: env, XDG_CONFIG_HOME: xdgHome, HOME: homeDir };
  const instead = (name) => ({ stderr: `warning: ${name}: modules: "who" replaces the one of another file\n` });

  test("--config comes first", async () => {
    prints(await program(WHO, ["--config", flag], { cwd, env: all }), { stdout: "flag\n", ...instead(flag) });
  });
  test("then $LATHE_CONFIG", async () => prints(await program(WHO, [], { cwd, env: all }), { stdout: "env\n", ...instead(env) }));
  test("then ./lathe.yaml, when it is trusted", async () => {
    const options = { cwd, env: { ...all, LATHE_CONFIG: "" } };
    assert.equal((await program(WHO, [], options)).code, 3);
    assert.equal((await run(["trust"], options)).code, 0);
    prints(await program(WHO, [], options), { stdout: "here\n", ...instead("lathe.yaml") });
  });
  test("and below it $XDG_CONFIG_HOME/lathe/lathe.yaml", async () => {
    prints(await program(WHO, [], { env: { XDG_CONFIG_HOME: xdgHome, HOME: homeDir } }), { stdout: "xdg\n" });
  });
  test("or ~/.config/lathe/lathe.yaml", async () => prints(await program(WHO, [], { env: { HOME: homeDir } }), { stdout: "home\n" }));
  test("none at all is fine", async () => prints(await program("1"), { stdout: "1\n" }));
  test("without HOME is fine", async () => prints(await program("1", [], { env: { HOME: undefined } }), { stdout: "1\n" }));
  test("one that was asked for must be there", async () => {
    for (const [args, env] of [[["--config", "/no/such/lathe.yaml"], {}], [[], { LATHE_CONFIG: "/no/such/lathe.yaml" }]]) {
      const end = await program("1", args, { env });
      assert.deepEqual([end.code, end.stdout], [3, ""]);
      assert.match(end.stderr, /^lathe: .*\/no\/such\/lathe\.yaml: there is no such file[^\n]*\n$/);
    }
  });
  test("a folder, an unreadable file", async () => {
    const end = await program("1", ["--config", cwd]);
    assert.equal(end.code, 3);
    assert.match(end.stderr, /directory|folder/);
  });
  test("an empty one is fine", async () => {
    for (const text of ["", "# nothing\n", "{}", "---\n...\n", "\ufeff{}"]) {
      prints(await program("1", ["--config", join(folder({ c: text }), "c")]), { stdout: "1\n" });
    }
  });
  test("lathe tools reads it the same way", async () => {
    const end = await run(["tools"], { env: { LATHE_CONFIG: "/no/such/lathe.yaml" } });
    assert.equal(end.code, 3);
  });
});

describe("keys", () => {
  const cases = [
    ["an unknown one names the nearest", "mcpServer: {}\n", /yaml:1:.*unknown key.*mcpServer.*mcpServers/],
    ["inside a section", "sandbox:\n  timeoutms: 5\n", /yaml:2:.*timeoutms.*timeoutMs/],
    ["inside a list", "modules:\n  - name: a\n    pth: b\n", /yaml:3:.*pth.*path/],
    ["one like no other", "zzzzzzzz: 1\n", /yaml:1:.*unknown key.*zzzzzzzz/],
    ["twice the same", "sandbox: {}\nsandbox: {}\n", /yaml:2:.*"sandbox" is given twice/],
    ["a list for an object", "mcpServers: []\n", /yaml:1:.*mcpServers/],
    ["a text for a number", "sandbox:\n  timeoutMs: soon\n", /yaml:2:.*timeoutMs.*number/],
    ["a number out of bounds", "sandbox: {timeoutMs: 0}\n", /yaml:1:.*timeoutMs/],
    ["a negative number", "sandbox: {memoryMb: -1}\n", /yaml:1:.*memoryMb/],
    ["a number for a text", "mcpServers:\n  a:\n    command: [x]\n", /yaml:3:.*command/],
    ["a server without a command", "mcpServers:\n  a:\n    args: []\n", /yaml:[23]:.*command/],
    ["a server that is a text", "mcpServers: {a: npx}\n", /yaml:1:.*a/],
    ["an unknown type", "mcpServers:\n  a: {type: pigeon, url: x}\n", /yaml:2:.*pigeon/],
    ["a module without a path", "modules: [{name: a}]\n", /yaml:1:.*path/],
    ["two modules with one name", "modules:\n- {name: a, path: x}\n- {name: a, path: y}\n", /yaml:3:.*a/],
    ["a text at the top", "hello\n", /yaml:1:/],
    ["a list at the top", "- a\n", /yaml:1:/],
  ];
  for (const [what, yaml, stderr] of cases) test(what, async () => assert.match(await mistake(yaml), stderr));

  test("keys of parts to come are known", async () => {
    prints(await program("1", ["--config", config({ defaults: { model: "m" }, store: "sqlite:x", server: { listen: "127.0.0.1:1" } })]), { stdout: "1\n" });
  });
  test("unknown keys inside mcpServers are warnings", async () => {
    const end = await program("1", ["--config", config({ mcpServers: { a: { ...fake(), icon: "x", alwaysAllow: [] } } })]);
    assert.deepEqual([end.code, end.stdout], [0, "1\n"]);
    assert.match(end.stderr, /^warning: .*icon[^\n]*\nwarning: .*alwaysAllow[^\n]*\n$/);
  });
});

describe("bad YAML and worse", () => {
  const cases = [
    ["a tab", "a:\n\t- b\n", /yaml:2:/],
    ["an open bracket", "modules: [\n  {name: a\n", /yaml:[23]:/],
    ["an open quote", "store: \"abc\n", /yaml:[12]:/],
    ["an unknown alias", "store: *nope\n", /yaml:1:/],
    ["two documents", "a: 1\n---\nb: 2\n", /./],
    ["an invalid byte", Buffer.from([0x73, 0x74, 0x6f, 0x72, 0x65, 0x3a, 0x20, 0xff, 0x0a]), /UTF-8|byte/i],
    ["NUL", Buffer.from("store: a\0b\n"), /yaml:1:|NUL|control/i],
    ["a bomb of aliases", "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "bcdefghi".split("").map((c, i) => `${c}: &${c} [${Array(10).fill("*" + "abcdefghi"[i]).join()}]\n`).join(""), /./],
    ["depth", "a: " + "[".repeat(5000) + "\n", /./],
    ["5 MB", "store: " + "x".repeat(5 * 1024 * 1024) + "\n", /MiB|large|bytes/],
    ["a JavaScript program", "const a = 1;\nfor (;;) {}\n", /./],
  ];
  for (const [what, text, stderr] of cases) {
    test(what, async () => {
      const path = join(folder({ "lathe.yaml": text }), "lathe.yaml");
      const end = await program("1", ["--config", path]);
      assert.equal(end.code, 3, end.stderr);
      assert.match(end.stderr, /^lathe: [^\n]+\n$/);
      assert.match(end.stderr, stderr);
      assert.ok(end.stderr.length < 1000);
    });
  }
  test("the message names the file", async () => assert.match(await mistake("a: [\n"), /lathe\.yaml/));
});

describe("environment references", () => {
  const env = (value, more = {}) => ({ mcpServers: { fake: { ...fake(), env: { SEEN: value }, ...more } } });
  const seen = (value, environment = {}) => program("fakeEnv({ name: 'SEEN' })", ["--config", config(env(value))], { env: environment });

  test("${NAME} is replaced", async () => prints(await seen("<${TOKEN}>", { TOKEN: "t0k" }), { stdout: "<t0k>\n" }));
  test("${NAME} that is not set is an error that says which", async () => {
    assert.match(await mistake({ modules: [{ name: "m", path: "${NO_SUCH_PLACE}" }] }), /NO_SUCH_PLACE/);
  });
  test("of a server it makes that server fail, by name, and no other", async () => {
    const c = { mcpServers: { lost: { ...fake(), env: { T: "${NO_SUCH_TOKEN}" } }, far: { url: "${NO_SUCH_URL}" }, fake: fake() } };
    const end = await program("fakeAdd({ a: 1, b: 1 })", ["--config", config(c)]);
    assert.equal(end.stdout, "2\n");
    assert.equal(end.code, 0);
    assert.match(end.stderr, /warning: server "lost": .*lathe\.yaml:1: the environment variable NO_SUCH_TOKEN is not set/);
    assert.match(end.stderr, /warning: server "far": .*NO_SUCH_URL is not set/);
  });
  test("${NAME:-default}", async () => {
    prints(await seen("${NO_SUCH_TOKEN:-else}"), { stdout: "else\n" });
    prints(await seen("${EMPTY:-else}", { EMPTY: "" }), { stdout: "else\n" });
    prints(await seen("${TOKEN:-else}", { TOKEN: "given" }), { stdout: "given\n" });
  });
  test("$${ stays, so does $", async () => prints(await seen("$${X} $X $"), { stdout: "${X} $X $\n" }));
  test("what is put in is not looked at again", async () => prints(await seen("${TOKEN}", { TOKEN: "${OTHER}: [" }), { stdout: "${OTHER}: [\n" }));
  test("in args and command", async () => {
    const [script] = fake().args;
    const c = { mcpServers: { fake: { command: "${NODE_BIN}", args: ["${SCRIPT}"] } } };
    const end = await program("fakeAdd({ a: 1, b: 1 })", ["--config", config(c)], { env: { NODE_BIN: process.execPath, SCRIPT: script } });
    prints(end, { stdout: "2\n" });
  });
  test("of disabled servers are left alone", async () => {
    prints(await program("1", ["--config", config(env("${NO_SUCH_TOKEN}", { disabled: true }))]), { stdout: "1\n" });
  });
  test("a broken one is an error", async () => assert.match(await mistake(env("${OPEN")), /\$\{/));
  test("no message shows a value", async () => {
    const c = { mcpServers: { fake: { ...fake("--exit=1", "--stderr-env=API_KEY"), env: { API_KEY: "${SECRET_VALUE}" } } } };
    const end = await program("1", ["--config", config(c)], { env: { SECRET_VALUE: "xyzzy-42" } });
    assert.equal(end.code, 0);
    assert.ok(!end.stderr.includes("xyzzy-42"), end.stderr);
  });
});

describe("servers", () => {
  test("startTimeoutMs: how long one may take to start", async () => {
    const end = await program("1", ["--config", config({ mcpServers: { slow: { ...fake("--never"), startTimeoutMs: 300 } } })], { limitMs: 15_000 });
    assert.equal(end.stdout, "1\n");
    assert.match(end.stderr, /^warning: .*slow.*\n$/);
    assert.match(await mistake({ mcpServers: { slow: { ...fake(), startTimeoutMs: "soon" } } }), /startTimeoutMs must be a whole number/);
  });
  test("the environment is ours and what is added", async () => {
    const c = { mcpServers: { fake: { ...fake(), env: { ADDED: "a", CHANGED: "new" } } } };
    const code = "['ADDED', 'CHANGED', 'INHERITED'].map((name) => fakeEnv({ name }))";
    assert.deepEqual(await value(code, ["--config", config(c)], { env: { CHANGED: "old", INHERITED: "i" } }), ["a", "new", "i"]);
  });
  test("cwd counts from the file's folder", async () => {
    const dir = folder({ "lathe.yaml": "" });
    mkdirSync(join(dir, "sub"));
    writeFileSync(join(dir, "sub", "server.sh"), `exec ${process.execPath} ${fake().args[0]}\n`);
    writeFileSync(join(dir, "lathe.yaml"), "mcpServers: {fake: {command: sh, args: [server.sh], cwd: sub}}\n");
    prints(await program("fakeAdd({ a: 1, b: 1 })", ["--config", join(dir, "lathe.yaml")]), { stdout: "2\n" });
  });
  test("YAML with comments, anchors, several lines", async () => {
    const [script] = fake().args;
    const yaml = `# servers\nmcpServers:\n  one: &s\n    command: ${process.execPath}\n    args:\n      - ${script}   # the fake\n    env:\n      GREETING: >-\n        hello\n        there\n  two: *s\n`;
    const code = "[oneEnv({ name: 'GREETING' }), twoAdd({ a: 1, b: 1 })]";
    assert.deepEqual(await value(code, ["--config", join(folder({ "lathe.yaml": yaml }), "lathe.yaml")]), ["hello there", "2"]);
  });
  test("numbers and booleans as arguments are an error or texts, never lost", async () => {
    const end = await program("fakeAdd({ a: 1, b: 1 })", ["--config", config({ mcpServers: { fake: { ...fake(), env: { PORT: 8080 } } } })]);
    assert.ok(end.code === 0 || end.code === 3);
    if (end.code === 3) assert.match(end.stderr, /PORT/);
  });
});

describe("--mcp-config", () => {
  const mcpJson = (value) => join(folder({ ".mcp.json": typeof value === "string" ? value : JSON.stringify(value) }), ".mcp.json");

  test("reads the file of other clients", async () => {
    const file = mcpJson({ mcpServers: { fake: { type: "stdio", ...fake(), env: { A: "${HOME:-x}" } } } });
    assert.equal(await value("fakeAdd({ a: 1, b: 2 })", ["--mcp-config", file]), "3");
  });
  test("reads VS Code's and opencode's forms, and comments", async () => {
    const { command, args } = fake();
    const code = mcpJson(`{ // of the editor\n"servers": {"fake": ${JSON.stringify({ type: "stdio", command, args })},},}`);
    const open = mcpJson({ theme: "dark", mcp: { fake: { type: "local", command: [command, ...args], enabled: true, environment: { WHO: "{env:HOME}" } } } });
    assert.equal(await value("fakeAdd({ a: 1, b: 2 })", ["--mcp-config", code]), "3");
    assert.equal(await value("fakeEnv({ name: 'WHO' }) === fakeEnv({ name: 'HOME' })", ["--mcp-config", open]), true);
  });
  test("adds to the configuration; on equal names it wins", async () => {
    const c = config({ mcpServers: { a: { ...fake(), env: { WHO: "config" } }, b: { ...fake(), env: { WHO: "config" } } } });
    const file = mcpJson({ mcpServers: { b: { ...fake(), env: { WHO: "mcp.json" } } } });
    assert.deepEqual(await value("[aEnv({ name: 'WHO' }), bEnv({ name: 'WHO' })]", ["--config", c, "--mcp-config", file]), ["config", "mcp.json"]);
  });
  test("other keys are warnings", async () => {
    const end = await program("1", ["--mcp-config", mcpJson({ mcpServers: {}, inputs: [], theme: "dark" })]);
    assert.deepEqual([end.code, end.stdout], [0, "1\n"]);
    assert.match(end.stderr, /inputs/);
    assert.match(end.stderr, /theme/);
  });
  test("missing, broken or without mcpServers is a configuration error", async () => {
    for (const file of ["/no/such/.mcp.json", mcpJson("{"), mcpJson("[]"), mcpJson({ mcpServers: [] })]) {
      const end = await program("1", ["--mcp-config", file]);
      assert.equal(end.code, 3, `${file}: ${end.stderr}`);
      assert.match(end.stderr, /^lathe: [^\n]*mcp\.json[^\n]*\n$/);
    }
  });
  test("servers over http are connected to; one without TLS only on this machine", async () => {
    const r = await report("1", ["--mcp-config", mcpJson({ mcpServers: { web: { url: "http://127.0.0.1:1/mcp" }, s: { type: "sse", url: "http://127.0.0.1:1/sse" }, far: { url: "http://example.com/mcp" }, bad: { url: "ftp://example.com" } } })]);
    assert.equal(r.exit, 0);
    assert.match(r.stderr, /"web": cannot reach/);
    assert.match(r.stderr, /"s": cannot reach/);
    assert.match(r.stderr, /"far": its url begins with http:.*allowHttp/);
    assert.match(r.stderr, /"bad": its url must begin with https:/);
  });
});

describe("tools.listingTokens", () => {
  test("bounds what a model in code mode is told of the tools, as it bounds lathe tools", async () => {
    for (const listingTokens of [200, 100000]) {
      const file = config({ mcpServers: { many: fake("--tools=300") }, tools: { listingTokens } });
      const listing = await run(["tools", "--types", "prompt", "--config", file]);
      const model = await scriptedModel(["done()"]);
      const end = await run(["chat", "-m", "code", "hello", "--config", file], { env: model.env });
      const [system] = model.asked()[0].messages;
      assert.equal(listing.code, 0, listing.stderr);
      assert.ok(system.content.includes(`AVAILABLE TOOLS:\n${listing.stdout}`), `${end.stderr}\n${system.content}\n--- is not ---\n${listing.stdout}`);
      assert.equal(system.content.includes("t299"), listingTokens === 100000);
    }
  });
});

describe("lathe config", () => {
  const guide = readFileSync(join(root, "docs/guide/configuration.md"), "utf8");
  const ajv = join(root, "tests/node_modules/ajv/dist/2020.js"), yaml = join(root, "tests/node_modules/js-yaml/dist/js-yaml.mjs");
  const skip = !(existsSync(ajv) && existsSync(yaml)) && "npm ci has not been run";

  test("schema: editors complete and check the file by it", { skip }, async () => {
    const end = await run(["config", "schema"]);
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    const { default: Ajv } = await import(ajv);
    const { load } = await import(yaml);
    const fits = new Ajv.default({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(JSON.parse(end.stdout));
    const says = (text) => (fits(load(text)) ? "right" : fits.errors.map((fault) => `${fault.instancePath} ${fault.message}`).join("; "));
    const [, example] = /```yaml\n(mcpServers:[^]*?)```/.exec(guide);
    assert.equal(says(example), "right");
    assert.match(says("sandbox: {timeoutms: 5}"), /^\/sandbox must NOT have additional properties/);
    assert.match(says("sandbox: {timeoutMs: 0}"), /^\/sandbox\/timeoutMs must be >= 1/);
    assert.match(says("tools: {policy: [{match: a, action: perhaps}]}"), /^\/tools\/policy\/0\/action must be equal to one of/);
    assert.equal(says("mcpServers: {a: {command: x, icon: y}}"), "right");
  });
  test("schema: the plugins that it names are built in", async () => {
    const { properties } = JSON.parse((await run(["config", "schema"])).stdout);
    const names = properties.plugins.items.anyOf.find((choice) => choice.type === "object").properties.name.enum;
    assert.ok(names.includes("plan") && names.length > 2);
    prints(await program("1", ["--config", config({ plugins: names.map((name) => ({ name })) })]), { stdout: "1\n" });
  });
  test("reference: the guide's is the one that the table gives", async () => {
    const end = await run(["config", "reference"]);
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    const [, reference] = /<!-- reference: begin -->\n([^]*?)<!-- reference: end -->/.exec(guide);
    assert.equal(reference, end.stdout, "docs/guide/configuration.md is out of date: run scripts/config-reference.py");
  });
  test("wrong words", async () => {
    for (const [args, stderr] of [[[], /say schema or reference/], [["shema"], /did you mean "schema"/], [["schema", "x"], /say schema/], [["--json"], /unknown option/]]) {
      const end = await run(["config", ...args]);
      assert.deepEqual([end.code, end.stdout], [2, ""]);
      assert.match(end.stderr, stderr);
    }
    assert.match((await run(["config", "--help"])).stdout, /yaml-language-server/);
  });
});
