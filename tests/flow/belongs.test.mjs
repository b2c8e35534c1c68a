// A prompt belongs to the configuration that it began with: another one leaves it as it is, and says where it goes on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before } from "node:test";
import { describe, folder, recording, run, scripted, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";

const PAY = "const r = cashPay({ n: 1 });\noutput('paid ' + r.n); done()";
const turns = [
  { user: "pay", replies: [PAY, "output('asked again'); done()"] },
  { user: "again", replies: ["Again it is."] },
];

let env;
before(async () => {
  env = await recorded(turns);
});

/** A store, and folders with configurations; "home" has the server, and a prompt that waits there for approval. */
async function waiting({ mcp = false } = {}) {
  const state = folder(), base = realpathSync(folder()), effects = recording();
  const tools = [{ tool: { name: "pay", inputSchema: { type: "object" } } }];
  const cash = { mcpServers: { cash: scripted(tools, effects.option) } };
  const ask = { tools: { policy: [{ match: "cash.pay", action: "ask" }] } };
  for (const name of ["home", "other", "with ' quotes"]) mkdirSync(join(base, name));
  const file = join(base, "home/lathe.yaml"), servers = join(base, "home/mcp.json"), other = join(base, "other/lathe.yaml");
  const write = (path, value) => writeFileSync(path, JSON.stringify(value));
  write(file, mcp ? ask : { ...cash, ...ask });
  write(servers, cash);
  write(other, { sandbox: { timeoutMs: 5000 } });
  const options = (cwd, more) => ({ cwd: join(base, cwd), env: { ...env, XDG_STATE_HOME: state, ...more } });
  const named = ["--config", file, ...(mcp ? ["--mcp-config", servers] : [])];
  const w = {
    base, file, servers, other, named,
    calls: () => effects.of("tools/call").length,
    chat: (cwd, ...args) => run(["chat", ...args], options(cwd)),
    run: (cwd, env, ...args) => run(["chat", ...args], options(cwd, env)),
    sql(text) {
      const script = "import json, sqlite3, sys\nc = sqlite3.connect(sys.argv[1]); print(json.dumps(c.execute(sys.argv[2]).fetchall())); c.commit()";
      const end = spawnSync("python3", ["-S", "-c", script, join(state, "lathe/lathe.db"), text], { encoding: "utf8" });
      assert.equal(end.status, 0, end.stderr);
      return JSON.parse(end.stdout);
    },
    /** All that is stored of the prompt. */
    stored: () => JSON.stringify(["prompts", "prompt_outputs", "notes", "calls"].map((table) => w.sql(`SELECT * FROM ${table}`))),
    /** Goes on with the prompt, and says the rest of the output. */
    async goOn(cwd, ...args) {
      const end = await w.chat(cwd, "-c", "last", "-m", "classic", "-y", "again", ...args);
      assert.deepEqual([end.code, end.stdout], [0, "paid 1\nAgain it is.\n"], end.stderr);
      assert.equal(w.calls(), 1);
      return end;
    },
  };
  const one = start(["chat", "-m", "code", "pay", ...named], { ...options("home"), terminal: true });
  await until(() => one.text().includes("ne[v]er: "), `it is asked\n${one.text()}`);
  await one.kill();
  w.id = w.sql("SELECT id FROM conversations")[0][0];
  return w;
}

/** A process with another configuration: one line, exit 3, nothing is asked of the model, nothing has changed. */
async function refused(w, cwd, args, pattern, env = {}) {
  const before = w.stored();
  for (const message of [["again"], ["-y", "again"], []]) {
    const end = await w.run(cwd, env, "-c", "last", "-m", "classic", ...message, ...args);
    assert.deepEqual([end.code, end.stdout], [3, ""], end.stderr);
    assert.match(end.stderr, pattern);
    assert.equal(end.stderr.split("\n").length, 2, end.stderr);
  }
  assert.equal(w.stored(), before);
  assert.equal(w.calls(), 0);
}
const BELONGS = "^lathe chat: the prompt belongs to another configuration, and goes on with that: ";
const quote = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

describe("another configuration", { concurrency: 2 }, () => {
  test("another file, no file, another folder: the prompt stays as it is", async () => {
    const w = await waiting();
    const there = new RegExp(`${BELONGS}cd ${quote(w.base)}/home && lathe chat -c ${w.id} --config ${quote(w.file)}\n$`);
    await refused(w, "other", ["--config", w.other], there);
    await refused(w, "with ' quotes", [], there);
    await refused(w, "home", ["--config", w.other], there);
    await refused(w, "with ' quotes", [], there, { LATHE_CONFIG: w.other });
    await w.goOn("other", "--config", w.file); // the same file named from elsewhere
  });
  test("the command of the message goes on", async () => {
    const w = await waiting({ mcp: true });
    const end = await w.chat("other", "-c", "last", "again", "--config", w.other);
    const command = end.stderr.match(/goes on with that: cd (\S+) && lathe chat -c (\w+) --config (\S+) --mcp-config (\S+)\n$/);
    assert.ok(command, end.stderr);
    await w.goOn("home", "--config", command[3], "--mcp-config", command[4]);
  });
  test("the file of --mcp-config counts", async () => {
    const w = await waiting({ mcp: true });
    const there = new RegExp(`${BELONGS}cd .* --config ${quote(w.file)} --mcp-config ${quote(w.servers)}\n$`);
    await refused(w, "home", ["--config", w.file], there);
    await refused(w, "with ' quotes", ["--mcp-config", w.servers], there);
    await w.goOn("with ' quotes", "--mcp-config", w.servers, "--config", "../home/lathe.yaml");
  });
  test("a link to the file's folder is the same file", async () => {
    const w = await waiting();
    spawnSync("ln", ["-s", join(w.base, "home"), join(w.base, "link")]);
    await w.goOn("other", "--config", join(w.base, "link/lathe.yaml"));
  });
  test("a prompt without a project's file, and a folder that has one", async () => {
    const w = await waiting({ mcp: true });
    w.sql("UPDATE prompts SET origin = json_remove(origin, '$.files[0]')"); // as begun with --mcp-config only
    await refused(w, "other", ["--config", w.other], new RegExp(`${BELONGS}cd ${quote(w.base)}/home && lathe chat -c ${w.id} --mcp-config ${quote(w.servers)}\n$`));
    w.sql(`UPDATE prompts SET origin = json_set(origin, '$.files', json('[]'))`); // as begun without any
    await refused(w, "other", ["--config", w.other], new RegExp(`^lathe chat: the prompt began without a configuration file, and goes on without one \\(no lathe\\.yaml in the folder, no --config, no --mcp-config, no \\$LATHE_CONFIG\\): cd ${quote(w.base)}/home && lathe chat -c ${w.id}\n$`));
  });
  test("a folder's name with spaces and quotes is quoted for a shell", async () => {
    const w = await waiting();
    w.sql(`UPDATE prompts SET origin = json_set(origin, '$.folder', '${w.base}/with '' quotes')`);
    const end = await w.chat("other", "-c", "last", "again", "--config", w.other);
    const command = end.stderr.match(/goes on with that: (cd .*) && lathe chat/);
    assert.ok(command, end.stderr);
    const cd = spawnSync("sh", ["-c", `${command[1]} && pwd`], { encoding: "utf8" });
    assert.equal(cd.stdout, `${w.base}/with ' quotes\n`, end.stderr);
  });
  test("without an open prompt, a conversation goes on anywhere", async () => {
    const w = await waiting();
    await w.goOn("home", ...w.named);
    const end = await w.chat("other", "-c", "last", "-m", "classic", "again", "--config", w.other);
    assert.deepEqual([end.code, end.stdout], [0, "Again it is.\n"], end.stderr);
  });
});

describe("the same configuration", { concurrency: 2 }, () => {
  test("edited meanwhile: it goes on, and the change is said once", async () => {
    const w = await waiting();
    writeFileSync(w.file, `${JSON.stringify({ ...JSON.parse(String(spawnSync("cat", [w.file]).stdout)), sandbox: { timeoutMs: 20000 } })}\n`);
    const one = start(["chat", "-c", "last", ...w.named], { cwd: w.base, env: { ...env, XDG_STATE_HOME: w.sql("PRAGMA database_list")[0][2].replace("/lathe/lathe.db", "") }, terminal: true });
    await until(() => one.text().includes("ne[v]er: "), `it is asked\n${one.text()}`);
    assert.match(one.text(), new RegExp(`warning: the configuration has changed since the prompt began: ${quote(w.file)}\r?\n`));
    await one.kill();
    const end = await w.goOn("other", ...w.named);
    assert.doesNotMatch(end.stderr, /has changed/);
  });
  test("a file of the user's own that came meanwhile is a change, not another configuration", async () => {
    const w = await waiting();
    w.sql(`UPDATE prompts SET origin = json_insert(origin, '$.files[#]', json('{"path":"/nowhere/lathe.yaml","hash":"1","why":"the user''s","user":true}'))`);
    assert.match((await w.goOn("other", ...w.named)).stderr, /has changed since the prompt began: \/nowhere\/lathe\.yaml\n/);
  });
  test("a prompt of a release that recorded none goes on anywhere", async () => {
    const w = await waiting();
    w.sql("UPDATE prompts SET origin = NULL");
    await w.goOn("other", "--config", w.file);
  });
});
