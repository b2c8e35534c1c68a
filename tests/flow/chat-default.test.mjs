// The mode that `lathe chat` begins in where nobody has said one: it follows the number of tools.
import assert from "node:assert/strict";
import { bare, config, run, scripted, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const tools = (count) => Array.from({ length: count }, (_, i) => ({ tool: { name: `tool-${i}`, description: "A tool", inputSchema: { type: "object" } } }));
/** The mode of a message with so many tools. */
async function modeWith(count, rest = {}, args = []) {
  const model = await scriptedModel(["output('yes'); done()"]);
  const file = config({ mcpServers: { many: scripted(tools(count)) }, ...bare, ...rest });
  const end = await run(["chat", "go", "--json", "--config", file, ...args], { env: model.env });
  assert.equal(end.code, 0, end.stderr);
  const created = end.stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line)).find((one) => one.event === "prompt.created");
  assert.deepEqual(Object.keys(model.asked()[0]).includes("tools"), !["code"].includes(created.data.mode));
  return created.data.mode;
}

test("classic with few tools, code with more, and what somebody says", async () => {
  const models = [{ ref: "normal", codeMode: false }];
  const said = await Promise.all([modeWith(10), modeWith(11), modeWith(11, { defaults: { mode: "classic" } }), modeWith(11, { models }), modeWith(2, { defaults: { codeMode: true } }), modeWith(11, {}, ["-m", "codex"])]);
  assert.deepEqual(said, ["classic", "code", "classic", "classic", "typescript", "codex"]);
});
