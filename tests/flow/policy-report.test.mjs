// Rules that do nothing are reported, and `lathe tools --policy` says which rule holds for each tool.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bare, config, describe, fake, folder, report, run, scripted, test, value } from "./harness.mjs";
import { recorded } from "./model.mjs";

const tool = (name, annotations) => ({ tool: { name, inputSchema: { type: "object" }, annotations } });
const bank = () => scripted([tool("transfer"), tool("balance", { readOnlyHint: true }), tool("close", { destructiveHint: true })]);
const setup = (tools, mcpServers = { bank: bank() }, rest = bare) => config({ mcpServers, tools, ...rest });
const warnings = (end) => end.stderr.split("\n").filter((line) => line.startsWith("warning: ") && / does nothing/.test(line)).map((line) => line.replace(/^warning: \S+: /, ""));
const of = async (tools, mcpServers, args = ["run", "-e", "1"], rest) => warnings(await run([...args, "--config", setup(tools, mcpServers, rest)]));
const policy = (...matches) => ({ policy: matches.map((match) => ({ match, action: "deny" })) });
const nothing = (i, match, nearest, what = "policy", noun = "rule") => `tools.${what}[${i}].match: "${match}" fits no tool, so this ${noun} does nothing (${nearest ? `the nearest is "${nearest}"` : '"lathe tools" lists the ids'})`;

describe("a rule that fits no tool", () => {
  test("is a warning with the nearest name", async () => {
    assert.deepEqual(await of(policy("bank.transfer", "bank.trasnfer", "bnk.*", "bank.tranfer*", "Bank.close", "b?nk.*")), [
      nothing(1, "bank.trasnfer", "bank.transfer"), nothing(2, "bnk.*", "bank.balance"), nothing(3, "bank.tranfer*", "bank.transfer"), nothing(4, "Bank.close", "bank.close"),
    ]);
  });
  test("a budget, too", async () => {
    assert.deepEqual(await of({ budgets: [{ match: "bank.*", calls: 1 }, { match: "bank.tranfser", calls: 1 }] }), [nothing(1, "bank.tranfser", "bank.transfer", "budgets", "budget")]);
  });
  test("far from every name", async () => assert.deepEqual(await of(policy("postgres.query")), [nothing(0, "postgres.query")]));
  test("what fits everything, or is a precaution, is none", async () => assert.deepEqual(await of(policy("*", "*.*", "*drop*", "?*", "bank.*", "*.transfer")), []));
  test("a precaution that is mistyped", async () => assert.deepEqual(await of(policy("*trasnfer*", "*.balence")), [nothing(0, "*trasnfer*", "bank.transfer"), nothing(1, "*.balence", "bank.balance")]));
  test("servers that are down or disabled may have any tool", async () => {
    const many = { bank: bank(), down: { command: "/nowhere/at-all" }, off: { ...fake(), disabled: true } };
    assert.deepEqual(await of(policy("down.anything", "off.x", "d*.x", "dwon.anything"), many), [nothing(3, "dwon.anything", "down.*")]);
  });
  test("built-in plugins that are not loaded are known", async () => {
    assert.deepEqual(await of(policy("artifact.store", "interpreter.*", "execute_code", "execute_plan")), []);
    assert.deepEqual(await of(policy("artefact.store"), undefined, undefined, {}), [nothing(0, "artefact.store", "artifact.store")]);
  });
  test("a configuration without servers has nothing to govern", async () => assert.deepEqual(await of(policy("github.*"), {}), []));
  test("once per session, for every command that knows the tools", async () => {
    const tools = policy("bank.trasnfer");
    assert.equal((await of(tools, undefined, ["run", "-e", "bankBalance({}); bankClose({}); bankBalance({})"])).length, 1);
    assert.equal((await of(tools, undefined, ["tools"])).length, 1);
    assert.equal((await of(tools, undefined, ["tools", "--policy"])).length, 1);
  });
  test("also in chat, and in eval however many prompts there are", async () => {
    const env = await recorded([{ user: "hello", replies: ["output('hello'); done()"] }]);
    const path = setup(policy("bank.trasnfer"));
    const chat = await run(["chat", "-m", "code", "--config", path, "hello"], { env });
    assert.deepEqual([chat.code, warnings(chat).length], [0, 1], chat.stderr);
    const tasks = config({ tasks: [1, 2].map((i) => ({ name: `t${i}`, prompt: "hello", check: { contains: "hello" } })) });
    const evaluated = await run(["eval", tasks, "-m", "code", "--config", path], { env });
    assert.deepEqual([evaluated.code, warnings(evaluated).length], [0, 1], evaluated.stderr);
  });
  test("of very many, the first ten", async () => {
    const end = await run(["run", "-e", "1", "--config", setup(policy(...Array.from({ length: 300 }, (_, i) => `zzz${i}.*`)))]);
    assert.equal(warnings(end).length, 10);
    assert.match(end.stderr, /^warning: 290 more rules and budgets fit no tool$/m);
  });
  test("long globs against long ids cost little", async () => {
    const long = Array.from({ length: 50 }, (_, i) => `${"a*".repeat(500)}${i}`);
    const end = await run(["run", "-e", "1", "--config", setup(policy(...long), { s: scripted(Array.from({ length: 200 }, (_, i) => tool("a".repeat(500) + i))) })], { limitMs: 20_000 });
    assert.equal(end.stdout, "1\n");
  });
});

