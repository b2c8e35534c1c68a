// An interpreter of CPython for each program, with nothing around it.
import { execFileSync } from "node:child_process";
import { TOO_MANY, processes } from "../process.mjs";
import { answeringInPython } from "../programs.mjs";

const PRELUDE = `import json, sys
def _send(name, value):
    sys.stdout.write(json.dumps([name, value]) + "\\n")
    sys.stdout.flush()
def _tool(name):
    def call(**input):
        _send(name, input)
        return json.loads(sys.stdin.readline())
    return call
add, load, slow = _tool("add"), _tool("load"), _tool("slow")
def answer(value):
    _send("", value)
`;

export async function open({ tools }) {
  const program = process.env.LATHE_BENCH_PYTHON || "python3", { run, pids } = processes(program, {}, tools);
  const runCode = (code) => run(["-I", "-c", PRELUDE + code]);
  const version = execFileSync(program, ["--version"], { encoding: "utf8" }).trim().split(" ")[1];
  return { name: `CPython ${version}`, dialect: answeringInPython, run: runCode, waiting: { dialect: answeringInPython, run: runCode }, pids, cannot: TOO_MANY };
}
