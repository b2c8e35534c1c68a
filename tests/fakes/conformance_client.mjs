#!/usr/bin/env node
// The client that the conformance suite of MCP starts: it calls the tools that a scenario wants, by programs of `lathe run`.
// The suite gives the server's address as the last argument, and the scenario in variables.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
// A null is left out: Lathe itself refuses it where the schema wants a boolean.
const given = (input) => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
const call = (name, input = {}) => `try { log(tools[${JSON.stringify(`s.${name}`)}](${JSON.stringify(input)})) } catch (e) { log(e.message) }`;

const programs = {
  tools_call: call("add_numbers", { a: 2, b: 3 }),
  "elicitation-sep1034-client-defaults": call("test_client_elicitation_defaults"),
  "sse-retry": call("test_reconnection"),
  "sep-2322-client-request-state": ["test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type"].map((name) => call(name)).join("\n"),
  "http-standard-headers": call("test_headers"),
  "http-custom-headers": (context.toolCalls ?? []).map((one) => call(one.name, given(one.arguments))).join("\n"),
  "http-invalid-tool-headers": `for (const t of discoverTools()) log(t.name);\n${call("valid_tool", { region: "eu" })}`,
};

const folder = mkdtempSync(join(tmpdir(), "lathe-conformance-"));
try {
  const config = join(folder, "lathe.yaml"), program = join(folder, "program.js");
  writeFileSync(config, JSON.stringify({ mcpServers: { s: { url, answerWithDefaults: true, startTimeoutMs: 10000 } } }));
  writeFileSync(program, programs[scenario] ?? "typeof tools");
  const env = { ...process.env, HOME: folder, XDG_CACHE_HOME: folder, XDG_STATE_HOME: folder };
  const end = spawnSync(process.env.LATHE, ["run", "--config", config, program], { env, stdio: ["ignore", "inherit", "inherit"], timeout: 25_000 });
  process.exitCode = end.status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
