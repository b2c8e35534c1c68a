// lathe mcp install and lathe mcp import: the files of twelve clients, each in its own form. What is written, what stays
// byte for byte, and what is refused.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, fake, folder, root, run, start, test, until } from "./harness.mjs";

const lathePath = realpathSync(process.env.LATHE ?? join(root, "build/lathe"));

/** A home with lathe.yaml and a client's file, and what runs in it. */
function home(files = {}, yaml = "mcpServers: {}\n") {
  const path = folder();
  const write = (name, text) => { mkdirSync(dirname(join(path, name)), { recursive: true }); writeFileSync(join(path, name), text); };
  Object.entries({ ".config/lathe/lathe.yaml": yaml, ...files }).forEach(([name, text]) => text !== null && write(name, text));
  const set = (options) => ({ cwd: path, ...options, env: { HOME: path, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "", LATHE_CONFIG: "", ...options.env } });
  return {
    path,
    read: (name) => readFileSync(join(path, name), "utf8"),
    lathe: (args, options = {}) => run(["mcp", ...args], set(options)),
    /** At a terminal, where the question gets this answer. */
    answered: async (args, answer) => {
      const asked = start(["mcp", ...args], set({ terminal: true }));
      await until(() => asked.out().includes("Write it?"), "it is asked");
      asked.type(answer);
      return asked.ended;
    },
  };
}
const ok = async (promise) => { const done = await promise; assert.equal(done.code, 0, done.stderr + done.stdout); return done; };

/** Each client's file, and an example with comments where it may have them, other settings and another server. */
const clients = {
  "claude-code": [".claude.json", `{\n\t"numStartups": 3,\n\t"mcpServers": {\n\t\t"other": {\n\t\t\t"type": "stdio",\n\t\t\t"command": "x"\n\t\t}\n\t},\n\t"last": [1,2,  3]\n}`],
  "claude-desktop": [".config/Claude/claude_desktop_config.json", `{ "mcpServers": { "other": { "command": "x" } } }\n`],
  codex: [".codex/config.toml", `model = "o9" # mine\n\n[mcp_servers.other]\ncommand = 'x'\nargs = [\n  "a", # one\n]\n\n[mcp_servers.other.env]\nA = "1"\n\n# the end\n`],
  cursor: [".cursor/mcp.json", `{\n  "mcpServers": {\n    "other": { "command": "x" } // mine\n  }\n}\n`],
  vscode: [".config/Code/User/mcp.json", `{\r\n  // servers\r\n  "servers": {\r\n    "other": { "command": "x" },\r\n  },\r\n  "inputs": []\r\n}\r\n`],
  opencode: [".config/opencode/opencode.json", `{\n  "$schema": "https://opencode.ai/config.json", /* a */\n  "mcp": {\n    // none yet\n  }\n}\n`],
  "gemini-cli": [".gemini/settings.json", `{"theme":"x"}`],
  "qwen-code": [".qwen/settings.json", `{\n    "mcpServers": {}\n}\n`],
  cline: [".cline/data/settings/cline_mcp_settings.json", `{\n  "mcpServers": {\n  }\n}\n`],
  continue: [".continue/config.yaml", `name: me # my name\nversion: 1.0.0\nschema: v1\nmcpServers:\n- name: other\n  command: x\n  args:\n  - a\n\n# models\nmodels:\n  - name: m\n`],
  zed: [".config/zed/settings.json", `// Zed settings\n//\n{\n  "theme": "One", // dark\n  "context_servers": {\n    "other": {\n      "command": "x",\n    },\n  },\n}\n`],
  goose: [".config/goose/config.yaml", `GOOSE_MODEL: m\nextensions:\n  other:\n    type: stdio\n    cmd: x\n    enabled: true\n    # why\n    description: >-\n      two\n\n      parts\nlast: 1\n`],
};

