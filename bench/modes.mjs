#!/usr/bin/env node
// What each mode costs with more and more tools, as `lathe eval` counts it: the same task, solved the way a model of that
// mode solves it. The model is a script in this file, so only what Lathe sends differs; tokens are Lathe's estimate.
//
//   bench/modes.mjs [LATHE]        the program to measure; default: build/lathe
//
// The tools are those of three real servers (`npm ci` has installed them), the first N of them.
import { execFileSync } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const lathe = resolve(process.argv[2] ?? join(root, "build/lathe"));
const folder = mkdtempSync(join(tmpdir(), "lathe-modes-"));
const MODES = ["classic", "code", "typescript", "codex"];
const COUNTS = [1, 3, 5, 10, 15, 20, 30];
const TASKS = { "one call": 1, "a chain of four calls": 4 };

const file = (name, value) => {
  writeFileSync(join(folder, name), JSON.stringify(value));
  return join(folder, name);
};
const server = (name, ...args) => ({ command: process.execPath, args: [join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), ...args] });

/** The definitions of the servers' tools. */
function realTools() {
  const config = file("real.yaml", { mcpServers: { files: server("filesystem", folder), memory: server("memory"), everything: server("everything") }, plugins: ["artifact", "interpreter"].map((name) => ({ name, disabled: true })) });
  const tools = JSON.parse(execFileSync(lathe, ["tools", "--json", "--limit", "0", "--config", config], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  return tools.map(({ id, description, inputSchema, outputSchema }) => ({ tool: { name: id.replace(".", "_"), description, inputSchema, outputSchema }, result: { content: [{ type: "text", text: "42" }] } }));
}

// --- The model ----------------------------------------------------------------------------------------------------------
const LOOK = { tool: { name: "look", description: "Looks a thing up by its name", inputSchema: { type: "object", properties: { name: { type: "string", description: "The thing's name" } }, required: ["name"] } }, result: { content: [{ type: "text", text: "the answer is 42" }] } };
const program = (call, say, count) => [`let last = "a";`, `for (let i = 0; i < ${count}; i++) last = ${call};`, say].join("\n");
const answers = {
  classic: (asked, count) => (asked < count ? { calls: [["world_look", { name: "a" }]] } : { text: "42" }),
  code: (asked, count) => ({ text: program("worldLook({ name: last })", "output(String(last)); done();", count) }),
  typescript: (asked, count) => (asked === 0 ? { calls: [["execute_typescript", { code: program("(await world_look({ name: last })).value", "console.log(last);", count) }]] } : { text: "42" }),
  codex: (asked, count) => (asked === 0 ? { calls: [["exec", { code: program("(await tools.mcp__world__look({ name: last })).content[0].text", "text(last);", count) }]] } : { text: "42" }),
};
const modeOf = (names) => (names.includes("execute_typescript") ? "typescript" : names.includes("exec") ? "codex" : names.length === 0 ? "code" : "classic");

const model = createServer(async (req, res) => {
  const raw = [];
  for await (const piece of req) raw.push(piece);
  const { messages, tools = [] } = JSON.parse(Buffer.concat(raw).toString());
  const asked = messages.filter((m) => m.role === "assistant").length;
  const count = TASKS[messages.find((m) => m.role === "user").content];
  const { text = null, calls = [] } = answers[modeOf(tools.map((t) => t.function.name))](asked, count);
  const tool_calls = calls.map(([name, input], i) => ({ id: `call_${asked}_${i}`, type: "function", function: { name, arguments: JSON.stringify(input) } }));
  res.writeHead(200, { "content-type": "application/json" });
  res.end(JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: text, ...(tool_calls.length > 0 && { tool_calls }) }, finish_reason: tool_calls.length > 0 ? "tool_calls" : "stop" }] }));
});

// --- Measuring ----------------------------------------------------------------------------------------------------------
function evaluate(tools, port) {
  const script = file("script.json", [LOOK, ...tools]);
  const world = { command: process.execPath, args: [join(root, "tests/fakes/mcp_server.mjs"), `--script=${script}`] };
  const config = file("lathe.yaml", { mcpServers: { world }, plugins: ["artifact", "interpreter"].map((name) => ({ name, disabled: true })) });
  const tasks = file("tasks.yaml", { tasks: Object.keys(TASKS).map((prompt) => ({ name: prompt, prompt, check: { contains: "42" } })) });
  const env = { ...process.env, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_API_KEY: "", OPENAI_MODEL: "script" };
  const child = spawn(lathe, ["eval", tasks, "--config", config, "-m", MODES.join(","), "--json"], { env, stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((yes, no) => {
    let out = "";
    child.stdout.on("data", (bytes) => (out += bytes));
    child.on("close", () => {
      const { results } = JSON.parse(out);
      const wrong = results.filter((one) => !one.right);
      if (wrong.length > 0) no(new Error(JSON.stringify(wrong[0])));
      else yes(results);
    });
  });
}

try {
  await new Promise((done) => model.listen(0, "127.0.0.1", done));
  const tools = realTools();
  const rows = [];
  for (const count of COUNTS.filter((n) => n - 1 <= tools.length)) rows.push([count, await evaluate(tools.slice(0, count - 1), model.address().port)]);
  for (const task of Object.keys(TASKS)) {
    console.log(`\n| ${task}: tokens in, rounds | ${MODES.map((m) => `\`${m}\``).join(" | ")} |\n|---|${MODES.map(() => "---|").join("")}`);
    for (const [count, results] of rows) {
      const cells = MODES.map((mode) => results.find((one) => one.mode === mode && one.task === task)).map((one) => `${one.inputTokens}, ${one.rounds}`);
      console.log(`| ${count} ${count === 1 ? "tool" : "tools"} | ${cells.join(" | ")} |`);
    }
  }
} finally {
  model.close();
  rmSync(folder, { recursive: true, force: true });
}
