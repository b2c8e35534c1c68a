// Compiled, never run: the declarations fit what users write, and refuse what cannot work.
import { type Decision, ProgramError, PromptError, Sandbox, Suspended, type Tool } from "../index.js";

const add: Tool<{ a: number; b: number }> = { description: "Adds.", run: async ({ a, b }, { signal }) => (signal.aborted ? 0 : a + b) };

await using sandbox = new Sandbox({ config: { sandbox: { timeoutMs: 1000 } }, tools: { add, twice: ({ n }) => 2 * n } });
try {
  const { value, outputs } = await sandbox.run<number>("add({a: 1, b: 2})", {
    tools: { now: () => Date.now() },
    onApproval: async ({ input }): Promise<Decision> => (input.count < 10 ? true : { approve: false, reason: "too much" }),
    onOutput: (text) => text.length,
    signal: AbortSignal.timeout(1000),
  });
  const sum: number = value + outputs.length;
  void sum;
} catch (error) {
  if (error instanceof ProgramError) [error.line?.toFixed(), error.column, error.programStack.length];
}
try {
  const { text, usage, conversation } = await sandbox.prompt("How much?", { mode: "code", user: "ann", onEvent: (name, data) => [name.length, data.delta] });
  const { id } = await sandbox.prompt(text, { conversation, attachments: ["plot.png", { data: new Uint8Array(1), mimeType: "image/png" }], signal: AbortSignal.timeout(1000) });
  const tokens: number = (await sandbox.resumePrompt(id)).usage.totalTokens ?? usage.requests ?? 0;
  void tokens;
  await sandbox.run("add({a: 1, b: 2})", { canSnapshot: true, onApproval: () => { throw new Suspended(); } });
} catch (error) {
  if (error instanceof PromptError) [error.state === "failed", error.id.length];
  if (error instanceof Suspended) (await sandbox.restore<number>(error.snapshot, { onOutput: (text) => text.length })).value.toFixed();
}
await sandbox.ready();
const product: number = sandbox.runSync<number>("twice({n: 4})", { onApproval: ({ reason }) => reason === "" }).value;
void product;
// @ts-expect-error: runSync waits for nothing
sandbox.runSync("1", { onApproval: async () => true });
// @ts-expect-error: a snapshot has its language
await sandbox.restore("{}", { language: "js" });
// @ts-expect-error: a number is no attachment
await sandbox.prompt("", { attachments: [3] });
// @ts-expect-error: there is no such language
await sandbox.run("1", { language: "cobol" });
// @ts-expect-error: a tool without a function
new Sandbox({ tools: { add: { description: "Adds." } } });
