// The walls around programs in processes of their own (docs/internals/walls.md), tried from the programs' side: every way
// out we can think of fails, in Python with a PermissionError where Python can give one, and nothing outside has changed.
// As root, who becomes nobody; as an ordinary user; and again with Landlock as old as Debian 12's own kernel has it.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { config, describe, fake, folder, report, root, run, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const isRoot = process.getuid() === 0;
const NOBODY = 65534, ORDINARY = 65533;
const lathe = resolve(process.env.LATHE ?? join(root, "build/lathe"));

/** A copy of the program where everybody can reach it. */
function reachable() {
  const place = folder();
  chmodSync(place, 0o755);
  copyFileSync(lathe, join(place, "lathe"));
  chmodSync(join(place, "lathe"), 0o755);
  return join(place, "lathe");
}

/** Who runs lathe, and what Landlock can do. */
const situations = [
  { name: isRoot ? "as root" : "as this user", uid: isRoot ? NOBODY : process.getuid(), options: {} },
  { name: `${isRoot ? "as root" : "as this user"}, Landlock 2`, uid: isRoot ? NOBODY : process.getuid(), options: { env: { LATHE_LANDLOCK_ABI_MAX: "2" } } },
];
if (isRoot) {
  const program = reachable();
  situations.push({ name: "as an ordinary user", uid: ORDINARY, options: { uid: ORDINARY, program } });
  situations.push({ name: "as an ordinary user, Landlock 2", uid: ORDINARY, options: { uid: ORDINARY, program, env: { LATHE_LANDLOCK_ABI_MAX: "2" } } });
}

/** What is worth escaping to: files, sockets, another process, all of the user that programs run as. */
async function world(uid) {
  const outside = folder({ secret: "the secret\n", empty: "" });
  mkdirSync(join(outside, "folder"));
  for (const name of ["", "secret", "empty", "folder"]) {
    chmodSync(join(outside, name), name.includes("e") ? 0o666 : 0o777);
    if (isRoot) chownSync(join(outside, name), uid, uid);
  }
  chmodSync(join(outside, "folder"), 0o777);
  const seen = { connections: 0 };
  const listen = (where) => new Promise((done) => {
    const server = createServer((socket) => { seen.connections++; socket.destroy(); });
    server.listen(where, () => done(server));
  });
  const abstract = `lathe-escape-${process.pid}-${uid}`;
  const servers = [await listen({ host: "127.0.0.1", port: 0 }), await listen(join(outside, "socket")), await listen(`\0${abstract}`)];
  chmodSync(join(outside, "socket"), 0o777);
  const victim = spawn("sleep", ["600"], { stdio: "ignore", env: { SECRET: "of-another" }, ...(isRoot && { uid, gid: uid }) });
  const about = { outside, port: servers[0].address().port, socket: join(outside, "socket"), abstract, victim: victim.pid };
  const before = snapshot(outside);
  return {
    about,
    untouched() {
      assert.deepEqual(snapshot(outside), before, "something outside was changed");
      assert.equal(seen.connections, 0, "somebody connected");
      assert.equal(victim.exitCode ?? victim.signalCode, null, "another process was ended");
    },
    end() {
      servers.forEach((server) => server.close());
      victim.kill("SIGKILL");
    },
  };
}

const snapshot = (path) => readdirSync(path).sort().map((name) => {
  const { mode, size, uid, mtimeMs, nlink } = statSync(join(path, name));
  return { name, mode, size, uid, mtimeMs, nlink };
});

// --- Python -----------------------------------------------------------------------------------------------------------

