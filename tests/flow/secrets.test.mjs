// Secrets: what ${NAME} brings in, and what sounds like one, is nowhere to be read but in what the program itself outputs.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { config, describe, fake, folder, program, report, run, scripted, servers, test, value } from "./harness.mjs";

const SECRET = 'tok"en\\with ümläut-4711'; // looks different inside JSON text
const env = { THE_TOKEN: SECRET };
/** Every way the value may be written in what we print or store. */
const forms = [SECRET, JSON.stringify(SECRET).slice(1, -1), "tok\\\"en", "ümläut-4711", "\\u00fcml\\u00e4ut", "ut-4711"];
const clean = (text, what) => forms.forEach((form) => assert.ok(!text.includes(form), `${form} is in ${what}:\n${text.slice(0, 3000)}`));
const server = (...options) => ({ ...fake(...options), env: { INSIDE: "${THE_TOKEN}" } });
const one = (...options) => servers({ fake: server(...options) });

/** A run whose program must not output the secret itself: its report, which has it nowhere. */
async function hushed(code, args = one(), options = {}) {
  const r = await report(code, args, { env, ...options });
  clean(r.text, "the report");
  clean(r.stderr, "stderr");
  return r;
}

describe("a value that a tool gives back", () => {
  test("models' keys are not in a server's environment unless it is given them", async () => {
    const env = { OPENAI_API_KEY: "key-of-one-model", OTHER_KEY: "key-of-another", THIRD_KEY: "key-of-nobody" };
    const code = "['OPENAI_API_KEY', 'OTHER_KEY', 'THIRD_KEY'].map((name) => String(fakeEnv({ name })).length)";
    const models = [{ ref: "normal", model: "m", baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "OTHER_KEY" }];
    const missing = await value("String(fakeEnv({ name: 'NOT_SET_ANYWHERE' })).length", servers({ fake: fake() }), { env });
    assert.deepEqual(await value(code, servers({ fake: fake() }, { models }), { env }), [missing, missing, 13]);
    const given = { ...fake(), env: { OPENAI_API_KEY: "${OPENAI_API_KEY}" } };
    assert.deepEqual(await value(code, servers({ fake: given }, { models }), { env }), [16, missing, 13]);
  });
  test("reaches the program, which may use it", async () => {
    const end = await program("output(fakeEnv({ name: 'INSIDE' }))", one(), { env });
    assert.equal(end.stdout, SECRET + "\n");
    assert.equal(end.stderr, "");
  });
  test("is masked in the report's calls, as text and as JSON, in results and inputs", async () => {
    const r = await hushed("const key = fakeEnv({ name: 'INSIDE' }); fakeEcho({ text: `<${key}>` }).echoed.text === `<${key}>`");
    assert.equal(r.result, true);
    assert.equal(r.calls[0].result, "***");
    assert.deepEqual(r.calls[1].input, { text: "<***>" });
    assert.deepEqual(r.calls[1].result, { echoed: { text: "<***>" } });
  });
  test("is masked in log lines", async () => {
    const code = "const key = fakeEnv({ name: 'INSIDE' }); log('it is ' + key); console.error({ key }); output('done')";
    assert.match((await hushed(code)).logs.join("\n"), /^it is \*\*\*\n.*\*\*\*/);
    const end = await program(code, one(), { env });
    clean(end.stderr, "stderr");
    assert.match(end.stderr, /^\[log\] it is \*\*\*\n/);
    assert.equal(end.stdout, "done\n");
  });
  test("is masked in the program's own failure", async () => {
    const code = "const key = fakeEnv({ name: 'INSIDE' }); throw new Error('bad key ' + key)";
    assert.match((await hushed(code)).error, /bad key \*\*\*/);
    const end = await program(code, one(), { env });
    assert.equal(end.code, 1);
    clean(end.stderr + end.stdout, "the output");
  });
  test("is masked in a tool's failure and a JSON-RPC error with data, in TypeScript, too", async () => {
    for (const how of ["fails", "refuses"]) {
      const code = `let said; try { fakeTeller({ how: '${how}' }) } catch (e) { said = e.message } said`;
      assert.match((await hushed(code, one("--tell-env=INSIDE"))).result, /the secret is \*\*\*/);
    }
    const r = await hushed("const r = await teller({ how: 'fails' } as {}); r", [...one("--tell-env=INSIDE"), "--lang", "ts"]);
    assert.match(JSON.stringify(r), /the secret is \*\*\*/);
  });
  test("is masked when the input does not fit, however little of it is shown", async () => {
    const long = "pat_" + "0123456789".repeat(30);
    const code = `const key = fakeEnv({ name: 'INSIDE' });
      for (const input of [{ text: [key] }, { how: key }, { [key]: 1 }, key, [key]]) { try { fakePick(input) } catch (e) { log(e.message) } } 0`;
    const pick = { name: "pick", inputSchema: { type: "object", properties: { how: { enum: ["a", "b"] }, text: { type: "string" } }, additionalProperties: false } };
    const env_ = { name: "env", inputSchema: { type: "object" } };
    const args = servers({ fake: { ...scripted([{ tool: pick }, { tool: env_, result: { content: [{ type: "text", text: long }] } }]), env: { INSIDE: "${THE_TOKEN}" } } });
    const r = await report(code, args, { env: { THE_TOKEN: long } });
    assert.equal(r.logs.length, 5, r.text);
    assert.ok(!(r.text + r.stderr).includes("pat_0123"), r.text);
    assert.match(r.text, /expected/);
  });
  test("is masked when the policy speaks of it", async () => {
    const args = servers({ fake: server() }, { tools: { policy: [{ match: "fake.echo", when: "input.text != 'x'", action: "deny", reason: "${THE_TOKEN}" }] } });
    await hushed("const key = fakeEnv({ name: 'INSIDE' }); try { fakeEcho({ text: key }) } catch (e) { log(e.message) } 0", args);
  });
});

