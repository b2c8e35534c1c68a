// Types of TypeScript programs on the embedded engine: checked before anything runs, by a compiler that may be missing or go wrong.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandOf, config, describe, fake, folder, only, patience, prints, program, report, root, run, start, test, until } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const found = existsSync(join(root, "tests/fixtures/tsc/tsc"));
const TS = ["--lang", "ts"];
const one = only({ fake: fake() });
const told = (code, ...args) => report(code, [...one, ...TS, ...args]);

describe("types are checked before anything runs", { skip: !found && "no tsc from npm", timeout: 240_000 * patience }, () => {
  test("a wrong argument, a wrong field, a wrong name: all at once, no call is made, exit 1", async () => {
    const end = await told("const r = await echo({ text: 'x' });\nconsole.log('ran');\nawait echo({ text: 5 });\nif (r.success) r.valeu;\nawait ecko({ text: 'x' });");
    assert.deepEqual([end.outputs, end.calls], [[], []]);
    assert.match(end.error, /^TS2322: Type 'number' is not assignable to type 'string'\.\nline 4, column 18: TS2551: Property 'valeu' [^]*\nline 5, column 7: TS2304: Cannot find name 'ecko'\. Did you mean: echo\?$/);
    assert.deepEqual([end.line, end.column, end.context], [3, 14, "await echo({ text: 5 });"]);
  });
  test("the place counts characters of what was written: fences, a whole function, astral characters", async () => {
    const place = async (code) => { const end = await told(code); return [end.error?.slice(0, 7), end.line, end.column]; };
    assert.deepEqual(await place("Here:\n```ts\nconst a = 1;\nconst b: string = a;\n```\n"), ["TS2322:", 4, 7]);
    assert.deepEqual(await place("async () => { const b: string = 1; return b }"), ["TS2322:", 1, 21]);
    assert.deepEqual(await place("const s = '😀😀'; const b: string = 1"), ["TS2322:", 1, 23]);
    assert.deepEqual(await place("function f(): number { return 1 }\nf(2)"), ["TS2554:", 2, 3]);
  });
  test("what programs may do is no error", async () => {
    const right = [
      ["const r = await echo({ text: 'x' });\nif (!r.success) return r.error;\nreturn 'got ' + r.value.length", undefined],
      ["function f(a, b) { return a + b }\nf(1, 2)", 3], ["const out = []; out.push(1); out.push('a'); out", [1, "a"]],
      ["// @ts-ignore\nconst n: number = 'x'; n", "x"], ["const found = discoverTools('echo'); found.length > 0", true],
      ["const t = await tools['fake.echo']({ anything: 1 }); t.success", true], ["async function main() { return 7 }", 7],
      ["export default 9", 9], ["try { JSON.parse('{') } catch (e) { e.message.length > 0 }", true],
      ["enum Color { Red = 'r' }\nColor.Red", "r"], ["const u = JSON.parse('null'); u?.x ?? 4", 4], ["store('k', 1); recall('k').toFixed(1)", "1.0"],
    ];
    for (const [code, result] of right) {
      const end = await told(code);
      assert.equal(end.error, undefined, code);
      if (result !== undefined) assert.deepEqual(end.result, result, code);
    }
  });
  test("JavaScript is not checked; --no-check and typescript.check: false do without", async () => {
    const wrong = "const n = 'x' as unknown as number; const m: string = n; m";
    assert.match((await told(wrong)).error, /^TS2322/);
    assert.equal((await told(wrong, "--no-check")).result, "x");
    assert.equal((await report(wrong, [...TS, "--config", config({ typescript: { check: false } })])).result, "x");
    assert.equal((await report("const n = 'x'; const m = n * 2; typeof m", ["--lang", "js"])).result, "number");
  });
  test("at most twenty errors, and how many more", async () => {
    const end = await told(Array.from({ length: 30 }, (_, i) => `const a${i}: string = ${i};`).join("\n"));
    assert.equal(end.error.split("\n").length, 21);
    assert.match(end.error, /\nand 10 more$/);
  });
  test("a file cannot be named from a program: nothing of the machine reaches an error", async () => {
    const end = await told("/// <reference path='/etc/passwd' />\nimport x from '/etc/hostname';\nconst n: string = 1;");
    assert.match(end.error, /TS2322/);
    assert.doesNotMatch(end.error, /root:|lathe-types/);
  });
  test("in a conversation the model is told, and its next program is checked by the same compiler", async () => {
    const call = (code) => ({ calls: [{ name: "execute_typescript", arguments: { code } }] });
    const model = await scriptedModel([call("const n: string = 1;"), call("console.log('ran');\nconst n: number = 'x';"), call("console.log(6 * 7)"), "done"]);
    const end = await run(["chat", "go", "-m", "typescript", ...one], { env: model.env });
    assert.equal(end.stdout, "done\n", end.stderr);
    const answers = model.asked().at(-1).messages.filter((m) => m.role === "tool").map((m) => m.content.trim());
    assert.match(answers[0], /^TS2322: [^]*at line 1, column 7/);
    assert.match(answers[1], /^TS2322: [^]*at line 2, column 7/);
    assert.doesNotMatch(answers[1], /ran\n/);
    assert.equal(answers[2], "42");
  });
  test("in a conversation the compiler starts while the model is asked, and not with --no-check", async () => {
    const model = await scriptedModel([{ text: "a", hang: true }]);
    const talk = start(["chat", "go", "-m", "typescript", ...one], { env: model.env });
    const children = () => readFileSync(`/proc/${talk.child.pid}/task/${talk.child.pid}/children`, "utf8").split(" ").filter(Boolean);
    await until(() => children().some((pid) => commandOf(pid).includes("--lsp")), "the compiler runs");
    talk.child.kill("SIGINT");
    await talk.ended;
    const other = await scriptedModel([{ calls: [{ name: "execute_typescript", arguments: { code: "const n: number = 'x'; console.log(n)" } }] }, "done"]);
    const end = await run(["chat", "go", "-m", "typescript", "--no-check", ...one], { env: other.env });
    assert.equal(end.stdout, "done\n", end.stderr);
    assert.equal(other.asked().at(-1).messages.at(-1).content.trim(), "x");
  });
  test("killed while a program runs, no compiler stays", async () => {
    const talk = start(["run", ...TS, "-e", "console.error('here'); await sleep(60000)"]);
    await until(() => talk.text().includes("here"), "it runs");
    talk.child.kill("SIGKILL");
    await talk.ended; // the harness looks for processes that are left
  });
});