/** name: a Python expression, or [expression, what it must come to]; PermissionError if nothing is said. */
const REFUSED = /^(PermissionError|OSError: \[Errno 18\])/;
const python = {
  "open": `open("/etc/passwd")`,
  "io.open": `io.open(outside + "/secret").read()`,
  "os.open": `os.open(outside + "/secret", os.O_RDONLY)`,
  "pathlib": `pathlib.Path(outside, "secret").read_text()`,
  "codecs": `__import__("codecs").open(outside + "/secret").read()`,
  "a path with ..": `open(os.path.relpath(outside + "/secret")).read()`,
  "through a folder's descriptor": `os.open("etc/passwd", os.O_RDONLY, dir_fd=os.open("/", os.O_PATH))`,
  "after chdir": `(os.chdir(outside), open("secret").read())`,
  "a list of /": `os.listdir("/")`,
  "a list of other programs": `os.listdir(home + "/..")`,
  "scandir": `list(os.scandir(outside))`,
  "sqlite": [`sqlite3.connect(outside + "/secret").execute("select 1 from sqlite_master").fetchall()`, /OperationalError/],
  "write": `open(outside + "/secret", "w")`,
  "append": `open(outside + "/secret", "a")`,
  "a new file": `open(outside + "/new", "x")`,
  "a new folder": `os.mkdir(outside + "/new")`,
  "a new pipe": `os.mkfifo(outside + "/new")`,
  "a new link": `os.symlink("/etc/passwd", outside + "/new")`,
  "emptied while opened for reading": `os.open(outside + "/secret", os.O_RDONLY | os.O_TRUNC)`,
  "opened neither to be read nor written": `os.fchmod(os.open(outside + "/secret", 3), 0o777)`,
  "emptied while opened so": `os.open(outside + "/secret", 3 | os.O_TRUNC)`,
  "emptied by path": `os.truncate(outside + "/secret", 0)`,
  "emptied by path, past the prelude": `libc("truncate", (outside + "/secret").encode(), ctypes.c_long(0))`,
  "the interpreter emptied": `os.open(sys.executable, os.O_RDONLY | os.O_TRUNC)`,
  "removed": `os.remove(outside + "/secret")`,
  "a folder removed": `os.rmdir(outside + "/folder")`,
  "all removed": `shutil.rmtree(outside)`,
  "moved out": `os.rename("mine", outside + "/mine")`,
  "moved in": `os.rename(outside + "/secret", "secret")`,
  "swapped": `os.replace("mine", outside + "/secret")`,
  "linked in": `os.link(outside + "/secret", "secret")`,
  "read through a symbolic link": `(os.symlink(outside + "/secret", "link"), open("link").read())`,
  "written through a symbolic link": `open("link", "w")`,
  "a whole folder read through a symbolic link": `(os.symlink(outside, "links"), os.listdir("links"))`,
  "copied in": `shutil.copy(outside + "/secret", "secret")`,
  "copied out": `shutil.copy("mine", outside + "/mine")`,
  "rights": `os.chmod(outside + "/secret", 0o777)`,
  "rights, past the prelude": `libc("chmod", (outside + "/secret").encode(), 0o777)`,
  "times": `os.utime(outside + "/secret", (1, 1))`,
  "owner": `os.chown(outside + "/secret", 0, 0)`,
  "attributes": [`os.setxattr(outside + "/secret", "user.x", b"y")`, /^OSError: \[Errno 95\]/],
  "a set-user-id file": `libc("chmod", b"mine", 0o4755)`,
  "a set-user-id file by its descriptor": `libc("fchmod", os.open("mine", os.O_RDONLY), 0o4755)`,
  "a device": `os.mknod("device", 0o20666, os.makedev(1, 3))`,
  "the environment of the parent": `open(f"/proc/{os.getppid()}/environ").read()`,
  "the environment of another": `open(f"/proc/{victim}/environ").read()`,
  "the own environment": `open("/proc/self/environ").read()`,
  "the environment of the first": `open("/proc/self/../1/environ").read()`,
  "the memory of another": `open(f"/proc/{victim}/mem", "rb")`,
  "the memory of the parent": `open(f"/proc/{os.getppid()}/mem", "r+b")`,
  "/proc/self/root": `open("/proc/self/root/etc/passwd")`,
  "/proc/self/fd": `os.listdir("/proc/self/fd")`,
  "a list of processes": `os.listdir("/proc")`,
  "the terminal": `open("/dev/tty")`,
  "descriptors put away in a message": `__import__("socket").send_fds(__import__("socket").socketpair()[0], [b"x"], [0])`,
  "descriptors of a thread's own": `libc("close_range", 1000, 1000, 2)`,
  "a disk": [`[open(d) for d in ("/dev/vda", "/dev/sda", "/dev/mem") if os.path.exists(d)] or open("/dev/tty")`, REFUSED],
  "shared memory": `open("/dev/shm/lathe-escape", "w")`,

  // "posix" has what the prelude replaces in "os" for a better message: these are for the walls.
  "fork": `posix.fork()`,
  "vfork": `libc("vfork")`,
  "forkpty": [`posix.forkpty()`, /^(PermissionError|OSError)/],
  "posix_spawn": `posix.posix_spawn("/bin/true", ["true"], {})`,
  "execv": `posix.execv("/bin/sh", ["sh", "-c", "id"])`,
  "execv of Python": `posix.execv(sys.executable, ["python3", "-c", "1"])`,
  "execve of a descriptor": `posix.execve(os.open("/usr/lib", os.O_RDONLY), ["x"], {})`,
  "a program from memory": `libc("memfd_create", b"x", 0)`,
  "system": [`(getattr(posix, "sys" + "tem")("touch proof"), os.path.exists("proof"))[1]`, /^done: False/],
  "popen": `getattr(os, "po" + "pen")("id").read()`,
  "subprocess, taken anew": `(sys.modules.pop("sub" + "process", None), __import__("sub" + "process").check_output(["id"]))`,
  "subprocess with a shell": `getattr(__import__("sub" + "process"), "run")("touch proof", shell=True)`,
  "multiprocessing": `__import__("multiprocessing").Process(target=print).start()`,
  "a pool of processes": [`list(__import__("concurrent.futures").futures.ProcessPoolExecutor(1).map(abs, [1]))`, /^(PermissionError|OSError|BrokenProcessPool)/],
  "kill of the parent": `os.kill(os.getppid(), 9)`,
  "kill of another": `os.kill(victim, 9)`,
  "a look at another": `os.kill(victim, 0)`,
  "kill of the group": `os.killpg(0, 9)`,
  "kill of everybody": `os.kill(-1, 9)`,
  "tgkill": `libc("tgkill", victim, victim, 9)`,
  "sigqueue": `libc("sigqueue", victim, 9, ctypes.c_void_p(0))`,
  "pidfd": `os.pidfd_open(victim)`,
  "a signal by a file's owner": `fcntl.fcntl(0, fcntl.F_SETOWN, victim)`,
  "a signal of choice": `fcntl.fcntl(0, fcntl.F_SETSIG, 9)`,
  "typing at a terminal": `fcntl.ioctl(0, termios.TIOCSTI, b"x")`,
  "ptrace": `libc("ptrace", 16, victim, None, None)`,
  "ptrace of the parent": `libc("ptrace", 16, os.getppid(), None, None)`,
  "process_vm_readv": `libc("process_vm_readv", os.getppid(), ctypes.create_string_buffer(16), 1, ctypes.create_string_buffer(16), 1, 0)`,
  "limits of another": `resource.prlimit(victim, resource.RLIMIT_CPU, (1, 1))`,
  "limits raised": [`resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))`, /^(ValueError|PermissionError)/],
  "core dumps": [`resource.getrlimit(resource.RLIMIT_CORE)`, /^done: \(1, 1\)/],
  "priority of another": `os.setpriority(os.PRIO_PROCESS, victim, 19)`,
  "a session": `os.setsid()`,
  "a group": `os.setpgid(0, 0)`,
  "root": `os.setuid(0)`,
  "groups": `os.setgroups([0])`,
  "who it is": [`os.getuid() == uid and os.geteuid() == uid and os.getgroups() in ([], [uid])`, /^done: True/],
  "surviving the parent": `libc("prctl", 1, 0, 0, 0, 0)`,
  "being traced": `libc("prctl", 0x59616D61, -1, 0, 0, 0)`,

  "a socket": `socket.socket()`,
  "a socket of version 6": `socket.socket(socket.AF_INET6)`,
  "a datagram socket": `socket.socket(socket.AF_INET, socket.SOCK_DGRAM)`,
  "a raw socket": `socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)`,
  "a unix socket": `socket.socket(socket.AF_UNIX).connect(socket_path)`,
  "an abstract unix socket": `socket.socket(socket.AF_UNIX).connect("\\0" + abstract)`,
  "a unix datagram socket": `socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)`,
  "a datagram pair": `socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)`,
  "an address on a pair": `socket.socketpair()[0].sendto(b"x", socket_path)`,
  "connecting a pair": `socket.socketpair()[0].connect(socket_path)`,
  "a netlink socket": `socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)`,
  "a packet socket": `socket.socket(socket.AF_PACKET, socket.SOCK_RAW)`,
  "a cipher's socket": `socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)`,
  "a machine's socket": `socket.socket(socket.AF_VSOCK)`,
  "a connection": `socket.create_connection(("127.0.0.1", port))`,
  "a server": `socket.create_server(("127.0.0.1", 0))`,
  "urllib": [`__import__("urllib.request").request.urlopen(f"http://127.0.0.1:{port}/")`, /Operation not permitted/],
  "asyncio": `asyncio.run(asyncio.open_connection("127.0.0.1", port))`,
  "a name": [`socket.getaddrinfo("example.org", 80)`, /^(gaierror|PermissionError)/],
  "ctypes: open": `libc("open", b"/etc/passwd", 0)`,
  "ctypes: socket": `libc("socket", 2, 1, 0)`,
  "ctypes: execve": `libc("execve", b"/bin/sh", None, None)`,
  "ctypes: kill": `libc("kill", os.getppid(), 9)`,
  "ctypes: mount": `libc("mount", b"none", b".", b"tmpfs", ctypes.c_ulong(0), None)`,
  "ctypes: unshare": `libc("unshare", 0x10000000)`,
  "ctypes: setns": `libc("setns", 0, 0)`,
  "ctypes: io_uring": `libc("syscall", ctypes.c_long(425), 4, ctypes.create_string_buffer(256))`,
  "ctypes: Landlock": `libc("syscall", ctypes.c_long(446), -1, 0)`,
  "ctypes: clone3": [`libc("syscall", ctypes.c_long(435), ctypes.create_string_buffer(64), ctypes.c_long(64))`, /^OSError: \[Errno 38\]/],
  "ctypes: openat2": [`libc("syscall", ctypes.c_long(437), -100, b"/etc/passwd", ctypes.create_string_buffer(24), ctypes.c_long(24))`, /^OSError: \[Errno 38\]/],
  "chroot": `os.chroot(".")`,
  "descriptors that were left open": [`[fd for fd in range(3, 90) if is_open(fd)]`, /^done: \[\]/],
  "the secret in the environment": [`[k for k, v in os.environ.items() if "of-lathe" in v]`, /^done: \[\]/],

  "a file of one's own": [`(open("a", "w").write("x"), shutil.copy("a", "b"), os.rename("b", "c"), os.remove("c"))[0]`, /^done: 1/],
  "threads": [`list(__import__("concurrent.futures").futures.ThreadPoolExecutor(2).map(abs, [-1, 2]))`, /^done: \[1, 2\]/],
  "a pair of streams": [`(lambda p: (p[0].send(b"x"), p[1].recv(1)))(socket.socketpair())`, /^done: \(1, b'x'\)/],
  "nothing": [`open(os.devnull, "w").write("x")`, /^done: 1/],
};

