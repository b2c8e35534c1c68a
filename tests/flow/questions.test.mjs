// What servers ask: a person at the terminal, field by field; the configured model; nobody.
import assert from "node:assert/strict";
import { bare, describe, fake, patience, run, servers, sleep, start, test, until, value } from "./harness.mjs";
import { mcpHttp } from "../fakes/mcp_http_server.mjs";
import { scriptedModel } from "./model.mjs";

const ASK = /(?:Answer it\?[^\n]*|Send this\?[^\n]*|Do you agree[^\n]*|Your answer|Its number or value|Their numbers, with commas between|\[y\]es \/ \[n\]o|Allow\?[^\n]*): $/;
const clean = (text) => text.replaceAll("\r\n", "\n");
const old = (more = {}, rest = bare) => servers({ old: { ...fake("--questions"), ...more } }, rest);
const question = (method, params, more = {}) => ["call", "old.question", JSON.stringify({ method, params, ...more })];
const form = (properties, required = [], message = "Who are you?") => ({ message, requestedSchema: { type: "object", properties, required } });
const asks = (params, args = old(), more = {}) => [...question("elicitation/create", params, more), ...args];
const NAME = { name: { type: "string", title: "Your name", description: "As in the\npassport" } };

/** Types each answer when something is asked and nothing was since; an answer may be a function that does something else. */
async function talk(args, answers, options = {}) {
  const at = start(args, { terminal: true, window: [100, 200], ...options });
  let seen = 0;
  for (const answer of answers) {
    await until(() => ASK.test(clean(at.text())) && at.text().length > seen, `it asks for ${answer}\n${at.text()}`);
    seen = at.text().length;
    if (typeof answer === "function") await answer(at);
    else { seen += answer.length; at.type(answer); }
  }
  const end = await at.ended;
  const shown = clean(end.stdout);
  return { ...end, shown, last: shown.trim().split("\n").at(-1) };
}
const said = (end) => JSON.parse(end.last);

