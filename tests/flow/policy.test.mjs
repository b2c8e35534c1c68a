// The rules of a configuration, held against what programs call: the guide's own ones, with a scripted server and a real one.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { config, describe, folder, report, root, run, scripted, servers, test } from "./harness.mjs";
import { entry, missing } from "./npm-servers.mjs";

const anything = { type: "object" };
const tool = (name, annotations) => ({ tool: { name, description: name, inputSchema: anything, annotations }, result: { content: [{ type: "text", text: "done" }] } });
const bank = () => scripted([tool("transfer"), tool("balance", { readOnlyHint: true }), tool("close", { destructiveHint: true })]);
/** What came of each call of a list of [id, input]: the value or the message. */
const calls = (list) => `${JSON.stringify(list)}.map(([id, input]) => { try { return tools[id](input) } catch (e) { return e.message } })`;
const under = async (policy, list, server = { bank: bank() }, budgets = []) =>
  (await report(calls(list), servers(server, { tools: { policy, budgets } }))).result;

/** The YAML blocks of the guide that are configurations. */
const blocks = readFileSync(join(root, "docs/guide/policy.md"), "utf8").split("```yaml\n").slice(1).map((rest) => rest.split("```")[0]);

describe("rules", () => {
  test("every configuration of the guide is accepted", async () => {
    assert.ok(blocks.length >= 6);
    for (const block of blocks) {
      const text = block.startsWith("tools:") ? block : `tools:\n  policy:\n${block.replace(/^/gm, "    ")}`;
      const end = await run(["run", "-e", "1", "--config", config(text)]);
      assert.deepEqual([end.stdout, end.stderr], ["1\n", ""], block);
    }
  });
  test("the first that matches decides, by the input", async () => {
    const policy = [
      { match: "bank.transfer", when: "input.amount <= 1000", action: "allow" },
      { match: "bank.transfer", action: "deny", reason: "moves too much money" },
      { match: "*", when: "annotations.destructiveHint", action: "deny" },
    ];
    const denied = (id, why) => `Tool "${id}" is not allowed: ${why}`;
    const too = denied("bank.transfer", "moves too much money");
    const got = await under(policy, [
      ["bank.transfer", { amount: 1000 }],
      ["bank.transfer", { amount: 1000.5 }],
      ["bank.transfer", { amount: "1" }],
      ["bank.transfer", {}],
      ["bank.transfer", '{"amount": 1, "amount": 9999}'],
      ["bank.transfer", '{"amount": 1, "Amount": 9999}'],
      ["bank.balance", {}],
      ["bank.close", {}],
    ]);
    assert.deepEqual(got, ["done", too, too, too, too, too, "done", denied("bank.close", "tools.policy[2] denies it")]);
  });
  test("an agent that only reads", async () => {
    const policy = [
      { match: "*", when: "annotations.readOnlyHint", action: "allow" },
      { match: "*", action: "deny", reason: "this agent only reads" },
    ];
    const got = await under(policy, [["bank.balance", {}], ["bank.transfer", {}], ["bank.close", {}]]);
    assert.deepEqual(got.map((said) => /only reads$/.test(said)), [false, true, true]);
  });
  test("a mistake in a condition is told at the start, with its place", async () => {
    const end = await run(["run", "-e", "1", ...servers({}, { tools: { policy: [{ match: "*", when: "input.a <= && 1", action: "deny" }] } })]);
    assert.match(end.stderr, /tools\.policy\[0\]\.when: expected a value after `<=`, found `&&` at character 12\n/);
    assert.notEqual(end.code, 0);
  });
});

describe("budgets", () => {
  test("calls of all tools that match, per run; what is denied does not count", async () => {
    const policy = [{ match: "bank.close", action: "deny" }];
    const list = [["bank.close", {}], ["bank.balance", {}], ["bank.close", {}], ["bank.transfer", {}], ["bank.balance", {}]];
    const got = await under(policy, list, { bank: bank() }, [{ match: "bank.*", calls: 2 }]);
    assert.deepEqual([got[1], got[3]], ["done", "done"]);
    assert.match(got[4], /the budget for "bank\.\*" is used up: 2 calls per run \(tools\.budgets\)/);
  });
  test("calls per minute: when to try again", async () => {
    const got = await under([], [["bank.balance", {}], ["bank.balance", {}]], { bank: bank() }, [{ match: "*", perMinute: 1 }]);
    assert.match(got[1], /the budget for "\*" is used up: 1 call per minute: try again in (59|60) s/);
  });
});

const absent = missing(["filesystem"]).length > 0;
describe("a folder of server-filesystem", { skip: absent && "npm ci has not been run" }, () => {
  test("writes inside go through, others do not, whatever they look like", async () => {
    const dir = folder({ "a.txt": "a" });
    const inside = join(dir, "project");
    const policy = [
      { match: "files.*", when: "annotations.readOnlyHint", action: "allow" },
      { match: "files.create_directory", action: "allow" },
      { match: "files.move_file", when: `input.source within "${inside}" && input.destination within "${inside}"`, action: "allow" },
      { match: "files.*", when: `input.path within "${inside}"`, action: "allow" },
      { match: "files.*", action: "deny", reason: "outside the project" },
    ];
    const server = { files: entry("@modelcontextprotocol/server-filesystem", [dir]) };
    const write = (path) => ["files.write_file", { path, content: "x" }];
    const got = await under(policy, [
      ["files.create_directory", { path: inside }],
      ["files.read_text_file", { path: join(dir, "a.txt") }],
      write(`${inside}/in.txt`),
      write(`${inside}/./../project//in2.txt`),
      write(`${inside}/../out.txt`),
      write(`${inside}x/out.txt`),
      write("out.txt"),
      write("~/out.txt"),
      ["files.move_file", { source: `${inside}/in2.txt`, destination: `${inside}/in3.txt` }],
      ["files.move_file", { source: `${inside}/in.txt`, destination: `${dir}/out.txt` }],
    ], server);
    assert.deepEqual(got.map((said) => /outside the project/.test(JSON.stringify(said))), [false, false, false, false, true, true, true, true, false, true]);
    assert.ok(existsSync(join(inside, "in.txt")) && existsSync(join(inside, "in3.txt")));
    assert.ok(!existsSync(join(dir, "out.txt")));
  });
});