describe("a compiler that is missing or goes wrong", { timeout: 240_000 * patience }, () => {
  const place = folder();
  chmodSync(place, 0o755);
  const build = join(place, "tsc");
  execFileSync("cc", ["-w", "-o", build, join(root, "tests/fakes/tsc_fake.c")]);
  const broken = (how, rest = {}) => {
    copyFileSync(build, join(place, `tsc-${how}`));
    chmodSync(join(place, `tsc-${how}`), 0o755);
    return [...TS, "--config", config({ typescript: { path: join(place, `tsc-${how}`), ...rest } })];
  };
  const CODE = "const n: number = 4; n";

  test("none: one line says so, and the program runs", async () => {
    const end = await run(["run", ...TS, "-e", CODE], { env: { PATH: "/usr/bin:/bin" } });
    prints(end, { stdout: "4\n", stderr: "types are not checked: there is no TypeScript compiler (npm install typescript, or say where its tsc is: typescript.path; --no-check or typescript.check: false do without)\n" });
    prints(await run(["run", ...TS, "--no-check", "-e", CODE], { env: { PATH: "/usr/bin:/bin" } }), { stdout: "4\n" });
  });
  test("none, but it is asked for: nothing runs", async () => {
    for (const typescript of [{ check: true }, { path: "/no/tsc" }]) {
      const end = await run(["run", ...TS, "-e", CODE, "--config", config({ typescript })], { env: { PATH: "/usr/bin:/bin" } });
      assert.deepEqual([end.code, end.stdout], [1, ""]);
      assert.match(end.stderr, /^lathe run: TypeScript's compiler was not found \((\/no\/tsc|PATH or node_modules\/.bin)\)/);
    }
  });
  for (const [how, why] of [["crash", "was killed by SIGSEGV"], ["garbage", "does not answer as a language server does"],
    ["long", "does not answer as a language server does"], ["memory", "exited with code 2: no memory"], ["hang", "tsc did not answer within 5 s"]]) {
    test(`one that goes wrong (${how}): the program runs unchecked, with a warning`, async () => {
      const end = await program(CODE, broken(how));
      assert.deepEqual([end.code, end.stdout], [0, "4\n"], end.stderr);
      assert.match(end.stderr, /^warning: the program runs unchecked: [^\n]*\n$/);
      assert.ok(end.stderr.includes(why), end.stderr);
    });
  }
  test("one that goes wrong and is required: nothing runs", async () => {
    const end = await program(CODE, broken("crash", { check: true }));
    assert.deepEqual([end.code, end.stdout], [1, ""]);
    assert.match(end.stderr, /types could not be checked: tsc was killed by SIGSEGV \(typescript\.check: true asks for it\)/);
  });
  test("behind its walls it reads nothing else, writes nothing, has no network and starts nothing", async () => {
    for (const env of [{}, { LATHE_LANDLOCK_ABI_MAX: "2" }]) {
      const end = await program(CODE, broken("outside"), { env });
      assert.match(end.stderr, /tsc exited with code 1: read no; write no; net no; unix no; fork no;\n$/);
    }
  });
  test("interrupted while it is asked, the run ends at once", async () => {
    const talk = start(["run", "-e", CODE, ...broken("hang")]);
    const children = () => readFileSync(`/proc/${talk.child.pid}/task/${talk.child.pid}/children`, "utf8").split(" ").filter(Boolean);
    await until(() => children().some((pid) => commandOf(pid)?.includes("--lsp")), "the compiler runs");
    talk.child.kill("SIGINT");
    assert.equal((await talk.ended).code, 130);
  });
});