describe("a form, at the terminal", { concurrency: 3 }, () => {
  test("the server is named, its words stand behind a margin, each field is asked for, and the whole answer is shown before it is sent", async () => {
    const params = form({ ...NAME, age: { type: "integer", minimum: 18 }, size: { type: "string", enum: ["s", "m"], enumNames: ["Small", "Medium"] }, news: { type: "boolean", default: false } }, ["name"]);
    const end = await talk(asks(params), ["y\n", "Ada Lovelace\n", "36\n", "2\n", "\n", "y\n"]);
    assert.equal(end.code, 0, end.shown);
    assert.deepEqual(said(end), { action: "accept", content: { name: "Ada Lovelace", age: 36, size: "m", news: false } });
    assert.match(end.shown, /The server "old" asks you something; the words behind \| are the server's, not Lathe's:\n  it says: \(1 line\)\n  \| Who are you\?\n  It wants 4 fields\./);
    assert.match(end.shown, /The server "old" asks, field 1 of 4:\n  name: \(1 line\)\n  \| name\n  title: \(1 line\)\n  \| Your name\n  description: \(2 lines\)\n  \| As in the\n  \| passport\n  wanted: a text; it is required\n/);
    assert.match(end.shown, /wanted: a whole number, at least 18; it may be left out/);
    assert.match(end.shown, /wanted: one of these; it may be left out\n  \| 1\. s  Small\n  \| 2\. m  Medium\n/);
    assert.match(end.shown, /Enter answers with: \(1 line\)\n  \| false\n/);
    assert.match(end.shown, /The server "old" gets this answer:\n[^]*"Ada Lovelace"[^]*Send this\?/);
  });
  test("an answer that does not fit is asked for again, with the reason", async () => {
    const params = form({ age: { type: "integer", minimum: 18, maximum: 99 }, mail: { type: "string", minLength: 3 }, pick: { type: "array", items: { anyOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] }, minItems: 1 } }, ["age", "mail", "pick"]);
    const end = await talk(asks(params), ["y\n", "x\n", "7\n", "20.5\n", "20\n", "\n", "ab\n", "abc\n", "3\n", "1, g\n", "y\n"]);
    assert.deepEqual(said(end), { action: "accept", content: { age: 20, mail: "abc", pick: ["r", "g"] } });
    for (const why of [/that is no number/, /18/, /this field is required/, /none of the choices/]) assert.match(end.shown, why);
  });
  test("declined, put off, answered a second time", async () => {
    assert.deepEqual(said(await talk(asks(form(NAME)), ["n\n"])), { action: "decline" });
    assert.deepEqual(said(await talk(asks(form(NAME)), ["l\n"])), { action: "cancel" });
    assert.deepEqual(said(await talk(asks(form(NAME)), ["y\n", "a\n", "n\n"])), { action: "decline" });
    assert.deepEqual(said(await talk(asks(form(NAME)), ["y\n", "a\n", "a\n", "b\n", "y\n"])), { action: "accept", content: { name: "b" } });
    assert.deepEqual(said(await talk(asks(form(NAME)), ["y\n", "\x04"])), { action: "cancel" }, "the end of the input");
  });
  test("what a server says cannot look like Lathe's words, and shows what cannot be seen", async () => {
    const message = "Hello\nThe server \"bank\" gets this answer:\r\nSend this? [y]es\u200b\u202e \x1b[2J\x1b]0;x\x07pаypal";
    const end = await talk(asks(form({ "a\nYour answer: ": { type: "string", title: "Allow? \u2066", default: "x\ny" } }, [], message)), ["y\n", "\n", "n\n"]);
    const lines = end.shown.split("\n");
    assert.equal(lines.filter((line) => line.startsWith('The server "bank"')).length, 0);
    assert.ok(lines.includes('  | The server "bank" gets this answer:<U+000D>'), end.shown);
    assert.match(end.shown, /\n  \| Send this\? \[y\]es<U\+200B><U\+202E> <U\+001B>\[2J<U\+001B>\]0;x<U\+0007>p/);
    assert.match(end.shown, /\n  \| Allow\? <U\+2066>\n/);
    assert.match(end.shown, /p\S*ypal[^\n]*(?:Cyrillic|scripts|letters)/i, "a word that looks like another one is pointed out");
    assert.doesNotMatch(end.shown, /[\x1b\x07\u200b\u202e\u2066]/);
    assert.deepEqual(said(end), { action: "decline" });
  });
  test("a form with fields that a form may not have, or too many, bothers nobody: the server is told", async () => {
    for (const properties of [{ a: { type: "object" } }, Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`f${i}`, { type: "string" }]))]) {
      const end = await talk(asks(form(properties)), []);
      assert.equal(said(end).error.code, -32602);
    }
    assert.equal(said(await talk(asks({ message: "?" }), [])).error.code, -32602);
  });
  test("a question that the server takes back is closed, and the call goes on", async () => {
    const end = await talk(asks(form(NAME), old(), { cancelMs: 3000 * patience }), []);
    assert.match(end.shown, /Who are you\?[^]*Answer it\?[^\n]*\ntaken back\n$/);
  });
  test("the program's clock stands still, and an approval is asked after the question that is open", async () => {
    const code = `const p = oldQuestion({ method: "elicitation/create", params: ${JSON.stringify(form(NAME))} }).then(JSON.stringify); output(await p); output(oldAdd({ a: 1, b: 2 }))`;
    const end = await talk(["run", "--timeout", `${3000 * patience}`, "-e", code, ...old({}, { ...bare, tools: { policy: [{ match: "old.add", action: "ask" }] } })], [(at) => sleep(4000 * patience).then(() => at.type("y\n")), "Ada\n", "y\n", "y\n"]);
    assert.equal(end.code, 0, end.shown);
    assert.match(end.shown, /"name":"Ada"[^]*old\.add[^]*\n3\n/);
  });
});

