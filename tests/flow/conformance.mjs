// Runs scenarios of the conformance suite of MCP, its client half.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, folder, patience, root, test } from "./harness.mjs";
import { installed } from "./npm-servers.mjs";

const suite = installed("@modelcontextprotocol/conformance");
const own = join(root, "tests/node/node_modules");
const newer = existsSync(own) ? readdirSync(own).filter((name) => name.startsWith("node-")).map((name) => join(own, name, "bin/node"))[0] : undefined;
export const node = Number(process.versions.node.split(".")[0]) >= 22 ? process.execPath : newer; // the suite needs 22

/** Runs one scenario; its checks, and what was said. */
async function conformance(client, version, scenario) {
  const out = folder();
  const command = `${process.execPath} ${join(root, "tests/fakes", client)}`;
  const args = [join(suite, "dist/index.js"), "client", "--command", command, "--scenario", scenario, "--spec-version", ...version.split(" "), "--timeout", String(50_000 * patience), "-o", out];
  const child = spawn(node, args, { env: { ...process.env, LATHE: resolve(process.env.LATHE ?? join(root, "build/lathe")) } });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += piece));
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000 * patience);
  const code = await new Promise((done) => child.on("close", done));
  clearTimeout(timer);
  const files = readdirSync(out, { recursive: true }).filter((name) => /(checks\.json|\.txt)$/.test(String(name)));
  const text = (name) => readFileSync(join(out, String(name)), "utf8");
  const words = files.filter((name) => String(name).endsWith(".txt")).map(text).join("\n");
  return { code, said: `${said}\n${words}`, checks: files.filter((name) => String(name).endsWith(".json")).flatMap((name) => JSON.parse(text(name))) };
}

/** A test for each scenario of {"version flags...": [name...]}; `client` is the program in tests/fakes that the suite starts. */
export function describeConformance(title, client, scenarios) {
  describe(title, { concurrency: 3, skip: (!suite && "not installed") || (!node && "needs Node.js 22") }, () => {
    for (const [version, names] of Object.entries(scenarios)) {
      for (const scenario of names) {
        test(`${version} ${scenario}`, async () => {
          const { code, said, checks } = await conformance(client, version, scenario);
          assert.equal(code, 0, said);
          assert.deepEqual(checks.filter((c) => ["FAILURE", "WARNING"].includes(c.status)).map((c) => `${c.id}: ${c.errorMessage ?? c.description}`), [], said);
          assert.ok(checks.some((c) => c.status === "SUCCESS"), `nothing was checked: ${said}`); // the suite counts an empty run as passed
        });
      }
    }
  });
}

/** With authorization, required since 2025-11-25. */
export const authScenarios = ["metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd", "scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined", "scope-step-up", "scope-retry-limit", "token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none", "pre-registration"].map((name) => `auth/${name}`);
