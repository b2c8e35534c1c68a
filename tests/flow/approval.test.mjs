// Calls that a person at the terminal is asked about: what they see, what they may answer, what the program gets.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, fake, folder, patience, program, report, servers, sleep, start, test, until } from "./harness.mjs";

const QUESTION = "Allow? [y]es / [n]o / [e]dit / [?] help / [a]lways... / ne[v]er: ";
const asking = (rest = {}) => servers({ fake: fake() }, { tools: { policy: [{ match: "fake.*", action: "ask", ...rest }] } });
const OR_SHOW = QUESTION.replace("[?]", "[s]how all / [?]");
const questions = (text, question = QUESTION) => text.split(question).length - 1;

/** Runs a program at a terminal and types these answers, each when its question is there; what was shown, and the code. */
async function talk(code, answers, { args = asking(), question, ...options } = {}) {
  const run = start(["run", "-e", code, ...args], { terminal: true, window: [200, 1000], ...options });
  for (const [i, answer] of answers.entries()) {
    await until(() => questions(run.text(), question) > i, `question ${i + 1} is asked\n${run.text()}`);
    run.type(answer);
  }
  const end = await run.ended;
  return { ...end, shown: end.stdout.replaceAll("\r\n", "\n") };
}
/** What the program says it got for a call of fake.add. */
const ADD = "let r; try { r = fakeAdd({ a: 1, b: 2 }) } catch (e) { r = e.message }; output('got ' + r)";