const pythonProgram = (about) => `
import asyncio, ctypes, fcntl, io, os, pathlib, posix, resource, shutil, socket, sqlite3, sys, termios
home, about, results = os.getcwd(), ${JSON.stringify(about)}, {}
outside, port, socket_path, abstract, victim, uid = [about[k] for k in ("outside", "port", "socket", "abstract", "victim", "uid")]
open("mine", "w").write("mine")
own = ctypes.CDLL(None, use_errno=True)
def libc(name, *args):
    if getattr(own, name)(*args) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def is_open(fd):
    try:
        os.fstat(fd)
        return True
    except OSError:
        return False
def attempt(name, f):
    os.chdir(home)
    before = [fd for fd in range(3, 90) if is_open(fd)]
    try:
        results[name] = "done: %r" % (f(),)
    except BaseException as e:
        results[name] = f"{type(e).__name__}: {e}"
    for fd in range(3, 90):
        if fd not in before and is_open(fd):
            os.close(fd)
${Object.entries(python).map(([name, what]) => `attempt(${JSON.stringify(name)}, lambda: ${Array.isArray(what) ? what[0] : what})`).join("\n")}
set_result(results)
`;

function judge(table, results, refused) {
  const wrong = [];
  for (const [name, what] of Object.entries(table)) {
    const expected = Array.isArray(what) ? what[1] : refused;
    if (!expected.test(results[name] ?? "")) wrong.push(`${name}: ${results[name]}`);
  }
  assert.deepEqual(wrong, []);
}

