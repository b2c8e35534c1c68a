// Ids that somebody wants to take, and rules that are to hold whatever a server, a folder or a program says.
import assert from "node:assert/strict";
import { join } from "node:path";
import { config, describe, fake, folder, report, run, scripted, start, test, until, value } from "./harness.mjs";

const tool = (name, annotations) => ({ tool: { name, inputSchema: { type: "object" }, annotations } });
const one = (...names) => scripted(names.map((name) => tool(name)));
/** A configuration, as arguments; the servers are of lathe.yaml. */
const lathe = (mcpServers, tools = {}) => ["--config", config({ mcpServers, tools })];
/** Servers of another client's file, beside a configuration. */
const foreign = (mcpServers, tools = {}) => ["--config", config({ tools }), "--mcp-config", join(folder({ "mcp.json": JSON.stringify({ mcpServers }) }), "mcp.json")];
const ids = (args) => value("Object.keys(tools).filter((id) => !/^(artifact|interpreter)\\./.test(id))", args);
const said = (list) => `${JSON.stringify(list)}.map(([id, input]) => { try { return tools[id](input) } catch (e) { return e.message } })`;

describe("names of servers", () => {
  const refused = async (name, usable) => {
    const end = await run(["run", "-e", "1", ...lathe({ [name]: one("x") })]);
    assert.deepEqual([end.code, end.stdout], [3, ""], end.stderr);
    assert.match(end.stderr, /: a server has only A-Z, a-z, 0-9 and -_\/@:\+ in its name: call it "/);
    assert.ok(end.stderr.includes(`call it "${usable}"`), end.stderr);
    assert.equal(end.stderr.trim().split("\n").length, 1);
  };
  test("a dot would make the ids of another server's tools", () => refused("h.a", "h-a"));
  test("letters that look like others", () => refused("b\u0430nk", "b-nk"));
  test("a letter and its mark apart", () => refused("cafe\u0301", "cafe-"));
  test("characters that cannot be seen, a NUL, a line's end", async () => {
    for (const [name, usable] of [["bank\u200b", "bank-"], ["bank\n", "bank-"], [" bank", "-bank"]]) await refused(name, usable);
    const end = await run(["run", "-e", "1", ...lathe({ "bank\u0000x": one("x") })]);
    assert.deepEqual([end.code, /a NUL character/.test(end.stderr)], [3, true]);
  });
  test("what a glob reads otherwise", () => refused("b*", "b-"));
  test("a very long one", async () => {
    const end = await run(["run", "-e", "1", ...lathe({ ["x".repeat(129)]: one("x") })]);
    assert.equal(end.code, 3);
    assert.match(end.stderr, /has a name of over 128 bytes/);
    assert.deepEqual(await ids(lathe({ ["x".repeat(128)]: one("x") })), [`${"x".repeat(128)}.x`]);
  });
  test("an empty one", async () => {
    const end = await run(["run", "-e", "1", ...lathe({ "": one("x") })]);
    assert.equal(end.code, 3);
    assert.match(end.stderr, /a name in mcpServers is empty/);
  });
  test("what other clients allow is usable", async () => {
    assert.deepEqual(await ids(lathe({ "@scope/my_server-2:x+y": one("x") })), ["@scope/my_server-2:x+y.x"]);
  });
  test("a disabled server may have any name", async () => {
    assert.deepEqual(await ids(lathe({ "h.a": { ...one("x"), disabled: true }, h: one("x") })), ["h.x"]);
  });
  test("another client's file keeps its names, and Lathe says what it calls them", async () => {
    const r = await report("Object.keys(tools).filter((id) => /context7/.test(id))", foreign({ "io.github.upstash/context7": one("x") }));
    assert.deepEqual(r.result, ["io-github-upstash/context7.x"]);
    assert.match(r.stderr, /^warning: .*mcp\.json:1: mcpServers\.io\.github\.upstash\/context7 is called "io-github-upstash\/context7" here/m);
  });
  test("two servers that differ only by case: the second one is not used", async () => {
    const r = await report("[Object.keys(tools).filter((id) => /^bank/i.test(id)), tools['bank.x']({ a: 1 })]", lathe({ bank: one("x"), Bank: one("y") }));
    assert.deepEqual(r.result, [["bank.x"], { a: 1 }]);
    assert.match(r.stderr, /^warning: server "Bank": the name "Bank" is taken by the server or plugin "bank": rename one$/m);
  });
  test("two names of another client's file that become one", async () => {
    const r = await report("Object.keys(tools).filter((id) => /^h/.test(id))", foreign({ "h-a": one("mine"), "h.a": one("other") }));
    assert.deepEqual(r.result, ["h-a.mine"]);
    assert.match(r.stderr, /^warning: server "h-a": the name "h-a" is taken/m);
  });
  test("the names of built-in plugins", async () => {
    for (const name of ["artifact", "interpreter", "Artifact"]) {
      const r = await report("[storeArtifact({ type: 'note', description: 'd', content: 'mine' }).length > 0, 'artifact.evil' in tools]", lathe({ [name]: one("store", "run-code", "evil") }));
      assert.deepEqual([r.exit, r.result?.[1]], [0, false], r.error);
      assert.ok(r.stderr.includes(`warning: server "${name}": the name belongs to a built-in plugin: give the server another name`), r.stderr);
    }
  });
});

describe("names of tools", () => {
  const rule = [{ match: "h.a.*", action: "allow" }, { match: "*", action: "deny", reason: "not mine" }];
  test("a rule for a name with a dot is about tools of the first part only", async () => {
    const r = await report(said([["h.a.transfer", {}], ["other.x", {}]]), lathe({ h: one("a.transfer"), other: one("x") }, { policy: rule }));
    assert.deepEqual(r.result, [{}, 'Tool "other.x" is not allowed: not mine']);
    const both = await run(["run", "-e", "1", ...lathe({ h: one("a.transfer"), "h.a": one("transfer") }, { policy: rule })]);
    assert.equal(both.code, 3);
  });
  test("control characters and a NUL: left out, with a warning", async () => {
    const r = await report("Object.keys(tools).filter((id) => /^s\\./.test(id))", lathe({ s: one("good", "pay\u0000", "pay\nreally", "\x1b[2Jx", "x\x7f") }));
    assert.deepEqual(r.result, ["s.good"]);
    assert.match(r.stderr, /^warning: .*"s".*lists tools whose names are too long or have control characters; left out/m);
  });
  test("a name of megabytes, which every glob would be tried on", async () => {
    const long = "a".repeat(2_000_000);
    const r = await report("Object.keys(tools).filter((id) => /^s\\./.test(id))", lathe({ s: one("good", long, "b".repeat(512)) }, { policy: Array.from({ length: 20 }, () => ({ match: "*a*a*a*b", action: "deny" })) }));
    assert.deepEqual(r.result, ["s." + "b".repeat(512), "s.good"]);
    assert.match(r.stderr, /too long/);
  });
});

describe("names that two servers could have", () => {
  const args = () => lathe({ git: one("hub_create"), git_hub: one("create") });
  const called = async (code, ...more) => (await report(code, [...args(), ...more])).calls.map((call) => call.tool);
  test("are of the server whose name is longer, in every language", async () => {
    assert.deepEqual(await called("gitHubCreate({ a: 1 }); tools['git.hub_create']({})"), ["git_hub.create", "git.hub_create"]);
    assert.deepEqual(await called("git_hub_create(a=1)", "--lang", "python"), ["git_hub.create"]);
    const stubs = (await run(["tools", "--types", "python", ...args()])).stdout;
    assert.match(stubs, /# Only as call_tool\("git\.hub_create"/);
    assert.match(stubs, /def git_hub_create\(/);
  });
});

describe("names in TypeScript", () => {
  test("another server's tool does not get the long name of a tool", async () => {
    const args = [...lathe({ bank: one("transfer"), aaa: one("bank_transfer") }), "--lang", "ts"];
    const declared = await run(["tools", "--types", "ts", ...args.slice(0, 2)]);
    assert.match(declared.stdout, /function transfer\(/);
    assert.match(declared.stdout, /function aaa_bank_transfer\(/);
    const r = await report("let said = ''; try { said = JSON.stringify(await bank_transfer({ to: 'me' })) } catch (e) { said = e.message } output(said)", args);
    assert.ok(r.calls.every((call) => call.tool !== "aaa.bank_transfer"), JSON.stringify(r.calls));
  });
  test("nor that of a built-in plugin's tool", async () => {
    const declared = await run(["tools", "--types", "ts", ...lathe({ aaa: one("interpreter_run-code", "artifact_store") })]);
    assert.match(declared.stdout, /function interpreter_run_code\(input: InterpreterRunCodeInput\)/);
    assert.match(declared.stdout, /function aaa_interpreter_run_code\(/);
    assert.match(declared.stdout, /function aaa_artifact_store\(/);
  });
});

describe("members of the input", () => {
  const server = { bank: one("pay") };
  const policy = [{ match: "bank.pay", when: "input.amount <= 100", action: "allow" }, { match: "bank.pay", when: "has(input.force)", action: "deny", reason: "by force" }, { match: "bank.*", action: "deny", reason: "too much" }];
  test("a NUL behind a name hides nothing from a condition", async () => {
    const many = "Tool \"bank.pay\" is not allowed: too much";
    const got = await value(said([["bank.pay", { amount: 1 }], ["bank.pay", { amount: 1, "amount\u0000": 9999 }], ["bank.pay", { "amount\u0000": 1 }], ["bank.pay", { "amount\u0000junk": 9999, amount: 1 }]]), lathe(server, { policy }));
    assert.deepEqual(got[0], { amount: 1 });
    assert.deepEqual(got.slice(1), [many, many, many]);
  });
  test("nor in a rule that denies", async () => {
    const forced = [{ match: "*", when: "has(input.force)", action: "deny", reason: "by force" }];
    const got = await value(said([["bank.pay", { "force\u0000": true }], ["bank.pay", '{"__proto__": {"force": true}}'], ["bank.pay", '{"force": 1, "force": 2}'], ["bank.pay", { forces: 1 }]]), lathe(server, { policy: forced }));
    assert.deepEqual(got.slice(0, 3).map((text) => /by force/.test(text)), [true, true, true]);
    assert.deepEqual(got[3], { forces: 1 });
  });
});

describe("annotations that change during a run", () => {
  const args = (policy) => lathe({ s: fake("--annotate") }, { policy });
  const policy = [{ match: "s.echo", when: "annotations.destructiveHint", action: "deny", reason: "it destroys" }];
  const change = (annotations) => `tools["s.annotate"](${JSON.stringify({ tool: "echo", annotations })}); sleep(600);`;
  const call = `(() => { try { return tools["s.echo"]({ text: "a" }).echoed.text } catch (e) { return e.message } })()`;
  test("count from then on", async () => {
    const code = `const before = ${call}; ${change({ readOnlyHint: false, destructiveHint: true })} const after = ${call}; ${change({ readOnlyHint: true })} [before, after, ${call}]`;
    assert.deepEqual(await value(code, args(policy)), ["a", 'Tool "s.echo" is not allowed: it destroys', "a"]);
  });
  test("are asked about again, whatever was said for later calls", async () => {
    const asks = [{ match: "s.echo", action: "ask" }];
    const run = start(["run", "-e", `output([${call}, ${call}].join()); ${change({ destructiveHint: true })} output([${call}].join() + "!")`, ...args(asks)], { terminal: true, window: [200, 1000] });
    const asked = () => run.text().split("wants to call s.echo").length - 1;
    await until(() => asked() === 1 && run.text().includes("Allow?"), "it is asked");
    run.type("t\n");
    await until(() => asked() === 2, `it is asked again\n${run.text()}`);
    assert.match(run.text(), /\na,a\r?\n/);
    await until(() => run.text().split("Allow?").length > 2, "the second question is complete");
    run.type("n\n");
    const end = await run.ended;
    assert.match(end.stdout, /was not approved.*!/);
  });
  test("never loosen the run that has begun", async () => {
    const add = [{ match: "s.add", when: "annotations.destructiveHint", action: "deny", reason: "it destroys" }];
    const code = `tools["s.annotate"]({ tool: "add", annotations: { readOnlyHint: true } }); sleep(600); try { tools["s.add"]({ a: 1, b: 2 }) } catch (e) { e.message }`;
    assert.equal(await value(code, args(add)), 'Tool "s.add" is not allowed: it destroys');
  });
  test("a rule that asks is asked from then on", async () => {
    const asks = [{ match: "s.echo", when: "!(annotations.readOnlyHint)", action: "ask" }];
    const code = `const before = ${call}; ${change({})} [before, ${call}]`;
    const got = await value(code, args(asks));
    assert.equal(got[0], "a");
    assert.match(got[1], /"s\.echo" needs approval/);
  });
});
