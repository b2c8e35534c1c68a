// lathe doctor: what Lathe would use here, without starting any of it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { config, folder, root, run, test } from "./harness.mjs";

const SHA256 = (path) => execFileSync("sha256sum", [path], { encoding: "utf8" }).slice(0, 64);
/** A person's home with this configuration of their own. */
function person(own) {
  const home = folder();
  mkdirSync(join(home, ".config/lathe"), { recursive: true });
  writeFileSync(join(home, ".config/lathe/lathe.yaml"), own);
  return { home, own: join(home, ".config/lathe/lathe.yaml"), look: async (args = [], rest = {}) => {
    const end = await run(["doctor", "--json", ...args], { ...rest, env: { HOME: home, ...rest.env } });
    return { ...JSON.parse(end.stdout), code: end.code };
  } };
}

test("which files count and why, with their hashes; the servers of both", async () => {
  const mark = join(folder(), "mark");
  const one = person(`mcpServers: {mine: {command: "touch", args: ["${mark}"]}}\n`);
  const project = config({ mcpServers: { theirs: { command: "sh", disabled: true } } });
  const other = join(folder({ "mcp.json": JSON.stringify({ mcpServers: { far: { type: "http", url: "https://example.org/mcp" } } }) }), "mcp.json");
  const seen = await one.look(["--config", project, "--mcp-config", other]);
  assert.deepEqual(seen.files, [
    { path: one.own, layer: "user", counts: true, why: "the user's", sha256: SHA256(one.own) },
    { path: project, layer: "project", counts: true, why: "--config", sha256: SHA256(project) },
    { path: other, layer: "project", counts: true, why: "--mcp-config", sha256: SHA256(other) },
  ]);
  assert.deepEqual(seen.servers, [
    { name: "mine", type: "stdio", command: "touch", disabled: false }, { name: "theirs", type: "stdio", command: "sh", disabled: true },
    { name: "far", type: "http", disabled: false },
  ]);
  assert.ok(!existsSync(mark), "nothing was started");
});
test("an untrusted file does not count, a trusted one does, a harmless one does", async () => {
  const one = person("{}"), cwd = folder({ "lathe.yaml": "plugins: [x.so]\n" }), why = async () => (await one.look([], { cwd })).files[1].why;
  assert.equal(await why(), "./lathe.yaml, not trusted");
  assert.equal((await run(["trust"], { cwd, env: { HOME: one.home } })).code, 0);
  assert.equal(await why(), "./lathe.yaml, trusted");
  assert.equal((await one.look([], { cwd })).trustedFiles, 1);
  writeFileSync(join(cwd, "lathe.yaml"), "tools: {budgets: [{match: x, calls: 1}]}");
  assert.equal(await why(), "./lathe.yaml, not trusted, but harmless");
  writeFileSync(join(cwd, "lathe.yaml"), "tools: [");
  assert.equal(await why(), "./lathe.yaml, not trusted, and cannot be read");
  assert.equal((await one.look([], { cwd, env: { LATHE_CONFIG: join(cwd, "lathe.yaml") } })).code, 1);
});
test("the store: not there, there, no database, in memory, nowhere; it is not created", async () => {
  const one = person("{}"), state = folder(), env = { XDG_STATE_HOME: state };
  assert.deepEqual((await one.look([], { env })).store, { path: join(state, "lathe/lathe.db"), state: "missing" });
  assert.ok(!existsSync(join(state, "lathe")));
  await run(["run", "-e", "storeArtifact({ a: 1 })"], { env });
  assert.equal((await one.look([], { env })).store.state, "open");
  const bad = await one.look(["--config", config({ store: `sqlite:${one.own}` })]);
  assert.deepEqual([bad.code, bad.store.state], [1, "broken"]);
  assert.match(bad.store.error, /not a database of Lathe's/);
  assert.equal((await one.look(["--config", config({ store: "sqlite::memory:" })])).store.state, "memory");
  assert.equal((await one.look([], { env: { HOME: undefined, XDG_STATE_HOME: undefined } })).store.state, "broken");
});
test("versions, walls, and a mistake in a file is told with the rest", async () => {
  const one = person("{}");
  const seen = await one.look();
  const [first, ...parts] = (await run(["--version"])).stdout.trim().split("\n");
  assert.equal(first, `lathe ${seen.lathe}`);
  assert.deepEqual(parts.map((line) => line.replace(/ \d+(\.\d+)+$/, " N")), ["built with:", ...["quickjs-wasi", "libuv", "SQLite", "libyaml", "libcurl", "libmicrohttpd", "OpenSSL"].map((name) => `${name} N`)]);
  assert.equal(seen.engine, `quickjs-wasi ${JSON.parse(readFileSync(join(root, "node_modules/quickjs-wasi/package.json"), "utf8")).version}`);
  assert.equal(typeof seen.walls.landlock, "number");
  assert.equal((await one.look([], { env: { LATHE_LANDLOCK_ABI_MAX: "0" } })).walls.landlock, 0);
  const wrong = await one.look(["--config", config("modles: []\n")]);
  assert.equal(wrong.code, 1);
  assert.match(wrong.configError, /unknown key "modles" \(did you mean "models"\?\)/);
});
test("for people: the same, without secrets and control characters", async () => {
  const one = person('mcpServers: {a: {command: "run-${API_TOKEN}\\e[2J"}}\n');
  const end = await run(["doctor"], { env: { HOME: one.home, API_TOKEN: "s3cret-s3cret" } });
  assert.match(end.stdout, /^lathe \S+, engine quickjs-wasi \S+\nconfiguration\n  counts: \S+ \(the user's\)\n/);
  assert.match(end.stdout, /\ntypes of TypeScript programs\n  (checked by \S+\/tsc|not checked: there is no tsc [^\n]*)\n/);
  assert.match(end.stdout, /\nservers\n  a: stdio run-\*\*\*\\u\{1B\}\[2J\n$/);
  assert.doesNotMatch(end.stdout, /s3cret/);
});
