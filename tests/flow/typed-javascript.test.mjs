// TypeScript's types in a program that is called JavaScript, as models write them; and what the language has not, by name.
import assert from "node:assert/strict";
import { describe, patience, program, report, test, value } from "./harness.mjs";

describe("types in JavaScript", { timeout: 60_000 * patience }, () => {
  const cases = [
    ["a variable's type", "const x: number = 3; x", 3],
    ["an interface, a parameter and a result", "interface A { b: string }\nconst f = (a: A): string => a.b\nf({ b: 'ok' })", "ok"],
    ["type arguments, as and !", "const m = new Map<string, number>(); m.set('a', 1); (m as any).get('a')!", 1],
    ["an enum", "enum Color { Red = 'r' }\nColor.Red", "r"],
    ["with a top-level return", "type T = { a: number }\nconst t: T = { a: 2 }\nreturn t.a", 2],
    ["with a function as the whole program", "async (input: unknown): Promise<number> => 4", 4],
  ];
  for (const [what, code, want] of cases) {
    test(what, async () => assert.deepEqual(await value(code), want));
  }
  test("an error has the place that was written", async () => {
    const { line, column } = await report("const x: number = 3\nconst y: Array<number> = [nope]");
    assert.deepEqual({ line, column }, { line: 2, column: 27 });
  });
  test("nothing runs twice: the program is read before it begins", async () => {
    const { outputs } = await report("output('once'); const x: number = 3;");
    assert.deepEqual(outputs, ["once"]);
  });
  test("a program that is neither keeps JavaScript's error", async () => {
    const { error, line, column } = await report("const a = 1;\nconst x = = 3");
    assert.deepEqual({ error, line, column }, { error: "SyntaxError: unexpected token in expression: '='", line: 2, column: 11 });
  });
  test("an error of the running program is no reason to read it again", async () => {
    const { error, outputs } = await report("output('ran'); JSON.parse('{')");
    assert.match(error, /^SyntaxError/);
    assert.deepEqual(outputs, ["ran"]);
  });
});

describe("what the language has not", { timeout: 60_000 * patience }, () => {
  test("JSX", async () => {
    const end = await program("const App = () => (\n  <div className='x'>{1}</div>\n)");
    assert.equal(end.code, 1);
    assert.match(end.stderr, /there is no JSX here: build the text with strings\n {2}at 2:3/);
  });
  test("decorators", async () => {
    const end = await program("function d() {}\n@d class A {}");
    assert.equal(end.code, 1);
    assert.match(end.stderr, /there are no decorators here: call the function yourself\n {2}at 2:1/);
  });
});
