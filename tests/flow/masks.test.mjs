// Masks: a part of a secret, and a secret in another form, is masked like the secret. (Which values are secrets, and where
// they are masked: secrets.test.mjs.)
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after } from "node:test";
import { describe, fake, folder, report, run, scripted, servers, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const b64 = (text) => Buffer.from(text).toString("base64");
const b64url = (text) => Buffer.from(text).toString("base64url");
/** Every byte percent-encoded. */
const percent = (text) => [...Buffer.from(text)].map((byte) => "%" + byte.toString(16).padStart(2, "0")).join("");
const pemLines = Array.from({ length: 4 }, (_, i) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC${i}${String(i).repeat(12)}`);
const pem = ["-----BEGIN PRIVATE KEY-----", ...pemLines, "c2hvcnQtZW5k", "-----END PRIVATE KEY-----", ""].join("\n");

/** What becomes of `texts` in a log, when these variables are brought in by ${NAME} in a server's `env`, or are only there. */
async function masked(env, texts, { referenced = Object.keys(env), server = {}, rest = {} } = {}) {
  const inside = Object.fromEntries(referenced.map((name, i) => [`INSIDE_${i}`, `\${${name}}`]));
  const args = servers({ fake: { ...fake(), ...server, env: { ...inside, ...server.env } } }, rest);
  const r = await report("input.forEach((text) => log(text)); 0", [...args, "--input", JSON.stringify(texts)], { env });
  assert.equal(r.exit, 0, r.text);
  return r.logs;
}
/** Each text's `part` is masked, and nothing else of it. */
async function hides(env, parts, options) {
  const texts = parts.map((part) => `<${part}>`);
  assert.deepEqual((await masked(env, texts, options)).map((log) => log.replace(/\*\*\*=*(?=>)/, "***")), parts.map(() => "<***>"), JSON.stringify(parts));
}
const keeps = async (env, texts, options) => assert.deepEqual(await masked(env, texts, options), texts);

describe("a secret of several lines", () => {
  test("each line alone, whatever ends them", async () => {
    for (const value of [pem, pem.replaceAll("\n", "\r\n"), pem.replaceAll("\n", "\\n"), "  " + pem.replaceAll("\n", "\n  ")])
      await hides({ KEY_FILE: value }, [...pemLines, "c2hvcnQtZW5k"]);
  });
  test("the lines joined, in JSON, and in the middle of a text", async () => {
    const [log] = await masked({ KEY_FILE: pem }, [`at ${pemLines.join("")} and ${JSON.stringify({ a: pemLines[1] })}`]);
    assert.equal(log, 'at ************ and {"a":"***"}');
  });
  test("the boundary lines are no secret, nor are short ones", async () => keeps({ KEY_FILE: "-----BEGIN PRIVATE KEY-----\nabc\nlatest\n12345\n-----END PRIVATE KEY-----\n" }, ["a -----BEGIN PRIVATE KEY----- begins it", "abc latest 12345"]));
  test("in base64 as a whole", async () => hides({ KEY_FILE: pem }, [b64(pem.trim())]));
  test("a key file in JSON: the members that sound secret", async () => {
    const file = JSON.stringify({ type: "service_account", project_id: "my-project", private_key: pem, client_secret: "cs-473829", note: "ordinary text" }, null, 2);
    await hides({ CLOUD: file }, [...pemLines, "cs-473829"]);
    await keeps({ CLOUD: JSON.stringify(JSON.parse(file)) }, ["ordinary text", "my-project", "service_account"]);
  });
});

describe("white space at a value's ends", () => {
  test("masked with it and without", async () => {
    for (const value of ["trailing-4711\n", "trailing-4711 ", "  trailing-4711\r\n", "\ttrailing-4711"]) await hides({ THE_TOKEN: value }, ["trailing-4711", value]);
  });
});

describe("the password in a URL", () => {
  test("of a variable that servers inherit, and one that is given to one", async () => {
    const env = { DATABASE_URL: "postgres://ann:pa55-Wort@db.example:5432/main?sslmode=require" };
    for (const referenced of [[], ["DATABASE_URL"]]) await hides(env, ["pa55-Wort"], { referenced });
    await keeps(env, ["db.example:5432/main", "ann", "sslmode=require", "postgres"], { referenced: [] });
  });
  test("percent-encoded: as it stands, decoded, and encoded in another way", async () => {
    const env = { DATABASE_URL: "postgres://ann:p%40ss%2Fw%c3%b6rt-1@db/main" };
    await hides(env, ["p%40ss%2Fw%c3%b6rt-1", "p@ss/wört-1", "p%40ss%2fw%C3%B6rt%2D1", encodeURIComponent("p@ss/wört-1"), percent("p@ss/wört-1")], { referenced: [] });
  });
  test("of a proxy, and of two databases in one value", async () => {
    await hides({ HTTPS_PROXY: "http://u:proxy-pass1@10.0.0.1:3128" }, ["proxy-pass1"], { referenced: [] });
    await hides({ DATABASES: "redis://:redis-pass1@r/0,amqp://u:queue-pass2@q" }, ["redis-pass1", "queue-pass2"], { referenced: [] });
  });
  test("in a server's arguments and environment, written as it is", async () =>
    hides({}, ["args-pass-1", "env-pass-22", "query-333"], { server: { args: [...fake().args, "postgres://u:args-pass-1@h/d", "https://h/?a=1&token=query-333"], env: { PLAIN: "mysql://u:env-pass-22@h" } } }));
  test("a token in place of the user", async () => hides({ REMOTE: "https://ghp_0123456789abcdefghijABCDEFGHIJ@github.com/a/b" }, ["ghp_0123456789abcdefghijABCDEFGHIJ"], { referenced: [] }));
  test("a password that is the user's name is none, nor is a short one", async () => keeps({ DATABASE_URL: "postgres://postgres:postgres@localhost/db", OTHER_URL: "http://u:pw@h" }, ["postgres is a database", "u:pw"], { referenced: [] }));
  test("as databases without URLs have it", async () => {
    await hides({ DSN: "host=db user=ann password=dsn-pass-1 dbname=x" }, ["dsn-pass-1"], { referenced: [] });
    await hides({ DSN: "Server=db;User Id=ann;Password='dsn pass'-2;AccountKey=acc/ount+key==;" }, ["acc/ount+key=="], { referenced: [] });
  });
});

describe("credentials", () => {
  test("the part behind the user, and what Authorization has of both", async () => {
    const env = { LOGIN: "ann:pass-4711" };
    await hides(env, ["pass-4711", "ann:pass-4711", b64("ann:pass-4711"), b64url("ann:pass-4711")]);
    assert.deepEqual(await masked(env, [`Authorization: Basic ${b64("ann:pass-4711")}`]), ["Authorization: Basic ***"]);
  });
  test("a header's Basic credentials, decoded", async () =>
    hides({}, ["ann:pass-4711", "pass-4711", b64("ann:pass-4711")], { server: { env: { AUTH_HEADER: `Basic ${b64("ann:pass-4711")}` } } }));
  test("behind Bearer, in the file and in a variable, however it is written", async () => {
    await hides({}, ["literal-47"], { server: { env: { AUTH_HEADER: "Bearer literal-47" } } });
    for (const scheme of ["Bearer ", "bearer ", "BEARER  ", "Token "]) await hides({ SENT: scheme + "variable-48\n" }, ["variable-48"]);
  });
  test("base64 inside other base64, wherever it begins", async () => {
    const token = "tok-0123456789";
    for (const user of ["", "a:", "ab:", "abc:", "x-access-token:"]) {
      const [log] = await masked({ THE_TOKEN: token }, [b64(user + token + "!")]);
      assert.match(log, /\*\*\*/);
      const left = log.replace("***", "");
      assert.ok(left.length <= Math.ceil((user.length * 4) / 3) + 6, log);
    }
    await hides({ THE_TOKEN: "??>>??>>~~" }, [b64("??>>??>>~~"), b64url("??>>??>>~~")]);
  });
  test("percent-encoded, some bytes of it or all", async () => hides({ THE_TOKEN: "a/b c+d=e&4711" }, [encodeURIComponent("a/b c+d=e&4711"), percent("a/b c+d=e&4711"), percent("a/b c+d=e&4711").toUpperCase()]));
  test("ordinary words behind a colon stay", async () => keeps({ IMAGE: "node:latest", AT: "localhost:8080", WHEN: "12:30:00", PAIR: '{"a":"word"}' }, ["the latest word of node at 8080, 30:00"]));
});

describe("a base URL with a key in its query", () => {
  /** A provider that answers as it likes; its address. */
  async function provider(answer) {
    const server = createServer((request, response) => answer(request, response)).listen(0, "127.0.0.1");
    await new Promise((done) => server.once("listening", done));
    after(() => { server.closeAllConnections(); server.close(); });
    return { url: `http://127.0.0.1:${server.address().port}` };
  }
  const KEYS = ["query-key-4711", "enc/oded-4712", "user-pass-4713", "sig-4714"];
  async function chat(baseUrl, ...args) {
    const end = await run(["chat", ...servers({}, { models: [{ ref: "normal", model: "m", baseUrl, apiKeyEnv: "NO_KEY" }] }), ...args, "hello"], { env: { NO_KEY: "x" } });
    for (const key of [...KEYS, encodeURIComponent(KEYS[1])]) assert.ok(!(end.stdout + end.stderr).includes(key), end.stdout + end.stderr);
    return end;
  }
  const query = `?key=${KEYS[0]}&access_token=${encodeURIComponent(KEYS[1])}&sig=${KEYS[3]}`;
  test("that the provider repeats, as it is and decoded", async () => {
    const p = await provider((request, response) => response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: `no such path: ${request.url} ${decodeURIComponent(request.url)}` } })));
    for (const more of [[], ["--json"]]) {
      const end = await chat(`${p.url}/v1${query}`, ...more);
      assert.equal(end.code, more.length ? end.code : 1);
      assert.match(end.stdout + end.stderr, /no such path: \/v1\/chat\/completions\?key=\*\*\*&access_token=\*\*\*&sig=\*\*\*/);
    }
  });
  test("that a redirect has", async () => {
    const p = await provider((request, response) => response.writeHead(302, { location: `https://other.example${request.url}` }).end(`moved to ${request.url}`));
    await chat(`${p.url}/v1${query}`);
  });
  test("that HTTP's own errors could have: nobody listens, no such host, no such port, nonsense", async () => {
    for (const base of [`http://u:${KEYS[2]}@127.0.0.1:1/v1${query}`, `http://u:${KEYS[2]}@no-such-host.invalid/v1${query}`, `http://127.0.0.1:99999/v1${query}`, `http://u:${KEYS[2]}@[::/v1${query}`, `http://h h/${query}`, `http://${KEYS[0]}:${KEYS[2]}@/x`])
      assert.notEqual((await chat(base)).code, 0);
  });
  test("of a variable", async () => {
    const p = await provider((request, response) => response.writeHead(400).end(`bad: ${request.url}`));
    const end = await run(["chat", ...servers({}), "hello"], { env: { OPENAI_BASE_URL: `${p.url}/v1?key=${KEYS[0]}`, OPENAI_API_KEY: "sk-1234567890" } });
    assert.match(end.stderr, /bad: \/v1\/chat\/completions\?key=\*\*\*/);
  });
});

