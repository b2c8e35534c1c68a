// Sandboxes inside a process of Node.js: ours, and those of others. Each line that it reads, "plus N" or "call N", is N runs
// of a program: 1+2, or one call of a function of the host. Its answer is what each took, in nanoseconds. "name" asks which
// version this is.
//
//   library.mjs lathe | quickjs-emscripten | isolated-vm | monty
//
// A run begins with nothing that an earlier program has left: a new runtime of QuickJS, a new isolate, as the
// documentation of each advises for code that is not trusted. Each has its limits of time and memory set. Monty is that of
// a folder, which LATHE_BENCH_MONTY names: its lockfile would name platforms that not every registry has.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(new URL("../../tests/package.json", import.meta.url));
const version = (name) => require(`../tests/node_modules/${name}/package.json`).version;
const MEMORY_MB = 64, LIMIT_MS = 1000;
const PLUS = "1+2", CALL = "add({a: 1, b: 2})";
const add = ({ a, b }) => a + b;

const sandboxes = {
  async lathe() {
    const { Sandbox, libraryVersion } = await import("../../packages/node/index.js");
    const sandbox = new Sandbox({ tools: { add } });
    return { name: `lathe ${libraryVersion()}`, run: async (code) => (await sandbox.run(code)).value };
  },
  async "quickjs-emscripten"() {
    const { newQuickJSWASMModuleFromVariant, shouldInterruptAfterDeadline } = require("quickjs-emscripten-core");
    const { default: variant } = require("@jitl/quickjs-wasmfile-release-sync");
    const module = await newQuickJSWASMModuleFromVariant(variant);
    const run = (code) => {
      const runtime = module.newRuntime({ memoryLimitBytes: MEMORY_MB << 20, interruptHandler: shouldInterruptAfterDeadline(Date.now() + LIMIT_MS) });
      const context = runtime.newContext();
      context.newFunction("add", (input) => context.newNumber(add(context.dump(input)))).consume((it) => context.setProp(context.global, "add", it));
      const value = context.unwrapResult(context.evalCode(code)).consume(context.dump);
      context.dispose();
      runtime.dispose();
      return value;
    };
    return { name: `quickjs-emscripten ${version("quickjs-emscripten-core")}`, run };
  },
  async "isolated-vm"() {
    const ivm = require("isolated-vm");
    const run = async (code) => {
      const isolate = new ivm.Isolate({ memoryLimit: MEMORY_MB });
      const context = await isolate.createContext();
      await context.global.set("add", new ivm.Callback(add));
      const value = await context.eval(code, { timeout: LIMIT_MS, copy: true });
      isolate.dispose();
      return value;
    };
    return { name: `isolated-vm ${version("isolated-vm")}`, run };
  },
  async monty() {
    const home = join(process.env.LATHE_BENCH_MONTY, "node_modules/@pydantic/monty/package.json");
    const { Monty } = createRequire(home)("@pydantic/monty");
    const limits = { maxDurationSecs: LIMIT_MS / 1000, maxMemory: MEMORY_MB << 20 };
    const externalFunctions = { add: (input) => add(input instanceof Map ? Object.fromEntries(input) : input) };
    const run = (code) => new Monty(code.replace("{a: 1, b: 2}", '{"a": 1, "b": 2}')).run({ limits, externalFunctions });
    return { name: `@pydantic/monty ${require(home).version}`, run };
  },
};

const { name, run } = await sandboxes[process.argv[2]]();

async function measure(code, count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = process.hrtime.bigint();
    const value = await run(code);
    times.push(Number(process.hrtime.bigint() - start));
    if (value !== 3) throw new Error(`${code} is ${value}`);
  }
  return times.join(" ");
}

for await (const line of createInterface({ input: process.stdin })) {
  const [what, count] = line.split(" ");
  console.log(what === "name" ? name : await measure(what === "plus" ? PLUS : CALL, Number(count)));
}
process.exit(0);
