// What lathe chat shows at a terminal of 40, 80 and 200 columns: rendered answers, programs while they are written, calls that run, commands.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { describe, folder, noWalls, run, scripted, servers, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { screen, styled } from "./screen.mjs";

const WIDTHS = [40, 80, 200];
const prose = "A long paragraph with **bold words**, *leaning ones*, `inline code` and a [link](https://example.com/a). " + "Words that fill the line. ".repeat(8).trim();
const document = `# Heading

${prose}

- one item whose text is long enough to be broken in a narrow window
  - two 漢字漢字漢字漢字漢字漢字漢字漢字

> quoted words, and more of them than forty columns have room for

\`\`\`python
def twice(x):  # a comment
    return "two" * x
\`\`\`

| name | what it does | when |
|------|--------------|-----:|
| first | reads a file and says what is in it, line by line | 1 |
| second | \`a|b\` | 22 |
Done.`;

const long = `// ${"x".repeat(60)}\nconst got = parallel([1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ tool: n > 6 ? 'slow.wait' : 'slow.look', args: { n } })));\n${Array.from({ length: 30 }, (_, i) => `let v${i} = "${i}";`).join("\n")}\noutput('*' + got.length + '* answers');\ndone();`;
const slow = { slow: scripted(["wait", "look"].map((name) => ({ tool: { name, inputSchema: { type: "object" } }, delayMs: 1200, result: { content: [{ type: "text", text: "looked" }] } }))) };

const asked = servers({ shop: scripted([{ tool: { name: "pay", inputSchema: { type: "object" } }, result: { content: [{ type: "text", text: "paid" }] } }]) }, { tools: { policy: [{ match: "shop.pay", action: "ask", reason: "it spends money" }] } });
const wide = `${"漢字".repeat(30)} and more`;
const SNAKE = "def twice(x):  # a comment\n    return None\nprint(twice(1))\n";

let env;
before(async () => {
  env = { ...(await recorded([
    { user: "document", replies: [document] },
    { user: "slow", replies: [{ text: "At last.", waitMs: 1500 }] },
    { user: "half", replies: ["The other half."] },
    { user: "short", replies: ["An *answer*."] },
    { user: "pay", replies: [{ calls: [{ name: "shop_pay", arguments: { n: 1, to: "somebody with a name that is longer than forty columns" } }] }, "Paid."] },
    { user: wide, replies: ["Read."] },
    { user: "python", replies: [{ calls: [{ name: "execute_code", arguments: { code: SNAKE } }] }, "Run."] },
    { user: "program", replies: [long] },
    { user: "hostile", replies: ["**a \x1b[2J\x1b]0;title\x07b** \u202e`c\x1b[1A` \u009b2J\n```\n\x1b[31mred\x1b[0m\n```\n| \x1b[1A |\n|-|\n"] },
  ])), XDG_STATE_HOME: folder() };
});
const at = (columns, args, options = {}) => start(["chat", ...args], { terminal: true, window: [50, columns], ...options, env: { ...env, TERM: "xterm", ...options.env } });
/** The screen's lines behind the conversation's id, and before the line of tokens. */
const answerOf = (lines) => lines.slice(lines.findLastIndex((line) => /^(conversation )?[0-9a-f]{5,32}$/.test(line)) + 1, lines.findIndex((line) => / tokens in, /.test(line)));

