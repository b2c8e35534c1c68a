// docs/guide/programs.md is true: its commands print what it says, and what interpreter.run-code describes is what a program finds.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, folder, patience, root, run, servers, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const lathe = process.env.LATHE ? dirname(process.env.LATHE) : join(root, "build");

/** The commands of a page's console blocks with the lines below them: {command, prints, heading}. */
function examples(page) {
  const found = [];
  let heading = "", at = null, open = false;
  for (const line of readFileSync(join(root, page), "utf8").split("\n")) {
    if (/^#+ /.test(line)) heading = line.replace(/^#+ /, "");
    if (/^```/.test(line)) {
      open = line === "```console";
      at = null;
    } else if (open && line.startsWith("$ ")) {
      found.push((at = { heading, command: line.slice(2), prints: "" }));
    } else if (open && at && (at.command.split("'").length % 2 === 0)) {
      at.command += "\n" + line; // inside quotes
    } else if (open && at) {
      at.prints += line + "\n";
    }
  }
  return found;
}

describe("the examples of docs/guide/programs.md", { timeout: 120_000 * patience }, () => {
  const env = { HOME: folder() };
  for (const { command, prints, heading } of examples("docs/guide/programs.md")) {
    const [, name, to] = /^export (\w+)=(\S+)$/.exec(command) ?? [];
    if (name) {
      env[name] = to;
      continue;
    }
    const given = { ...env }; // what was exported above it
    test(`${heading}: ${command.split("\n")[0].slice(0, 100)}`, async () => {
      const script = `exec 2>&1; ${command.replaceAll("build/lathe", join(lathe, "lathe"))}`;
      const end = await run(["-c", script], { program: "/bin/sh", cwd: root, env: given });
      assert.equal(end.stdout, prints);
    });
  }
});

describe("what a program finds", () => {
  /** The names in the description of run-code: what stands before "(" or between commas in its lists. */
  const described = (text) => {
    const names = new Set([...text.matchAll(/\b(\w+)\(/g)].map(([, name]) => name));
    for (const name of /Of the web: ([^;]+);/.exec(text)[1].split(", ")) names.add(name);
    for (const name of ["tools", "input", "console", "setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"]) if (new RegExp(`\\b${name}\\b`).test(text)) names.add(name);
    return names;
  };
  // A program that names everything gets everything; the language itself is what a bare realm of Node's has, and what is newer there.
  const LANGUAGE = `Object Function Error EvalError RangeError ReferenceError SyntaxError TypeError URIError InternalError AggregateError SuppressedError Iterator Array parseInt parseFloat
    isNaN isFinite decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape Infinity NaN undefined eval Number Boolean String Math Reflect Symbol DisposableStack globalThis BigInt
    Date RegExp JSON Proxy Map Set WeakMap WeakSet ArrayBuffer SharedArrayBuffer Uint8ClampedArray Int8Array Uint8Array Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array
    Float16Array Float32Array Float64Array DataView Promise AsyncDisposableStack WeakRef FinalizationRegistry`.split(/\s+/);

  test("run-code describes exactly what there is", async () => {
    const call = (code) => ({ calls: [{ name: "interpreter_run-code", arguments: { code } }] });
    const functions = "[storeArtifact, getArtifact, listArtifacts, llm, llmJson]";
    const model = await scriptedModel([call(`Intl; ${functions}; Object.getOwnPropertyNames(globalThis)`), "Done."]);
    const end = await run(["chat", "-m", "classic", "Look"], { env: model.env });
    assert.equal(end.code, 0, end.stderr);
    const [first, second] = model.asked();
    const { description } = first.tools.find((tool) => tool.function.name === "interpreter_run-code").function;
    const there = JSON.parse(second.messages.at(-1).content).filter((name) => !LANGUAGE.includes(name));
    assert.deepEqual([...described(description)].sort(), there.sort());
  });
});

describe("how long a stored value lives", { timeout: 60_000 * patience }, () => {
  /** What the model is told after each program, over two prompts of one conversation. */
  async function told(mode, wrap) {
    const steps = [["store('n', 1); recall('n')", "recall('n') ?? 'gone'"], ["recall('n') ?? 'gone'"]];
    const replies = steps.flatMap((codes) => [...codes.map(wrap), mode === "code" ? "output('Done.'); done()" : "Done."]);
    const model = await scriptedModel(replies);
    for (const options of [[], ["-c", "last"]]) {
      const end = await run(["chat", "-m", mode, "Go", ...options], { env: model.env });
      assert.equal(end.code, 0, end.stderr);
    }
    return model.asked().map(({ messages }) => messages.at(-1).content).filter((text) => text !== "Go").map((text) => /(1|gone)"?\s*$/.exec(text)?.[1]);
  }
  test("code: for all programs of one request", async () => {
    assert.deepEqual(await told("code", (code) => code), ["1", "1", "gone"]);
  });
  test("typescript: for all programs of one request", async () => {
    assert.deepEqual(await told("typescript", (code) => ({ calls: [{ name: "execute_typescript", arguments: { code: `console.log((() => { ${code.replace(/; (?=recall)/, "; return ").replace(/^(?=recall)/, "return ")} })())` } }] })), ["1", "1", "gone"]);
  });
  test("run-code: for one program", async () => {
    assert.deepEqual(await told("classic", (code) => ({ calls: [{ name: "interpreter_run-code", arguments: { code } }] })), ["1", "gone", "gone"]);
  });
  test("_lastData of complete() is there in later requests", async () => {
    const model = await scriptedModel(["complete({ response: 'Kept.', data: { n: 1 } })", "output(recall('_lastData').n); done()"]);
    const answers = [];
    for (const options of [[], ["-c", "last"]]) answers.push((await run(["chat", "-m", "code", "Go", ...options], { env: model.env })).stdout.trim());
    assert.deepEqual(answers, ["Kept.", "1"]);
  });
});

test("llm() and llmJson() in a program ask the model that is configured", async () => {
  const text = readFileSync(join(root, "docs/guide/programs.md"), "utf8");
  const [, code] = /### llm[\s\S]*?```js\n([\s\S]*?)```/.exec(text);
  const model = await scriptedModel([code, "Ben sends the budget.", '{"urgent": true}']);
  const end = await run(["chat", "-m", "code", "Summarise"], { cwd: root, env: { ...model.env, LATHE_CONFIG: "tests/field/lathe.yaml" } });
  assert.equal(end.stdout.trim(), "Ben sends the budget.\nurgent", end.stderr);
});
