// A WebAssembly instance of its own for each program. The engine is the file that Lathe translates.
import { readFileSync } from "node:fs";
import { QuickJS } from "quickjs-wasi";
import { asynchronous, javascript, versionOf } from "../programs.mjs";

export async function open({ tools, memoryMb, limitMs }) {
  const wasm = await WebAssembly.compile(readFileSync(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm"))));

  async function begin() {
    const deadline = Date.now() + limitMs;
    const vm = await QuickJS.create({ wasm, memoryLimit: memoryMb << 20, interruptHandler: () => Date.now() > deadline });
    for (const [name, tool] of Object.entries(tools)) {
      vm.newFunction(name, (input) => give(vm, tool(vm.dump(input)))).consume((it) => vm.setProp(vm.global, name, it));
    }
    return vm;
  }

  // Thousands of values one by one take longer than their JSON.
  const write = (vm, value) => (typeof value === "object" ? vm.evalCode("JSON.parse").consume((parse) => vm.callFunction(parse, vm.undefined, vm.newString(JSON.stringify(value)))) : vm.hostToHandle(value));

  function give(vm, value) {
    if (!(value instanceof Promise)) return write(vm, value);
    const promise = vm.newPromise();
    value.then((it) => {
      promise.resolve(write(vm, it));
      vm.executePendingJobs();
    });
    return promise.handle;
  }

  async function run(code) {
    const vm = await begin(), value = vm.evalCode(code).consume((it) => vm.dump(it));
    vm.dispose();
    return value;
  }

  async function runWaiting(code) {
    const vm = await begin(), promise = vm.evalCode(code), settled = vm.resolvePromise(promise);
    vm.executePendingJobs();
    const end = await settled;
    if (end.error) throw new Error(String(vm.dump(end.error)));
    const value = vm.dump(end.value);
    vm.dispose();
    return value;
  }

  return { name: `quickjs-wasi ${versionOf("quickjs-wasi")}`, dialect: javascript, run, waiting: { dialect: asynchronous, run: runWaiting } };
}
