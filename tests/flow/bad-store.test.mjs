// The store's disk: full, read-only; its file: a folder, damaged, somebody else's. One clear error, the rest keeps
// working, nothing that was kept is lost, and no call is made that could not be recorded although it should have been.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, failure, fake, folder, patience, program, recording, report, root, servers, test, value } from "./harness.mjs";

const use = (store, ...options) => servers({ fake: fake(...options) }, { store: `sqlite:${store}` });
const why = (call) => `(() => { try { return ${call} } catch (e) { return e.message } })()`;
/** A call that stores fails with what is wrong, and the others work. */
const BOTH = `[${why("storeArtifact(1)")}, fakeAdd({ a: 1, b: 2 })]`;

describe("a file that is none", () => {
  const dir = folder();
  mkdirSync(join(dir, "folder.db"));
  writeFileSync(join(dir, "noise.db"), Buffer.alloc(20_000, "no database "));
  writeFileSync(join(dir, "half.db"), "SQLite format 3\0" + "x".repeat(5000));
  execFileSync("python3", ["-S", "-c", "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('CREATE TABLE theirs (a)'); c.execute('INSERT INTO theirs VALUES (7)'); c.commit()", join(dir, "theirs.db")]);

  for (const [name, says] of [["folder.db", /is not a file: name another with `store: sqlite:PATH`/], ["noise.db", /not a database of Lathe's, or it is damaged: move it away/], ["half.db", /damaged|not a database/], ["theirs.db", /not a database of Lathe's|another program/], ["no/such/file.db", /no\/such/]]) {
    test(`${name}: what stores fails, everything else works`, async () => {
      const r = await report(BOTH, use(join(dir, name)));
      assert.deepEqual([r.exit, r.stderr, r.result[1]], [0, "", "3"]);
      assert.match(r.result[0], says);
      assert.ok(r.result[0].includes(join(dir, name)), r.result[0]);
    });
    test(`${name}: with --journal no call is made`, async () => {
      const wire = recording();
      const r = await failure("\nfakeAdd({ a: 1, b: 2 })", [...use(join(dir, name), wire.option), "--journal"]);
      assert.match(r.error, /^Tool "fake\.add" was not called, as the call could not be recorded: the database /);
      assert.match(r.error, says);
      assert.equal(r.line, 2);
      assert.deepEqual(wire.of("tools/call"), []);
    });
  }
  test("none of them was changed", () => {
    assert.ok(readFileSync(join(dir, "noise.db")).equals(Buffer.alloc(20_000, "no database ")));
    assert.equal(readFileSync(join(dir, "half.db"), "latin1").length, 5016);
    assert.equal(execFileSync("python3", ["-S", "-c", "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('SELECT a FROM theirs').fetchall())", join(dir, "theirs.db")]).toString(), "[(7,)]\n");
  });
  test("a database that was damaged behind its first page: what is broken fails, and says so", async () => {
    const file = join(dir, "broken.db");
    await value("for (let i = 0; i < 20; i++) storeArtifact('x'.repeat(5000)); 1", use(file));
    const bytes = readFileSync(file);
    bytes.fill(0xee, 4096 * 3);
    writeFileSync(file, bytes);
    const r = await report(`[${why("listArtifacts().map((a) => getArtifact(a.id).data).length")}, ${BOTH}[1]]`, use(file));
    assert.deepEqual([r.exit, r.result[1]], [0, "3"]);
    assert.match(String(r.result[0]), /damaged/);
  });
});

// A small disk, in a mount namespace of its own: needs to be root, or user namespaces.
const unshare = [["unshare", "-m"], ["unshare", "-rm"]].find(([command, ...words]) => spawnSync(command, [...words, "sh", "-c", "mount -t tmpfs none /mnt"]).status === 0);

/** What each `say NAME COMMAND` of these shell commands prints, with a disk of `size` at ./disk; $LATHE is the program. */
function disk(size, script) {
  const [command, ...words] = unshare;
  const home = folder({ "lathe.yaml": JSON.stringify({ store: "sqlite:disk/lathe.db", mcpServers: { fake: fake() } }) });
  const lathe = resolve(process.env.LATHE ?? join(root, "build/lathe"));
  const text = `mkdir disk && mount -t tmpfs -o size=${size} none disk || exit 99\nsay() { echo "--- $1"; shift; "$@" 2>&1; echo "exit $?"; }\n${script}`;
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(LATHE|XDG_|NODE_)/.test(name)));
  const env = { ...inherited, HOME: home, LATHE: lathe, LATHE_CONFIG: join(home, "lathe.yaml") };
  const end = spawnSync(command, [...words, "sh", "-c", text], { cwd: home, env, encoding: "utf8", timeout: 60_000 * patience });
  assert.equal(end.signal, null);
  return Object.fromEntries(end.stdout.split(/^--- /m).slice(1).map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n") + 1)]));
}
const CALLS = `python3 -c "import sqlite3; c = sqlite3.connect('disk/lathe.db'); print(c.execute('PRAGMA integrity_check').fetchall()[0][0], c.execute('SELECT tool, status, length(answer) FROM calls').fetchall())"`;

