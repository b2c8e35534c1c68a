// The library in other languages: their packages' own tests, and the examples of the guide.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, folder, lathe, root, test } from "./harness.mjs";

const library = join(dirname(lathe), "liblathe.so.0");
const tsc = join(root, "tests/node_modules/typescript/bin/tsc");
const environment = { PATH: process.env.PATH, HOME: process.env.HOME, LATHE_LIBRARY: library };
const run = (program, args, env = {}) => execFileSync(program, args, { cwd: root, env: { ...environment, ...env }, stdio: ["ignore", "pipe", "inherit"] }).toString();

/** What every one of the examples prints, but for the spaces that its language puts into JSON. */
function assertExample(text) {
  const [output, approved, ordering, report, ...rest] = text.split("\n");
  assert.equal(output, "output: there are 3");
  const [, why, input] = /^approved, although (.*?): (.*)$/.exec(approved);
  assert.deepEqual([why, JSON.parse(input)], ["it spends money", { item: "tea", count: 7 }]);
  assert.deepEqual(JSON.parse(/^ordering: (.*)$/.exec(ordering)[1]), { item: "tea", count: 7 });
  assert.deepEqual(JSON.parse(report), { result: { ordered: 7 }, calls: ["shop.stock", "shop.order"] });
  assert.deepEqual(rest, [""]);
}

describe("hosts of the library", { skip: existsSync(library) ? false : "not built for a sanitizer" }, () => {
  const python = { PYTHONPATH: join(root, "packages/python"), PYTHONDONTWRITEBYTECODE: "1" };
  test("Python: the package", () => {
    const done = spawnSync("python3", ["-W", "error::ResourceWarning", "-m", "unittest", "-q", "packages/python/tests/test_lathe.py"], { cwd: root, env: { ...environment, ...python }, encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
  });
  test("Python: the example", () => assertExample(run("python3", ["examples/embed/python/order.py"], python)));

  test("Node.js: the addon is built", () => void run("make", ["-s", "build/node/lathe.node"]));
  test("Node.js: the package", () => {
    const done = spawnSync(process.execPath, ["--test", "packages/node/test/lathe.test.js"], { cwd: root, env: environment, encoding: "utf8" });
    assert.equal(done.status, 0, done.stdout);
  });
  test("Node.js: the example", () => assertExample(run(process.execPath, ["examples/embed/node/order.mjs"])));
  test("Node.js: the types", { skip: existsSync(tsc) ? false : "without TypeScript" }, () => {
    run(process.execPath, [tsc, "--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,esnext.disposable,dom", "--types", "", "--module", "nodenext", "packages/node/test/types.mts"]);
  });

  test("Go: the example", { skip: spawnSync("go", ["version"]).error ? "without Go" : false }, () => {
    const prefix = folder();
    run("cmake", ["--install", dirname(lathe), "--component", "library", "--prefix", prefix]);
    const found = dirname(run("find", [prefix, "-name", "lathe.pc"]).trim());
    const env = { PKG_CONFIG_PATH: found, LD_LIBRARY_PATH: dirname(found), GOCACHE: join(prefix, "cache"), GOPROXY: "off" };
    assertExample(execFileSync("go", ["run", "."], { cwd: join(root, "examples/embed/go"), env: { ...environment, ...env } }).toString());
  });
});
