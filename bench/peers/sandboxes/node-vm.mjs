// Node's own vm: a context in the same heap. Its documentation says that it is no security mechanism.
import { createContext, runInContext } from "node:vm";
import { asynchronous, javascript } from "../programs.mjs";

export async function open({ tools, limitMs }) {
  const run = (code) => runInContext(code, createContext({ ...tools }), { timeout: limitMs });
  return { name: `node:vm of Node.js ${process.versions.node}`, dialect: javascript, run, waiting: { dialect: asynchronous, run } };
}
