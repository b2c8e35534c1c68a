// lathe eval: the same tasks in each mode, with a model that is a recording.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before } from "node:test";
import { config, describe, fake, folder, root, run, servers, test } from "./harness.mjs";
import { recorded, scriptedModel } from "./model.mjs";

const CALLS = "output(String(fakeAdd({ a: 40, b: 2 }))); done()";
let env;
before(async () => {
  env = await recorded([
    { user: "forty-two", replies: ["output('The answer is 42.'); done()"] }, // a program, and an answer of sorts where none is asked for
    { user: "as JSON", replies: ["output({ a: [1, { b: null }] }); done()"] },
    { user: "add", replies: [CALLS] },
  ]);
});
const tasks = (list, more = {}) => config({ ...more, tasks: list.map((task, i) => ({ name: `task ${i}`, ...task })) });
const evaluate = (list, args = [], options = {}) => run(["eval", tasks(list), ...servers({ fake: fake() }), ...args], { env, ...options });
const rights = (end) => JSON.parse(end.stdout).results.map((one) => one.right);

describe("checks", () => {
  const code = (prompt, ...checks) => evaluate(checks.map((check) => ({ prompt, check })), ["-m", "code", "--json"]);
  test("contains and matches", async () => {
    const end = await code("forty-two", { contains: "answer is 42" }, { contains: "43" }, { matches: "\\b4\\d\\.$" }, { matches: "^4" });
    assert.deepEqual(rights(end), [true, false, true, false]);
    assert.equal(end.code, 1);
  });
  test("JSON, whatever the order and the white space", async () => {
    assert.deepEqual(rights(await code("as JSON", { json: { a: [1, { b: null }] } }, { json: { a: [1, { b: 0 }] } }, { json: { a: [1] } })), [true, false, false]);
  });
  test("an expression over text, outputs and calls", async () => {
    const end = await code("add", { js: "outputs.length === 1 && text === '42' && calls[0].tool === 'fake.add' && calls[0].input.b === 2 && calls[0].result == 42" },
      { js: "calls.length > 1" }, { js: "nothing.of.that.name" });
    assert.deepEqual(rights(end), [true, false, false]);
    assert.match(JSON.parse(end.stdout).results[2].why, /the check failed: .*nothing/);
  });
});

