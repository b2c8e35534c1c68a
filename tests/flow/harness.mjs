// What the flow tests share: run the program like a user would, and look at everything that comes out of it.
//
// Every run gets a home and a working directory of its own, without any configuration, and is looked after: a child
// process that outlives it, or a sanitizer's words on stderr, fails the test that made the run.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import nodeTest from "node:test";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const lathe = resolve(process.env.LATHE ?? join(root, "build/lathe"));
/** Compiles C for the machine that lathe is for, which need not be this one. */
export const cc = process.env.CC ?? "cc";
/** Bounds are multiplied by this: a sanitizer's build takes its time, and an emulator more. */
export const patience = Number(process.env.LATHE_PATIENCE ?? 1);

const made = [];
process.on("exit", () => made.forEach((path) => rmSync(path, { recursive: true, force: true })));

/** A fresh directory, gone when the test file ends; `files` are written into it: name -> text or bytes. */
export function folder(files = {}) {
  const path = mkdtempSync(join(tmpdir(), "lathe-flow-"));
  made.push(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

/** A configuration's path; JSON is YAML. `files` are beside it. */
export function config(value, files = {}) {
  return join(folder({ ...files, "lathe.yaml": typeof value === "string" ? value : JSON.stringify(value) }), "lathe.yaml");
}

/** The fake MCP server with these options, as an entry of mcpServers. */
export const fake = (...options) => ({ command: process.execPath, args: [join(root, "tests/fakes/mcp_server.mjs"), ...options] });
/** A fake server whose tools are [{tool, result?}...]: it answers `result`, or what it was called with. */
export const scripted = (tools, ...options) => fake(`--script=${join(folder({ "script.json": JSON.stringify(tools) }), "script.json")}`, ...options);
/** The arguments that make lathe use these servers: {name: entry}, and the rest of the configuration. Models work in mode
 *  classic where it says no other: the default follows the number of tools. */
export const servers = (mcpServers, rest = {}) => ["--config", config({ ...rest, mcpServers, defaults: { ...(rest.defaults?.codeMode === undefined && { mode: "classic" }), ...rest.defaults } })];

/** A configuration's part that leaves the built-in plugins out, where a test lists all tools there are. */
export const bare = { plugins: ["artifact", "interpreter"].map((name) => ({ name, disabled: true })) };
/** The arguments for these servers and nothing beside. */
export const only = (mcpServers) => servers(mcpServers, bare);

/** JSON, a value a line, of a file that somebody may be writing: its last line counts when it is whole. */
export const jsonLines = (path) => (existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1).filter(Boolean).map((line) => JSON.parse(line)) : []);

/** A file for `--record=`, and what the server has received so far. */
export function recording() {
  const path = join(folder(), "wire");
  const messages = () => jsonLines(path);
  return { path, option: `--record=${path}`, messages, of: (method) => messages().filter((m) => m.method === method) };
}

/** Every program that waits is dropped, and run again by its tape: the second run of some files (docs/TESTING.md). */
const dropping = Boolean(process.env.LATHE_DROP_WAITING);
const told = (name) => (dropping ? `${name} (programs that wait are dropped)` : name);
let depth = 0;
const skippable = (fn) => async (t) => {
  try { await fn(t); } catch (e) {
    if (!(e instanceof Unable)) throw e;
    t.skip(e.message);
  }
};
const within = (fn) => (...args) => {
  depth++;
  try { return fn(...args); } finally { depth--; }
};
/** As node:test has them; in that run, whatever is described says so in its name. */
export const describe = (name, ...rest) => nodeTest.describe(depth ? name : told(name), ...rest.map((one) => (typeof one === "function" ? within(one) : one)));
/** A test that needs what is not here, a terminal or walls, is skipped and says so. */
export const test = (name, ...rest) => nodeTest.test(depth ? name : told(name), ...rest.map((one) => (typeof one === "function" ? skippable(one) : one)));

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Waits until `check` returns something true, and returns that. */
export async function until(check, what, ms = 20_000 * patience) {
  for (const end = Date.now() + ms; ; await sleep(10)) {
    const value = await check();
    if (value) return value;
    assert.ok(Date.now() < end, `waited ${ms} ms in vain until ${what}`);
  }
}

/** Runs one statement on the store in this state folder, as another program would; its rows. */
export function sql(state, text) {
  const script = "import json, sqlite3, sys\nc = sqlite3.connect(sys.argv[1], timeout=10); print(json.dumps(c.execute(sys.argv[2]).fetchall())); c.commit()";
  const end = spawnSync("python3", ["-S", "-c", script, join(state, "lathe/lathe.db"), text], { encoding: "utf8" });
  assert.equal(end.status, 0, end.stderr);
  return JSON.parse(end.stdout);
}

/** The words of a process's command, each with a NUL behind it; nothing when the process is gone. */
export function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** Living processes that have this run's mark in their environment. */
function marked(mark) {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark); // a zombie has none
    } catch {
      return false; // gone, or somebody else's
    }
  });
}
const shownCommand = (pid) => commandOf(pid).replace(/\0/g, " ").trim() || "(gone)";

