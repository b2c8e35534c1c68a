// Ids that a person shortens, and conversations without a title.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, run, test } from "./harness.mjs";
import { scriptedModel } from "./model.mjs";

const sql = (file, statement) => {
  const end = spawnSync("python3", ["-S", "-c", "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()", file, statement], { encoding: "utf8" });
  assert.equal(end.status, 0, end.stderr);
};

describe("beginnings of ids", () => {
  test("one that several prompts have lists them; a conversation without a title shows its first message", async () => {
    const model = await scriptedModel(["One.", "Two."]);
    for (const message of ["What is\nfirst?", "Second question"]) assert.equal((await run(["chat", "-m", "classic", message], { env: model.env })).code, 0);
    const file = join(model.env.XDG_STATE_HOME, "lathe/lathe.db");
    const ids = ["abc0".padEnd(32, "1"), "abc0".padEnd(32, "2")];
    ids.forEach((id, i) => sql(file, `UPDATE prompts SET id = '${id}' WHERE number = ${i + 1}`));
    for (const command of ["cancel", "approve"]) {
      const end = await run([command, "abc"], { env: model.env });
      assert.equal(end.code, 1);
      assert.match(end.stderr, /several begin with "abc": say more of the id/);
      for (const id of ids) assert.ok(end.stderr.includes(id), end.stderr);
    }
    const one = await run(["cancel", ids[0].slice(0, 5)], { env: model.env });
    assert.match(one.stderr, /not found or no longer active/);
    const list = await run(["chat", "--list"], { env: model.env });
    assert.match(list.stdout, /  Second question\n[^\n]*  What is first\?\n$/);
    sql(file, "UPDATE conversations SET id = 'abc0' || substr(id, 5)");
    const several = await run(["chat", "-c", "abc", "x"], { env: model.env });
    assert.match(several.stderr, /2 conversations begin with "abc": abc0[0-9a-f-]+, abc0[0-9a-f-]+; say more of the id/);
  });
});
