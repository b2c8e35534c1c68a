// Types are taken off by the eraser as sucrase and Node.js take them off, also from programs that are broken.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { broken, compare } from "./compare_types.mjs";
import { describe, test } from "./harness.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const folder = join(root, "tests/field/typescript");
const programs = readdirSync(folder).filter((name) => name.endsWith(".ts")).map((name) => readFileSync(join(folder, name), "utf8"));

// Those of which the eraser left what nobody else leaves. Where Node.js agrees, sucrase may differ: it joins statements
// that a type stood between. Where another refuses a program there is nothing to compare.
const different = (sources, results) =>
  sources.filter((_, i) => {
    const same = [results[i].sucrase, results[i].node];
    return same.includes(false) && !same.includes(true);
  });

describe("the eraser of types", () => {
  test("leaves of the programs that models write what others leave, and is sure of most", () => {
    const results = compare(programs);
    assert.deepEqual(different(programs, results), []);
    assert.ok(results.filter((r) => r.erased !== undefined).length > programs.length * 0.8);
  });

  test("leaves of programs that are changed at random what others leave, or leaves them alone", () => {
    const seed = Number(process.env.LATHE_SEED ?? 1) * 1000;
    const sources = Array.from({ length: 300 }, (_, i) => broken(programs, seed + i));
    const results = compare(sources);
    assert.deepEqual(different(sources, results), []);
    assert.ok(results.filter((r) => r.sucrase).length > 30);
  });
});
