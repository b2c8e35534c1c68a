// Answers and programs of which a part is missing, or is not meant for anybody: what the user reads, and what the model.
import assert from "node:assert/strict";
import { config, describe, run, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

/** A conversation of one message: how it ended, and the bodies the model was asked with. */
async function talk(mode, replies, conf = {}, ...rest) {
  const model = await scriptedModel(replies);
  const end = await run(["chat", "-m", mode, "go", "--config", config(conf), ...rest], { env: model.env });
  assert.equal(end.code, 0, end.stderr);
  return { ...end, asked: model.asked(), env: model.env };
}
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

describe("an answer that is not whole", () => {
  const whole = { text: "The first half of", finish: "length" };
  const limit = "(The answer was cut off at the model's limit of tokens: maxTokens)";
  const filter = "(The answer was refused, or ended by the provider's filter)";
  for (const mode of ["classic", "typescript"]) {
    test(`${mode}: the user is told why`, async () => {
      assert.equal((await talk(mode, [whole])).stdout, `The first half of\n\n${limit}\n`);
      assert.equal((await talk(mode, [{ text: "No", finish: "content_filter" }])).stdout, `No\n\n${filter}\n`);
      assert.equal((await talk(mode, [{ text: "", finish: "length" }])).stdout, `${limit}\n`);
    });
  }
  test("code: what the filter ended is not run", async () => {
    const end = await talk("code", [{ text: "output('half", finish: "content_filter" }]);
    assert.equal(end.stdout, `${filter.slice(0, -1)}. No program was run)\n`);
    assert.equal(end.asked.length, 1);
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
  test("where they have no end there is no answer", async () => {
    const end = await talk("code", [{ text: "<think>and on and on", finish: "length" }]);
    assert.match(end.stdout, /^\(The answer was cut off at the model's limit of tokens: maxTokens\. No program was run\)\n$/);
  });
});
