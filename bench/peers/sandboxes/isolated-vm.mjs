// An isolate of V8 for each program, as its documentation advises for code that is not trusted.
import ivm from "isolated-vm-7";
import { asynchronous, javascript, versionOf } from "../programs.mjs";

export async function open({ tools, memoryMb, limitMs }) {
  async function run(code) {
    const isolate = new ivm.Isolate({ memoryLimit: memoryMb }), context = await isolate.createContext();
    for (const [name, tool] of Object.entries(tools)) await context.global.set(name, new ivm.Callback(tool));
    const value = await context.eval(code, { timeout: limitMs, copy: true });
    isolate.dispose();
    return value;
  }

  async function runWaiting(code) {
    const isolate = new ivm.Isolate({ memoryLimit: memoryMb }), context = await isolate.createContext();
    for (const [name, tool] of Object.entries(tools)) {
      await context.evalClosure(`globalThis.${name} = (input) => $0.apply(undefined, [input], {arguments: {copy: true}, result: {copy: true, promise: true}})`, [new ivm.Reference(tool)]);
    }
    const value = await context.eval(code, { timeout: limitMs, copy: true, promise: true });
    isolate.dispose();
    return value;
  }

  return { name: `isolated-vm ${versionOf("isolated-vm-7")}`, dialect: javascript, run, waiting: { dialect: asynchronous, run: runWaiting } };
}
