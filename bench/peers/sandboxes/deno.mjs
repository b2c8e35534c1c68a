// A process of Deno without permissions for each program.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TOO_MANY, processes } from "../process.mjs";
import { answering } from "../programs.mjs";

const PRELUDE = `function _send(name, value) {
  const bytes = new TextEncoder().encode(JSON.stringify([name, value]) + "\\n");
  for (let done = 0; done < bytes.length;) done += Deno.stdout.writeSync(bytes.subarray(done));
}
function _line() {
  const decoder = new TextDecoder(), bytes = new Uint8Array(1 << 20), parts = [];
  for (let n; (n = Deno.stdin.readSync(bytes)) !== null;) {
    parts.push(decoder.decode(bytes.subarray(0, n), { stream: true }));
    if (bytes[n - 1] === 10) break;
  }
  return parts.join("");
}
function _tool(name) {
  return (input) => {
    _send(name, input);
    return JSON.parse(_line());
  };
}
const add = _tool("add"), load = _tool("load"), slow = _tool("slow"), answer = (value) => _send("", value);
`;

export async function open({ tools, memoryMb }) {
  const program = process.env.LATHE_BENCH_DENO || "deno", folder = mkdtempSync(join(tmpdir(), "lathe-bench-"));
  const { run, pids } = processes(program, { DENO_DIR: folder, DENO_NO_UPDATE_CHECK: "1" }, tools);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "program.js");
  function runCode(code) {
    writeFileSync(file, PRELUDE + code);
    return run(["run", "--no-prompt", "--no-remote", "--quiet", `--v8-flags=--max-old-space-size=${memoryMb}`, file]);
  }
  const version = execFileSync(program, ["--version"], { encoding: "utf8" }).split(" ")[1];
  return { name: `Deno ${version}`, dialect: answering, run: runCode, waiting: { dialect: answering, run: runCode }, pids, cannot: TOO_MANY };
}