describe("a disk", { skip: !unshare && "no mount namespaces here: neither root nor user namespaces" }, () => {
  test("that is full: calls that should be recorded are not made, others are; with room it goes on", () => {
    const out = disk("600k", `
      say first "$LATHE" run --journal -e 'fakeAdd({ a: 1, b: 2 })'
      head -c 600000 /dev/zero > disk/pad 2>/dev/null
      say full "$LATHE" run --journal -e 'fakeAdd({ a: 1, b: 2 })'
      say unrecorded "$LATHE" run -e 'fakeAdd({ a: 1, b: 2 })'
      say artifact "$LATHE" run -e '${BOTH.replaceAll("'", "'\\''")}'
      rm disk/pad
      say again "$LATHE" run --journal -e 'fakeAdd({ a: 3, b: 2 })'
      say kept ${CALLS}`);
    assert.equal(out.first, "3\nexit 0\n");
    assert.match(out.full, /^error: Tool "fake\.add" was not called, as the call could not be recorded: the database [^\n]*disk\/lathe\.db: the disk is full: [^\n]*\n.*exit 1\n$/s);
    assert.equal(out.unrecorded, "3\nexit 0\n");
    assert.match(out.artifact, /^\["the database [^\n]*the disk is full[^\n]*","3"\]\nexit 0\n$/);
    assert.equal(out.again, "5\nexit 0\n");
    assert.match(out.kept, /^ok \[\('fake\.add', 'OK', 3\), \('fake\.add', 'OK', 3\)\]\n/);
  });
  test("that is full from the start", () => {
    const out = disk("64k", `head -c 100000 /dev/zero > disk/pad 2>/dev/null
      say full "$LATHE" run --journal -e 'fakeAdd({ a: 1, b: 2 })'
      rm disk/pad; mount -o remount,size=1m disk
      say again "$LATHE" run --journal -e 'fakeAdd({ a: 1, b: 2 })'
      say kept ${CALLS}`);
    assert.match(out.full, /^error: [^\n]*the disk is full[^\n]*\n.*exit 1\n$/s);
    assert.equal(out.again, "3\nexit 0\n");
    assert.match(out.kept, /^ok \[\('fake\.add', 'OK', 3\)\]\n/);
  });
  test("that becomes full with an answer: the program has it, a warning says that it is not recorded", () => {
    const out = disk("400k", `
      say big "$LATHE" run --journal -e 'output(fakeBig({ bytes: 600000 }).length); fakeAdd({ a: 1, b: 2 })'
      say kept ${CALLS}`);
    assert.match(out.big, /^600000\n3\n/m);
    assert.match(out.big, /^warning: an answer of "fake\.big" could not be recorded: [^\n]*the disk is full/m);
    assert.match(out.big, /exit 0\n$/);
    assert.match(out.kept, /^ok \[\('fake\.big', [^)]*\), \('fake\.add', 'OK', 3\)\]\n/);
  });
  test("that is read-only: the same, and what is there stays", () => {
    const out = disk("1m", `
      say first "$LATHE" run --journal -e 'storeArtifact("kept"); fakeAdd({ a: 1, b: 2 })'
      mount -o remount,ro disk
      say journal "$LATHE" run --journal -e 'fakeAdd({ a: 1, b: 2 })'
      say both "$LATHE" run -e '${BOTH.replaceAll("'", "'\\''")}'
      mount -o remount,rw disk
      say again "$LATHE" run --journal -e 'fakeAdd({ a: 1, b: 2 }); listArtifacts().map((a) => getArtifact(a.id).data)'
      say kept ${CALLS}`);
    assert.equal(out.first, "3\nexit 0\n");
    assert.match(out.journal, /^error: Tool "fake\.add" was not called, as the call could not be recorded: [^\n]*it is read-only: make the file and its folder writable/);
    assert.match(out.both, /^\["the database [^\n]*it is read-only: [^\n]*","3"\]\nexit 0\n$/);
    assert.equal(out.again, '["kept"]\nexit 0\n');
    const calls = [...out.kept.matchAll(/\('([^']*)', '([^']*)', /g)].map((match) => match.slice(1).join(" "));
    assert.deepEqual(calls, ["artifact.store OK", "fake.add OK", "fake.add OK", "artifact.list OK", "artifact.get OK"]);
  });
  test("that is read-only: what is there can be read, next to clear errors of what writes", () => {
    const out = disk("2m", `
      say first "$LATHE" run -e 'storeArtifact("kept"); 1'
      mount -o remount,ro disk
      say store "$LATHE" store
      say dry "$LATHE" store trim --older-than 1d --dry-run
      say trim "$LATHE" store trim --older-than 1d
      say list "$LATHE" chat --list
      say read "$LATHE" run -e 'listArtifacts().map((a) => getArtifact(a.id).data)'
      say mixed "$LATHE" run -e 'let e; try { storeArtifact(2) } catch (x) { e = x.message } [listArtifacts().length, /read-only/.test(e), listArtifacts().length]'
      say left ls disk`);
    assert.match(out.store, /disk\/lathe\.db: .* of it free; it can only be read\n[^]*artifacts +1 [^]*exit 0\n$/);
    assert.equal(out.dry, "nothing is old enough to be removed\nexit 0\n");
    assert.match(out.trim, /^lathe store: the database [^\n]*it is read-only: make the file and its folder writable[^\n]*\nexit 1\n$/);
    assert.equal(out.list, "exit 0\n");
    assert.equal(out.read, '["kept"]\nexit 0\n');
    assert.equal(out.mixed, "[1,true,1]\nexit 0\n");
    assert.equal(out.left, "lathe.db\nexit 0\n");
  });
  test("that is read-only after a crash: the log is read where its index is there; without it, one clear line", () => {
    const out = disk("2m", `
      say first "$LATHE" run -e 'storeArtifact("kept"); 1'
      python3 -c "
import sqlite3, os
c = sqlite3.connect('disk/lathe.db'); c.execute(\\"INSERT INTO artifacts(id, user, type, description, mime_type, bytes, created_at, data) VALUES('x', 'local', 't', 'd', 'application/json', 1, '2026-01-01', x'31')\\"); c.commit(); os._exit(0)"
      mount -o remount,ro disk
      say index "$LATHE" run -e 'listArtifacts().length'
      mount -o remount,rw disk; rm disk/lathe.db-shm; mount -o remount,ro disk
      say without "$LATHE" run -e 'listArtifacts().length'
      mount -o remount,rw disk
      say again "$LATHE" run -e 'storeArtifact(3); listArtifacts().length'`);
    assert.equal(out.index, "2\nexit 0\n");
    assert.match(out.without, /^error: the database [^\n]*read-only[^]*exit 1\n$/);
    assert.equal(out.again, "3\nexit 0\n");
  });
  test("that is read-only from the start: programs that store nothing do not notice", () => {
    const out = disk("1m", `mount -o remount,ro disk
      say plain "$LATHE" run -e 'fakeAdd({ a: 1, b: 2 })'
      say both "$LATHE" run -e '${BOTH.replaceAll("'", "'\\''")}'`);
    assert.equal(out.plain, "3\nexit 0\n");
    assert.match(out.both, /^\["the database [^\n]*read-only[^\n]*","3"\]\nexit 0\n$/i);
  });
});

test("what the journal records is there", async () => {
  const file = join(folder(), "lathe.db");
  const end = await program("fakeAdd({ a: 1, b: 2 }); try { fakeFail() } catch {} interpreterRunCode({ code: 'fakeAdd({ a: 2, b: 2 })' })", [...use(file), "--journal"]);
  assert.equal(end.code, 0, end.stderr);
  const rows = execFileSync("python3", ["-S", "-c", "import sqlite3, sys, json; print(json.dumps(sqlite3.connect(sys.argv[1]).execute('SELECT tool, status, input, answer, user, finished_at IS NOT NULL FROM calls ORDER BY id').fetchall()))", file]);
  const calls = JSON.parse(rows).map(([tool, status, input, answer, ...rest]) => [tool, status === "OK", JSON.parse(input), answer, ...rest]);
  assert.deepEqual(calls.map(([tool, ok]) => [tool, ok]), [["fake.add", true], ["fake.fail", false], ["interpreter.run-code", true], ["fake.add", true]]);
  assert.deepEqual(calls[0].slice(2), [{ a: 1, b: 2 }, '"3"', "local", 1]);
  assert.match(calls[1][3], /it failed/);
});