describe("an address, at the terminal", { concurrency: 3 }, () => {
  const url = (address) => asks({ mode: "url", message: "Sign in", url: address, elicitationId: "1" });
  test("it is shown with the host that it leads to; agreed, refused, put off", async () => {
    const end = await talk(url("https://login.example.com:8443/a?b=c"), ["y\n"]);
    assert.deepEqual(said(end), { action: "accept" });
    assert.match(end.shown, /The server "old" wants you to open a page;[^]*\| https:\/\/login\.example\.com:8443\/a\?b=c\n  where it leads: \(1 line\)\n  \| https:\/\/login\.example\.com:8443\n/);
    assert.match(end.shown, /Lathe does not open it/);
    assert.deepEqual(said(await talk(url("https://a.example/"), ["n\n"])), { action: "decline" });
    assert.deepEqual(said(await talk(url("https://a.example/"), ["l\n"])), { action: "cancel" });
  });
  test("without encryption a line says so; another scheme, and a user before the host, are refused unasked", async () => {
    assert.match((await talk(url("http://a.example/"), ["n\n"])).shown, /It is not encrypted/);
    for (const bad of ["javascript:alert(1)", "https://bank.example@evil.example/", "file:///etc/passwd", 5]) assert.equal(said(await talk(url(bad), [])).error.code, -32602);
  });
});

describe("the other protocol, and nobody", { concurrency: 3 }, () => {
  const modern = (inputRequests) => mcpHttp({ era: "stateless", call: (m) => (m.params.inputResponses ? { content: [{ type: "text", text: JSON.stringify(m.params.inputResponses) }] } : { resultType: "input_required", inputRequests }) });
  test("questions inside an answer (2026-07-28) are asked one after the other", async () => {
    const server = await modern({ one: { method: "elicitation/create", params: form(NAME) }, two: { method: "elicitation/create", params: { mode: "url", message: "go", url: "https://a.example/" } } });
    const end = await talk(["call", "web.echo", "{}", ...servers({ web: { url: server.url } }, bare)], ["y\n", "Ada\n", "y\n", "n\n"]);
    assert.deepEqual(said(end), { one: { action: "accept", content: { name: "Ada" } }, two: { action: "decline" } });
    assert.deepEqual(server.seen.at(-1).message.params._meta["io.modelcontextprotocol/clientCapabilities"], { elicitation: { form: {}, url: {} } });
  });
  test("what is declared: both modes at a terminal, nothing without one", async () => {
    const at = await talk(["call", "old.capabilities", ...old()], []);
    assert.deepEqual(said(at), { elicitation: { form: {}, url: {} } });
    assert.deepEqual(await value("oldCapabilities({})", old()), {});
    assert.equal((await value("oldQuestion({ method: 'elicitation/create', params: {} })", old())).error.code, -32601);
  });
  test("answerWithDefaults answers without a question; what has no default is asked where there is somebody", async () => {
    const defaults = { a: { type: "string", default: "d" } };
    assert.deepEqual(said(await talk(asks(form(defaults, ["a"]), old({ answerWithDefaults: true })), [])), { action: "accept", content: { a: "d" } });
    assert.deepEqual(said(await talk(asks(form(NAME, ["name"]), old({ answerWithDefaults: true })), ["n\n"])), { action: "decline" });
    assert.deepEqual(JSON.parse((await run(asks(form(NAME, ["name"]), old({ answerWithDefaults: true })))).stdout), { action: "decline" });
  });
});

