// UTCP's code mode: an isolate for each program. A call of a tool stops a thread until it is answered.
import { CodeModeUtcpClient } from "@utcp/code-mode";
import { addFunctionToUtcpDirectCall } from "@utcp/direct-call";
import { returning, versionOf } from "../programs.mjs";

export async function open({ tools, memoryMb, limitMs }) {
  console.log = () => {}; // it logs every call, and standard output has the answers
  const named = (kind, name) => `${kind}_${memoryMb}_${name}`;
  const known = Object.keys(tools).map((name) => ({
    name, description: name, inputs: { type: "object", properties: {} }, outputs: {}, tags: [],
    tool_call_template: { call_template_type: "direct-call", callable_name: named("tool", name) },
  }));
  // The members of the input come one by one.
  for (const [name, tool] of Object.entries(tools)) addFunctionToUtcpDirectCall(named("tool", name), async (a, b) => tool({ a, b }));
  addFunctionToUtcpDirectCall(named("manual", "bench"), async () => ({ utcp_version: "1.0.0", manual_version: "1.0.0", tools: known }));
  const client = await CodeModeUtcpClient.create();
  await client.registerManual({ name: "bench", call_template_type: "direct-call", callable_name: named("manual", "bench") });
  async function run(code) {
    const { result, logs } = await client.callToolChain(code, limitMs, memoryMb);
    if (result === null) throw new Error(logs.at(-1));
    return result;
  }
  const dialect = returning((name, input) => `bench.${name}(${input})`);
  return { name: `@utcp/code-mode ${versionOf("@utcp/code-mode")}`, dialect, run, waiting: { dialect, run } };
}