const inSituation = (s, options = {}) => ({ limitMs: 60_000, ...s.options, ...options, env: { ...s.options.env, SECRET_KEY: "of-lathe", ...options.env } });

describe("Python", () => {
  for (const s of situations) {
    test(`no way out, ${s.name}`, async () => {
      const w = await world(s.uid);
      try {
        const r = await report(pythonProgram({ ...w.about, uid: s.uid }), ["--lang", "python"], inSituation(s));
        assert.equal(r.error, undefined, r.text + r.stderr);
        judge(python, r.result, REFUSED);
        w.untouched();
      } finally {
        w.end();
      }
    });
  }
  test("programs side by side do not see each other", async () => {
    const s = situations[0];
    const go = folder();
    chmodSync(go, 0o755);
    const one = run(["run", "--lang", "python", "-e", "import os, time\nopen('mine', 'w').write('x')\nprint(os.getpid(), os.getcwd(), flush=True)\ntime.sleep(3)\nset_result('unharmed')"], inSituation(s));
    const code = `import glob, os
def attempt(f):
    try:
        return repr(f())
    except OSError as e:
        return type(e).__name__
set_result([attempt(lambda: os.kill(pid, 9)) for pid in range(max(2, os.getpid() - 40), os.getpid())]
    + [attempt(lambda: open(f"/tmp/{name}")) for name in attempt(lambda: os.listdir("/tmp")).split()])`;
    const other = await report(code, ["--lang", "python"], inSituation(s));
    assert.ok(other.result.length > 10);
    assert.deepEqual([...new Set(other.result)].filter((x) => x !== "PermissionError" && x !== "FileNotFoundError"), []);
    assert.match((await one).stdout, /unharmed/);
  });
  test("a memory bomb, a file bomb, bombs of threads and descriptors end themselves", async () => {
    const code = (text) => report(text, ["--lang", "python", "--timeout", "20000"], inSituation(situations[0]));
    assert.match((await code("a = []\nwhile True: a.append(bytearray(1 << 20))")).error, /memory/i);
    assert.match((await code("f = open('x', 'wb')\nwhile True: f.write(bytes(1 << 24))")).error, /File too large/);
    assert.match((await code("f = []\nwhile True: f.append(open('/dev/null'))")).error, /Too many open files/);
    const threads = await code("import threading, time\nn = 0\ntry:\n  while n < 100000:\n    threading.Thread(target=time.sleep, args=(1,), daemon=True).start()\n    n += 1\nexcept RuntimeError as e:\n  set_result(str(e))");
    assert.match(threads.result, /can't start new thread/);
  });
  test("where a wall is missing, nothing runs, unless the configuration says so", async () => {
    const options = { env: { LATHE_LANDLOCK_ABI_MAX: "0" } };
    const refused = await run(["run", "--lang", "python", "-e", "set_result(1)"], options);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /no Landlock, which keeps a program's hands off your files.*sandbox\.requireWalls: false/s);
    const asked = await run(["run", "--lang", "python", "-e", "import os\nset_result(os.path.exists('/etc/passwd') and open('/etc/passwd').read(1) != '')", "--config", config({ sandbox: { requireWalls: false } })], options);
    assert.equal(asked.stdout, "true\n", asked.stderr);
  });
});

// --- Deno -------------------------------------------------------------------------------------------------------------

const deno = join(root, `tests/node_modules/@deno/linux-${process.arch}-glibc/deno`);
const canRun = (uid) => spawnSync(deno, ["--version"], isRoot ? { uid, gid: uid } : {}).status === 0;

/** name: a TypeScript expression, or [expression, what it must come to]; a refusal if nothing is said. */
const SHUT = /^(NotCapable|PermissionDenied|Error: (EACCES|EPERM)|Error \[ERR_ACCESS_DENIED\]|TypeError: .*(NotCapable|Requires \w+ access|[Pp]ermission denied|not permitted))/s;
const node = (module, what) => `import("node:${module}").then((m: any) => ${what})`;
const dial = (where) => node("net", `new Promise((yes, no) => { const s = m.connect(${where}); s.on("connect", yes); s.on("error", no); })`);
const typescript = {
  "read": `Deno.readTextFileSync("/etc/passwd")`,
  "read, asynchronously": `Deno.readTextFile(outside + "/secret")`,
  "open": `Deno.openSync(outside + "/secret")`,
  "a list": `[...Deno.readDirSync("/")]`,
  "node:fs": node("fs", `m.readFileSync("/etc/passwd", "utf8")`),
  "import of a file": `import("file:///etc/passwd")`,
  "import of JSON": `import("/etc/passwd", { with: { type: "json" } })`,
  "fetch of a file": [`fetch("file:///etc/passwd").then((r) => r.text())`, /^(NotCapable|NetworkError|TypeError|PermissionDenied)/],
  "write": `Deno.writeTextFileSync(outside + "/secret", "x")`,
  "emptied": `Deno.truncateSync(outside + "/secret", 0)`,
  "removed": `Deno.removeSync(outside + "/secret")`,
  "a new folder": `Deno.mkdirSync(outside + "/new")`,
  "moved in": [`Deno.renameSync(outside + "/secret", "secret")`, /^(NotCapable|PermissionDenied|Error: Invalid cross-device|CrossesDevices|Error: .*cross-device)/i],
  "linked in": [`Deno.linkSync(outside + "/secret", "secret")`, /^(NotCapable|PermissionDenied|.*cross-device)/i],
  "through a symbolic link": `(Deno.symlinkSync(outside + "/secret", "link"), Deno.readTextFileSync("link"))`,
  "rights": `Deno.chmodSync(outside + "/secret", 0o777)`,
  "times": `Deno.utimeSync(outside + "/secret", 1, 1)`,
  "owner": `Deno.chownSync(outside + "/secret", 0, 0)`,
  "the environment of another": `Deno.readTextFileSync(`+ "`/proc/${victim}/environ`" + `)`,
  "the environment of the parent": `Deno.readTextFileSync(`+ "`/proc/${Deno.ppid}/environ`" + `)`,
  "the own environment": [`Deno.env.get("SECRET_KEY") ?? "nothing"`, /^(NotCapable|done: nothing)/],
  "the memory of another": `Deno.openSync(`+ "`/proc/${victim}/mem`" + `)`,
  "a process": `new Deno.Command("/bin/true").outputSync()`,
  "a process of its own kind": `new Deno.Command(Deno.execPath(), { args: ["--version"] }).outputSync()`,
  "node:child_process": [node("child_process", `m.execSync("id").toString()`), /^(NotCapable|PermissionDenied|Error: .*(EPERM|EACCES|denied|permitted|Command failed)|TypeError)/s],
  "kill of another": `Deno.kill(victim, "SIGKILL")`,
  "kill of the parent": `Deno.kill(Deno.ppid, "SIGKILL")`,
  "node's kill": [node("process", `m.default.kill(victim, 9)`), /^(NotCapable|PermissionDenied|Error: .*EPERM)/],
  "a library": [`Deno.dlopen("libc.so.6", {})`, /^(NotCapable|done: )/],
  "TCP": `Deno.connect({ port })`,
  "TLS": `Deno.connectTls({ hostname: "127.0.0.1", port })`,
  "fetch": [`fetch(`+ "`http://127.0.0.1:${port}/`" + `).then((r) => r.text())`, /^(NotCapable|TypeError: (fetch failed|.*(Connect|error sending|not permitted)))/],
  "a web socket": [`new Promise((yes, no) => { const s = new WebSocket(`+ "`ws://127.0.0.1:${port}/`" + `); s.onopen = yes; s.onerror = (e: any) => no(new Error(e.message)); })`, /^(NotCapable|.*(Connect|permitted|connect))/],
  "node:net": [dial("port, '127.0.0.1'"), /^(NotCapable|Error: .*(EPERM|EACCES|permitted))/],
  "UDP": [`Deno.listenDatagram({ port: 0, transport: "udp", hostname: "127.0.0.1" })`, /^(NotCapable|PermissionDenied|TypeError: .*unstable|TypeError: Deno.listenDatagram is not a function)/],
  "a server": `Deno.listen({ port: 0 })`,
  "a name": [`Deno.resolveDns("example.org", "A")`, /^(NotCapable|PermissionDenied|.*(not permitted|denied))/],
  "a module of the web": [`import("https://127.0.0.1:" + port + "/x.ts")`, /^TypeError|^NotCapable/],
  "a module of npm": [`import("npm:left-pad@1.3.0")`, /^TypeError|^Error|^NotCapable/],
  "a right": [`Deno.permissions.request({ name: "read", path: "/etc" }).then((p) => { if (p.state !== "granted") throw new Deno.errors.NotCapable(p.state); return Deno.readTextFileSync("/etc/passwd"); })`, SHUT],
  "a worker with more rights": [`new Promise((yes, no) => { const w = new Worker("data:text/javascript,try { postMessage(Deno.readTextFileSync('/etc/passwd')) } catch (e) { postMessage('refused') }", { type: "module" }); w.onmessage = (e) => { w.terminate(); yes(e.data); }; w.onerror = (e) => { e.preventDefault(); no(new Deno.errors.NotCapable(e.message)); }; })`, /^(done: refused|NotCapable|PermissionDenied|TypeError)/],
};

const denoProgram = (about) => `
const { outside, port, socket, abstract, victim }: any = ${JSON.stringify(about)};
const results: Record<string, string> = {};
const attempt = async (name: string, f: () => unknown) => {
  let timer: any;
  try {
    const value = await Promise.race([f(), new Promise((_, no) => { timer = setTimeout(() => no(new Error("too slow")), 5000); })]);
    results[name] = "done: " + (typeof value === "object" ? "something" : String(value).slice(0, 60));
  } catch (e: any) {
    results[name] = String(e?.name ?? e) + ": " + String(e?.message ?? "").slice(0, 200);
  }
  clearTimeout(timer);
};
${Object.entries(typescript).map(([name, what]) => `await attempt(${JSON.stringify(name)}, () => ${Array.isArray(what) ? what[0] : what});`).join("\n")}
`;

describe("Deno", { skip: canRun(isRoot ? NOBODY : process.getuid()) ? false : `${deno} cannot be started: npm ci in tests/, in a folder open to all` }, () => {
  const settings = config({ deno: { path: deno }, typescript: { check: false }, mcpServers: { fake: fake() } });
  for (const s of situations) {
    test(`no way out of a program, ${s.name}`, async () => {
      const w = await world(s.uid);
      try {
        chmodSync(join(settings, ".."), 0o755);
        const r = await report(denoProgram(w.about) + "console.log(JSON.stringify(results));", ["--runner", "deno", "--lang", "ts", "--timeout", "30000", "--config", settings], inSituation(s));
        assert.equal(r.error, undefined, r.text + r.stderr);
        judge(typescript, JSON.parse(r.outputs.at(-1)), SHUT);
        w.untouched();
      } finally {
        w.end();
      }
    });
    test(`no way out of a process that was started ahead, ${s.name}`, async () => {
      const w = await world(s.uid);
      const call = (code, rest = {}) => ({ calls: [{ name: "execute_typescript", arguments: { code } }], ...rest });
      const ahead = "if (performance.now() < 800) throw new Error('it was not');\n";
      const model = await scriptedModel([call("console.log('first')"), call(ahead + denoProgram(w.about) + "console.log(JSON.stringify(results));", { delayMs: 1500 }), "Done."]);
      try {
        if (s.options.uid !== undefined) chownSync(model.env.XDG_STATE_HOME, s.uid, s.uid);
        const file = config({ deno: { path: deno }, typescript: { runner: "deno", check: false } });
        chmodSync(join(file, ".."), 0o755);
        const end = await run(["chat", "go", "-m", "typescript", "--config", file], inSituation(s, { env: model.env }));
        assert.equal(end.stdout, "Done.\n", end.stderr);
        judge(typescript, JSON.parse(model.asked().at(-1).messages.findLast((one) => one.role === "tool").content), SHUT);
        w.untouched();
      } finally {
        w.end();
      }
    });
    test(`no way out for who got past Deno's own checks, ${s.name}`, async () => {
      const w = await world(s.uid);
      const place = folder();
      try {
        if (isRoot) chownSync(place, s.uid, s.uid);
        writeFileSync(join(place, "program.ts"), denoProgram(w.about) + `
const dial = (path: string) => Deno.connect({ transport: "unix", path });
await attempt("a unix socket", () => dial(socket));
await attempt("an abstract unix socket", () => dial("\\0" + abstract));
console.log(JSON.stringify(results));
Deno.exit(0);`);
        const most = s.options.env?.LATHE_LANDLOCK_ABI_MAX ?? "99";
        const [, version] = (await run(["--version"])).stdout.split(/\s/);
        const end = await run([`__jail-${version}`, "--profile=deno", `--landlock-abi=${most}`, `--socket=${join(place, "bridge")}`, `--write=${place}`, "--",
          deno, "deno", "run", "-A", "--no-check", "--quiet", "--no-remote", "--no-npm", "program.ts"],
        { ...s.options, cwd: place, env: { DENO_DIR: join(place, ".deno"), HOME: place }, limitMs: 60_000 });
        const past = { ...typescript, "a unix socket": ["", /^NotFound/], "an abstract unix socket": ["", /^NotFound|^InvalidData|^TypeError|^Error/] };
        judge(past, JSON.parse(end.stdout), SHUT);
        w.untouched();
      } finally {
        w.end();
      }
    });
  }
});
