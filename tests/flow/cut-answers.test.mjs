// Answers and programs of which a part is missing, or is not meant for anybody: what the user reads, and what the model.
import assert from "node:assert/strict";
import { config, describe, run, scripted, servers, start, test, until } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

/** A conversation of one message: how it ended, the bodies the model was asked with, and the prompt as it is stored. */
async function talkTo(code, mode, replies, conf = {}, ...rest) {
  const model = await scriptedModel(replies);
  const end = await run(["chat", "-m", mode, "go", "--config", config(conf), ...rest], { env: model.env });
  assert.equal(end.code, code, end.stderr);
  const stored = await run(["conversations", "show", "last", "--json", "--config", config(conf)], { env: model.env });
  return { ...end, asked: model.asked(), env: model.env, prompt: JSON.parse(stored.stdout).at(-1) };
}
const talk = (...args) => talkTo(0, ...args);
const events = (stdout) => stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
const typescript = (code) => ({ calls: [{ name: "execute_typescript", arguments: { code } }] });

describe("more output than the limit", () => {
  const many = "for (let i = 0; i < 20000; i++) output('line ' + i);";
  test("code mode tells the user, also where the program is done", async () => {
    const end = await talk("code", [`${many} done()`]);
    assert.match(end.stdout, /\nline 7403\n[^]*\(The program put out more than the 64 KiB that are allowed \(sandbox\.maxOutputBytes\): the rest is dropped\)\n$/);
  });
  test("and the model, in the words of the configured limit", async () => {
    const end = await talk("code", [`${many} 1`, "done()"], { sandbox: { maxOutputBytes: 1500 } });
    assert.match(end.stdout, /more than the 1500 bytes that are allowed/);
    assert.match(end.asked[1].messages.at(-1).content, /more than the 1500 bytes a program may output: it was dropped/);
  });
  test("typescript mode tells the model, of output and of logs", async () => {
    const end = await talk("typescript", [typescript("for (let i = 0; i < 20000; i++) console.log('line ' + i)"), "ok"]);
    assert.match(end.asked[1].messages.at(-1).content, /\[more was output than the 64 KiB that are kept\]\n$/);
    const failed = await talk("typescript", [typescript("for (let i = 0; i < 20000; i++) console.error('line ' + i); throw new Error('no')"), "ok"]);
    assert.match(failed.asked[1].messages.at(-1).content, /\[more was logged than the \d+ KiB that are kept\]\n/);
  });
});

describe("an answer that is no answer", () => {
  const limit = "(The answer was cut off at the model's limit of tokens: maxTokens)";
  const filter = "(The answer was refused, or ended by the provider's filter)";
  /** Nothing that looks like an answer on standard output, the reason on standard error, in the events and in the store. */
  async function none(mode, replies, { reason, said = /no answer: /, stdout = "", system }, conf) {
    const end = await talkTo(1, mode, replies, conf);
    assert.equal(end.stdout, stdout);
    assert.match(end.stderr, new RegExp(`\nlathe chat: ${said.source}`));
    assert.deepEqual([end.prompt.state, end.prompt.incomplete], ["completed", { reason }]);
    const { content, incomplete } = end.prompt.output.at(-1);
    assert.deepEqual({ content, incomplete }, { content: system, incomplete: { reason } });
    const shown = await run(["conversations", "show", "last"], { env: end.env });
    assert.match(shown.stdout, new RegExp(`\\(incomplete: ${said.source}`));
    const all = events((await talkTo(1, mode, replies, conf, "--json")).stdout);
    const last = all.at(-1);
    assert.deepEqual([last.event, last.data.incomplete], ["prompt.completed", { reason }]);
    assert.deepEqual(all.filter((e) => e.event === "prompt.stream" && e.data.incomplete).map((e) => e.data.delta).join(""), system);
    return end;
  }
  for (const mode of ["classic", "typescript"]) {
    test(`${mode}: cut off, filtered, empty`, async () => {
      const cut = { reason: "length", said: /the answer is not whole: .*maxTokens/ };
      await none(mode, [{ text: "The first half of", finish: "length" }], { ...cut, stdout: "The first half of\n", system: `\n${limit}` });
      await none(mode, [{ text: "", finish: "length" }], { ...cut, system: limit });
      await none(mode, [{ text: "No", finish: "content_filter" }], { reason: "filter", said: /the answer was refused/, stdout: "No\n", system: `\n${filter}` });
      await none(mode, [""], { reason: "empty", system: "(No response from model)" });
    });
  }
  test("code: what the filter ended is not run, an empty reply neither", async () => {
    const end = await none("code", [{ text: "output('half", finish: "content_filter" }],
      { reason: "filter", said: /the answer was refused/, system: `${filter.slice(0, -1)}. No program was run)` });
    assert.equal(end.asked.length, 1);
    await none("code", [" \n"], { reason: "empty", system: "(No response from model)" });
  });
  test("rounds that are used up, in each mode", async () => {
    const conf = { defaults: { maxRounds: { classic: 2, typescript: 2, code: 2 } } };
    const call = (name) => ({ calls: [{ name, arguments: { code: "1" } }] });
    const system = "Exceeded maximum number of rounds (2). Stopping.";
    await none("classic", [call("interpreter_run-code")], { reason: "rounds", system }, conf);
    await none("typescript", [call("execute_typescript")], { reason: "rounds", system }, conf);
    await none("code", ["output('a'); 1"], { reason: "rounds", stdout: "a\na\n", system: "(Reached maximum iterations without done() being called)" }, conf);
  });
  test("the next message has an answer, and the old reason is not printed again", async () => {
    const model = await scriptedModel(["", "Here I am."]);
    assert.equal((await run(["chat", "go"], { env: model.env })).code, 1);
    const end = await run(["chat", "-c", "last", "again"], { env: model.env });
    assert.deepEqual([end.code, end.stdout], [0, "Here I am.\n"]);
    assert.doesNotMatch(end.stderr, /no answer/);
  });
  test("killed before its end: the next process has the same reason", async () => {
    const model = await scriptedModel([{ calls: [{ name: "slow_look", arguments: {} }] }]);
    const slow = scripted([{ tool: { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }, delayMs: 300 }]);
    const args = servers({ slow }, { defaults: { maxRounds: { classic: 1 } } });
    const first = start(["chat", "-m", "classic", "go", ...args], { env: model.env });
    await until(() => /conversation [0-9a-f]{32}\n/.test(first.text()) && model.count() > 0, "the model was asked");
    first.child.kill("SIGKILL");
    await first.ended;
    const end = await run(["chat", "-c", "last", ...args], { env: model.env, input: "" });
    assert.deepEqual([end.code, end.stdout], [1, ""], end.stderr);
    assert.match(end.stderr, /\nlathe chat: no answer: the model was asked as often as/);
    const stored = JSON.parse((await run(["conversations", "show", "last", "--json", ...args], { env: model.env })).stdout);
    assert.deepEqual(stored.map((p) => p.incomplete), [{ reason: "rounds" }]);
  });
});

