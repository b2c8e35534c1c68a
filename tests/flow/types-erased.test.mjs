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

// What the eraser left, where sucrase leaves something else. A program that sucrase refuses may be JavaScript all the same.
const different = (sources, results) => sources.filter((_, i) => results[i].sucrase === false || results[i].node === false);

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
