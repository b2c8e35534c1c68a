// The release before, the next one, and this one: on one store, beside each other and one after the other.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { cash, turns } from "../fixtures/release-world.mjs";
import { describe, folder, root, run, test } from "./harness.mjs";
import { recorded } from "./model.mjs";

let env;
before(async () => {
  env = await recorded(turns);
});

const fixture = (name) => readFileSync(join(root, "tests/fixtures", name), "utf8");
function python(script, ...args) {
  const end = spawnSync("python3", ["-S", "-c", script, ...args], { encoding: "utf8" });
  assert.equal(end.status, 0, end.stderr);
  return end.stdout;
}

/** A store, as the release has left it or new, and this Lathe on it. */
function world(release) {
  const state = folder(), file = join(state, "lathe/lathe.db"), { args, calls } = cash();
  mkdirSync(join(state, "lathe"), { mode: 0o700 });
  const sql = (text) => JSON.parse(python("import json, sqlite3, sys\nc = sqlite3.connect(sys.argv[1]); print(json.dumps(c.execute(sys.argv[2]).fetchall())); c.commit()", file, text));
  if (release) python("import sqlite3, sys\nsqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())", file, join(root, "tests/fixtures", `${release}.store.sql`));
  const options = { env: { ...env, XDG_STATE_HOME: state } };
  return { file, calls, sql, chat: (...more) => run(["chat", ...more, ...args], options), replay: (id) => run(["replay", id, ...args], options) };
}
const conversationOf = (w, input) => w.sql(`SELECT c.id FROM conversations c JOIN prompts p ON p.conversation = c.number WHERE p.input = '${input}'`)[0][0];

describe("what the release before has left", () => {
  for (const [message, rest] of [["pay code", "paid 6 of 4\n"], ["pay classic", "It is paid.\n"], ["pay typescript", "It was typed.\n"], ["pay run", "It has run.\n"]]) {
    test(`${message}: a prompt that waits goes on`, async () => {
      const w = world("release-1"), id = conversationOf(w, message);
      assert.match((await w.chat("--list")).stdout, new RegExp(`${id.slice(0, 8)}.*\\(waits for approval\\)`));
      const end = await w.chat("-c", id, "-m", "classic", "-y", "again");
      assert.deepEqual([end.code, end.stdout], [0, `${rest}Again it is.\n`], end.stderr);
      assert.doesNotMatch(end.stderr, /diverged|warning/);
      assert.deepEqual(w.calls(), ["pay"], "what it had done is not done again");
      const replayed = await w.replay(w.sql(`SELECT id FROM prompts WHERE input = '${message}'`)[0][0]);
      assert.match(replayed.stdout, /: the same again: /, replayed.stderr);
    });
  }
  test("a prompt that has ended is replayed", async () => {
    const w = world("release-1");
    const end = await w.replay(w.sql("SELECT id FROM prompts WHERE input = 'paid'")[0][0]);
    assert.match(end.stdout, /: the same again: 1 reply, 1 program, 4 calls/, end.stderr);
  });
  test("its waiting prompt with another program on record ends before any effect, and says why", async () => {
    const w = world("release-1"), id = conversationOf(w, "pay code");
    w.sql("UPDATE calls SET hash = hash + 1 WHERE tool = 'cash.look'");
    w.sql("UPDATE notes SET text = json_set(text, '$.lathe', '0.0.9') WHERE text LIKE '{\"lathe\":%'");
    const end = await w.chat("-c", id, "-y");
    assert.equal(end.code, 1);
    assert.match(end.stderr, /diverged: call 1 is cash\.look .*; Lathe 0\.0\.9 began the prompt, this is /);
    assert.deepEqual(w.calls(), []);
  });
});

/** Runs each statement of a release: a plain INSERT with values of the columns' types, the others only prepared. */
const STATEMENTS = `
import re, sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.isolation_level = None
done = 0
for line in open(sys.argv[2]):
    text = line.strip().rstrip(";")
    found = re.match(r"INSERT INTO (\\w+)\\(([^)]*)\\) VALUES\\([?, ]*\\)", text)
    c.execute("BEGIN")
    if found:
        types = {row[1]: row[2] for row in c.execute(f"PRAGMA table_info({found[1]})")}
        names = [name.strip() for name in found[2].split(",")]
        values = [99 + done if types[name] == "INTEGER" else b"x" if types[name] == "BLOB" else f"text {done}" for name in names]
        count = text.count("?")
        c.execute(text, (values + values)[:count])
        done += 1
    else:
        numbered = [int(n) for n in re.findall(r"\\?(\\d+)", text)]
        count = max(numbered) if numbered else text.count("?")
        c.execute("EXPLAIN " + text, [1] * count)
    c.execute("ROLLBACK")
print(done)`;

describe("beside each other", () => {
  test("the release before uses the tables of this one", async () => {
    const w = world();
    await w.chat("-y", "-m", "code", "paid");
    assert.ok(Number(python(STATEMENTS, w.file, join(root, "tests/fixtures/release-1.statements.sql"))) >= 8);
    assert.equal(w.sql("PRAGMA user_version")[0][0], 3, "it refuses a newer one");
  });
  test("this release uses the tables of the next one", async () => {
    const w = world();
    await w.chat("-y", "-m", "code", "paid");
    for (const change of ["ALTER TABLE prompts ADD COLUMN next TEXT", "ALTER TABLE calls ADD COLUMN next INTEGER NOT NULL DEFAULT 1", "ALTER TABLE prompt_outputs ADD COLUMN next TEXT", "CREATE TABLE next(id TEXT PRIMARY KEY) STRICT", "UPDATE schema_additions SET count = count + 1"]) w.sql(change);
    const count = w.sql("SELECT count FROM schema_additions")[0][0];
    const end = await w.chat("-c", "last", "-m", "classic", "-y", "pay classic");
    assert.deepEqual([end.code, end.stdout], [0, "I look.\nIt is paid.\n"], end.stderr);
    assert.match((await w.chat("--list")).stdout, /  2  /);
    const replayed = await w.replay("last");
    assert.match(replayed.stdout, /: the same again: /, replayed.stderr);
    assert.equal(w.sql("SELECT count FROM schema_additions")[0][0], count, "it stays as the next one has it");
  });
  test("both add to the same store: a prompt that this one began is closed by a statement of the release before", async () => {
    const w = world("release-1");
    await w.chat("-y", "-m", "code", "paid");
    const ended = fixture("release-1.statements.sql").split("\n").find((line) => line.startsWith("UPDATE prompts SET state"));
    assert.ok(ended, "the statement is there");
    const id = conversationOf(w, "pay classic");
    python("import sqlite3, sys\nc = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2].rstrip(';'), ('failed', '', 'why', 'now', sys.argv[3], 1)).fetchall(); c.commit()", w.file, ended, w.sql("SELECT id FROM prompts WHERE input = 'pay classic'")[0][0]);
    const end = await w.chat("-c", id, "-m", "classic", "again");
    assert.deepEqual([end.code, end.stdout], [0, "Again it is.\n"], end.stderr);
  });
});