/** What the threads of a run's processes are doing: where they sleep, and which signals are pending or blocked. */
function doings(mark) {
  const linesOf = (file, wanted) => { try { return readFileSync(file, "latin1").match(wanted)?.join(" ").replace(/\s+/g, " ") ?? ""; } catch { return "(unreadable)"; } };
  const threads = (pid) => { try { return readdirSync(`/proc/${pid}/task`); } catch { return []; } };
  return marked(mark).flatMap((pid) => [`${pid}: ${shownCommand(pid)}`, ...threads(pid).map((tid) => {
    const task = `/proc/${pid}/task/${tid}`;
    return `  ${tid}: ${linesOf(`${task}/status`, /^(Name|State|SigPnd|ShdPnd|SigBlk|SigCgt):.*$/gm)} in ${linesOf(`${task}/wchan`, /.+/)} ${linesOf(`${task}/syscall`, /^\S+/)}`;
  })]).join("\n");
}

async function noneLeft(mark, graceMs) {
  let left = marked(mark);
  for (const end = Date.now() + graceMs; left.length > 0 && Date.now() < end; left = marked(mark)) await sleep(10);
  const told = left.map((pid) => `${pid}: ${shownCommand(pid)}`);
  killAll(mark);
  assert.deepEqual(told, [], "processes were left behind");
}

class Unable extends Error {}
let terminals; // undefined: not asked yet
/** Containers and chroots may be without: that is no fault of ours. */
export function needTerminal() {
  terminals ??= spawnSync("python3", ["-S", "-c", "import os; os.openpty()"]).status === 0;
  if (!terminals) throw new Unable("no terminal can be opened here (is /dev/pts mounted?)");
}

/** A user namespace may know none but one user. */
function giveTo(folder, uid) {
  try {
    chownSync(folder, uid, uid);
  } catch (e) {
    throw e.code === "EINVAL" ? new Unable(`there is no user ${uid} in this namespace`) : e;
  }
}

/** Closes a pipe that brings nothing more, whoever holds its other end. A process that had no processor for long finds its time
 * over before it has read what there is, so it looks twice. */
function letGo(pipe, ms, before = -1) {
  setTimeout(() => (pipe.bytesRead === before ? pipe.destroy() : letGo(pipe, 100, pipe.bytesRead)), ms).unref();
}

/** Is it `lathe`, itself or under an emulator with its options, and not what starts it at a terminal or in a container? */
const isLathe = (pid) => /^(?:[^\0]*qemu[^\0]*\0(?:-[^\0]*\0[^\0]*\0)*)?[^\0]*lathe\0/.test(commandOf(pid));
/** Is it `lathe chat`? */
export const isChat = (pid) => isLathe(pid) && commandOf(pid).includes("lathe\0chat\0");

