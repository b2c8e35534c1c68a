// A program in a process of its own, which calls tools by lines of JSON: [name, input] out, the answer in; ["", result] is
// the last line. A run is the whole process, from its start to its end.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** run(arguments) → the result; pids() → the processes that run. */
export function processes(program, env, tools) {
  const running = new Set();
  async function run(args) {
    const child = spawn(program, args, { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env }, stdio: ["pipe", "pipe", "pipe"] });
    const ended = new Promise((yes, no) => child.on("error", no).on("close", yes));
    let result, complaint = "";
    running.add(child);
    child.stderr.on("data", (bytes) => { complaint = (complaint + bytes).slice(-500); });
    child.stdin.on("error", () => {}); // it has ended
    createInterface({ input: child.stdout }).on("line", async (line) => {
      const [name, value] = JSON.parse(line);
      if (name === "") result = value;
      else child.stdin.write(`${JSON.stringify(await tools[name](value))}\n`);
    });
    const code = await ended;
    running.delete(child);
    if (code !== 0) throw new Error(complaint.trim().split("\n").at(-1) || `exit code ${code}`);
    return result;
  }
  return { run, pids: () => [...running].map(({ pid }) => pid) };
}

export const TOO_MANY = { burst: "a process each: a thousand are not tried" };
