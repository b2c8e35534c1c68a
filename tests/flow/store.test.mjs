// What is kept: ceilings of artifacts, how long data stays, and what `lathe store` says and does.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { before } from "node:test";
import { config, describe, folder, patience, program, run, scripted, start, test, until, value } from "./harness.mjs";
import { recorded } from "./model.mjs";

const MIB = 1024 * 1024;
/** Arguments for a configuration with this store, in a folder of its own. */
const keep = (store = {}, rest = {}) => {
  const file = join(folder(), "lathe.db");
  return { file, args: ["--config", config({ ...rest, store: { url: `sqlite:${file}`, ...store } })] };
};
const FLOOD = (mb, type = "storeArtifact") => `let n = 0; const text = "x".repeat(${MIB} - 1000);
try { for (; n < ${mb}; n++) ${type}(text) } catch (e) { log(e.message) }
n`;

describe("ceilings of artifacts", () => {
  test("of a run: a program cannot fill the disk, and is told what to do", async () => {
    const end = await program(FLOOD(200), [...keep().args, "--timeout", 30_000 * patience], { limitMs: 60_000 });
    assert.deepEqual([end.stdout, end.code], ["128\n", 0]);
    assert.match(end.stderr, /this run has stored \d+ bytes of artifacts, and one run may store 128 MiB: store less, or raise store\.artifactsPerRunMb in the configuration/);
  });
  test("programs inside a program count with it", async () => {
    const { args } = keep({ artifactsPerRunMb: 3 });
    const inner = JSON.stringify(FLOOD(2));
    const code = `[1, 2, 3].map(() => tools["interpreter.run-code"]({ code: ${inner} })).map((r) => r.result ?? r)`;
    assert.deepEqual(await value(code, args), [2, 1, 0]);
  });
  test("of the database: over several runs, also after some were deleted", async () => {
    const { file, args } = keep({ artifactsMb: 5, artifactsPerRunMb: 3 });
    assert.equal(await value(FLOOD(4), args), 3);
    assert.equal(await value(FLOOD(4), args), 2);
    const end = await program(FLOOD(1), args);
    assert.equal(end.stdout, "0\n");
    assert.match(end.stderr, /the database has \d+ bytes of artifacts, and 5 MiB are allowed: `lathe store trim --kind artifacts` makes room, store\.artifactsMb in the configuration allows more/);
    const more = ["--config", config({ store: { url: `sqlite:${file}`, artifactsMb: 6 } })];
    assert.equal(await value(FLOOD(4), more), 1);
  });
  test("a small artifact still fits where a large one does not", async () => {
    const { args } = keep({ artifactsPerRunMb: 1 });
    assert.deepEqual(await value("let e; try { storeArtifact('x'.repeat(2e6)) } catch (f) { e = f.message } [/store less/.test(e), typeof storeArtifact('small')]", args), [true, "string"]);
  });
});

describe("store in the configuration", () => {
  for (const [what, store, message] of [
    ["an age of nothing", { retention: { calls: "0d" } }, /store\.retention\.calls is no age: write 90d, a number of days from 1, or never/],
    ["an age in words", { retention: { artifacts: "soon" } }, /store\.retention\.artifacts is no age/],
    ["a typo", { retentoin: {} }, /unknown key "retentoin" in store \(did you mean "retention"\?\)/],
    ["a list", ["sqlite:x"], /store must be a text or a mapping, not a list/],
    ["no room at all", { artifactsMb: 0 }, /store\.artifactsMb must be from 1 to \d+, not "0"/],
  ]) {
    test(what, async () => {
      const end = await program("1", ["--config", config({ store })]);
      assert.equal(end.code, 3);
      assert.match(end.stderr, message);
    });
  }
  test("a text is its url", async () => {
    const dir = folder();
    assert.equal(await value("typeof storeArtifact(1)", ["--config", config({ store: `sqlite:${dir}/a.db` })]), "string");
    assert.equal(await value("listArtifacts().length", ["--config", config({ store: { url: `sqlite:${dir}/a.db`, retention: { calls: 7, artifacts: "90d", conversations: "never" } } })]), 1);
  });
});

/** Runs statements on a database, and returns the rows of the last one. */
const sql = (file, ...statements) =>
  JSON.parse(execFileSync("python3", ["-S", "-c", "import sqlite3, sys, json\nc = sqlite3.connect(sys.argv[1], timeout=10)\nfor s in sys.argv[2:]: rows = c.execute(s).fetchall()\nc.commit(); print(json.dumps(rows))", file, ...statements]));
/** Makes everything a hundred days older. */
const age = (file, days = 100) => {
  const older = (table, ...columns) => `UPDATE ${table} SET ${columns.map((c) => `${c} = strftime('%Y-%m-%dT%H:%M:%fZ', ${c}, '-${days} days')`).join()}`;
  sql(file, older("calls", "started_at", "finished_at"), older("artifacts", "created_at"), older("conversations", "created_at", "updated_at"),
    older("prompts", "created_at", "completed_at"), `UPDATE blobs SET used_at = date(used_at, '-${days} days')`);
};
const counts = (file) => Object.fromEntries(["conversations", "prompts", "prompt_outputs", "prompt_shown", "calls", "notes", "artifacts", "blobs"].map((table) => [table, sql(file, `SELECT count(*) FROM ${table}`)[0][0]]));