/** Kills a run's processes. First lathe: without its terminal or a server it would go on for a moment, and might end in order. */
function killAll(mark) {
  const kill = (pid) => { try { process.kill(Number(pid), "SIGKILL"); } catch { /* gone */ } };
  marked(mark).filter(isLathe).forEach(kill);
  marked(mark).forEach(kill);
}

const tscFolder = join(root, "tests/fixtures/tsc");
let doctor; // undefined: not asked yet
function doctorSays(what) {
  doctor ??= spawnSync(lathe, ["doctor"], { encoding: "utf8", env: { PATH: `${process.env.PATH}:${tscFolder}`, HOME: folder() } }).stdout;
  return what.test(doctor);
}
/** Why Python, Deno and a compiler of types cannot be started here: a test's `skip`. */
export const noWalls = () => doctorSays(/^ {2}(Landlock|filter of system calls): no$/m) && "there are no walls here (lathe doctor)";
/** Why types are not checked here: a test's `skip`. */
export const noTypes = () => noWalls() || (doctorSays(/^ {2}not checked: there is no tsc/m) && "there is no tsc for this machine (lathe doctor)");

/** A test whose program was refused what is not here is skipped. */
function checkAble(text) {
  const why = (/this system has no (Landlock|filters)/.test(text) && noWalls()) || (/types are not checked: there is no TypeScript/.test(text) && noTypes());
  if (why) throw new Unable(why);
}

/** A terminal as the controlling one of the command that follows, with a window of LATHE_FLOW_WINDOW's size; exits as that does. */
const TERMINAL = `import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *map(int, os.environ.pop("LATHE_FLOW_WINDOW").split()), 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
pty._copy(fd)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)`;

const SANITIZER = /(?:Address|Leak|Thread|UndefinedBehavior|Memory)Sanitizer|runtime error:|lathe: .*LT_CHECK/;

/**
 * Starts `lathe ARGS`. Options: stdin (text or bytes; nothing by default), typed (standard input stays open for `type`), cwd, env, redirect (as a shell has it), and
 * limitMs, after which it is killed and the test fails; uid, for root to run it as somebody else, and program, another lathe. `terminal: true`: at a terminal of its own, on which everything
 * is that was not redirected; what is shown there is `stdout`, and `type` types. TERM is "dumb" there, unless env says otherwise, so that nothing is drawn over. `window`: its [rows, columns], 0 for unknown; `resize` changes them.
 * Returns {child, text() - so far on stdout and stderr, ended - a promise of {code, signal, stdout, stderr, bytes, ms}, kill() - all of it; returns `ended`}.
 */
