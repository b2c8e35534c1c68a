// Lathe by its own package for Node.js. Its tools may answer at once or later: programs are the same.
import { Sandbox, libraryVersion } from "../../../packages/node/index.js";
import { javascript } from "../programs.mjs";

export async function open({ tools, memoryMb, limitMs }) {
  const sandbox = new Sandbox({ tools });
  const run = async (code) => (await sandbox.run(code, { memoryBytes: memoryMb << 20, timeoutMs: limitMs })).value;
  return { name: `lathe ${libraryVersion()}`, dialect: javascript, run, waiting: { dialect: javascript, run } };
}
