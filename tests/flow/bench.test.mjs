// The side-by-side measurements, with tiny counts: every sandbox that is installed gives the right answers, and the
// documentation can be made of the figures. What the figures are decides nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, root } from "./harness.mjs";

const host = join(root, "build/release/lt_bench_host");
const hasPeers = existsSync(join(root, "bench/peers/node_modules/quickjs-emscripten-core"));
const names = ["lathe-c", "cpython", ...(hasPeers ? ["quickjs-emscripten", "quickjs-wasi", "node-vm"] : [])];
const run = (script, ...args) => execFileSync(process.execPath, [join(root, script), ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 300_000 });

const HALF = `AMD EPYC, 2 cores

|  | min | median | p99 | target | beside |
| --- | --: | --: | --: | --- | --- |
| **Whole processes, started in turn** |  |  |  |  |  |
| lathe run -e 1+2 | 1.00 ms | 2.00 ms | 3.00 ms | ≤ 5 ms met |  |
`;

test("sandboxes are measured side by side, and the documentation has their figures", { skip: existsSync(host) ? false : "build/release is not there" }, () => {
  const from = folder(), to = folder();
  run("bench/side-by-side.mjs", "--quick", "--only", names.join(","), "--out", join(from, "side-by-side.json"));
  const { peers } = JSON.parse(readFileSync(join(from, "side-by-side.json"), "utf8"));
  assert.deepEqual(peers.map(({ id }) => id).sort(), [...names].sort());
  for (const { id, absent, cells } of peers) {
    assert.equal(absent, undefined);
    for (const [task, { why, median }] of Object.entries(cells)) {
      if (id === "cpython" && task.startsWith("burst")) assert.match(why, /a process each/);
      else assert.ok(why === undefined && Number.isFinite(median), `${id}, ${task}: ${why}`);
    }
    assert.equal(Object.keys(cells).length, 14);
  }

  writeFileSync(join(from, "bench.md"), HALF);
  mkdirSync(join(to, "docs"));
  run("scripts/bench-readme.mjs", "--quick", "--from", from, "--to", to);
  const [page, readme, picture] = ["docs/BENCH.md", "README.md", "docs/pictures/side-by-side.svg"].map((name) => readFileSync(join(to, name), "utf8"));
  assert.match(page, /\| Lathe in C \S+ \| [\d.]+ [µm]?s<br><sub>/);
  assert.match(page, /\| lathe run -e 1\+2 \| 1.00 ms \| 2.00 ms \| 3.00 ms \| ≤ 5 ms met \|/);
  assert.match(page, /\* CPython, first burst of a process.*: a process each/);
  assert.match(readme, /\| `1\+2` \| [\d.]+ [µm]?s \|/);
  assert.match(picture, /^<svg [^]*Lathe in C[^]*<\/svg>\n$/);
});