const table = async (path, ...more) => {
  const end = await run(["tools", "--policy", "--config", path, ...more]);
  assert.deepEqual([end.code, end.stderr], [0, ""]);
  return end.stdout;
};
const rows = (text) => text.split("\n\n")[0].split("\n");

describe("lathe tools --policy", () => {
  const rules = {
    policy: [
      { match: "bank.transfer", when: "input.amount <= 1000", action: "allow" },
      { match: "bank.transfer", action: "deny", reason: "moves too much money" },
      { match: "*", when: "annotations.destructiveHint", action: "ask" },
    ],
    budgets: [{ match: "bank.*", calls: 20, perMinute: 3 }],
  };
  test("a row for each tool, in columns", async () => {
    const path = setup(rules);
    const text = await table(path);
    assert.deepEqual(rows(text), [
      "TOOL           RULE                          WHAT HAPPENS",
      "bank.balance   no rule                       allow",
      "bank.close     project tools.policy[2]       ask because of annotations.destructiveHint",
      "bank.transfer  project tools.policy[0], [1]  allow if input.amount <= 1000, else deny (moves too much money)",
    ]);
    assert.deepEqual(text.split("\n\n").slice(1), ["project tools.budgets[0]  bank.*  20 per run  3 per minute  (of 3 of these tools)", `project: ${path}\n`]);
  });
  test("rules that all are conditional: what happens without one", async () => {
    const text = await table(setup({ policy: [{ match: "bank.transfer", when: "input.amount > 5", action: "ask" }] }));
    assert.equal(rows(text)[3], "bank.transfer  project tools.policy[0]  ask if input.amount > 5, else allow");
  });
  test("--json: everything, for a program", async () => {
    const path = setup(rules);
    const all = JSON.parse(await table(path, "--json"));
    assert.deepEqual(all.tools.map((t) => [t.tool, t.action, t.withoutRule]), [["bank.balance", "allow", "allow"], ["bank.close", "ask", "allow"], ["bank.transfer", null, "allow"]]);
    assert.deepEqual(all.tools[2].rules, [
      { layer: "project", file: path, index: 0, match: "bank.transfer", action: "allow", when: "input.amount <= 1000", conditional: true },
      { layer: "project", file: path, index: 1, match: "bank.transfer", action: "deny", conditional: false, reason: "moves too much money" },
    ]);
    assert.deepEqual(all.budgets, [{ layer: "project", file: path, index: 0, match: "bank.*", calls: 20, perMinute: 3 }]);
  });
  test("what it says is what happens", async () => {
    const path = setup(rules);
    const code = `[["bank.balance", {}], ["bank.close", {}], ["bank.transfer", { amount: 1000 }], ["bank.transfer", { amount: 1001 }]].map(([id, input]) => { try { tools[id](input); return "allow" } catch (e) { return /needs approval/.test(e.message) ? "ask" : "deny" } })`;
    assert.deepEqual(await value(code, ["--config", path]), ["allow", "ask", "allow", "deny"]);
  });
  test("without rules; a QUERY; not with --types", async () => {
    assert.deepEqual(rows(await table(setup({}), "transfer"))[1], "bank.transfer  no rule  allow");
    const end = await run(["tools", "--policy", "--types", "ts", "--config", setup({})]);
    assert.equal(end.code, 2);
  });
  test("a stranger's names steer no terminal", async () => {
    const path = setup({ policy: [{ match: "s.*", when: "input.a == '\u202e\u200b'", action: "deny", reason: "\u001b[2Jgone" }] }, { s: scripted([tool("pay\u202eyap")]) });
    const text = await table(path);
    assert.ok(!/[\u202e\u200b\u001b]/.test(text), JSON.stringify(text));
  });
});

