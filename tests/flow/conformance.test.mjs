// The conformance suite of MCP, its client half: the scenarios that are required of a client, without authorization.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, folder, patience, root, test } from "./harness.mjs";
import { installed } from "./npm-servers.mjs";

const suite = installed("@modelcontextprotocol/conformance");
const own = join(root, "tests/node/node_modules");
const newer = existsSync(own) ? readdirSync(own).filter((name) => name.startsWith("node-")).map((name) => join(own, name, "bin/node"))[0] : undefined;
const node = Number(process.versions.node.split(".")[0]) >= 22 ? process.execPath : newer; // the suite needs 22

const scenarios = {
  "2025-11-25": ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"],
  "2026-07-28": ["tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref"],
};

/** Runs one scenario; its checks, and what was said. */
async function conformance(version, scenario) {
  const out = folder();
  const args = [join(suite, "dist/index.js"), "client", "--command", `${process.execPath} ${join(root, "tests/fakes/conformance_client.mjs")}`, "--scenario", scenario, "--spec-version", version, "-o", out];
  const child = spawn(node, args, { env: { ...process.env, LATHE: resolve(process.env.LATHE ?? join(root, "build/lathe")) } });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += piece));
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000 * patience);
  const code = await new Promise((done) => child.on("close", done));
  clearTimeout(timer);
  const files = readdirSync(out, { recursive: true }).filter((name) => String(name).endsWith("checks.json"));
  return { code, said, checks: files.flatMap((name) => JSON.parse(readFileSync(join(out, String(name)), "utf8"))) };
}

describe("the conformance suite, as a client", { concurrency: 3, skip: (!suite && "not installed") || (!node && "needs Node.js 22") }, () => {
  for (const [version, names] of Object.entries(scenarios)) {
    for (const scenario of names) {
      test(`${version} ${scenario}`, async () => {
        const { code, said, checks } = await conformance(version, scenario);
        assert.equal(code, 0, said);
        assert.deepEqual(checks.filter((c) => ["FAILURE", "WARNING"].includes(c.status)).map((c) => `${c.id}: ${c.errorMessage}`), [], said);
        assert.ok(checks.some((c) => c.status === "SUCCESS"), `nothing was checked: ${said}`); // the suite counts an empty run as passed
      });
    }
  }
});
