// Tool calls that a model writes as text: made like any other, never shown, and the same in a replay.
import assert from "node:assert/strict";
import { bare, describe, recording, run, scripted, servers, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const FORMS = {
  Hermes: (name, args) => `<tool_call>\n{"name": "${name}", "arguments": ${JSON.stringify(args)}}\n</tool_call>`,
  Mistral: (name, args) => `[TOOL_CALLS][{"name": "${name}", "arguments": ${JSON.stringify(args)}}]`,
  Llama: (name, args) => `<function=${name}>${JSON.stringify(args)}</function>`,
  "python tag": (name, args) => `<|python_tag|>{"name": "${name}", "parameters": ${JSON.stringify(args)}}<|eom_id|>`,
  "Qwen coder": (name, args) => `<tool_call>\n<function=${name}>\n${Object.entries(args).map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`).join("")}</function>\n</tool_call>`,
  XML: (name, args) => `<function_calls>\n<invoke name="${name}">\n${Object.entries(args).map(([key, value]) => `<parameter name="${key}">${value}</parameter>\n`).join("")}</invoke>\n</function_calls>`,
};

/** A conversation of one message with a server that has `pay`: what was paid, how it ended, and what the model was asked. */
async function talk(mode, replies) {
  const model = await scriptedModel(replies);
  const effects = recording();
  const inputSchema = { type: "object", properties: { n: { type: "number" }, to: { type: "string" } } };
  const args = servers({ cash: scripted([{ tool: { name: "pay", inputSchema } }], effects.option) }, mode === "classic" ? bare : {});
  const end = await run(["chat", "-m", mode, "go", ...args], { env: model.env });
  assert.equal(end.code, 0, end.stderr);
  const stored = await run(["conversations", "show", "last", "--json", ...args], { env: model.env });
  const replay = await run(["replay", "last", ...args], { env: model.env });
  assert.match(replay.stdout, /: the same again: /, replay.stderr);
  const paid = effects.of("tools/call").map((m) => m.params.arguments);
  return { ...end, paid, asked: model.asked(), output: JSON.parse(stored.stdout)[0].output };
}

for (const whole of [false, true]) {
  describe(whole ? "an answer in one piece" : "a streamed answer", () => {
    for (const [form, write] of Object.entries(FORMS).filter(([form]) => !whole || /Hermes|coder/.test(form))) {
      test(`classic, ${form}`, async () => {
        const end = await talk("classic", [{ text: `I pay.\n\n${write("cash_pay", { n: 7, to: "12" })}`, whole }, { text: "Paid.", whole }]);
        assert.equal(end.stdout, "I pay.\nPaid.\n");
        assert.deepEqual(end.paid, [{ n: 7, to: "12" }]);
        assert.deepEqual(end.output.map((o) => o.function ?? o.content), ["I pay.", "cash.pay", "Paid."]);
        const [reply, answer] = end.asked[1].messages.slice(-2);
        assert.equal(reply.content, "I pay.");
        assert.deepEqual([reply.tool_calls[0].function.name, answer.role], ["cash_pay", "tool"]);
      });
      test(`typescript, ${form}`, async () => {
        const end = await talk("typescript", [{ text: write("execute_typescript", { code: "console.log(1 + 1)" }), whole }, { text: "Two.", whole }]);
        assert.equal(end.stdout, "Two.\n");
        assert.equal(end.asked[1].messages.at(-1).content, "2\n");
        assert.equal(end.output[0].input.code, "console.log(1 + 1)");
      });
    }
  });
}

describe("what is no call, or a broken one", () => {
  test("several calls, and text behind them", async () => {
    const end = await talk("classic", [`${FORMS.Hermes("cash_pay", { n: 1 })}\n${FORMS.Llama("cash.pay", { n: 2 })}\nBoth.`, "Paid."]);
    assert.deepEqual(end.paid.map(({ n }) => n).sort(), [1, 2]);
    assert.equal(end.stdout, "Both.\nPaid.\n");
  });
  test("broken JSON is told the model, and is not made", async () => {
    const end = await talk("classic", ['<tool_call>{"name": "cash_pay", "arguments": {"n": }}</tool_call>', "Sorry."]);
    assert.deepEqual([end.stdout, end.paid], ["Sorry.\n", []]);
    assert.match(end.asked[1].messages.at(-1).content, /"cash_pay": /);
    assert.equal(end.output[0].result.type, "error");
  });
  test("half a call at the limit of tokens is not made", async () => {
    const end = await talk("classic", [{ text: "<function=cash_pay><parameter=n>1", finish: "length" }, "Sorry."]);
    assert.deepEqual([end.stdout, end.paid], ["Sorry.\n", []]);
    assert.match(end.asked[1].messages.at(-1).content, /limit of tokens/);
  });
  test("another tool's name, a code fence: text", async () => {
    const other = FORMS.Hermes("cash_steal", { n: 1 }), fenced = `So:\n\`\`\`\n${FORMS.Hermes("cash_pay", { n: 1 })}\n\`\`\``;
    assert.equal((await talk("classic", [other])).stdout, `${other}\n`);
    const end = await talk("classic", [fenced]);
    assert.deepEqual([end.stdout, end.paid], [`${fenced}\n`, []]);
  });
});
