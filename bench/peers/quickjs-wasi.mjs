// Reads names of programs, one per line; runs each in a new QuickJS VM and answers how many milliseconds that took,
// without making the VM. The engine is the same file that Lathe translates, here as WebAssembly in V8.
import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { QuickJS } from "quickjs-wasi";

const wasm = await WebAssembly.compile(readFileSync(new URL("../../node_modules/quickjs-wasi/quickjs.wasm", import.meta.url)));

for await (const name of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const code = readFileSync(new URL(`../programs/${name}`, import.meta.url), "utf8");
    const vm = await QuickJS.create({ wasm });
    const start = performance.now();
    vm.evalCode(code).dispose();
    answer = String(performance.now() - start);
    vm.dispose();
  } catch (e) {
    answer = String(e).split("\n")[0];
  }
  writeSync(1, answer + "\n");
}