describe("replies of code mode that are no programs", () => {
  const failed = (prompt) => prompt.output.filter((o) => o.result?.type === "error").map((o) => o.result.error);
  test("prose is answered once; a program then has the answer", async () => {
    const end = await talk("code", ["I'd say it's done.", "output('Done.'); done()"]);
    assert.equal(end.stdout, "Done.\n");
    assert.match(end.asked[1].messages.at(-1).content, /^Execution error: The reply is text, not a program\. Nothing was run\./);
    assert.equal(failed(end.prompt).length, 1);
  });
  test("the second in a row is the answer, also after a program between two others", async () => {
    const end = await talk("code", ["Let me look first.", "1 + 1", "I have looked, and it is 2.", "The answer is 2."]);
    assert.equal(end.stdout, "The answer is 2.\n");
    assert.deepEqual([end.asked.length, end.prompt.state, end.prompt.incomplete], [4, "completed", undefined]);
  });
  test("JSON and calls as text, too: what to write instead is said", async () => {
    const end = await talk("code", ['{"name": "interpreter.run-code", "arguments": {"code": "1"}}', "done()"]);
    assert.match(end.asked[1].messages.at(-1).content, /The reply is a tool call as text, not a program\./);
    assert.match((await talk("code", ["{}", "done()"])).asked[1].messages.at(-1).content, /The reply is JSON, not a program/);
    const marked = await talk("code", ['I call it.\n<tool_call>{"name": "f", "arguments": {}}</tool_call>', "done()"]);
    assert.match(marked.asked[1].messages.at(-1).content, /The reply is a tool call as text/);
  });
  test("a fenced block in prose is a program, and so is code with a mistake", async () => {
    assert.equal((await talk("code", ["Here you are:\n```js\noutput('fenced'); done()\n```\nThat is it."])).stdout, "fenced\n");
    const end = await talk("code", ["cosnt x = 1;\noutput(x); done()", "output('mended'); done()"]);
    assert.match(end.asked[1].messages.at(-1).content, /SyntaxError/);
    assert.equal(end.stdout, "mended\n");
  });
});

describe("thoughts that come as text", () => {
  const thinking = (text) => `<think>\nThey said go. done() would do.\n</think>\n\n${text}`;
  test("classic: not shown, not sent back", async () => {
    const end = await talk("classic", [thinking("Gone.")]);
    assert.equal(end.stdout, "Gone.\n");
    const next = await run(["chat", "-c", "last", "again", "--config", config({})], { env: end.env });
    assert.equal(next.stdout, "Gone.\n", next.stderr);
  });
  test("code: not run, not in what the model is sent next", async () => {
    const end = await talk("code", [thinking("log(1)"), thinking("output('Gone.'); done()")]);
    assert.equal(end.stdout, "Gone.\n");
    assert.equal(end.asked[1].messages[2].content, "log(1)");
  });
  test("code: what stands before an end tag alone is thought", async () => {
    const end = await talk("code", ["They said go.\ndone() would do.\n</think>\n\noutput('Gone.'); done()"]);
    assert.equal(end.stdout, "Gone.\n");
  });
  test("classic: from the second answer on, nothing is shown before that tag", async () => {
    const lone = (text) => `They said go.\n</think>\n\n${text}`;
    const end = await talk("classic", [{ text: lone("I look."), calls: [{ name: "interpreter_run-code", arguments: { code: "1" } }] }, lone("Gone.")]);
    assert.equal(end.stdout, `${lone("I look.")}\nGone.\n`);
  });
  test("where they have no end there is no answer", async () => {
    const end = await talkTo(1, "code", [{ text: "<think>and on and on", finish: "length" }]);
    assert.deepEqual([end.stdout, end.prompt.incomplete], ["", { reason: "length" }]);
  });
});