test("a table by mode, each try on stderr, nothing kept", async () => {
  const state = folder();
  const end = await evaluate([{ prompt: "forty-two", check: { contains: "42" } }, { prompt: "forty-two", check: { contains: "43" } }], ["--repeat", "2"], { env: { ...env, XDG_STATE_HOME: state } });
  assert.equal(end.code, 1);
  assert.match(end.stdout, /^mode +right +rounds +tokens in +tokens out +time\nclassic +2\/4 +1\.0 +\d+ +\d+ +\d+\.\d s\ncode +2\/4 +1\.0 +\d+ +\d+ +\d+\.\d s\n(?:.*\n)*typescript +2\/4 +1\.0 +\d+ +\d+ +\d+\.\d s\n$/);
  assert.equal(end.stderr.split("\n").filter((line) => /^right   (classic|code|typescript) +task 0$/.test(line)).length, 6);
  assert.equal(end.stderr.split("\n").filter((line) => /^WRONG   (classic|code|typescript) +task 1: not what was wanted$/.test(line)).length, 6);
  assert.equal((await run(["chat", "--list"], { env: { ...env, XDG_STATE_HOME: state } })).stdout, "");
});
test("an answer that is none counts by its reason, a model that cannot be had as an error: neither is wrong", async () => {
  const model = await scriptedModel([""]);
  const task = [{ prompt: "go", check: { contains: "response" } }];
  const none = await evaluate(task, ["-m", "classic,code"], { env: model.env });
  assert.equal(none.code, 1);
  assert.match(none.stderr, /NONE    classic     task 0: no answer: the model replied nothing\n/);
  assert.match(none.stdout, /\nclassic: 1 without a whole answer \(empty\)\ncode: 1 without a whole answer \(empty\)\n$/);
  const away = { env: { ...model.env, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } };
  const error = await evaluate(task, ["-m", "classic"], away);
  assert.match(error.stderr, /ERROR   classic     task 0: /);
  assert.match(error.stdout, /\nclassic: 1 with an error\n$/);
  const [result] = JSON.parse((await evaluate(task, ["-m", "classic", "--json"], { env: model.env })).stdout).results;
  assert.deepEqual([result.right, result.incomplete, result.error], [false, { reason: "empty" }, undefined]);
});
test("all right is 0; a model that fails is an error, with its words", async () => {
  assert.equal((await evaluate([{ prompt: "forty-two", check: { contains: "42" } }])).code, 0);
  const end = await evaluate([{ prompt: "not recorded", check: { contains: "42" } }], ["-m", "classic", "--json"]);
  assert.equal(end.code, 1);
  assert.match(JSON.parse(end.stdout).results[0].why, /nothing was for this/);
});
test("the file's own configuration counts once it is trusted, unless another is given", async () => {
  const where = join(folder(), "where"), marks = { command: "sh", args: ["-c", `pwd > ${where}`] };
  const own = config({ mcpServers: { fake: fake(), marks } }), home = { env: { ...env, HOME: folder() } };
  const evaluation = ["eval", tasks([{ prompt: "add", check: { contains: "42" } }], { config: own }), "-m", "code"];
  const before = await run(evaluation, home);
  assert.deepEqual([before.code, before.stdout], [3, ""]);
  assert.ok(before.stderr.endsWith(`run: lathe trust ${own}\n`), before.stderr);
  assert.equal((await run(["trust", own], home)).code, 0);
  const end = await run(evaluation, home);
  assert.equal(end.code, 0, end.stderr);
  assert.equal(readFileSync(where, "utf8"), `${dirname(own)}\n`, "its servers start beside it");
});
test("the example's tasks, on real servers, by somebody who can", async () => {
  const rows = "const rows = filesReadTextFile({ path: 'orders.csv' }).content.trim().split('\\n').slice(1).map((line) => line.split(',').map(Number));\n";
  const people = "const people = JSON.parse(filesReadTextFile({ path: 'customers.json' }).content);\nconst spent = (id) => rows.filter((row) => row[1] === id).reduce((sum, row) => sum + row[2], 0);\n";
  const file = readFileSync(join(root, "examples/eval/tasks.yaml"), "utf8");
  const prompts = [...file.matchAll(/prompt: (?:>-\n)?([^]*?)\n    check/g)].map((found) => found[1].replace(/\s+/g, " ").trim());
  const programs = [
    rows + "output(rows.reduce((sum, row) => sum + row[2], 0))",
    "output(['a', 'b', 'c'].map((name) => filesReadTextFile({ path: `logs/${name}.log` }).content.split(' ERROR ').length - 1).reduce((a, b) => a + b))",
    rows + people + "output(people.sort((a, b) => spent(b.id) - spent(a.id))[0].name)",
    rows + people + "const sums = {}; for (const { id, region } of people) sums[region] = (sums[region] ?? 0) + spent(id); output(sums)",
    rows + "memoryCreateEntities({ entities: [{ name: 'orders', entityType: 'summary', observations: [`${rows.length} orders`] }] }); output(`There are ${rows.length}.`)",
  ];
  const able = await recorded(programs.map((code, i) => ({ user: prompts[i], replies: [code + "; done()"] })));
  const end = await run(["eval", join(root, "examples/eval/tasks.yaml"), "--config", join(root, "examples/eval/lathe.yaml"), "-m", "code"], { env: { ...able, LATHE_EVAL_MEMORY: join(folder(), "memory.jsonl") } });
  assert.equal(end.code, 0, end.stderr);
  assert.match(end.stdout, /\ncode +5\/5 +1\.0 /);
});
test("files that make no sense are said to, with the line", async () => {
  const wrong = async (value, pattern) => {
    const end = await run(["eval", config(value)], { env });
    assert.deepEqual([end.code, end.stdout], [3, ""]);
    assert.match(end.stderr, pattern);
  };
  await wrong({ tasks: [] }, /^lathe eval: .*there are no tasks/);
  await wrong("[]", /^lathe eval: .*:1: the file is a mapping, not a list/);
  await wrong({ tasks: [{ name: "a", prompt: "b", check: { contain: "x" } }] }, /unknown key "contain" in check/);
  await wrong({ tasks: [{ name: "a", check: { contains: "x" } }] }, /a task needs the key "prompt"/);
  await wrong({ tasks: [{ name: "a", prompt: "b", check: {} }] }, /a check is one of contains, matches, json and js/);
  await wrong({ tasks: [{ name: "a", prompt: "b" }] }, /check is a mapping, not nothing/);
  assert.equal((await run(["eval"], { env })).code, 2);
});
test("modes that make no sense are said to, before anything is tried", async () => {
  const wrong = async (modes, pattern) => {
    const end = await evaluate([{ prompt: "forty-two", check: { contains: "42" } }], ["-m", modes]);
    assert.deepEqual([end.code, end.stdout], [2, ""]);
    assert.match(end.stderr, pattern);
  };
  await wrong("classic,nope", /^lathe: there is no mode "nope"; there is: classic, code, .*typescript\n$/);
  await wrong("code,classic,code", /^lathe eval: -m names the mode "code" twice\n$/);
  for (const modes of ["", ",", "code,"]) await wrong(modes, /^lathe eval: -m wants modes with commas between/);
  await wrong("1,2,3,4,5,6,7,8,9", /^lathe eval: -m takes at most 8 modes\n$/);
});
test("-m with several modes compares those", async () => {
  const end = await evaluate([{ prompt: "forty-two", check: { contains: "42" } }], ["-m", "typescript,code"]);
  assert.match(end.stdout, /^mode .*\ntypescript +1\/1 .*\ncode +1\/1 .*\n$/);
});