describe("what is shown", () => {
  test("the tool, the reason, the input, the question", async () => {
    const end = await talk(ADD, ["y\n"], { args: asking({ reason: "it adds" }) });
    assert.ok(end.shown.includes(`\nThe program wants to call fake.add\n  why it is asked: it adds\n  input: {"a":1,"b":2}\n${QUESTION}`), end.shown);
    assert.match(end.shown, /\ngot 3\n/);
    assert.equal(end.code, 0);
  });
  test("a long input is indented, long texts and lists are cut and their size is said", async () => {
    const input = "{ text: 'x'.repeat(5000), list: Array.from({ length: 100 }, (_, i) => i), deep: { a: [{ b: null }] } }";
    const end = await talk(`fakeEcho(${input}); 0`, ["y\n"], { question: OR_SHOW });
    assert.match(end.shown, /  input: \{\n    "text": "x{199}" \.\.\. 4602 bytes hidden \.\.\. "x{199}",\n    "list": \[\n      0,\n/);
    assert.match(end.shown, /\n      19\n      \.\.\. and 80 more\n    \],\n    "deep": \{\n      "a": \[\n        \{\n          "b": null\n        \}\n/);
    assert.ok(end.shown.length < 3000);
  });
  test("what is hidden is said to be, its end is seen, and s shows all of it before anything is decided", async () => {
    const input = "{ command: 'echo ' + 'a'.repeat(2000) + '\\x1b[2K HIDDEN ' + 'b'.repeat(2000) + ' && rm -rf /', list: Array.from({ length: 100 }, (_, i) => 'item ' + i) }";
    const run = start(["run", "-e", `fakeEcho(${input}); output('called')`, ...asking()], { terminal: true, window: [200, 5000] });
    await until(() => questions(run.text(), OR_SHOW) > 0, "it asks");
    const first = run.text().replaceAll("\r\n", "\n");
    assert.match(first, /"command": "echo a+" \.\.\. \d+ bytes hidden \.\.\. "b+ && rm -rf \/",/);
    assert.match(first, /\n  Part of the input is hidden: answer s to see all of it before you decide\.\nAllow\?/);
    assert.doesNotMatch(first, /HIDDEN|item 99|called/);
    run.type("s\n");
    await until(() => questions(run.text()) > 0, "it asks again, with nothing left to show");
    const all = run.text().slice(first.length);
    assert.ok(all.includes("a\\u001b[2K HIDDEN b") && all.includes('"item 99"'), all);
    assert.doesNotMatch(all, /hidden|called|\x1b/);
    run.type("y\n");
    assert.match((await run.ended).stdout, /called/);
  });
  test("nothing in the input steers the terminal", async () => {
    const end = await talk("fakeEcho({ text: '\\x1b[2J\\x07\\u009b31m\\u202egnp.exe\\u200b\\x7f\\r', 'k\\x1b[1m': 1 }); 0", ["n\n"]);
    const call = end.shown.slice(end.shown.indexOf("wants to call"), end.shown.indexOf(QUESTION));
    assert.doesNotMatch(call, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]/);
    assert.match(call, /\\u001b\[2J/);
  });
  test("secrets are masked", async () => {
    const config = { fake: { ...fake(), env: { MY_API_KEY: "${KEY_FOR_TEST}" } } };
    const args = servers(config, { tools: { policy: [{ match: "fake.echo", action: "ask" }] } });
    const end = await talk("const key = fakeEnv({ name: 'MY_API_KEY' }); fakeEcho({ text: key }); 0", ["y\n"], { args, env: { KEY_FOR_TEST: "s3cr3t-value" } });
    assert.match(end.shown, /input: \{"text":"\*\*\*"\}/);
    assert.ok(!end.shown.includes("s3cr3t"));
  });
  test("nor does anything the program or a tool says; what is no terminal gets it as it is", async () => {
    const code = "const x = '\\x1b[2Jgone\\x07'; log(x); console.error(x); output(x); throw new Error(x)";
    const end = await talk(code, [], { args: [] });
    assert.doesNotMatch(end.shown.replace(/^.*tools called before.*$/gm, ""), /[\x00-\x09\x0b-\x1f\x7f]/);
    assert.equal(end.shown.match(/gone/g).length, 4 + (end.shown.match(/at 1:/) ? 1 : 0));
    const piped = await start(["run", "-e", "output('\\x1b[1mbold'); log('\\x1b[1mbold')"]).ended;
    assert.equal(piped.stdout, "\x1b[1mbold\n");
    assert.equal(piped.stderr, "[log] \x1b[1mbold\n");
  });
});

describe("answers", () => {
  for (const yes of ["y", "Y", "yes", " YES. "]) {
    test(`"${yes}" is yes`, async () => assert.match((await talk(ADD, [yes + "\n"])).shown, /\ngot 3\n/));
  }
  for (const no of ["n", "No", "no."]) {
    test(`"${no}" is no`, async () => assert.match((await talk(ADD, [no + "\n"])).shown, /\ngot .*"fake\.add" was not approved: Rejected by user\n/));
  }
  test("a no may say why, and the program hears it", async () => {
    assert.match((await talk(ADD, ["n try b: 3\n"])).shown, /\ngot .*not approved: try b: 3\n/);
    assert.match((await talk(ADD, ["no, because it is late\n"])).shown, /\ngot .*not approved: it is late\n/);
  });
  test("what is not clear is asked again", async () => {
    const end = await talk(ADD, ["\n", "yes, but only once\n", "perhaps\n", "y\n"]);
    assert.equal(questions(end.shown), 4);
    assert.match(end.shown, /\ngot 3\n/);
  });
  test("always holds for that tool, not for others", async () => {
    const end = await talk("output([fakeAdd({a:1,b:2}), fakeAdd({a:3,b:4}), fakeEcho({text: 'x'}).echoed.text].join())", ["t\n", "y\n"]);
    assert.equal(questions(end.shown), 2);
    assert.match(end.shown, /\n3,7,x\n/);
  });
  test("never, too, and the program is told", async () => {
    const end = await talk(`${ADD};${ADD.replace("let r;", "")}`, ["v\n"]);
    assert.equal(questions(end.shown), 1);
    assert.equal(end.shown.match(/got .*does not want this tool to be called, until this run ends/g).length, 2);
  });
  test("several at once are asked one after another, ; an always settles those that wait", async () => {
    const calls = "Promise.all([1, 2, 3, 4].map((a) => fakeAdd({ a, b: 0 }).catch(() => 'no')))";
    const end = await talk(`output((await ${calls}).join())`, ["n\n", "y\n", "t\n"]);
    assert.equal(questions(end.shown), 3);
    assert.deepEqual([...end.shown.matchAll(/input: \{"a":(\d)/g)].map((m) => m[1]), ["1", "2", "3"]);
    assert.match(end.shown, /\nno,2,3,4\n/);
  });
  test("what was typed before the question is no answer", async () => {
    const run = start(["run", "-e", `output('ready'); const until = Date.now() + 400; while (Date.now() < until); ${ADD}`, ...asking()], { terminal: true });
    await until(() => run.text().includes("ready"), "it runs");
    run.type("y\n");
    await until(() => questions(run.text()) > 0, "it asks");
    await sleep(100);
    assert.doesNotMatch(run.text(), /got/);
    run.type("n\n");
    assert.match((await run.ended).stdout, /not approved/);
  });
  test("the end of input is a no", async () => {
    const end = await talk(ADD, ["\x04"]);
    assert.match(end.shown, /got .*not approved: nobody answered/);
    assert.equal(end.code, 0);
  });
  test("Ctrl-C ends the run", async () => {
    const end = await talk(`${ADD}; fakeAdd({ a: 5, b: 6 }); output('went on')`, ["\x03"]);
    assert.equal(end.code, 130);
    assert.doesNotMatch(end.shown, /got 3|went on/);
    assert.equal(questions(end.shown), 1);
  });
  test("Ctrl-C ends the run with others waiting for their turn", async () => {
    const end = await talk("await Promise.all([1, 2, 3].map((a) => fakeAdd({ a, b: 0 })))", ["\x03"]);
    assert.equal(end.code, 130);
  });
});

describe("where it asks", () => {
  test("the program may come from standard input", async () => {
    const file = join(folder({ "p.js": ADD }), "p.js");
    const run = start(["run", ...asking()], { terminal: true, redirect: `<${file}` });
    await until(() => questions(run.text()) > 0, "it asks");
    run.type("y\n");
    assert.match((await run.ended).stdout, /got 3/);
  });
  test("standard output may go elsewhere, and has nothing of it", async () => {
    const out = join(folder(), "out");
    const run = start(["run", "--json", "-e", ADD, ...asking()], { terminal: true, redirect: `>${out}` });
    await until(() => questions(run.text()) > 0, "it asks");
    run.type("y\n");
    await run.ended;
    assert.deepEqual(JSON.parse(readFileSync(out, "utf8")).outputs, ["got 3"]);
  });
  test("messages may go elsewhere: the question is there, once", async () => {
    const err = join(folder(), "err");
    const run = start(["run", "-e", `log('before'); const p = fakeAdd({ a: 1, b: 2 }).then((v) => v); await sleep(100); log('meanwhile'); output('got ' + (await p))`, ...asking()], { terminal: true, redirect: `2>${err}` });
    await until(() => existsSync(err) && readFileSync(err, "utf8").includes("meanwhile") && questions(run.text()) > 0, "it asks");
    run.type("y\n");
    const end = await run.ended;
    assert.equal(readFileSync(err, "utf8"), "[log] before\n[log] meanwhile\n");
    assert.equal(questions(end.stdout), 1);
    assert.match(end.stdout, /got 3/);
  });
  test("without a terminal the call fails with what to do", async () => {
    const r = await report(ADD, asking());
    assert.match(r.outputs[0], /"fake\.add" needs approval and there is no terminal to ask on: run it in a terminal, or allow it in the configuration: tools: \{policy: \[\{match: "fake\.add", action: allow\}\]\}/);
    assert.equal(r.exit, 0);
  });
  test("nor with the terminal behind neither input nor messages", async () => {
    const out = join(folder(), "out");
    const end = await start(["run", "-e", ADD, ...asking()], { terminal: true, redirect: `</dev/null 2>${out}` }).ended;
    assert.match(end.stdout, /no terminal to ask on/);
  });
  test("--yes approves, there or not, but not what is denied", async () => {
    for (const flag of ["--yes", "-y"]) {
      assert.deepEqual((await report(ADD, [flag, ...asking()])).outputs, ["got 3"]);
    }
    const denied = servers({ fake: fake() }, { tools: { policy: [{ match: "*", action: "deny" }] } });
    assert.match((await report(ADD, ["-y", ...denied])).outputs[0], /not allowed/);
    const end = await talk(ADD, [], { args: ["-y", ...asking()] });
    assert.match(end.shown, /got 3/);
    assert.equal(questions(end.shown), 0);
  });
});

describe("time", () => {
  test("the deadline stands still while somebody is asked", async () => {
    const run = start(["run", "-e", ADD, "--timeout", 600 * patience, ...asking()], { terminal: true });
    await until(() => questions(run.text()) > 0, "it asks");
    await sleep(1200 * patience);
    run.type("y\n");
    const end = await run.ended;
    assert.match(end.stdout, /got 3/);
    assert.equal(end.code, 0);
  });
  test("not while the program has something else to do: then the question goes with the run", async () => {
    const end = await talk("const p = fakeAdd({ a: 1, b: 2 }).then(() => 0); await sleep(1); for (;;);", [], { args: ["--timeout", 400, ...asking()] });
    assert.equal(end.code, 124);
  });
});
