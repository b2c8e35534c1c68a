#!/usr/bin/env node
// What is left of TypeScript without its types: by the eraser, by sucrase and by Node.js (22.13 or newer), compared by hand
// (docs/internals/type-erasure.md).
//
//   LATHE=build/release/lathe node scripts/compare-types.mjs [--broken N] [--seed N] FOLDER...
//
// Every file of TypeScript below the folders is compared, its imports left out: which of them are dropped is a question that
// the eraser leaves to sucrase. Then N programs that were made of these by changing a few tokens.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { broken, compare } from "../tests/flow/compare_types.mjs";

process.on("warning", () => {}); // Node.js says that its stripper is new
const { values, positionals } = parseArgs({
  options: { broken: { type: "string", default: "0" }, seed: { type: "string", default: "1" } },
  allowPositionals: true,
});

const below = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return below(path);
    return /(?<!\.d)\.m?ts$/.test(entry.name) ? [path] : [];
  });

const IMPORTS = /^(import|export \*( as \w+)?)\b[^;"'`]*?(from\s*)?["'][^"']+["'];?/gm;
const withoutImports = (text) => text.replace(IMPORTS, (found) => found.replace(/[^\n]/g, " "));

const report = (what, names, sources) => {
  const count = { sources: sources.length, unsure: 0, same: 0, "one refuses it, the other agrees": 0, "one differs, the other agrees": 0, "all refuse it": 0, different: 0 };
  compare(sources).forEach((r, i) => {
    const others = [r.sucrase, r.node, r.tsc].filter((same) => same !== undefined);
    if (r.erased === undefined) count.unsure++;
    else if (others.includes(false)) {
      count[others.includes(true) ? "one differs, the other agrees" : "different"]++;
      console.log(`--- ${names[i]}: sucrase ${r.sucrase ?? "refuses"}, Node.js ${r.node ?? "refuses"}, tsc ${r.tsc ?? "refuses"}`);
      if (what === "broken") console.log(sources[i], "\n--- left:\n", r.erased);
    } else if (others.length === 0) count["all refuse it"]++;
    else if (others.length === 1) count["one refuses it, the other agrees"]++;
    else count.same++;
  });
  console.log(what, count);
};

const files = positionals.flatMap(below).sort();
const sources = files.map((path) => withoutImports(readFileSync(path, "utf8")));
report("files", files, sources);
const short = sources.filter((text) => text.length < 4000);
const seeds = Array.from({ length: Number(values.broken) }, (_, i) => Number(values.seed) + i);
report("broken", seeds.map((seed) => `seed ${seed}`), seeds.map((seed) => broken(short, seed)));