describe("lathe mcp install", { concurrency: 3 }, () => {
  for (const [client, [file, text]] of Object.entries(clients)) {
    test(`${client}: put in, twice, taken out: the file is as it was`, async () => {
      const h = home({ [file]: text });
      const first = await ok(h.lathe(["install", client, "--yes"]));
      const written = h.read(file);
      for (const want of ["lathe", '"mcp"', join(h.path, ".config/lathe/lathe.yaml"), `sqlite:${join(h.path, ".local/state/lathe/lathe.db")}`, lathePath]) assert.ok(written.includes(want), `${want} is in ${written}`);
      assert.ok(first.stdout.includes(file) && /^ {2}\+ .*lathe/m.test(first.stdout), first.stdout);
      assert.equal(h.read(`${file}.lathe-backup`), text);
      // What the person wrote is still there, in its order.
      for (let at = 0, i = 0; i < text.length; i++, at++) {
        at = written.indexOf(text[i], at);
        assert.ok(at >= 0, `byte ${i} of the old text is gone`);
      }
      assert.match((await ok(h.lathe(["install", client, "--yes"]))).stdout, /nothing changes/);
      assert.equal(h.read(file), written);
      await ok(h.lathe(["install", client, "--remove", "--yes"]));
      const empties = { opencode: /"mcp": \{\s*\/\/ none yet\s*\}/, "qwen-code": /^\{(\s*"mcpServers": \{\}\s*)?\}\s*$/, cline: /^\{(\s*"mcpServers": \{\s*\}\s*)?\}\s*$/ };
      if (empties[client]) assert.match(h.read(file), empties[client]);
      else assert.equal(h.read(file), text);
    });

    test(`${client}: a new file`, async () => {
      const h = home({}, 'mcpServers: { gh: { command: x, env: { T: "${GH_TOKEN}" } } }\n');
      const done = await ok(h.lathe(["install", client, "--yes"], { env: { GH_TOKEN: "gh-value-123" } }));
      assert.match(done.stdout, /needs GH_TOKEN/);
      assert.ok(!h.read(file).includes("gh-value-123"), "no value without --env");
      if (client === "codex") assert.match(h.read(file), /env_vars = \["GH_TOKEN"\]/);
      const shown = await ok(h.lathe(["install", client, "--yes", "--env", "GH_TOKEN"], { env: { GH_TOKEN: "gh-value-123" } }));
      assert.ok(h.read(file).includes("gh-value-123"), "the value that was asked for");
      assert.ok(!shown.stdout.includes("gh-value-123"), "it is not shown");
      await ok(h.lathe(["install", client, "--remove", "--yes"]));
      assert.ok(!h.read(file).includes("lathe.yaml"));
    });
  }

  test("what is written is a gateway that answers", async () => {
    const h = home({}, JSON.stringify({ mcpServers: { t: fake() } }));
    await ok(h.lathe(["install", "cursor", "--yes"]));
    const { command, args } = JSON.parse(h.read(".cursor/mcp.json")).mcpServers.lathe;
    assert.equal(command, lathePath);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "execute_code", arguments: { code: "tAdd({ a: 20, b: 22 })" } } };
    const begin = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } };
    const elsewhere = folder();
    const gateway = start(args, { cwd: elsewhere, typed: true, env: { HOME: elsewhere, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" } });
    gateway.type(`${[begin, list, call].map((message) => JSON.stringify(message)).join("\n")}\n`);
    await until(() => gateway.out().includes('"id":2'), "the call is answered");
    gateway.child.stdin.end();
    const done = await gateway.ended;
    assert.match(done.stdout, /execute_code/);
    assert.match(done.stdout, /"text":"42"/);
    assert.ok(existsSync(join(h.path, ".local/state/lathe/lathe.db")), "the store is the one that was written");
    assert.ok(!existsSync(join(elsewhere, ".local/state/lathe/lathe.db")), "the store is the one that was written");
  });

  test("a server whose variable is not set fails by name, and the gateway has the others", async () => {
    const h = home({}, JSON.stringify({ mcpServers: { t: fake(), lost: { command: "x", env: { K: "${NO_SUCH_TOKEN}" } } } }));
    const begin = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "execute_code", arguments: { code: "tAdd({ a: 20, b: 22 })" } } };
    const gateway = start(["mcp"], { cwd: h.path, typed: true, env: { HOME: h.path } });
    gateway.type(`${JSON.stringify(begin)}\n${JSON.stringify(call)}\n`);
    await until(() => gateway.out().includes('"id":1'), "the call is answered");
    gateway.child.stdin.end();
    const done = await gateway.ended;
    assert.match(done.stdout, /42/);
    assert.match(done.stderr, /server "lost": .*NO_SUCH_TOKEN is not set/);
  });

  test("--print prints the text alone and writes nothing", async () => {
    const h = home();
    const json = JSON.parse((await ok(h.lathe(["install", "vscode", "--print"]))).stdout);
    assert.equal(json.servers.lathe.type, "stdio");
    assert.match((await ok(h.lathe(["install", "codex", "--print"]))).stdout, /^\[mcp_servers\.lathe\]\ncommand = "/);
    assert.match((await ok(h.lathe(["install", "goose", "--print"]))).stdout, /^extensions:\n {2}lathe:\n {4}name: "lathe"\n/);
    assert.ok(!existsSync(join(h.path, ".codex")));
  });

  test("--http writes an address, where the client has one", async () => {
    const h = home();
    const url = "http://127.0.0.1:8421/mcp";
    const of = async (client) => (await ok(h.lathe(["install", client, "--print", "--http", url]))).stdout;
    assert.deepEqual(JSON.parse(await of("gemini-cli")).mcpServers.lathe, { httpUrl: url });
    assert.deepEqual(JSON.parse(await of("opencode")).mcp.lathe, { type: "remote", url, enabled: true });
    assert.deepEqual(JSON.parse(await of("claude-code")).mcpServers.lathe, { type: "http", url });
    assert.match(await of("codex"), /^\[mcp_servers\.lathe\]\nurl = "http/);
    const withToken = async (client) => (await ok(h.lathe(["install", client, "--print", "--http", url, "--token-env", "TOK"]))).stdout;
    assert.deepEqual(JSON.parse(await withToken("claude-code")).mcpServers.lathe.headers, { Authorization: "Bearer ${TOK}" });
    assert.deepEqual(JSON.parse(await withToken("opencode")).mcp.lathe.headers, { Authorization: "Bearer {env:TOK}" });
    assert.match(await withToken("codex"), /bearer_token_env_var = "TOK"/);
    assert.match((await h.lathe(["install", "zed", "--print", "--http", url, "--token-env", "TOK"])).stderr, /Zed cannot refer to a variable there/);
    const no = await h.lathe(["install", "claude-desktop", "--print", "--http", url]);
    assert.equal(no.code, 2);
    assert.match(no.stderr, /Claude Desktop connects to no address/);
  });

  test("another address, a program in its place, and out again", async () => {
    const h = home({ ".cursor/mcp.json": "{}\n" });
    for (const more of [["--http", "http://127.0.0.1:1/mcp"], ["--http", "http://localhost:2/mcp"], [], ["--http", "https://lathe.example/mcp"]]) await ok(h.lathe(["install", "cursor", "--yes", ...more]));
    assert.deepEqual(JSON.parse(h.read(".cursor/mcp.json")).mcpServers.lathe, { url: "https://lathe.example/mcp" });
    assert.equal((await h.lathe(["install", "cursor", "--remove", "--yes"])).code, 2, "an address elsewhere may be anybody's");
    await ok(h.lathe(["install", "cursor", "--remove", "--http", "https://lathe.example/mcp", "--yes"]));
    assert.equal(h.read(".cursor/mcp.json"), "{}\n");
    await ok(h.lathe(["install", "cursor", "--yes", "--http", "http://127.0.0.1:1/mcp"]));
    assert.match((await ok(h.lathe(["import", "cursor", "--yes"]))).stdout, /nothing to take over/);
  });

  test("--project, --file, --name, and the folders that variables name", async () => {
    const h = home();
    await ok(h.lathe(["install", "claude-code", "--project", "--yes"]));
    assert.ok(JSON.parse(h.read(".mcp.json")).mcpServers.lathe);
    assert.equal(statSync(join(h.path, ".mcp.json")).mode & 0o777, 0o644);
    await ok(h.lathe(["install", "cursor", "--project", "--yes", "--env", "GH_TOKEN"], { env: { GH_TOKEN: "gh-value-123" } }));
    assert.equal(statSync(join(h.path, ".cursor/mcp.json")).mode & 0o777, 0o600, "it has a value that may be secret");
    await ok(h.lathe(["install", "codex", "--yes"], { env: { CODEX_HOME: join(h.path, "other") } }));
    assert.ok(existsSync(join(h.path, "other/config.toml")));
    await ok(h.lathe(["install", "zed", "--file", "z.json", "--name", "tools", "--yes"]));
    assert.ok(JSON.parse(h.read("z.json")).context_servers.tools);
    const no = await h.lathe(["install", "goose", "--project", "--yes"]);
    assert.equal(no.code, 2);
    assert.match(no.stderr, /goose has no file for a project/);
  });

  test("nobody to ask: shown, not written", async () => {
    const h = home();
    const done = await h.lathe(["install", "cursor"]);
    assert.equal(done.code, 2);
    assert.match(done.stderr, /nothing was written: add --yes/);
    assert.match(done.stdout, /\+ .*"lathe": \{/);
    assert.ok(!existsSync(join(h.path, ".cursor")));
  });

  test("at a terminal it is asked, and no is no", async () => {
    const h = home();
    const no = await h.answered(["install", "cursor"], "n\n");
    assert.equal(no.code, 1, no.stdout + no.stderr);
    assert.ok(!existsSync(join(h.path, ".cursor")));
    const yes = await h.answered(["install", "cursor"], "y\n");
    assert.equal(yes.code, 0, yes.stdout + yes.stderr);
    assert.ok(JSON.parse(h.read(".cursor/mcp.json")).mcpServers.lathe);
  });

  test("the mode stays, a link stays a link", async () => {
    const h = home({ "real/mcp.json": "{}\n", ".cursor/x": "" });
    chmodSync(join(h.path, "real/mcp.json"), 0o640);
    symlinkSync("../real/mcp.json", join(h.path, ".cursor/mcp.json"));
    await ok(h.lathe(["install", "cursor", "--yes"]));
    assert.ok(JSON.parse(h.read("real/mcp.json")).mcpServers.lathe);
    assert.equal(statSync(join(h.path, "real/mcp.json")).mode & 0o777, 0o640);
    assert.deepEqual(readdirSync(join(h.path, ".cursor")).sort(), ["mcp.json", "x"]);
    assert.equal(h.read("real/mcp.json.lathe-backup"), "{}\n");
  });

  test("what cannot be changed safely is refused, and stays", async () => {
    const cases = [
      ["cursor", ".cursor/mcp.json", "{ oops", 3, /\.cursor\/mcp\.json: /],
      ["cursor", ".cursor/mcp.json", "[1]", 3, /it is array, not an object/],
      ["cursor", ".cursor/mcp.json", '{"mcpServers": [1]}', 3, /"mcpServers" is array there/],
      ["cursor", ".cursor/mcp.json", '{"mcpServers":{"lathe":{"command":"/opt/other"}}}', 2, /a server "lathe" that is no Lathe/],
      ["codex", ".codex/config.toml", "a = \n", 3, /config\.toml:1: not valid TOML/],
      ["codex", ".codex/config.toml", 'mcp_servers = { x = { command = "y" } }\n', 3, /does not allow a safe change/],
      ["goose", ".config/goose/config.yaml", "extensions: {a: {cmd: x}}\n", 3, /not written in lines of YAML/],
      ["goose", ".config/goose/config.yaml", "a: [\n", 3, /not valid YAML/],
    ];
    for (const [client, file, text, code, words] of cases) {
      const h = home({ [file]: text });
      const done = await h.lathe(["install", client, "--yes"]);
      assert.equal(done.code, code, `${text}: ${done.stdout}${done.stderr}`);
      assert.match(done.stderr, words);
      assert.equal(h.read(file), text);
      assert.ok(!existsSync(join(h.path, `${file}.lathe-backup`)));
    }
  });

  test("read-only files, folders and dead links are refused", async () => {
    const h = home({ ".cursor/mcp.json": "{}" });
    chmodSync(join(h.path, ".cursor/mcp.json"), 0o444);
    const refused = async (file, words) => {
      const done = await h.lathe(["install", "cursor", "--file", file, "--yes"]);
      assert.equal(done.code, 3);
      assert.match(done.stderr, words);
    };
    await refused(".cursor/mcp.json", /is read-only: nothing was written/);
    await refused(".cursor", /it is a folder/);
    symlinkSync("nowhere", join(h.path, "dead"));
    await refused("dead", /a link to a file that does not exist/);
  });

  test("an unknown client, and one that is meant", async () => {
    const h = home();
    const near = await h.lathe(["install", "cursr"]);
    assert.equal(near.code, 2);
    assert.match(near.stderr, /unknown client "cursr" \(did you mean "cursor"\?\); there are claude-code, .*goose/);
    assert.match((await h.lathe(["install", "claude"])).stderr, /did you mean "claude-code"/);
    assert.equal((await h.lathe(["instal", "cursor"])).code, 2);
  });
});

describe("lathe mcp import", { concurrency: 3 }, () => {
  const taken = async (h) => JSON.parse((await ok(run(["mcp", "install", "cursor", "--print"], { env: { HOME: h.path, XDG_CONFIG_HOME: "" } }))).stdout);

  test("each client's form becomes lathe.yaml's", async () => {
    const forms = {
      "claude-code": [`{"mcpServers":{"a":{"type":"stdio","command":"c","args":["x","\${HOME}"],"env":{"K":"\${V:-d}"}},"b":{"type":"http","url":"https://h/mcp","headers":{"X":"1"}}}}`, /a:\n {4}command: "c"\n {4}args: \["x", "\$\{HOME\}"\]\n {4}env:\n {6}K: "\$\{V:-d\}"\n {2}b:\n {4}type: "http"\n {4}url: "https:\/\/h\/mcp"\n {4}headers:\n {6}X: "1"\n/],
      codex: [`[mcp_servers.a]\ncommand = "c"\nargs = ["x", '\${V}']\n[mcp_servers.a.env]\nK = "1"\n[mcp_servers.b]\nurl = "https://h/mcp"\nbearer_token_env_var = "TOK"\nenabled = false\n`, /a:\n {4}command: "c"\n {4}args: \["x", "\$\$\{V\}"\]\n {4}env:\n {6}K: "1"\n {2}b:\n {4}type: "http"\n {4}url: "https:\/\/h\/mcp"\n {4}headers:\n {6}Authorization: "Bearer \$\{TOK\}"\n {4}disabled: true\n/],
      vscode: [`{ // c\n"servers":{"a":{"command":"c","env":{"K":"\${env:HOME}"},},"b":{"command":"\${workspaceFolder}/x"}}}`, /a:\n {4}command: "c"\n {4}env:\n {6}K: "\$\{HOME\}"\n$/],
      opencode: [`{"mcp":{"a":{"type":"local","command":["c","x"],"environment":{"K":"{env:HOME}"},"enabled":true},"b":{"type":"remote","url":"https://h/mcp"}}}`, /a:\n {4}command: "c"\n {4}args: \["x"\]\n {4}env:\n {6}K: "\$\{HOME\}"\n {2}b:\n {4}type: "http"\n/],
      "gemini-cli": [`{"mcpServers":{"a":{"command":"c","env":{"K":"$HOME"}},"b":{"httpUrl":"https://h/mcp"}}}`, /K: "\$\{HOME\}"\n {2}b:\n {4}type: "http"\n/],
      continue: [`mcpServers:\n  - name: a b\n    command: c\n    args: [x]\n    env:\n      K: \${{ secrets.HOME }}\n`, /a-b:\n {4}command: "c"\n {4}args: \["x"\]\n {4}env:\n {6}K: "\$\{HOME\}"\n/],
      zed: [`{"context_servers":{"a":{"command":{"path":"c","args":["x"],"env":{"K":"1"}}},"b":{"settings":{}}}}`, /a:\n {4}command: "c"\n {4}args: \["x"\]\n {4}env:\n {6}K: "1"\n$/],
      goose: [`extensions:\n  developer:\n    type: builtin\n  a:\n    type: stdio\n    cmd: c\n    args: [x]\n    envs: {K: "1"}\n`, /a:\n {4}command: "c"\n {4}args: \["x"\]\n {4}env:\n {6}K: "1"\n/],
    };
    for (const [client, [text, wanted]] of Object.entries(forms)) {
      const [file] = clients[client];
      const h = home({ [file]: text }, "# mine\ndefaults: {mode: code} # keep\n");
      await ok(h.lathe(["import", client, "--yes"]));
      const yaml = h.read(".config/lathe/lathe.yaml");
      assert.ok(yaml.startsWith("# mine\ndefaults: {mode: code} # keep\nmcpServers:\n"), yaml);
      assert.match(yaml, wanted, client);
      assert.equal(h.read(file), text, "the client's file stays");
      assert.match((await ok(h.lathe(["import", client, "--yes"]))).stdout, /nothing to take over/);
      assert.equal(h.read(".config/lathe/lathe.yaml"), yaml);
    }
  });

  test("a name that is there is left and said, secrets are pointed out and not shown", async () => {
    const h = home({ ".cursor/mcp.json": JSON.stringify({ mcpServers: { one: { command: "new" }, two: { command: "c", args: ["--api-key", "sk-hidden-1"], env: { GITHUB_TOKEN: "ghp-hidden-2" } } } }) }, "mcpServers:\n  one:\n    command: old\n");
    const done = await ok(h.lathe(["import", "cursor", "--yes"]));
    assert.match(done.stdout, /one is left: lathe\.yaml has another server of this name/);
    assert.match(done.stdout, /two: GITHUB_TOKEN is written plainly/);
    assert.ok(!/hidden/.test(done.stdout + done.stderr), done.stdout);
    assert.match(h.read(".config/lathe/lathe.yaml"), /one:\n {4}command: old\n {2}two:\n {4}command: "c"\n {4}args: \["--api-key", "sk-hidden-1"\]\n {4}env:\n {6}GITHUB_TOKEN: "ghp-hidden-2"\n/);
  });

  test("a name of the file neither writes lines of its own nor steers the terminal", async () => {
    const bad = "a\u001b[2Kx\nWritten: /etc/passwd";
    const h = home({ ".cursor/mcp.json": JSON.stringify({ mcpServers: { [bad]: { command: "c", env: { [`${bad} token`]: "sk-1-2-3-4-5" } }, [`${bad}2`]: { weird: 1 } } }) });
    const done = await ok(h.lathe(["import", "cursor", "--yes"]));
    assert.match(done.stdout, /x Written: \/etc\/passwd is called a--2Kx-Written:-\/etc\/passwd in lathe\.yaml/);
    assert.match(done.stdout, /x Written: \/etc\/passwd2 is left out: it has neither a command nor an address/);
    assert.ok(!/\u001b|^Written: \/etc/m.test(done.stdout), JSON.stringify(done.stdout));
  });

  test("--replace: Lathe takes their place, and what was taken over works", async () => {
    const server = fake();
    const text = `{\n  // mine\n  "mcpServers": {\n    "t": ${JSON.stringify(server)},\n    "vs": { "command": "\${workspaceFolder}/x" }\n  },\n  "other": 1\n}\n`;
    const h = home({ ".cursor/mcp.json": text.replace("workspaceFolder", "env:") }, "{}\n");
    await ok(h.lathe(["import", "cursor", "--replace", "--yes"]));
    const now = h.read(".cursor/mcp.json");
    assert.ok(now.startsWith('{\n  // mine\n  "mcpServers": {') && now.endsWith('  },\n  "other": 1\n}\n'), now);
    const { mcpServers } = JSON.parse(now.replace(/\/\/ mine/, ""));
    assert.deepEqual(Object.keys(mcpServers), ["vs", "lathe"]);
    assert.equal(h.read(".cursor/mcp.json.lathe-backup"), text.replace("workspaceFolder", "env:"));
    assert.deepEqual(JSON.parse(h.read(".config/lathe/lathe.yaml")).mcpServers.t, server);
    const tools = await ok(run(["tools", "--config", join(h.path, ".config/lathe/lathe.yaml")], { env: { HOME: h.path } }));
    assert.match(tools.stdout, /^t\./m);
    assert.match((await ok(h.lathe(["import", "cursor", "--replace", "--yes"]))).stdout, /nothing to take over/);
  });

  test("a client without a file", async () => {
    const done = await home().lathe(["import", "cursor", "--yes"]);
    assert.equal(done.code, 2);
    assert.match(done.stderr, /no such file: Cursor has no servers there/);
  });

  test("a configuration that does not exist yet is made", async () => {
    const h = home({ ".cursor/mcp.json": JSON.stringify({ mcpServers: { a: { command: "c" } } }), ".config/lathe/lathe.yaml": null });
    await ok(h.lathe(["import", "cursor", "--yes"]));
    assert.equal(h.read(".config/lathe/lathe.yaml"), 'mcpServers:\n  a:\n    command: "c"\n');
    assert.equal(statSync(join(h.path, ".config/lathe/lathe.yaml")).mode & 0o777, 0o600);
    assert.ok((await taken(h)).mcpServers.lathe);
  });
});
