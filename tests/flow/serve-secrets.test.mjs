// Secrets of the configuration over HTTP: what a tool echoes, a program outputs, a model repeats or an error contains is
// in no answer, no event (also over the pieces of a stream), no line of the log and not in the metrics.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { describe, fake, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const SECRET = 'tok"en\\with ümläut-4711'; // looks different inside JSON text, and comes in several pieces from a model
const KEY = "sk-the-models-key-0815-very-secret";
const forms = [SECRET, JSON.stringify(SECRET).slice(1, -1), "tok\\\"en", "tok\\\\\\\"en", "ümläut-4711", "\\u00fcml\\u00e4ut", KEY, "0815-very"];
const clean = (what, text) => forms.forEach((form) => assert.ok(!text.includes(form), `${form} is in ${what}:\n${text.slice(0, 2000)}`));
/** The texts of a stream put together, as a page does. */
const told = (events) => events.filter((one) => one.event === "prompt.stream").map((one) => one.data.delta).join("");

let env, refusing;
before(async () => {
  const program = `const key = fakeEnv({ name: "INSIDE" });\nconst other = ${JSON.stringify(SECRET)};\nlog("it is " + key);\noutput("the key is " + key + other);\nfakeEcho({ text: key });\noutput([...Array(3)].map(() => key).join(" "));\nthrow new Error("bad " + key)`;
  env = { ...(await recorded([
    { user: "tell", replies: [`It is ${SECRET} and the key is ${KEY} as you see.`] },
    { user: "program", replies: [program, `output("again ${KEY}"); done()`] },
    { user: "call", replies: [{ text: `I ask with ${SECRET}`, calls: [{ name: "fake_echo", arguments: { text: SECRET } }] }, `It said ${SECRET}`] },
  ], { title: `About ${SECRET}` })), THE_TOKEN: SECRET, OPENAI_API_KEY: KEY };
  refusing = createServer((req, res) => res.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: `Incorrect key: ${req.headers.authorization}, or ${SECRET}` } })));
  await new Promise((done) => refusing.listen(0, "127.0.0.1", done));
});
after(() => refusing.close());

const configuration = { mcpServers: { fake: { ...fake("--tell-env=INSIDE", "--stderr-env=INSIDE"), env: { INSIDE: "${THE_TOKEN}" } } }, server: { logLevel: "debug" } };

describe("a secret of the configuration", { concurrency: 2 }, () => {
  test("is nowhere in answers, events, the log and metrics, whoever says it", async () => {
    const s = await serve(configuration, { env });
    const reader = s.follow("?after=0"), answers = [];
    const ask = async (method, path, body) => {
      const answer = await s.ask(method, path, body);
      answers.push([`${method} ${path}`, answer.text]);
      return answer;
    };
    const prompts = [];
    for (const [input, mode] of [["tell", "classic"], ["call", "classic"], ["tell", "code"], ["program", "code"]]) prompts.push((await ask("POST", "/prompt", { input, mode })).json);
    prompts.push((await ask("POST", "/prompt", { input: `Do you know ${SECRET}?`, mode: "classic" })).json);
    for (const { promptId } of prompts) await s.prompt(promptId);
    const codes = ["fakeEnv({ name: 'INSIDE' })", "output(fakeEnv({ name: 'INSIDE' })); console.log(fakeEnv({ name: 'INSIDE' })); 1", "throw new Error(fakeEnv({ name: 'INSIDE' }))",
      "storeArtifact(fakeEnv({ name: 'INSIDE' }), 'of ' + fakeEnv({ name: 'INSIDE' }))", "fakeTeller({ how: 'fails' })", "fakeTeller({ how: 'refuses' })", "({ [fakeEnv({ name: 'INSIDE' })]: [fakeEnv({ name: 'INSIDE' })] })"];
    for (const code of codes) {
      for (const keep of [false, true]) {
        const { json } = await ask("POST", "/run", { code, keep });
        if (json.isStored) prompts.push(json);
      }
    }
    for (const [tool, input] of [["fake.env", { name: "INSIDE" }], ["fake.echo", { text: SECRET }], ["fake.teller", { how: "fails" }], ["fake.teller", { how: "refuses" }], ["fake.nope", {}]]) await ask("POST", `/tools/${tool}/invoke`, { input });
    for (const path of ["/tools", "/tools/fake.teller", "/declarations", "/declarations?language=python", "/models", "/conversations", "/artifacts", "/readyz", "/metrics", "/openapi.json"]) await ask("GET", path);
    for (const { promptId, conversationId } of prompts) for (const path of [`/prompts/${promptId}`, `/prompts/${promptId}/record`, `/conversations/${conversationId}`]) await ask("GET", path);
    for (const { id } of (await s.get("/artifacts")).json.artifacts) await ask("GET", `/artifacts/${id}`);
    await until(() => prompts.every(({ promptId }) => reader.events.some((one) => one.data.promptId === promptId && /completed|error|cancelled/.test(one.event))), "all ends are told");
    for (const [what, text] of answers) clean(what, text);
    assert.deepEqual((await s.post("/tools/fake.env/invoke", { input: { name: "INSIDE" } })).json, { result: "***" });
    assert.ok(answers.some(([, text]) => text.includes("***")), "it is masked");
    reader.text.split("\n").forEach((line) => clean("events", line));
    for (const { promptId } of prompts) clean("the pieces of a stream", told(reader.events.filter((one) => one.data.promptId === promptId)));
    assert.match(told(reader.events), /It is \*\*\* and the key is \*\*\*/);
    reader.close();
    const end = await s.stop();
    clean("the log", end.stderr + end.stdout);
    assert.match(end.stderr, /prompt begun/);
    assert.equal(end.code, 0);
  });

  test("is not in what a provider says that refuses the key", async () => {
    const s = await serve(configuration, { env: { ...env, OPENAI_BASE_URL: `http://127.0.0.1:${refusing.address().port}/v1` } });
    const reader = s.follow("?after=0");
    const { promptId } = (await s.post("/prompt", { input: "tell", mode: "classic" })).json;
    const prompt = await s.prompt(promptId);
    assert.match(JSON.stringify(prompt), /Incorrect key/);
    clean("the prompt", JSON.stringify(prompt));
    await until(() => reader.names().includes("prompt.error"), "it is told");
    clean("events", reader.text);
    reader.close();
    const end = await s.stop();
    clean("the log", end.stderr);
  });
});
