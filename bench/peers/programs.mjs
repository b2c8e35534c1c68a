// The same programs for every sandbox. A dialect says how a program calls a tool there, and how it hands out its result.
import { readFileSync } from "node:fs";

const members = (input, colon) => Object.entries(input).map(([name, value]) => `${name}${colon}${value}`).join(", ");

function writeJavaScript({ call, result }) {
  const tool = (name, input) => call(name, `{${members(input, ": ")}}`);
  return {
    plus: result("1+2"),
    call: result(tool("add", { a: 1, b: 2 })),
    calls: `let sum = 0;\nfor (let i = 0; i < 100; i++) sum = ${tool("add", { a: "sum", b: "i" })};\n${result("sum")}`,
    wait: `${tool("slow", {})};\n${result("1+2")}`,
    read: `let read = 0;\nfor (const item of ${tool("load", {})}) read += item.id + item.name.length + item.at.x + item.tags.length + (item.open ? 1 : 0);\n${result("read")}`,
    script: (name) => readScript(`${name}.js`).replace(/([^\n;]+);?\s*$/, (_, last) => result(last)),
  };
}

/** The last expression is the result; tools answer at once. */
export const javascript = writeJavaScript({ call: (name, input) => `${name}(${input})`, result: (text) => text });

/** The program is the body of a function. */
export const returning = (call) => writeJavaScript({ call, result: (text) => `return ${text}` });

/** The program's result is a promise, as what its tools return. */
const body = returning((name, input) => `(await ${name}(${input}))`);
const wrap = (code) => `(async () => {\n${code}\n})()`;
export const asynchronous = { ...body, wait: wrap(body.wait) };

function writePython({ result }) {
  const tool = (name, input) => `${name}(${members(input, "=")})`;
  return {
    plus: result("1+2"),
    call: result(tool("add", { a: 1, b: 2 })),
    calls: `sum = 0\nfor i in range(100):\n    sum = ${tool("add", { a: "sum", b: "i" })}\n${result("sum")}`,
    wait: `${tool("slow", {})}\n${result("1+2")}`,
    read: `read = 0\nfor item in ${tool("load", {})}:\n    read += item["id"] + len(item["name"]) + item["at"]["x"] + len(item["tags"]) + (1 if item["open"] else 0)\n${result("read")}`,
    script: (name) => readScript(`${name}.py`).replace(/([^\n]+)\n$/, (_, last) => result(last)),
  };
}

export const python = writePython({ result: (text) => text });

/** A process that writes its result. */
export const answering = writeJavaScript({ call: (name, input) => `${name}(${input})`, result: (text) => `answer(${text});` });
export const answeringInPython = writePython({ result: (text) => `answer(${text})` });

const readScript = (file) => readFileSync(new URL(`../programs/${file}`, import.meta.url), "utf8");

/** Of a package that is installed beside this file, or for Lathe itself. */
export function versionOf(name) {
  for (const folder of ["./node_modules", "../../node_modules"]) {
    try {
      return JSON.parse(readFileSync(new URL(`${folder}/${name}/package.json`, import.meta.url), "utf8")).version;
    } catch { /* the other one */ }
  }
  throw new Error(`${name} is not installed: scripts/setup.sh bench`);
}
