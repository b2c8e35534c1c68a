// Vercel's run: QuickJS as WebAssembly, a worker thread for each program that runs.
import { createRunner, setMaxWorkers } from "run";
import { returning, versionOf } from "../programs.mjs";

const WORKERS = 32; // about 28 MiB each
setMaxWorkers(WORKERS);

export async function open({ tools, memoryMb, limitMs }) {
  const most = memoryMb << 20;
  const runner = createRunner({ limits: { timeoutMs: limitMs, memoryLimitBytes: most, maxHostFunctionOutputBytes: most } });
  async function run(source) {
    const { status, value } = await runner.run({ source, hostFunctions: { tools } });
    if (status !== "completed") throw new Error(status);
    return value;
  }
  const dialect = returning((name, input) => `(await tools.${name}(${input}))`);
  return { name: `run ${versionOf("run")}`, dialect, run, waiting: { dialect, run } };
}