describe("an answer is rendered", { concurrency: 2 }, () => {
  for (const columns of WIDTHS) {
    test(`at ${columns} columns`, async () => {
      const end = await at(columns, ["document"]).ended;
      const lines = answerOf(screen(end.stdout, columns)), text = lines.join("\n");
      assert.equal(lines[0], "Heading");
      const words = text.slice(text.indexOf("A long"), text.indexOf("• one")).trim();
      assert.equal(words.replace(/\s+/g, " "), prose.replace(/[*`[\]]/g, "").replace("(https", " (https"), "all of it, and no marks");
      for (const line of words.split("\n").slice(0, -1)) assert.ok(line.length <= columns && line.length > columns - 24, line);
      assert.match(text, columns === 40 ? /\n• one item whose text is long enough to\n {2}be broken in a narrow window\n {2}• two 漢字/ : /\n• one item [^\n]*window\n {2}• two 漢字/);
      assert.match(text, columns === 40 ? /\n│ quoted words, and more of them than\n│ forty columns have room for\n/ : /\n│ quoted [^\n]*room for\n/);
      assert.match(text, /\n```python\ndef twice\(x\):  # a comment\n {4}return "two" \* x\n```\n/);
      assert.match(text, /\nname +what it does +when\n─+ {2}─+ {2}─+\nfirst +reads a file[^]*\nsecond {2}a\|b +22\nDone\.$/);
      assert.deepEqual([styled(end.stdout, "Heading"), styled(end.stdout, "bold"), styled(end.stdout, "leaning"), styled(end.stdout, "def"), styled(end.stdout, "# a comment"), styled(end.stdout, '"two"')], [["1", "4"], ["1"], ["3"], ["35"], ["2"], ["32"]]);
    });
  }
  test("nothing in it steers the terminal", async () => {
    const end = await at(80, ["hostile"]).ended;
    assert.equal(answerOf(screen(end.stdout, 80)).join("\n"), "a b c 2J\n```\nred\n```\n\n");
    assert.doesNotMatch(end.stdout, /\x1b\[(2J|31m|1A)|\x1b\]|\u202e|\u009b/);
  });
  test("as it is written where it is no terminal, with NO_COLOR, and with TERM=dumb", async () => {
    assert.equal((await run(["chat", "document"], { env })).stdout, `${document}\n`);
    for (const plain of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      const end = await at(80, ["document"], { env: plain }).ended;
      assert.ok(end.stdout.replaceAll("\r\n", "\n").includes(`${document}\n`), end.stdout);
    }
  });
  test("another width of the window is that of the lines to come", async () => {
    const run = at(200, [], { env: { XDG_STATE_HOME: folder() } });
    await until(() => run.text().includes("> "), "the prompt is shown");
    run.resize(50, 40);
    run.type("document\n");
    await until(() => /Done\.[^]*2004h> /.test(run.text()), "the answer is shown");
    run.type("\x04");
    assert.match((await run.ended).stdout, /forty columns have room for\r\n/);
  });
});

describe("a program is shown while it is written, and its calls while they run", { concurrency: 2 }, () => {
  for (const columns of WIDTHS) {
    test(`at ${columns} columns`, async () => {
      const end = await at(columns, ["-m", "code", "program", ...servers(slow)]).ended;
      const lines = screen(end.stdout, columns), text = lines.join("\n");
      assert.match(text, /\n {2}\| let v13 = "13";\n {2}\| \.\.\. and 18 more lines/);
      assert.equal(text.match(/let v0 =/g).length, 1, "once");
      assert.deepEqual([styled(end.stdout, "let\x1b[0m v0"), styled(end.stdout, '"0"')], [["35"], ["32"]]);
      assert.equal(text.match(/^ {2}slow\.look \{"n":[1-6]\} {2}[\d.]+ (ms|s)$/gm)?.length, 6, text);
      assert.match(text, /\n8 answers\n {2}the program ended after [\d.]+ s\n/);
      assert.doesNotMatch(text, /waiting|running|more calls|^[|/\\-] /m, text);
      const drawn = end.stdout.replace(/\x1b\[[0-9;]*m/g, "");
      assert.match(drawn, /(\r\x1b\[K[|/\\-] slow\.(look|wait) [\d.]+ s\r?\n){5}\r\x1b\[K[|/\\-] 3 more calls/);
      for (const [, row] of drawn.matchAll(/\r\x1b\[K([|/\\-] [^\r\n\x1b]*)/g)) assert.ok(row.length < columns, row);
    });
  }
  test("in the colours of its language", async (t) => {
    if (noWalls()) return t.skip(noWalls());
    const end = await at(80, ["python", "-m", "classic", ...servers({}, { python: {} })]).ended;
    assert.match(end.stdout, /\x1b\[35mdef\x1b\[0m twice\(x\): \x1b\[2m# a comment\x1b\[0m\r\n/);
  });
  test("--verbose, and where it is no terminal: all of it, plain", async () => {
    assert.match((await at(80, ["--verbose", "-m", "code", "program", ...servers(slow)]).ended).stdout, /let\x1b\[0m v29 = \x1b\[32m"29"/);
    const end = await run(["chat", "-m", "code", "program", ...servers(slow)], { env });
    assert.match(end.stderr, /\n {2}\| let v29 = "29";\n {2}\| output\('\*' \+ got\.length \+ '\* answers'\);\n/);
    assert.equal(end.stdout, "*8* answers\n");
  });
});

describe("the dialogue", { concurrency: 2 }, () => {
  /** Does the steps [what is waited for, what is typed then] one after the other; everything that was shown. */
  async function follow(run, steps) {
    let from = 0;
    for (const [shown, typed] of steps) {
      await until(() => run.text().indexOf(shown, from) >= 0, `${JSON.stringify(shown)} is shown\n${run.text()}`);
      from = run.text().indexOf(shown, from) + shown.length;
      run.type(typed);
    }
    return run.ended;
  }
  const fresh = () => ({ XDG_STATE_HOME: folder() });

  for (const columns of WIDTHS) {
    test(`commands, and what Tab completes, at ${columns} columns`, async () => {
      const cwd = folder({ "notes.md": "", "nothing.txt": "", ".hidden": "" });
      mkdirSync(join(cwd, "sub"));
      writeFileSync(join(cwd, "sub/a.md"), "");
      const asked = [["/he\t\n", "Tab completes"], ["/mo\t cla\t\n", "mode: classic"], ["/tools slow.l\t\n", "slowLook"], ["/permissions\n", "slow.wait"], ["/history\n", "Nothing has been said"],
        ["/history x\n", "wants a number"], ["@no\t\t\x15\n", "nothing.txt"], ["@su\t\t\x15\n", "a.md"], ["/halp\n", "did you mean /help"], ["short\n", "tokens in"], ["/history\n", "answer"],
        ["/export notes.md\n", "exists already"], ["/export talk.md\n", "is in talk.md"], ["/usage\n", "1 messages, 1 requests"], ["/compact\n", "was recorded."], ["/undo\n", "Taken back"], ["/qu\t\n", ""]];
      const end = await follow(at(columns, servers(slow), { cwd, env: fresh() }), asked.flatMap(([typed, shown]) => [["\x1b[?2004h> ", typed], [shown, ""]]));
      assert.equal(end.code, 0);
      const lines = screen(end.stdout, columns), text = lines.join("\n");
      for (const name of ["/help", "/model [REF]", "/mode [MODE]", "/tools [QUERY]", "/permissions [QUERY]", "/usage", "/program", "/history [COUNT]", "/export FILE", "/new", "/quit"]) assert.ok(text.includes(`\n  ${name} `), `${name}\n${text}`);
      assert.match(text, /\nnotes\.md +nothing\.txt\n/);
      assert.equal(readFileSync(join(cwd, "talk.md"), "utf8"), "> short\n\nAn *answer*.\n\n");
    });
  }
  for (const columns of WIDTHS) {
    test(`what is typed while an answer runs is sent afterwards, at ${columns} columns`, async () => {
      const end = await follow(at(columns, [], { env: fresh() }), [["\x1b[?2004h> ", "slow\n"], ["waiting for the model", "shorx\x7ft\n\x1b[Aha"], ["1 message is sent", "lf"], ["At last.", ""],
        ["> short", ""], ["answer", ""], ["\x1b[?2004h> ", ""], ["half", "\n"], ["The other half.", ""], ["\x1b[?2004h> ", "slow\n"], ["waiting for the model", "short\n"], ["1 message is sent", "\x03"],
        ["not sent: short", ""], ["\x1b[?2004h> ", "\x04"]]);
      assert.equal(end.code, 0);
      const text = screen(end.stdout, columns).join("\n");
      assert.match(text, /\nAt last\.\n[^>]*\n> short\nAn answer\.\n[^>]*\n> half\nThe other half\.\n/);
      assert.doesNotMatch(text, /message is sent/, "nothing is left of what was drawn");
    });
  }
  test("Ctrl-D while an answer runs ends the dialogue when all is answered", async () => {
    const end = await follow(at(80, [], { env: fresh() }), [["\x1b[?2004h> ", "slow\n"], ["waiting for the model", "short\n\x04never\n"], ["then this ends", ""]]);
    assert.equal(end.code, 0);
    assert.match(screen(end.stdout, 80).join("\n"), /\nAt last\.\n[^>]*\n> short\nAn answer\.\n[^>]*$/);
  });
  test(`-c shows what was said last; the list of conversations has a line for each, at ${WIDTHS.join(", ")} columns`, async () => {
    const own = fresh();
    for (const message of [wide, "short"]) await run(["chat", message], { env: { ...env, ...own } });
    for (const columns of WIDTHS) {
      const end = await follow(at(columns, ["-c", "last"], { env: own }), [["> ", "\x04"]]);
      assert.match(screen(end.stdout, columns).join("\n"), /\n│ short\n\nAn answer\.\n/);
      const list = await run(["conversations"], { env: own, terminal: true, window: [50, columns] });
      const name = `[漢字]{${{ 40: 7, 80: 21, 200: 48 }[columns]}}\\.\\.\\.`;
      const id = columns === 200 ? "[0-9a-f]{32}" : "[0-9a-f]{8}", time = columns === 40 ? "" : " \\d\\d:\\d\\d +1";
      assert.match(screen(list.stdout, columns).join("\n"), new RegExp(`^${id}  [\\d-]{10}${time}  short\n${id}  [\\d-]{10}${time}  ${name}\n*$`));
    }
  });
  for (const columns of WIDTHS) {
    test(`a call that is asked about, at ${columns} columns`, async () => {
      const end = await follow(at(columns, ["pay", "-m", "classic", ...asked], { env: fresh() }), [["ne[v]er: ", "y\n"]]);
      const text = screen(end.stdout, columns).join("\n");
      assert.equal(end.code, 0, text);
      assert.match(text.replaceAll(/\s/g, ""), /Themodelwantstocallshop\.paywhyitisasked:itspendsmoneyinput:\{"n":1,"to":"somebodywithanamethatislongerthanfortycolumns"\}Allow\?/);
      assert.match(text, /\nPaid\.\n/);
      assert.doesNotMatch(text, /^[|/\\-] (shop|waiting)/m, "nothing is left of what was drawn");
    });
  }
});
