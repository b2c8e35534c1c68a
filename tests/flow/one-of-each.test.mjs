// A little of everything, in few starts of the program: what `make cross` asks of the program for another machine, where a
// start takes long. The other files ask each of these things thoroughly.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, folder, prints, program, run, scripted, servers, test } from "./harness.mjs";
import { serve } from "./server.mjs";

const greet = () => servers({ fake: scripted([{ tool: { name: "greet", inputSchema: { type: "object" } }, result: { content: [{ type: "text", text: "hello" }] } }]) });

describe("one of each", () => {
  test("a program: a fault that it catches, floating point, classes of the web, Intl", async () => {
    const code = `const endless = () => endless() + 1;
      let fault; try { endless(); } catch (e) { fault = e.message; }
      [fault, 0.1 + 0.2, 1e21, 7n ** 30n, new URL("http://h/?a=1").searchParams.get("a"), new Intl.NumberFormat("de").format(1234.5)].join(" ")`;
    prints(await program(code), { stdout: "Maximum call stack size exceeded 0.30000000000000004 1e+21 22539340290692258087863249 1 1.234,5\n" });
  });
  test("TypeScript, without its types checked", async () => {
    const cwd = folder({ "a.ts": "enum Kind { small = 4 }\nconst n: number = 3;\nn + Kind.small" });
    prints(await run(["run", "--no-check", join(cwd, "a.ts")]), { stdout: "7\n" });
  });
  test("an endless loop ends in time", async () => {
    assert.equal((await program("for (;;) {}", ["--timeout", "300"])).code, 124);
  });
  test("calls of a server's tool, at once", async () => {
    prints(await program("(await Promise.all([1, 2, 3].map(() => fakeGreet()))).join()", greet()), { stdout: "hello,hello,hello\n" });
  });
  test("serve: a program over HTTP, and the end by SIGTERM", async () => {
    const s = await serve();
    assert.equal((await s.post("/run", { code: "6 * 7" })).json.result, 42);
    assert.equal((await s.stop()).code, 0);
  });
  test("mcp: the tools of a gateway", async () => {
    const lines = [
      { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } } },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/list" },
    ].map((it) => JSON.stringify({ jsonrpc: "2.0", ...it }));
    const end = await run(["mcp", ...greet()], { stdin: `${lines.join("\n")}\n` });
    const { result } = end.stdout.trim().split("\n").map((line) => JSON.parse(line)).find((it) => it.id === 2);
    assert.ok(result.tools.some((tool) => tool.name === "execute_code"));
  });
});
