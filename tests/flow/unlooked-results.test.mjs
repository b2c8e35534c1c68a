// TypeScript: a failed Result at which the program did not look is told at its end, and `lathe run` exits with 1.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { config, describe, fake, only, patience, report, root, run, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const bin = join(root, "tests/node_modules/.bin");
const TOLD = "fail failed and the program did not look: ";
const RUNNERS = [["QuickJS", []], ...(existsSync(join(bin, "deno")) ? [["Deno", ["--runner", "deno"]]] : [])];
const env = { PATH: `${process.env.PATH}:${bin}` };

for (const [name, runner] of RUNNERS) {
  describe(`failed results on ${name}`, { timeout: 240_000 * patience, concurrency: 2 }, () => {
    const go = (code, ...args) => run(["run", "--lang", "ts", ...runner, ...args, "-e", code, ...only({ fake: fake() })], { env });

    for (const code of ["await fail({ message: 'no' }); console.log('on')", "const r = await fail({ message: 'no' }); console.log('on')", "fail({ message: 'no' }); console.log('on')",
      "await Promise.all([fail({ message: 'no' }), echo({ text: 'x' })]); console.log('on')", "const r = await fail({ message: 'no' }); if (r) console.log('on')"]) {
      test(`told, exit 1: ${code}`, async () => {
        const end = await go(code);
        assert.deepEqual([end.code, end.stdout], [1, "on\n"], end.stderr);
        assert.ok(end.stderr.startsWith(`error: ${TOLD}`), end.stderr);
        assert.equal(end.stderr.trimEnd().split("\n").length, 1);
      });
    }

    for (const look of ["if (!r.success) console.log('on')", "if ('error' in r && r.error) console.log('on')", "console.log(r)", "console.log('all:', [{ r }])", "console.log(JSON.stringify(r))",
      "const { success } = r; console.log(success)", "const copy = { ...r }; console.log(copy.success)", "console.log((r as any).value)", "export default r", "output(r as any)", "store('r', r)"]) {
      test(`looked at: ${look}`, async () => {
        const end = await go(`const r = await fail({ message: 'no' });\n${look}`);
        assert.deepEqual([end.code, end.stderr], [0, ""]);
      });
    }

    test("what succeeded need not be looked at; once looked at, it is a plain object", async () => {
      assert.equal((await go("await echo({ text: 'x' }); const r = await fail({ message: 'no' }); r.success; console.log(Object.keys(r).join(), 'value' in r)")).stdout, "success,error false\n");
    });
    test("a program that fails says that it failed, and no more", async () => {
      const end = await go("await fail({ message: 'no' }); throw new Error('own')");
      assert.equal(end.code, 1);
      assert.doesNotMatch(end.stderr, /did not look/);
    });
    test("at most five are told; --json has them as the error, beside the result", async () => {
      const end = await report("for (let i = 0; i < 8; i++) await fail({ message: 'no' });\nexport default 7", [...only({ fake: fake() }), "--lang", "ts", ...runner], { env });
      assert.equal(end.result, 7);
      assert.equal(end.error.split("\n").length, 6);
      assert.match(end.error, /\nand 3 more$/);
    });
  });
}

describe("in a conversation", { timeout: 60_000 * patience }, () => {
  const call = (code) => ({ calls: [{ name: "execute_typescript", arguments: { code } }] });
  const told = (model) => model.asked().at(-1).messages.filter((one) => one.role === "tool").map((one) => one.content.trim());

  test("the model is told after the program's output", async () => {
    const model = await scriptedModel([call("await fail({ message: 'no' }); console.log('written')"), "sorry"]);
    const end = await run(["chat", "go", "-m", "typescript", ...only({ fake: fake() })], { env: model.env });
    assert.equal(end.stdout, "sorry\n", end.stderr);
    assert.ok(told(model)[0].startsWith(`written\n[${TOLD}`), told(model)[0]);
  });
  test("a Deno that is missing is an answer to the model, not the end of the prompt", async () => {
    const model = await scriptedModel([call("console.log(1)"), "without programs, then"]);
    const end = await run(["chat", "go", "-m", "typescript", "--config", config({ deno: { path: "/no/deno" }, typescript: { runner: "deno", check: false } })], { env: model.env });
    assert.equal(end.stdout, "without programs, then\n", end.stderr);
    assert.match(told(model)[0], /^Deno was not found \(\/no\/deno\)/);
  });
});