describe("layers", () => {
  /** The user's own configuration, in a folder for $XDG_CONFIG_HOME. */
  const user = (tools) => {
    const path = folder();
    mkdirSync(join(path, "lathe"));
    writeFileSync(join(path, "lathe", "lathe.yaml"), JSON.stringify({ tools }));
    return { env: { XDG_CONFIG_HOME: path } };
  };
  const said = `[["bank.transfer"], ["bank.balance"], ["bank.close"]].map(([id]) => { try { tools[id]({}); return "allow" } catch (e) { return e.message } })`;
  test("a project adds and tightens, and never loosens", async () => {
    const options = user({ policy: [{ match: "*.transfer", action: "deny", reason: "the user's" }, { match: "*.balance", action: "allow" }] });
    const path = setup(policy("bank.balance"), undefined, {});
    writeFileSync(path, JSON.stringify({ mcpServers: { bank: bank() }, tools: { policy: [{ match: "*.balance", action: "deny", reason: "the project's" }, { match: "*", action: "allow" }] } }));
    const got = await report(said, ["--config", path], options);
    assert.deepEqual(got.result, ['Tool "bank.transfer" is not allowed: the user\'s', 'Tool "bank.balance" is not allowed: the project\'s', "allow"]);
  });
  test("budgets of both hold", async () => {
    const options = user({ budgets: [{ match: "bank.*", calls: 2 }] });
    const path = setup({ budgets: [{ match: "bank.*", calls: 20 }, { match: "bank.balance", calls: 1 }] });
    const code = `["bank.balance", "bank.balance", "bank.close", "bank.close"].map((id) => { try { tools[id]({}); return "allow" } catch (e) { return e.message } })`;
    const got = await report(code, ["--config", path], options);
    assert.equal(got.result[0], "allow");
    assert.match(got.result[1], /the budget for "bank\.balance" is used up: 1 call/);
    assert.equal(got.result[2], "allow");
    assert.match(got.result[3], /the budget for "bank\.\*" is used up: 2 calls/);
  });
  test("a refusal and a fault name the file and the index in it", async () => {
    const options = user({ policy: [{ match: "x", action: "allow" }, { match: "*.close", action: "deny" }] });
    const got = await report(said, ["--config", setup({ policy: [{ match: "*", action: "allow" }] })], options);
    assert.match(got.result[2], /tools\.policy\[1\] in \/.*\/lathe\/lathe\.yaml denies it/);
    const end = await run(["run", "-e", "1", "--config", setup({ policy: [{ match: "*", action: "allow" }] })], user({ policy: [{ match: "x", action: "allow" }, { match: "y", when: "input.a <=", action: "deny" }] }));
    assert.equal(end.code, 3);
    assert.match(end.stderr, /\/lathe\/lathe\.yaml: tools\.policy\[1\]\.when: expected a value/);
  });
  test("tools --policy shows both layers", async () => {
    const options = user({ policy: [{ match: "*.transfer", when: "input.amount > 5", action: "ask" }, { match: "*.close", action: "ask" }] });
    const path = setup({ policy: [{ match: "bank.transfer", action: "allow" }, { match: "bank.close", action: "deny" }] });
    const end = await run(["tools", "--policy", "--config", path], options);
    assert.deepEqual(rows(end.stdout), [
      "TOOL           RULE                     WHAT HAPPENS",
      "bank.balance   no rule                  allow",
      "bank.close     project tools.policy[1]  deny",
      "bank.transfer  both layers              the stricter of these, else allow",
      "               user tools.policy[0]     ask if input.amount > 5, else no rule",
      "               project tools.policy[0]  allow",
    ]);
  });
  test("the user's rules are for all projects: only what is near to a name is a warning", async () => {
    const options = user(policy("github.*", "bank.trasnfer"));
    const end = await run(["run", "-e", "1", "--config", setup({})], options);
    assert.deepEqual(warnings(end), [nothing(1, "bank.trasnfer", "bank.transfer")]);
  });
});
