// lathe call: one tool from the command line, as a program would call it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, folder, only, prints, recording, run, scripted, servers, start, test, until } from "./harness.mjs";

const text = (...texts) => ({ content: texts.map((one) => ({ type: "text", text: one })) });
const object = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const tools = () => scripted([
  { tool: { name: "echo", inputSchema: { type: "object" } } },
  { tool: { name: "get-text", inputSchema: { type: "object" } }, result: text("a\nb") },
  { tool: { name: "number_text", inputSchema: { type: "object" } }, result: text("42") },
  { tool: { name: "json_text", inputSchema: { type: "object" } }, result: text('{"a": 1}') },
  { tool: { name: "read", inputSchema: object } },
  { tool: { name: "fail", inputSchema: { type: "object" } }, result: { ...text("the disk is full"), isError: true } },
]);
const call = (args, options = {}) => run(["call", ...args, ...servers({ fake: tools() }, options.config)], options);
const fails = async (args, stderr, options, code = 1) => {
  const end = await call(args, options);
  assert.equal(end.code, code, end.stderr);
  assert.equal(end.stdout, "");
  assert.match(end.stderr, stderr);
};

describe("a call", () => {
  test("prints the value as a program gets it", async () => {
    prints(await call(["fake.echo", '{"a": [1, "é"]}']), { stdout: '{"a":[1,"é"]}\n' });
    prints(await call(["fake.echo"]), { stdout: "{}\n" });
    prints(await call(["fake.get-text"]), { stdout: "a\nb\n" });
    prints(await call(["fake.get-text", "--json"]), { stdout: '"a\\nb"\n' });
    prints(await call(["fake.number_text"]), { stdout: "42\n" });
    prints(await call(["fake.number_text", "--json"]), { stdout: '"42"\n' });
    prints(await call(["fake.json_text"]), { stdout: '{"a": 1}\n' });
  });

  test("takes its input from a file and from standard input", async () => {
    const cwd = folder({ "in.json": '{"a": 1}' });
    prints(await call(["fake.echo", "@in.json"], { cwd }), { stdout: '{"a":1}\n' });
    prints(await call(["fake.echo", "-"], { stdin: '{"b": 2}' }), { stdout: '{"b":2}\n' });
  });

  test("takes the tool's name in any language", async () => {
    for (const name of ["fake.get-text", "fakeGetText", "get_text", "fake_get-text"]) {
      prints(await call([name]), { stdout: "a\nb\n" });
    }
  });
});

describe("a call that fails", () => {
  test("says what the tool says, and exits with 1", async () => {
    await fails(["fake.fail"], /^error: .*the disk is full\n$/);
  });

  test("an unknown tool: similar names, and exit 1", async () => {
    await fails(["fake.ecko"], /^error: .*fake\.ecko.*Did you mean: fake\.echo/);
  });

  test("an input that does not fit: the path", async () => {
    await fails(["fake.read", "{}"], /^error: .*path/);
    await fails(["fake.read", '{"path": 5}'], /^error: .*input\.path: expected string/);
    await fails(["fake.echo", "[1]"], /^error: .*object/);
  });

  test("what is not JSON never starts anything: exit 2", async () => {
    const record = recording();
    const asked = async (args, stderr, options) => {
      const end = await run(["call", "fake.echo", ...args, ...only({ fake: { command: "touch", args: [record.path] } })], options);
      assert.equal(end.code, 2, end.stderr);
      assert.match(end.stderr, stderr);
      assert.deepEqual(record.messages(), []);
    };
    await asked(["{a: 1}"], /^lathe call: the input is not JSON: .*line 1, column 2/);
    await asked(["@missing"], /^lathe call: cannot open missing/);
    await asked(["@."], /^lathe call: cannot read \.: Is a directory/);
    await asked(["-"], /^lathe call: standard input is not JSON: .*line 2, column 1/, { stdin: '{"a":\n!}' });
    await asked(["{}", "{}"], /^lathe call: give a TOOL and at most one input/);
    const none = await run(["call"]);
    prints(none, { stderr: "lathe call: give a TOOL and at most one input, as one word of JSON, @FILE or -\n", code: 2 });
  });

  test("a value beyond its time: exit 124", async () => {
    const slow = scripted([{ tool: { name: "slow", inputSchema: { type: "object" } }, delayMs: 20_000 }]);
    const end = await run(["call", "fake.slow", "--timeout", "200", ...servers({ fake: slow })]);
    assert.equal(end.code, 124, end.stderr);
    assert.match(end.stderr, /^error: .*200 ms/);
  });

  test("Ctrl-C ends it with 130", async () => {
    const wire = recording();
    const slow = scripted([{ tool: { name: "slow", inputSchema: { type: "object" } }, delayMs: 20_000 }], wire.option);
    const going = start(["call", "fake.slow", ...servers({ fake: slow })]);
    await until(() => wire.of("tools/call").length > 0, "the tool is called");
    going.child.kill("SIGINT");
    assert.equal((await going.ended).code, 130);
  });
});

describe("rules hold", () => {
  const rules = (action) => ({ config: { tools: { policy: [{ match: "fake.*", action, reason: "house rule" }] } } });

  test("deny", async () => fails(["fake.echo"], /^error: .*house rule/, rules("deny")));
  test("ask without a terminal", async () => fails(["fake.echo"], /^error: .*needs approval and there is no terminal/, rules("ask")));
  test("ask with --yes", async () => prints(await call(["fake.echo", "--yes"], rules("ask")), { stdout: "{}\n" }));

  test("ask at a terminal", async () => {
    for (const [answer, code, shown] of [["y\n", 0, /\{"a":1\}/], ["n\n", 1, /error: /]]) {
      const going = start(["call", "fake.echo", '{"a":1}', ...servers({ fake: tools() }, rules("ask").config)], { terminal: true });
      await until(() => /house rule/.test(going.text()) && /\? *$/.test(going.text().replace(/\x1b\[[0-9;?]*[A-Za-z]/g, "")) || /\[.*\]/.test(going.text()), "the question is there");
      going.type(answer);
      const end = await going.ended;
      assert.equal(end.code, code, end.stdout);
      assert.match(end.stdout, shown);
    }
  });

  test("--journal records it", async () => {
    const cwd = folder();
    const args = servers({ fake: tools() }, { store: `sqlite:${join(cwd, "s.db")}` });
    prints(await run(["call", "fake.echo", '{"n":7}', "--journal", ...args]), { stdout: '{"n":7}\n' });
    const rows = spawnSync("python3", ["-S", "-c", `import sqlite3; print(sqlite3.connect(${JSON.stringify(join(cwd, "s.db"))}).execute("select count(*) from calls where tool = 'fake.echo'").fetchone()[0])`], { encoding: "utf8" });
    assert.equal(rows.stdout.trim(), "1", rows.stderr);
  });
});