export function start(args, options = {}) {
  if (options.terminal) needTerminal();
  const home = folder();
  const mark = `LATHE_FLOW_RUN=${randomUUID()}`;
  const limitMs = (options.limitMs ?? 30_000) * patience;
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([k]) => !/^(LATHE|XDG_|NODE_)/.test(k)));
  inherited.PATH = `${inherited.PATH}:${tscFolder}`;
  const began = Date.now();
  const file = options.program ?? lathe;
  if (options.uid) giveTo(home, options.uid);
  const plain = options.redirect ? ["sh", "-c", `exec "$0" "$@" ${options.redirect}`, file] : [file];
  const command = options.terminal ? ["python3", "-S", "-c", TERMINAL, ...plain] : plain;
  const child = spawn(command[0], [...command.slice(1), ...args.map(String)], {
    cwd: options.cwd ?? home,
    ...(options.uid && { uid: options.uid, gid: options.uid }),
    env: { ...inherited, ...(dropping && { LATHE_DROP_WAITING: "1" }), HOME: home, ...(options.terminal && { TERM: "dumb", LATHE_FLOW_WINDOW: (options.window ?? [0, 0]).join(" ") }), [mark.split("=")[0]]: mark.split("=")[1], ...options.env },
    stdio: [options.stdin === undefined && !options.terminal && !options.typed ? "ignore" : "pipe", "pipe", "pipe"],
  });
  const chunks = { stdout: [], stderr: [] };
  child.stdout.on("data", (bytes) => chunks.stdout.push(bytes));
  child.stderr.on("data", (bytes) => chunks.stderr.push(bytes));
  if (options.stdin !== undefined) {
    child.stdin.on("error", () => {}); // it need not read all of it
    child.stdin.end(options.stdin);
  }
  const ended = new Promise((yes, no) => {
    const timer = setTimeout(() => {
      const what = doings(mark);
      child.kill("SIGKILL");
      no(new Error(`lathe ${args.join(" ").slice(0, 200)}: still running after ${limitMs} ms\n${what}\n${Buffer.concat([...chunks.stdout, ...chunks.stderr]).subarray(-4000)}`));
    }, limitMs);
    child.on("error", no);
    // "close" also waits for everybody who holds our pipes: a server left behind must not hang us.
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      for (const pipe of [child.stdout, child.stderr]) letGo(pipe, 2000 * patience);
      child.once("close", () => yes({ code, signal, ms: Date.now() - began }));
    });
  }).then(async (end) => {
    const bytes = Buffer.concat(chunks.stdout);
    const result = { ...end, bytes, stdout: bytes.toString(), stderr: Buffer.concat(chunks.stderr).toString() };
    assert.doesNotMatch(options.terminal ? result.stdout : result.stderr, SANITIZER);
    // A killed one cannot wait for its children; and what the kernel kills with its parent needs a moment to be gone.
    await noneLeft(mark, (end.signal ? 5000 : 300) * patience);
    checkAble(result.stdout + result.stderr);
    return result;
  });
  const type = (text) => child.stdin.write(text);
  const resize = (rows, columns) => {
    const terminal = marked(mark).map((pid) => { try { return readlinkSync(`/proc/${pid}/fd/2`); } catch { return ""; } }).find((path) => path.startsWith("/dev/pts/"));
    assert.equal(spawnSync("stty", ["-F", terminal, "rows", rows, "cols", columns]).status, 0);
  };
  const kill = () => { killAll(mark); return ended; };
  return { child, ended, type, resize, kill, out: () => Buffer.concat(chunks.stdout).toString(), text: () => Buffer.concat([...chunks.stdout, ...chunks.stderr]).toString(), pids: () => marked(mark) };
}

/** Runs `lathe ARGS` to its end. */
export const run = (args, options) => start(args, options).ended;

/** `lathe run -e CODE ARGS`. */
export const program = (code, args = [], options = {}) => run(["run", "-e", code, ...args], options);

/** `lathe run --json` with the program on standard input (a command line is too short for some): the report, and `code`. */
export async function report(code, args = [], options = {}) {
  const end = await run(["run", "--json", ...args], { stdin: code, ...options });
  let json;
  try {
    json = JSON.parse(end.stdout);
  } catch (e) {
    assert.fail(`no JSON on stdout: ${e.message}\n${end.stdout.slice(0, 2000)}\n--- stderr\n${end.stderr.slice(0, 2000)}`);
  }
  return { ...json, exit: end.code, stderr: end.stderr, ms: end.ms, text: end.stdout };
}

/** The result of a program that must succeed. */
export async function value(code, args, options) {
  const r = await report(code, args, options);
  assert.equal(r.error, undefined, `${r.error} at ${r.line}:${r.column}\n${r.stderr}`);
  assert.equal(r.exit, 0);
  return r.result;
}

/** The report of a program that must fail, with exit code 1. */
export async function failure(code, args, options) {
  const r = await report(code, args, options);
  assert.equal(typeof r.error, "string", `no error: ${r.text.slice(0, 500)}`);
  assert.equal(r.exit, 1);
  return r;
}

/** Exactly what a run prints. */
export function prints(end, { stdout = "", stderr = "", code = 0 }) {
  assert.deepEqual({ stdout: end.stdout, stderr: end.stderr, code: end.code }, { stdout, stderr, code });
}
