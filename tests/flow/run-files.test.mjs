// lathe run: files of programs, their input and their arguments.
import assert from "node:assert/strict";
import { closeSync, ftruncateSync, openSync } from "node:fs";
import { join } from "node:path";
import { describe, folder, prints, run, test } from "./harness.mjs";

const usage = async (args, stderr, options) => {
  const end = await run(["run", ...args], options);
  assert.equal(end.code, 2, end.stderr + end.stdout);
  assert.equal(end.stdout, "");
  assert.match(end.stderr, /^lathe run: [^\n]*\n$/);
  assert.match(end.stderr, stderr);
};

/** A file of one GiB that takes no room. */
function giant() {
  const path = join(folder(), "giant");
  const fd = openSync(path, "w");
  ftruncateSync(fd, 2 ** 30);
  closeSync(fd);
  return path;
}

describe("--input", () => {
  const text = '{"a": [1, "\\u00e9"]}';
  const shown = '{"a":[1,"é"]}\n';

  test("is JSON, @file, - or @-", async () => {
    const cwd = folder({ "in.json": `\n ${text}\n` });
    prints(await run(["run", "-e", "input", "--input", text]), { stdout: shown });
    prints(await run(["run", "-e", "input", "--input", "@in.json"], { cwd }), { stdout: shown });
    prints(await run(["run", "-e", "input", "--input", "-"], { stdin: text }), { stdout: shown });
    prints(await run(["run", "-e", "input", "--input=@-"], { stdin: text }), { stdout: shown });
    prints(await run(["run", "-e", "input", "--input", "-5"]), { stdout: "-5\n" });
    prints(await run(["run", "--lang", "python", "-e", "set_result(input_data)", "--input", "@in.json"], { cwd }), { stdout: shown });
  });

  test("a file that is no input is refused by its name", async () => {
    const cwd = folder({ "bad.json": '{"a": 1,\n "b": x}', binary: Buffer.from([0x7f, 0x45, 0, 0xff]), empty: "" });
    await usage(["-e", "1", "--input", "@missing.json"], /cannot open missing\.json: No such file/, { cwd });
    await usage(["-e", "1", "--input", "@."], /cannot read \.: Is a directory/, { cwd });
    await usage(["-e", "1", "--input", "@bad.json"], /bad\.json is not JSON: .*line 2, column 7/, { cwd });
    await usage(["-e", "1", "--input", "@binary"], /binary is not JSON: .*line 1, column 1/, { cwd });
    await usage(["-e", "1", "--input", "@empty"], /empty is not JSON: .*empty/, { cwd });
    await usage(["-e", "1", "--input", "@"], /a file's name is missing after the @/);
    await usage(["-e", "1", "--input", `@${giant()}`], /giant: it has more than 64 MiB/);
    await usage(["-e", "1", "--input", "-"], /standard input is not JSON: .*line 1, column 2/, { stdin: "{x" });
  });

  test("standard input is the program or the input, not both", async () => {
    await usage(["-", "--input", "-"], /either the program or its --input/, { stdin: "1" });
    await usage(["--input", "-"], /either the program or its --input/, { stdin: "1" });
  });
});

describe("arguments after --", () => {
  test("are input.args, with or without an input, in each language", async () => {
    prints(await run(["run", "-e", "input", "--", "a b", "--input", "-x", "--"]), { stdout: '{"args":["a b","--input","-x","--"]}\n' });
    prints(await run(["run", "-e", "input.args", "--"]), { stdout: "[]\n" });
    prints(await run(["run", "--lang", "ts", "-e", "console.log(JSON.stringify(input))", "--input", '{"k\\n": {"z": 1}}', "--", "1"]), { stdout: '{"k\\n":{"z":1},"args":["1"]}\n' });
    prints(await run(["run", "--lang", "py", "-e", 'set_result(input_data["args"])', "--", "é"]), { stdout: '["é"]\n' });
  });

  test("without a program before --, the first word is its file", async () => {
    const cwd = folder({ "-p.js": "output(input === undefined ? 'none' : input)" });
    prints(await run(["run", "--", "-p.js"], { cwd }), { stdout: "none\n" });
    prints(await run(["run", "--", "-p.js", "a"], { cwd }), { stdout: '{"args":["a"]}\n' });
    prints(await run(["run", "-", "--", "a"], { stdin: "input.args" }), { stdout: '["a"]\n' });
  });

  test("an input that has no place for them is refused", async () => {
    await usage(["-e", "1", "--input", "[1]", "--", "a"], /--input is no object/);
    await usage(["-e", "1", "--input", '{"args": 1}', "--", "a"], /--input has "args" already/);
  });

  test("a second word before -- says where arguments stand", async () => {
    await usage(["a.js", "one"], /arguments stand after --/);
  });
});

describe("files", () => {
  const shebang = "#!/usr/bin/env -S lathe run\n";
  const programs = { "p.js": "output(1);\n", "p.ts": "const n: number = 1; console.log(n);\n", "p.py": "set_result(1)\n", "P.JS": "output(1)\n", "p.cjs": "output(1)\n", "p.cts": "const n: number = 1; console.log(n)\n", p: "output(1)\n", ".hidden": "output(1)\n" };
  for (const [name, code] of Object.entries(programs)) {
    test(`${name}: the first line may be a shebang, and lines are kept`, async () => {
      const cwd = folder({ [name]: shebang + code });
      prints(await run(["run", name], { cwd }), { stdout: "1\n" });
      const failing = folder({ [name]: `${shebang}${code}nope()\n` });
      const end = await run(["run", name], { cwd: failing });
      assert.equal(end.code, 1);
      assert.match(end.stderr, /at 3:1: nope\(\)/);
    });
  }

  test("a shebang stands before a return, a module and a function", async () => {
    for (const code of ["return input.args.length", "export default 0", "async () => 0", "function main() { return 0 }"]) {
      const cwd = folder({ "p.js": shebang + code });
      prints(await run(["run", "p.js", "--"], { cwd }), { stdout: "0\n" });
    }
  });

  test("an ending of another language is refused with what there is; --lang decides", async () => {
    const cwd = folder({ "p.rb": "1 + 1", "p.txt": "1 + 1", "p.": "2" });
    for (const name of ["p.rb", "p.txt", "missing.tsx"]) {
      await usage([name], new RegExp(`${name}: programs are JavaScript \\(\\.js, .*Python \\(\\.py\\), not \\${name.slice(name.indexOf("."))};`), { cwd });
    }
    prints(await run(["run", "p.rb", "--lang", "javascript"], { cwd }), { stdout: "2\n" });
    prints(await run(["run", "p.txt", "--lang", "typescript"], { cwd }), { stdout: "2\n" });
    prints(await run(["run", "p."], { cwd }), { stdout: "2\n" });
  });

  test("a file that is no program is refused", async () => {
    const cwd = folder({ "binary.js": Buffer.from([0x7f, 0x45, 0, 0xff]) });
    await usage(["missing.js"], /cannot open missing\.js: No such file/, { cwd });
    await usage(["."], /cannot read \.: Is a directory/, { cwd });
    await usage([giant()], /giant: it has more than 16 MiB/);
    const end = await run(["run", "binary.js"], { cwd });
    assert.equal(end.code, 1);
    assert.match(end.stderr, /the program contains a NUL byte|not valid UTF-8/);
  });
});
