// The syntax of ECMAScript, by npm's test262-parser-tests: what must be read and what must be refused goes through the whole
// preparation of a program (fences, shapes, top-level returns, types) to the engine.
//
// The suite is of 2017. What differs, file by file, stands below: the engine's two faults, what is syntax since then, and
// what programs may do here that scripts may not.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { config, describe, folder, patience, root, run, test } from "./harness.mjs";

const suite = join(root, "tests/node_modules/test262-parser-tests");
const words = (text) => text.trim().split(/\s+/).map((name) => `${name}.js`).sort();

/** Two labels of one loop: `continue` finds only the inner one. */
const REFUSED_WRONGLY = words("1f3808cbdfab97e4 7a405ea1fdb6a26e");
/** A `return` at the top level. */
const RETURNS = words(`
    02e5861a1ef10c42 7187f0675eb38279 7bfaaa1e80d6255f 8beaabe25ab7e0a8`);
/** An import or export makes a module of any program; reserved words in it are found after the module itself. */
const MODULES = words(`
    02a5ebb2378de234 0f8806b7b4358487 302a0dfffc3edf37 41bb6cfb5f18770c 4554c00dbb28cad8 75412422951a6362 7fdf990c6f42edcd 80da22a7d2a15fc5
    975d02f132c05a98 a20584c5a6110526 af366e0bf7f97bec baddfc428e73b8b8`);
/** Fields of classes and other syntax that is newer than the suite; comments and octal numbers of scripts, which the engine allows
 * in modules; and what is read as TypeScript when it is no JavaScript. */
const LENIENT = words(`
    0557c70da3f698b5.module 06be4d4082484d98.module 0d5e450f1da8a92a 0df19c6187ef3cbc.module 2226edabbd2261a7.module 2f95824f19005b11
    33bc068464342558 3990bb94b19b1071.module 3a9fa392421db6dd 48dee14b7a3a3767.module 4a866d4657f5a83a 58707e130fe451a8 5bb13cf33cea5691
    5d5b9de6d9b95f3e.module 647e21f8f157c338 748656edbfb2d0bb 79f882da06f88c9f 7b876ca5139f1ca8 831b4a1caf3c5a06 87d2d99776638ab6.module
    89ace2a47ff50b0d.module 8af69d8f15295ed2 92b6af54adef3624 938db8c9f82c8cb5.module 98204d734f8c72b3 98f5714a70195f28.module
    9f08fdb641588efc.module a7c82de4904833cc aae5dc521eff47c4 d0804b4856dbb6be.module d3ac25ddc7ba9779.module d54b2db4548f1d82.module
    e3fbcf63d7e43ead ea9e5f218423bd4f ed0332c84e50834c ef2d369cccc5386c ef81b93cf9bdb4ec f44552157bc0db6e.module fa6a6d04f835e4c2`);

/** The programs of a folder that end in a SyntaxError. Each is a program of its own, run by one process. Of those that `mayRunOn(name)`, some never
 * end: they are stopped, and a slow machine may stop one before it is read. The others have as long as it takes. */
async function refused(kind, mayRunOn) {
  const names = readdirSync(join(suite, kind)).filter((name) => name.endsWith(".js"));
  const input = names.map((name) => [name, { code: readFileSync(join(suite, kind, name), "utf8"), ...(mayRunOn(name) && { timeout: 100 }) }]);
  const code = `const all = ${JSON.stringify(input)}, out = []
for (const [name, program] of all) {
  try { interpreterRunCode(program) } catch (e) { if (/SyntaxError/.test(e.message)) out.push(name) }
}
out`;
  const args = ["run", "--json", "--timeout", "300000", "--config", config({}), join(folder({ "suite.js": code }), "suite.js")];
  const end = await run(args, { limitMs: 200_000 * patience });
  return { all: names.sort(), refused: JSON.parse(end.stdout).result.sort() };
}

describe("test262-parser-tests", { skip: !existsSync(suite), timeout: 240_000 * patience }, () => {
  test("pass/ is read", async () => assert.deepEqual((await refused("pass", (name) => !REFUSED_WRONGLY.includes(name))).refused, REFUSED_WRONGLY));
  test("fail/ is refused", async () => {
    const got = await refused("fail", () => false);
    const allowed = got.all.filter((name) => !got.refused.includes(name));
    assert.deepEqual(allowed, [...RETURNS, ...MODULES, ...LENIENT].sort());
  });
});
