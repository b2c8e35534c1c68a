// A new runtime of QuickJS for each program, in one WebAssembly module for all: what the documentation advises where they
// must not see each other. Values cross as JSON.
import variant from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant, shouldInterruptAfterDeadline } from "quickjs-emscripten-core";
import { asynchronous, javascript, versionOf } from "../programs.mjs";

export async function open({ tools, memoryMb, limitMs }) {
  const module = await newQuickJSWASMModuleFromVariant(variant);

  function begin() {
    const interruptHandler = shouldInterruptAfterDeadline(Date.now() + limitMs);
    const runtime = module.newRuntime({ memoryLimitBytes: memoryMb << 20, interruptHandler }), context = runtime.newContext();
    for (const [name, tool] of Object.entries(tools)) {
      context.newFunction(name, (input) => give(runtime, context, tool(context.dump(input)))).consume((it) => context.setProp(context.global, name, it));
    }
    return { runtime, context };
  }

  function end({ runtime, context }) {
    context.dispose();
    runtime.dispose();
  }

  function write(context, value) {
    if (typeof value === "number") return context.newNumber(value);
    const text = context.newString(JSON.stringify(value)), json = context.getProp(context.global, "JSON"), parse = context.getProp(json, "parse");
    const read = context.unwrapResult(context.callFunction(parse, context.undefined, text));
    for (const handle of [text, json, parse]) handle.dispose();
    return read;
  }

  function give(runtime, context, value) {
    if (!(value instanceof Promise)) return write(context, value);
    const promise = context.newPromise();
    value.then((it) => write(context, it).consume(promise.resolve));
    promise.settled.then(runtime.executePendingJobs);
    return promise.handle;
  }

  function run(code) {
    const it = begin(), value = it.context.unwrapResult(it.context.evalCode(code)).consume(it.context.dump);
    end(it);
    return value;
  }

  async function runWaiting(code) {
    const it = begin(), { context } = it, promise = context.unwrapResult(context.evalCode(code));
    const settled = context.resolvePromise(promise);
    promise.dispose();
    it.runtime.executePendingJobs();
    const value = context.unwrapResult(await settled).consume(context.dump);
    end(it);
    return value;
  }

  return { name: `quickjs-emscripten ${versionOf("quickjs-emscripten-core")}`, dialect: javascript, run, waiting: { dialect: asynchronous, run: runWaiting } };
}
