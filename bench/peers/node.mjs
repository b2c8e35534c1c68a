// Reads names of programs, one per line; runs each in a new context of V8 and answers how many milliseconds that took,
// without making the context.
import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { createContext, runInContext } from "node:vm";

for await (const name of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const code = readFileSync(new URL(`../programs/${name}`, import.meta.url), "utf8");
    const context = createContext({});
    const start = performance.now();
    runInContext(code, context);
    answer = String(performance.now() - start);
  } catch (e) {
    answer = String(e).split("\n")[0];
  }
  writeSync(1, answer + "\n");
}
