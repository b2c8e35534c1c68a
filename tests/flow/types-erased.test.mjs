// Types are taken off by the eraser as sucrase and Node.js take them off, also from programs that are broken. Enums and
// parameter properties are what tsc makes of them.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import { broken, compare, dice, emitted, tsc } from "./compare_types.mjs";
import { describe, test } from "./harness.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const folder = join(root, "tests/field/typescript");
const programs = readdirSync(folder).filter((name) => name.endsWith(".ts")).map((name) => readFileSync(join(folder, name), "utf8"));

// Those of which the eraser left what nobody else leaves. Where Node.js agrees, sucrase may differ: it joins statements
// that a type stood between. Where another refuses a program there is nothing to compare.
const different = (sources, results) =>
  sources.filter((_, i) => {
    const same = [results[i].sucrase, results[i].node, results[i].tsc];
    return same.includes(false) && !same.includes(true);
  });

describe("the eraser of types", () => {
  test("leaves of the programs that models write what others leave, and is sure of most", () => {
    const results = compare(programs);
    assert.deepEqual(different(programs, results), []);
    assert.ok(results.filter((r) => r.erased !== undefined).length > programs.length * 0.8);
  });

  test("leaves of programs that are changed at random what others leave, or leaves them alone", () => {
    const seed = Number(process.env.LATHE_SEED ?? 1) * 1000;
    const sources = Array.from({ length: 300 }, (_, i) => broken(programs, seed + i));
    const results = compare(sources);
    assert.deepEqual(different(sources, results), []);
    assert.ok(results.filter((r) => r.sucrase).length > 30);
  });
});

// --- What is written instead of enums and parameter properties -----------------------------------------------------------

// What the program says, with the order of keys, or how it fails. tsc writes 0 for a constant -0, others do not.
const said = (code) => {
  const told = [];
  try {
    runInNewContext(code.replace(/^export (?!\{)/gm, "").replace(/^export .*/gm, ""), { say: (...values) => told.push(inspect(values, { depth: 5 }).replace(/-0(?=,|\n| )/g, "0")) });
  } catch (error) {
    told.push(`${error.name}: ${error.message}`);
  }
  return told;
};

const WRITTEN = [
  "enum A { B, C = 5, D, E = 'e', F = `f`, G = -1, H = 1 << 2 | B, I = A.C + 1, 'j-k' = 3, L = E, M = 'a' + 'b' + 1, N = A['j-k'], O = 7 / 2, P }\nsay(A, A[5], A[A.P])",
  "const enum A { B = 'b', C = 2 }\nsay(A.B, A['C'])",
  "enum A { B } enum A { C = B + 4, D }\nsay(A); { enum A { E } enum A { F = 1 } say(A) } say(A.B)",
  "say(typeof A); var before = A; enum A { B }\nsay(before, A.B)",
  "say(typeof A); try { say(A) } catch (e) { say(e.name) } { try { say(B.C) } catch (e) { say(e.name) } enum B { C } say(B.C) } enum A {}",
  "const f = () => A.B\nenum A { B = 3 }\nsay(f())",
  "function f(n: number) { enum A { B, C } return A[n] }\nsay(f(0), f(1), f(2))",
  "for (const i of [1, 2]) { enum A { B } (A as any)[i] = i; say(A) }",
  "switch (1 as number) { case 1: say(1); enum A { B } say(A); enum A { C = 2 } say(A) }",
  "export enum A { B }\nexport enum A { C = 1 }\nsay(A)",
  "declare enum A { B }\nsay(typeof A)",
  "enum A { constructor = 1, toString, default, hasOwnProperty = 'x' }\nsay(A)",
  "enum A { a, A1 = a, 'b' = 1, c = b }\nsay(Object.keys(A), JSON.stringify(A))",
  "enum A { B, C = 0 }\nsay(A, A[0])",
  "class A { z = 1; constructor(private x: number, readonly y = x + 1, public w?: string, v?: any) { say(this.x); } }\nsay(new A(1), Object.keys(new A(2, 3, 'w')))",
  "class A { set x(v: number) { say('set', v) } z = 1 }\nclass B extends A { q = this.z; constructor(public x: number) { say('before'); super(); say(this.x) } }\nsay(new B(4), B.length)",
  "class A { f = () => this.n; constructor(private n: number) {} }\nsay(new A(6).f())",
  "const A = class { constructor(readonly a = class { constructor(public b: number) {} }) {} }\nsay(new (new A().a)(3))",
  "class A { constructor(readonly a: number) { a = 5; say(this.a, a) } }\nnew A(1)",
];

// Enums whose members are constant expressions of members before them. Powers are exact ones: of others each engine has
// its own last digit.
const randomEnum = (roll, name) => {
  const members = [];
  let isText = false;
  const number = (depth) => {
    const numbers = members.filter((m) => !m.isText);
    const of = numbers[roll(numbers.length || 1)];
    switch (roll(depth > 2 ? 4 : 8)) {
      case 0: return String(roll(100) - 50);
      case 1: return ["0x1F", "1e3", "0.1", "1_000", ".5", "0b11", "(3 ** 4)", "(2 ** 5)"][roll(8)];
      case 2: return of ? of.name : "7";
      case 3: return of ? [`${name}.${of.name}`, `${name}["${of.name}"]`][roll(2)] : "8";
      case 4: return `(${number(depth + 1)})`;
      case 5: return `~${number(3).replace(/^-/, "")}`;
      default: return `(${number(depth + 1)}) ${["+", "-", "*", "/", "%", "<<", ">>", ">>>", "&", "|", "^"][roll(11)]} ${number(depth + 1)}`;
    }
  };
  const text = () => [`"${roll(9)}"`, `'t' + ${roll(9)}`, "`u`"][roll(3)];
  const body = Array.from({ length: 1 + roll(8) }, (_, i) => {
    const member = { name: `m${i}`, isText: roll(4) === 0 };
    const value = member.isText ? ` = ${text()}` : (i > 0 && isText) || roll(3) ? ` = ${number(0)}` : "";
    isText = member.isText;
    members.push(member);
    return `${member.name}${value}`;
  });
  return `${roll(3) ? "" : "const "}enum ${name} { ${body.join(roll(2) ? ", " : ",\n  ")}${roll(2) ? "," : ""} }`;
};

describe("what is written instead of enums and parameter properties", { skip: !existsSync(tsc) && "no tsc from npm" }, () => {
  const same = (sources) => {
    const written = compare(sources).map((result) => result.erased);
    const expected = emitted(sources);
    sources.forEach((source, i) => {
      assert.notEqual(written[i], undefined, source);
      assert.deepEqual(said(written[i]), said(expected[i]), `${source}\n--- written:\n${written[i]}`);
    });
  };

  test("does what tsc's does", () => same(WRITTEN));

  test("does what tsc's does for random enums", () => {
    const roll = dice(Number(process.env.LATHE_SEED ?? 1) * 7919);
    same(Array.from({ length: 200 }, () => {
      const names = ["A", "B", "A"].slice(0, 1 + roll(2));
      return `${names.map((name) => randomEnum(roll, name)).join("\n")}\nsay(${names.join(", ")})`;
    }));
  });
});