describe("the exits", () => {
  // Two lines, one of which is told alone, so that forms and parts count at each exit, too.
  const SECRET = 'tok"en-4711\nsecond-line-4712';
  const forms = ['tok"en-4711', 'tok\\"en-4711', "en-4711", "second-line", b64("second-line-4712").slice(0, 12)];
  const clean = (text, what) => forms.forEach((form) => assert.ok(!text.includes(form), `${form} is in ${what}:\n${text.slice(0, 3000)}`));
  const KEY = "const key = fakeEnv({ name: 'INSIDE_0' }); const line = key.split('\\n')[1];\n";
  const call = (name, args) => ({ text: "Let me see.", calls: [{ name, arguments: args }] });
  const modes = {
    "code, a value and a log": ["code", [KEY + "log('key ' + key, line); output('it is ' + line); ({ key, line })", "output('done'); done()"]],
    "code, a failure": ["code", [KEY + "fakeEcho({ text: key }); throw new Error('bad key ' + line)", "output('done'); done()"]],
    "code, a tool's failure": ["code", [KEY + "fakeTeller({ how: 'fails' })", "output('done'); done()"]],
    "code, an artifact and stored values": ["code", [KEY + "store('k', { key, line }); storeArtifact({ line }, 'of ' + line); 0", "output(recall('k')); done()"]],
    "code, a question to a model": ["code", [KEY + "output(llm('what is ' + key + ' or ' + line)); done()", "I do not know."]],
    "classic": ["classic", [call("fake_env", { name: "INSIDE_0" }), call("fake_teller", { how: "fails" }), "Done."]],
    "classic, a program": ["classic", [call("interpreter_run-code", { code: KEY + "log(line); fakeEcho({ text: key }); line" }), "Done."]],
    "typescript": ["typescript", [call("execute_typescript", { code: "const key = await env({ name: 'INSIDE_0' }); console.log(key); console.error(key); throw new Error(String(key))" }), "Done."]],
  };
  for (const [name, [mode, replies]] of Object.entries(modes))
    for (const json of [[], ["--json"]])
      test(`${name}${json}: the model, the store, the terminal and events have no secret`, async () => {
        const model = await scriptedModel(replies);
        const db = join(folder(), "lathe.db");
        const args = servers({ fake: { ...fake("--tell-env=INSIDE_0"), env: { INSIDE_0: "${THE_TOKEN}" } } }, { store: `sqlite:${db}` });
        const end = await run(["chat", "-m", mode, ...args, ...json, "hello"], { env: { ...model.env, THE_TOKEN: SECRET } });
        assert.equal(end.code, 0, end.stderr + end.stdout);
        const asked = JSON.stringify(model.asked());
        assert.equal(model.asked().length >= replies.length, true);
        for (const [text, what] of [[asked, "the model's requests"], [end.stdout, "stdout"], [end.stderr, "stderr"]]) clean(text, what);
        const stored = [db, db + "-wal"].filter(existsSync).map((file) => readFileSync(file, "utf8")).join("");
        assert.match(stored, /\*\*\*/);
        clean(stored, "the store");
      });
  test("what a person writes by mistake", async () => {
    const model = await scriptedModel(["Done."]);
    const args = servers({ fake: { ...fake(), env: { INSIDE_0: "${THE_TOKEN}" } } }, { store: `sqlite:${join(folder(), "lathe.db")}` });
    const end = await run(["chat", "-m", "classic", ...args, "is second-line-4712 a good key?"], { env: { ...model.env, THE_TOKEN: SECRET } });
    assert.equal(end.code, 0, end.stderr);
    assert.match(JSON.stringify(model.asked()), /is \*\*\* a good key\?/);
    clean(JSON.stringify(model.asked()), "the model's requests");
  });
});

describe("long texts", () => {
  test("a megabyte of what looks like base64 is masked in time", async () => {
    const env = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`TOKEN_${i}`, `ey${i}-${"abcdefgh".repeat(20)}${i}`]));
    const big = [{ tool: { name: "big", inputSchema: { type: "object" } }, result: { content: [{ type: "text", text: "eyJhbGci%70%C3".repeat(100_000) }] } }];
    const r = await report("bBig().length", servers({ b: scripted(big) }), { env });
    assert.equal(r.result, 1_400_000);
  });
});
