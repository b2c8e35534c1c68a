// What is kept: ceilings of artifacts, how long data stays, and what `lathe store` says and does.
import assert from "node:assert/strict";
import { join } from "node:path";
import { config, describe, folder, program, run, test, value } from "./harness.mjs";

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
    const end = await program(FLOOD(200), keep().args);
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