describe("a server that tells it", () => {
  test("on stderr while it cannot start", async () => {
    const end = await program("1", one("--stderr-env=INSIDE", "--exit=1"), { env });
    assert.match(end.stderr, /token is \*\*\*!/);
    clean(end.stderr, "stderr");
  });
  test("on stderr before a crash: the call's error", async () => {
    const r = await hushed("const words = fakeEnv({ name: 'INSIDE' }); try { fakeCrash({ words }) } catch (e) { log(e.message) } 0");
    assert.match(r.logs[0], /\*\*\*/);
  });
  test("as a line that is no message: the warning", async () => {
    const r = await hushed("const key = fakeEnv({ name: 'INSIDE' }); fakeGarbage({ lines: 2, text: key }); 0");
    assert.match(r.stderr, /^warning: .*garbage \*\*\*/m);
  });
  test("in its tools' texts: what programs, people and models are shown has it nowhere", async () => {
    const args = one("--tell-env=INSIDE");
    const r = await report("[discoverTools('teller'), toolSchema('fake.teller'), discoverTools('secret')]", args, { env });
    clean(r.text, "what a program finds");
    for (const types of [[], ["--types", "ts"], ["--types", "python"], ["--types", "json"], ["--types", "prompt"]]) {
      const end = await run(["tools", ...types, ...args], { env });
      assert.equal(end.code, 0);
      clean(end.stdout + end.stderr, `lathe tools ${types}`);
      assert.match(end.stdout, /the secret is/);
    }
  });
});