describe("lathe store", { concurrency: 2 }, () => {
  let env;
  before(async () => {
    env = await recorded([
      { user: "go", replies: ["bankLook({ n: 1 }); storeArtifact('of go'); output('done'); done()"] },
      { user: "pay", replies: ["storeArtifact('of pay'); bankPay({ n: 1 }); done()"] },
    ]);
  });
  /** A store with conversations; `chat` adds one, and `left` one that waits for approval, in no process. */
  function world(store = {}) {
    const tool = (name, annotations) => ({ tool: { name, inputSchema: { type: "object" }, annotations } });
    const rest = { mcpServers: { bank: scripted([tool("look", { readOnlyHint: true }), tool("pay")]) }, tools: { policy: [{ match: "bank.pay", action: "ask" }] } };
    const { file, args } = keep(store, rest);
    const options = { env };
    const chat = (...more) => run(["chat", "-m", "code", ...more, ...args], options);
    return {
      file, args, options, chat,
      store: (...more) => run(["store", ...more, ...args], options),
      async left() {
        const one = start(["chat", "-m", "code", "pay", ...args], { ...options, terminal: true });
        await until(() => /ne\[v\]er: /.test(one.text()), "it is asked");
        one.child.kill("SIGKILL");
        await one.ended;
      },
    };
  }

  test("says what there is; nothing is made where there is nothing", async () => {
    const w = world({ retention: { calls: "30d" } });
    const none = await w.store();
    assert.deepEqual([none.code, none.stdout, existsSync(w.file)], [1, "", false]);
    assert.match(none.stderr, /^lathe store: there is no database yet: .*lathe\.db is made when something is stored\n$/);
    await w.chat("go");
    const end = await w.store();
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /lathe\.db: \d+\.\d KiB, .* of it free\n.*number +size +oldest *\nconversations +1 +\d+\.\d KiB +\d{4}-\d\d-\d\d +kept for ever\ncalls +\d+ .*kept for 30 days\nartifacts +1 .*kept for ever\n$/);
    const json = JSON.parse((await w.store("--json")).stdout);
    assert.deepEqual(json.kinds.map((k) => [k.kind, k.count > 0]), [["conversations", true], ["calls", true], ["artifacts", true]]);
    assert.equal(json.bytes, statSync(w.file).size);
  });
  test("trim removes what is old, of each kind alone, and makes the file smaller", async () => {
    const w = world();
    await w.chat("go");
    await w.chat("go");
    await value("storeArtifact('x'.repeat(3e6)); 1", w.args);
    age(w.file);
    await w.chat("go");
    const dry = await w.store("trim", "--older-than", "30d", "--dry-run");
    assert.match(dry.stdout, /^would remove 2 conversations, \d+ calls, 3 artifacts \(2\.9 MiB\)\n$/);
    assert.equal(counts(w.file).conversations, 3);
    assert.match((await w.store("trim", "--older-than", "30d", "--kind", "artifacts")).stdout, /^removed 0 conversations, 0 calls, 3 artifacts \(2\.9 MiB\)\nthe file was rewritten \(VACUUM\): 3\.\d MiB before, \d+\.\d KiB now\n$/);
    assert.ok(statSync(w.file).size < 1e6);
    sql(w.file, "INSERT INTO notes SELECT '018' || substr(run, 4), number, kind, what, time_us, text FROM notes WHERE run = (SELECT max(run) FROM notes)");
    await w.store("trim", "--older-than", "30d", "--kind", "calls");
    assert.deepEqual(sql(w.file, "SELECT count(*) > 0, min(run) > '019' FROM notes"), [[1, 1]]);
    assert.deepEqual(sql(w.file, "SELECT count(*) FROM calls WHERE substr(run, 1, 32) IN (SELECT id FROM prompts WHERE created_at < date('now', '-30 days'))"), [[0]]);
    sql(w.file, "INSERT INTO decisions(prompt, conversation, call, hash, verb, user, tool, remember, created_at, reason, input) SELECT p.id, c.id, 'x', 1, 'approve', 'local', 't', 'call', p.created_at, '', '' FROM prompts p JOIN conversations c ON c.number = p.conversation");
    const rest = await w.store("trim", "--older-than", "30", "--json");
    assert.deepEqual(sql(w.file, "SELECT count(*) FROM decisions"), [[1]]);
    assert.deepEqual([JSON.parse(rest.stdout).conversations, counts(w.file).conversations, counts(w.file).prompts], [2, 1, 1]);
    assert.deepEqual(sql(w.file, "SELECT count(*) FROM prompt_outputs WHERE prompt NOT IN (SELECT number FROM prompts)"), [[0]]);
    assert.deepEqual(sql(w.file, "SELECT count(*) FROM notes WHERE substr(run, 1, 32) NOT IN (SELECT id FROM prompts)"), [[0]]);
    assert.deepEqual(sql(w.file, "PRAGMA integrity_check"), [["ok"]]);
    assert.match((await w.store("trim", "--older-than", "30d")).stdout, /^nothing is old enough to be removed\n/);
    assert.equal((await w.chat("-c", "last", "go")).stdout, "done\n");
  });
  test("what has not ended stays whole, however old, and goes on afterwards", async () => {
    const w = world();
    await w.left();
    age(w.file);
    const before = counts(w.file);
    assert.ok(before.notes > 0 && before.artifacts === 1 && before.prompts === 1);
    assert.match((await w.store("trim", "--older-than", "1d")).stdout, /^nothing is old enough/);
    assert.deepEqual(counts(w.file), before);
    const end = await run(["chat", "-c", "last", "--yes", ...w.args], w.options);
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stderr, /bank\.pay \{"n":1\} +\d+ ms/);
    assert.deepEqual(sql(w.file, "SELECT state FROM prompts"), [["completed"]]);
  });
  test("store.retention: a command removes a little of what is old when it ends, and one that stores nothing does not look", async () => {
    const w = world({ retention: { artifacts: "30d" } });
    await value("for (let i = 0; i < 5; i++) storeArtifact(i); 1", w.args);
    age(w.file);
    assert.equal(await value("1", w.args), 1);
    assert.equal(counts(w.file).artifacts, 5);
    assert.equal(await value("listArtifacts().length", w.args), 5);
    assert.equal(counts(w.file).artifacts, 0);
  });
  test("while another process writes, the end of a command does not wait for it", async () => {
    const w = world({ retention: { artifacts: "30d" } });
    await value("storeArtifact(1); 1", w.args);
    age(w.file);
    const writer = execFileSync.bind(null, "python3", ["-S", "-c", `
import sqlite3, subprocess, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute("BEGIN IMMEDIATE")
t = time.time(); subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL); print(time.time() - t)`, w.file, process.env.LATHE ?? "build/lathe", "run", ...w.args, "-e", "listArtifacts().length"]);
    assert.ok(Number(writer()) < 3 * patience);
    assert.equal(counts(w.file).artifacts, 1);
  });
  test("processes beside a trim do not fail, and lose nothing", async () => {
    const w = world();
    await value("for (let i = 0; i < 3000; i++) storeArtifact('x'.repeat(2000)); 1", w.args);
    age(w.file);
    const writing = [1, 2, 3].map(() => value("for (let i = 0; i < 200; i++) storeArtifact(i); 1", w.args));
    const trims = [1, 2].map(() => w.store("trim", "--older-than", "30d"));
    assert.deepEqual(await Promise.all(writing), [1, 1, 1]);
    for (const end of await Promise.all(trims)) assert.equal(end.code, 0, end.stderr);
    assert.equal(counts(w.file).artifacts, 600);
    assert.deepEqual(sql(w.file, "SELECT sum(bytes) - (SELECT bytes FROM artifact_sums WHERE run = '') FROM artifacts"), [[0]]);
  });
  test("a stranger's folder does not say what is deleted", async () => {
    const w = world();
    await value("storeArtifact(1); 1", w.args);
    const cwd = folder({ "lathe.yaml": JSON.stringify({ store: { url: `sqlite:${w.file}`, retention: { artifacts: 1 } } }) });
    age(w.file);
    const end = await run(["store", "trim"], { cwd });
    assert.equal(end.code, 1);
    assert.match(end.stderr, /there is no database yet/);
    const named = await w.store("trim");
    assert.equal(named.code, 2);
    assert.match(named.stderr, /nothing says how old: --older-than 30d, or store\.retention in the configuration/);
    assert.equal(counts(w.file).artifacts, 1);
  });
  for (const [what, args, message] of [
    ["an age in hours", ["trim", "--older-than", "3h"], /"3h" is no age: write 30d, a number of days from 1/],
    ["never", ["trim", "--older-than", "never"], /"never" is no age/],
    ["an unknown kind", ["trim", "--older-than", "3d", "--kind", "call"], /there is no kind "call": say conversations, calls or artifacts/],
    ["options of trim alone", ["--dry-run"], /--older-than, --kind and --dry-run belong to trim/],
    ["another word", ["clean"], /there is nothing called "clean" to do: say trim, or nothing/],
  ]) {
    test(`usage: ${what}`, async () => {
      const end = await run(["store", ...args]);
      assert.deepEqual([end.code, end.stdout], [2, ""]);
      assert.match(end.stderr, message);
    });
  }
});

test("a file of somebody else's, in a folder of theirs: it can be read", { skip: process.getuid?.() !== 0 && "only root can be somebody else" }, async () => {
  const { file, args } = keep();
  await value("storeArtifact('theirs'); 1", args);
  chmodSync(dirname(file), 0o755);
  chmodSync(file, 0o644);
  chmodSync(dirname(args[1]), 0o755);
  const end = await program("listArtifacts().map((a) => getArtifact(a.id).data)", args, { uid: 65534 });
  assert.deepEqual([end.stdout, end.code], ['["theirs"]\n', 0], end.stderr);
  assert.match((await run(["store", ...args], { uid: 65534 })).stdout, /it can only be read/);
});