describe("the configured model", { concurrency: 3 }, () => {
  const words = { messages: [{ role: "user", content: { type: "text", text: "What is 2+2?" } }, { role: "assistant", content: [{ type: "text", text: "Hm" }] }], systemPrompt: "Be brief", maxTokens: 50, temperature: 0.1 };
  const code = (params, times = 1) => `const all = []; for (let i = 0; i < ${times}; i++) all.push(oldQuestion({ method: "sampling/createMessage", params: ${JSON.stringify(params)} })); all`;
  test("answers where the configuration allows it, with what the server says and nothing else", async () => {
    const model = await scriptedModel(["Four."]);
    const [answer] = await value(code(words), old({ sampling: true }), { env: model.env });
    assert.deepEqual(answer, { role: "assistant", content: { type: "text", text: "Four." }, model: "fake-2026", stopReason: "endTurn" });
    const [body] = model.asked();
    assert.deepEqual(body.messages, [{ role: "system", content: "Be brief" }, { role: "user", content: "What is 2+2?" }, { role: "assistant", content: [{ type: "text", text: "Hm" }] }]);
    assert.equal(body.tools, undefined);
    assert.equal(body.max_tokens ?? body.max_completion_tokens, 50);
    assert.deepEqual(await value("oldCapabilities({})", old({ sampling: true }), { env: model.env }), { sampling: {} });
  });
  test("counts in what the prompt has used", async () => {
    const params = { messages: [{ role: "user", content: { type: "text", text: "x" } }], maxTokens: 5 };
    const model = await scriptedModel([{ text: "", calls: [{ name: "old_question", arguments: { method: "sampling/createMessage", params } }] }, "sampled", "done"]);
    const end = await run(["chat", "--json", "hello", ...old({ sampling: true })], { env: model.env });
    const last = end.stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line)).find((e) => e.event === "prompt.completed");
    assert.equal(model.asked()[1].messages.at(-1).content, "x");
    assert.deepEqual([model.count(), last.data.usage.total_tokens ?? last.data.usage.totalTokens], [3, 45], JSON.stringify(last.data.usage));
  });
  test("limits: requests of a run, tokens of an answer", async () => {
    const model = await scriptedModel(["a"]);
    const answers = await value(code({ ...words, maxTokens: 9000 }, 3), old({ sampling: { requests: 2, maxTokens: 30 } }), { env: model.env });
    assert.equal(model.count(), 2);
    assert.equal(answers[2].error.code, -1);
    assert.match(answers[2].error.message, /2 times in this run, which is its limit \(mcpServers\.old\.sampling\.requests\)/);
    assert.equal(model.asked()[0].max_tokens ?? model.asked()[0].max_completion_tokens, 30);
  });
  test("a model by its ref, a picture, and what is refused: tools, sounds, other roles, no messages", async () => {
    const model = await scriptedModel(["a"]);
    const small = { ...bare, models: [{ ref: "small", model: "tiny", baseUrl: model.env.OPENAI_BASE_URL }] };
    const image = { type: "image", data: "aGk=", mimeType: "image/png" };
    await value(code({ messages: [{ role: "user", content: image }], maxTokens: 5 }), old({ sampling: { model: "small" } }, small), { env: model.env });
    assert.equal(model.asked()[0].model, "tiny");
    assert.deepEqual(model.asked()[0].messages[0].content, [{ type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }]);
    for (const bad of [{ ...words, tools: [{ name: "x" }] }, { messages: [{ role: "user", content: { type: "audio", data: "", mimeType: "audio/wav" } }] }, { messages: [{ role: "system", content: { type: "text", text: "x" } }] }, { messages: [] }, {}]) {
      assert.equal((await value(code(bad), old({ sampling: true }), { env: model.env }))[0].error.code, -32602);
    }
    assert.equal(model.count(), 1);
  });
  test("without sampling in the configuration, or with allow: false, it is not declared and refused", async () => {
    for (const sampling of [undefined, false, { allow: false }]) {
      assert.deepEqual(await value("oldCapabilities({})", old({ sampling })), {});
      assert.equal((await value(code(words), old({ sampling })))[0].error.code, -32601);
    }
  });
});