describe("which values", () => {
  const seen = async (entry, options = {}) => {
    const end = await program("for (const name of ['A', 'B', 'C']) log(name + '=' + fakeEnv({ name }))", servers({ fake: { ...fake(), ...entry } }), options);
    return Object.fromEntries([...end.stderr.matchAll(/^\[log\] (.)=(.*)$/gm)].map((m) => [m[1], m[2]]));
  };
  test("a part of a longer one; not a default, not a short one", async () => {
    const got = await seen({ env: { A: "x-${THE_TOKEN}-y", B: "${NOT_SET:-by-default}", C: "${SHORT}" } }, { env: { ...env, SHORT: "on" } });
    assert.deepEqual(got, { A: "x-***-y", B: "by-default", C: "on" });
  });
  test("those of variables that everybody has are none", async () => {
    const home = folder();
    const got = await seen({ env: { A: "${HOME}/x", B: "${XDG_DATA_HOME}", C: "${LANG}" } }, { env: { HOME: home, XDG_DATA_HOME: "/data/home", LANG: "en_US.UTF-8" } });
    assert.deepEqual(got, { A: `${home}/x`, B: "/data/home", C: "en_US.UTF-8" });
  });
  test("literal ones whose key says so, and those that servers inherit", async () => {
    const said = await program("log(fakeEnv({ name: 'MY_API_KEY' })); log(fakeEnv({ name: 'INHERITED_TOKEN' })); log(fakeEnv({ name: 'AUTHOR' }))",
      servers({ fake: { ...fake(), env: { MY_API_KEY: "literal-key", AUTHOR: "Some Body" } } }), { env: { INHERITED_TOKEN: "inherited-one" } });
    assert.equal(said.stderr, "[log] ***\n[log] ***\n[log] Some Body\n");
  });
  test("those in arguments, headers and plugins' configuration", async () => {
    const path = config({
      mcpServers: {
        fake: fake("--stderr=${IN_ARGS}", "--exit=1"),
        web: { type: "http", url: "http://localhost/${IN_URL}", headers: { Authorization: "Bearer ${IN_HEADER}" } },
      },
      plugins: [{ path: "no-such-plugin.so", config: { key: ["${IN_PLUGIN}"] } }],
    });
    const values = { IN_ARGS: "arguments-1", IN_URL: "in-the-url", IN_HEADER: "header-value", IN_PLUGIN: "plugin-value" };
    const end = await program(Object.values(values).map((v) => `log('${v}')`).join(";"), ["--config", path], { env: values });
    assert.equal(end.stderr.match(/^\[log\] \*\*\*$/gm).length, 4, end.stderr);
    for (const value of Object.values(values)) assert.ok(!end.stderr.includes(value), end.stderr);
  });
});

describe("what is stored", () => {
  const database = () => join(folder(), "lathe.db");
  const stored = (path) => [path, path + "-wal"].filter(existsSync).map((file) => readFileSync(file, "utf8")).join("");
  test("the journal has calls without it", async () => {
    const db = database();
    const args = servers({ fake: server("--tell-env=INSIDE") }, { store: `sqlite:${db}` });
    await hushed(`const key = fakeEnv({ name: 'INSIDE' }); fakeEcho({ text: 'marker-1 ' + key });
      try { fakeTeller({ how: 'fails' }) } catch {} 0`, ["--journal", ...args]);
    const text = stored(db);
    assert.match(text, /marker-1 \*\*\*/);
    assert.match(text, /the secret is \*\*\*/);
    clean(text, "the database");
  });
  test("without --journal nothing is stored at all", async () => {
    const db = database();
    await hushed("fakeEcho({ text: 'x' }); 0", servers({ fake: server() }, { store: `sqlite:${db}` }));
    assert.ok(!existsSync(db));
  });
  test("artifacts have it neither", async () => {
    const db = database();
    const args = servers({ fake: server() }, { store: `sqlite:${db}` });
    await hushed("const key = fakeEnv({ name: 'INSIDE' }); storeArtifact({ key }, 'marker-2 ' + key); 0", args);
    const text = stored(db);
    assert.match(text, /marker-2 \*\*\*/);
    clean(text, "the database");
  });
});
