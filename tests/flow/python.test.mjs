// Programs in Python, as a user runs them: a real interpreter, real MCP servers, real processes that must be gone afterwards.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { config, describe, fake, folder, only, patience, run, scripted, sleep, start, test, until } from "./harness.mjs";
import { entry as npm, missing } from "./npm-servers.mjs";

const python = (text, args = [], options = {}) => run(["run", "--lang", "python", "-e", text, ...args], options);
const told = async (text, args = [], options) => {
  const end = await python(text, ["--json", ...args], options);
  return { code: end.code, ...JSON.parse(end.stdout) };
};
const lives = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
/** A folder for TMPDIR that anybody may write to: started by root, programs run as nobody. */
const temporary = () => {
  const path = folder();
  chmodSync(path, 0o777);
  return path;
};
const PIDS = "import os, time\nprint(os.getpid(), os.getppid())\n";
const pids = (text) => text.match(/\[log\] (\d+) (\d+)/)?.slice(1).map(Number);

describe("Python", { timeout: 240_000 * patience }, () => {
  const skip = missing(["filesystem"]).length > 0 && "npm ci has not been run";
  test("real servers' tools: by function, by id, at once, from threads", { skip }, async () => {
    const dir = folder({ "a.txt": "alpha", "b.txt": "beta" });
    const text = `
import asyncio
def content(r): return r["content"] if isinstance(r, dict) else r
async def both():
    return await asyncio.gather(*[asyncio.to_thread(files_read_text_file, path=f"{D}/{n}.txt") for n in "ab"])
D = input_data
files_write_file(path=f"{D}/new.txt", content="from Python")
out = [content(call_tool("files.read_text_file", {"path": f"{D}/new.txt"}))]
out += [content(r) for r in call_tools_parallel([("files.read_text_file", {"path": f"{D}/{n}.txt"}) for n in "ab"])]
out += [content(r) for r in asyncio.run(both())]
try:
    files_read_text_file(path="/etc/passwd")
except ToolError as e:
    out.append("denied" in str(e).lower() or "outside" in str(e).lower())
set_result(out)`;
    const report = await told(text, ["--input", JSON.stringify(dir), ...only({ files: npm("@modelcontextprotocol/server-filesystem", [dir]) })]);
    assert.deepEqual(report.result, ["from Python", "alpha", "beta", "alpha", "beta", true], report.error);
    assert.equal(report.calls.length, 7);
  });

  test("thousands of tools cost a program nothing that it does not name", async () => {
    const many = scripted(Array.from({ length: 5000 }, (_, i) => ({ tool: { name: `tool_${i}`, description: "one of many", inputSchema: { type: "object" } } })));
    const report = await told("set_result([many_tool_4711(a=1), tools['many.tool_12'](b=2)])", only({ many }));
    assert.equal(report.code, 0, report.error);
    assert.deepEqual(report.calls.map((call) => call.tool), ["many.tool_4711", "many.tool_12"]);
  });

  test("an error's place is where it was written, in fences too", async () => {
    const report = await told("Here it is:\n```python\ndef f():\n    raise ValueError('no')\nf()\n```", ["--config", config({})]);
    assert.deepEqual([report.code, report.error, report.line, report.context], [1, "ValueError: no", 4, "raise ValueError('no')"]);
    assert.equal(report.stack.replace(/:\d+\)/g, ")"), "at f (4)\nat <program> (5)");
  });

  test("interrupted, it ends with its processes; killed, its processes end with it", async () => {
    for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", undefined], ["SIGKILL", null]]) {
      const talk = start(["run", "--lang", "python", "-e", `${PIDS}time.sleep(60)`]);
      await until(() => pids(talk.text()), "it runs");
      const processes = pids(talk.text());
      assert.ok(processes.every(lives));
      talk.child.kill(signal);
      const end = await talk.ended;
      if (code !== undefined) assert.equal(end.code, code, end.stderr);
      await until(() => !processes.some(lives), `${signal}: its processes are gone`);
    }
  });

  test("nothing is left in the temporary folder, whatever the program left", async () => {
    const tmp = temporary();
    const text = "import os\nos.makedirs('a/b/c')\nopen('a/b/f', 'w').write('x')\nos.symlink('/', 'root')\nfd = os.open('a', 0)\nos.fchmod(fd, 0)\nset_result(1)";
    const end = await python(text, [], { env: { TMPDIR: tmp } });
    assert.deepEqual([end.code, end.stdout], [0, "1\n"], end.stderr);
    assert.deepEqual(readdirSync(tmp), []);
  });

  test("a program sees no other one's files, and not Lathe's", async () => {
    const tmp = temporary();
    const talk = start(["run", "--lang", "python", "-e", `${PIDS}open('secret.txt', 'w').write('s')\nprint(os.getcwd())\ntime.sleep(60)`], { env: { TMPDIR: tmp } });
    const at = await until(() => talk.text().match(/\[log\] (\/.*)\n/)?.[1], "it has written");
    const text = `
import os
said = []
def attempt(name, f):
    try:
        f()
        said.append(name)
    except (PermissionError, FileNotFoundError):
        pass
attempt("read", lambda: open(${JSON.stringify(join(at, "secret.txt"))}).read())
attempt("list", lambda: os.listdir(${JSON.stringify(tmp)}))
attempt("write", lambda: open(${JSON.stringify(join(tmp, "x"))}, "w"))
attempt("parent", lambda: open(f"/proc/{os.getppid()}/environ").read())
attempt("home", lambda: os.listdir(os.path.expanduser("~root")))
set_result(said)`;
    assert.deepEqual((await told(text, [], { env: { TMPDIR: tmp } })).result, []);
    talk.child.kill("SIGINT");
    await talk.ended;
  });

  test("many at once, each an interpreter of its own", async () => {
    const ends = await Promise.all(Array.from({ length: 6 }, (_, i) => python(`set_result(${i} * 2)`, [], { limitMs: 60_000 })));
    assert.deepEqual(ends.map((end) => end.stdout), [0, 2, 4, 6, 8, 10].map((n) => `${n}\n`));
  });

  test("on old Landlock programs run all the same; without Landlock only when they are told to", async () => {
    assert.equal((await python("set_result(3)", [], { env: { LATHE_LANDLOCK_ABI_MAX: "2" } })).stdout, "3\n");
    const none = await python("set_result(3)", [], { env: { LATHE_LANDLOCK_ABI_MAX: "0" } });
    assert.equal(none.code, 1);
    assert.match(none.stderr, /^lathe run: this system has no Landlock.*requireWalls/);
    const all = await python("set_result(3)", ["--config", config({ sandbox: { requireWalls: false } })], { env: { LATHE_LANDLOCK_ABI_MAX: "0" } });
    assert.equal(all.stdout, "3\n", all.stderr);
  });

  test("modules of its own in a fixed workspace", async () => {
    const work = folder();
    chmodSync(work, 0o777);
    mkdirSync(join(work, "helpers"));
    writeFileSync(join(work, "helpers/text.py"), "from lathe import call_tool\ndef shout(s):\n    return call_tool('fake.add', {'a': 1, 'b': 2}) + s.upper()\n");
    const args = ["--config", config({ python: { workspace: work }, mcpServers: { fake: fake() } })];
    const end = await python("from helpers.text import shout\nset_result(shout('hi'))", args);
    assert.deepEqual([end.stdout, end.stderr], ["3HI\n", ""]);
  });

  test("an interpreter that waits costs nothing", async () => {
    const talk = start(["run", "--lang", "python", "-e", `${PIDS}time.sleep(25)`]);
    const [, zygote] = await until(() => pids(talk.text()), "it runs");
    const ticks = () => readFileSync(`/proc/${zygote}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).map(Number).reduce((a, b) => a + b);
    await sleep(1500 * patience); // it has loaded what it loads ahead
    const before = ticks();
    await sleep(1000);
    assert.equal(ticks(), before);
    talk.child.kill("SIGINT");
    await talk.ended;
  });
});
