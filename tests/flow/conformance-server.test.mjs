// The conformance suite of MCP, its server half: `lathe mcp --http` in front of a fixture server whose tools are passed
// through directly. What is proven is the passage: resources, prompts, whole results, progress, log messages, questions.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bare, describe, folder, patience, root, servers, start, test, until } from "./harness.mjs";
import { installed } from "./npm-servers.mjs";

const suite = installed("@modelcontextprotocol/conformance");
const own = join(root, "tests/node/node_modules");
const newer = existsSync(own) ? readdirSync(own).filter((name) => name.startsWith("node-")).map((name) => join(own, name, "bin/node"))[0] : undefined;
const node = Number(process.versions.node.split(".")[0]) >= 22 ? process.execPath : newer; // the suite needs 22
const fixture = (...options) => ({ command: process.execPath, args: [join(root, "tests/fakes/conformance_upstream.mjs"), ...options] });
/** These want a server behind the gateway whose questions have names, or belong to a prompt: one of 2026-07-28. */
const namely = ["input-required-result-basic-elicitation", "input-required-result-non-tool-request"];
/** What is run, and what is behind the gateway. Questions are asked another way by servers of either version. */
const runs = [
  ["2025-11-25", 30, "a server of 2025-11-25", fixture(), () => true],
  ["2026-07-28", 37, "a server of 2025-11-25", fixture(), (scenario) => !namely.includes(scenario)],
  ["2026-07-28", 37, "a server of 2026-07-28", fixture("--modern"), (scenario) => scenario.startsWith("input-required-")],
];

/** Runs the suite's program; what it said, and its exit code. */
async function conformance(...words) {
  const child = spawn(node, [join(suite, "dist/index.js"), ...words]);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (said += piece));
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000 * patience);
  const code = await new Promise((done) => child.on("close", done));
  clearTimeout(timer);
  return { code, said };
}
/** The scenarios of a version that a server is required to pass. */
async function required(version) {
  const { said } = await conformance("list", "--requirements", version);
  return /Server scenarios[^\n]*\n((?: {2}- .*\n)+)/.exec(said)[1].split("\n").filter(Boolean).map((line) => line.slice(4));
}

/** A gateway over HTTP in front of the fixture, and its address. */
async function gateway(behind) {
  const made = start(["mcp", "--http", "127.0.0.1:0", ...servers({ fixture: behind }, { ...bare, tools: { expose: [{ match: "fixture.*", as: "direct" }] } })], { limitMs: 120_000 });
  const url = await until(() => /http:\/\/\S+\/mcp/.exec(made.text())?.[0], "the address is said");
  return { url, ends: async () => { made.child.kill("SIGTERM"); await made.ended; } };
}

describe("the conformance suite, as a server", { concurrency: 2, skip: (!suite && "not installed") || (!node && "needs Node.js 22") }, () => {
  for (const [version, count, what, behind, isWanted] of runs) {
    test(`${version}, behind it ${what}`, async () => {
      const scenarios = await required(version);
      assert.equal(scenarios.length, count);
      for (const name of namely) assert.ok(version !== "2026-07-28" || scenarios.includes(name), name);
      const wanted = scenarios.filter(isWanted), faults = [];
      const lane = async () => {
        for (let scenario; (scenario = wanted.shift()) !== undefined;) {
          const out = folder(), made = await gateway(behind); // one for each: some scenarios leave calls open, which then wait
          const { code, said } = await conformance("server", "--url", made.url, "--scenario", scenario, "--spec-version", version, "-o", out);
          const files = readdirSync(out, { recursive: true }).filter((name) => String(name).endsWith("checks.json"));
          const checks = files.flatMap((name) => JSON.parse(readFileSync(join(out, String(name)), "utf8")));
          faults.push(...checks.filter((c) => c.status === "FAILURE").map((c) => `${scenario}: ${c.id}: ${c.errorMessage}`));
          if (!checks.some((c) => c.status === "SUCCESS")) faults.push(`${scenario}: nothing was checked: ${said}`); // the suite counts an empty run as passed
          if (code !== 0 && faults.length === 0) faults.push(`${scenario}: exit code ${code}: ${said}`);
          await made.ends();
        }
      };
      await Promise.all([lane(), lane(), lane()]);
      assert.deepEqual(faults, []);
    });
  }
});
