// What `make packages` packs: each package is put into an empty folder and used there, and two packings have the same bytes.
// The .deb's and the image are tried by `make packages-check`, which needs root and minutes.
import { test, before, after } from "node:test";
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { bundleManifest, serverJson } from "../fixtures/package_schemas.mjs";

const root = new URL("../..", import.meta.url).pathname;
const has = (command) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
const skip = has("patchelf") ? false : "patchelf is not installed";
const arch = process.arch;
const bare = { PATH: "/nonexistent" };

let work, out;
const fresh = (name) => {
  const folder = join(work, name);
  mkdirSync(folder);
  return folder;
};
const pack = (folder, ...kinds) => {
  execFileSync("scripts/packages.sh", kinds, { cwd: root, env: { ...process.env, LATHE_PACKAGES: folder } });
  return readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile()).sort();
};
const digest = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");
const find = (pattern) => join(out, readdirSync(out).find((name) => pattern.test(name)));

before(() => {
  if (skip) return;
  work = mkdtempSync(join(tmpdir(), "lathe-packages-"));
  out = fresh("out");
  pack(out, "portable", "npm", "mcpb", "wheel");
});
after(() => work && rmSync(work, { recursive: true }));

test("two packings have the same bytes", { skip }, () => {
  const again = fresh("again"), files = pack(again, "npm", "wheel");
  assert.equal(files.length, 3);
  assert.deepEqual(files.map((name) => [name, digest(join(again, name))]), files.map((name) => [name, digest(join(out, name))]));
});

// Their debugging information is looked at, too: the build id, which stays, is a digest of it.
test("no program or library names the folder that it was built in", () => {
  for (const name of ["lathe", "liblathe.so", "lathe-exec"]) {
    assert.equal(readFileSync(join(root, "build/release", name)).includes(root), false, name);
  }
});

test("the tarball runs in a foreign folder, with its own libraries only", { skip }, () => {
  const folder = fresh("tarball");
  execFileSync("tar", ["-xzf", find(/^lathe-.*\.tar\.gz$/), "--strip-components=1", "-C", folder]);
  const run = (env) => spawnSync(join(folder, "bin/lathe"), ["run", "-e", "artifactList({}); 1 + 2"], { encoding: "utf8", env: { ...bare, HOME: folder, ...env } });
  assert.equal(run().stdout, "3\n");
  const loaded = [...run({ LD_DEBUG: "libs" }).stderr.matchAll(/calling init: (\S+)/g)].map((it) => it[1]);
  assert.deepEqual(loaded.filter((it) => !it.startsWith(folder) && !/\/(ld-linux[^/]*|libc|libm)\.so\.\d$/.test(it)), []);
  assert.ok(loaded.some((it) => it.includes("libsqlite3")));
  for (const name of readdirSync(join(folder, "lib"))) {
    const library = spawnSync("ldd", [join(folder, "lib", name)], { encoding: "utf8", env: { ...process.env, LD_LIBRARY_PATH: join(folder, "lib") } });
    assert.doesNotMatch(library.stdout, /not found/, name);
  }
  assert.match(readFileSync(join(folder, "licences/libcurl4"), "utf8"), /Daniel Stenberg/);
});

test("npm installs two tarballs without a network, and the launcher starts the program", { skip }, () => {
  const folder = fresh("npm");
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  const packages = [find(/-lathe-\d[^-]*\.tgz$/), find(new RegExp(`-linux-${arch}-.*\\.tgz$`))];
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", "--cache", fresh("cache"), ...packages], { cwd: folder });
  const start = (name, args, input = "") => execFileSync(join(folder, "node_modules/.bin", name), args, { input, encoding: "utf8" });
  assert.equal(start("lathe", ["run", "-e", "1+2"]), "3\n");
  assert.equal(start(`lathe-linux-${arch}`, ["run", "-e", "1+2"]), "3\n");
  assert.equal(spawnSync(join(folder, "node_modules/.bin/lathe"), ["run", "-e", "throw 1"]).status, 1);
  const lines = [
    { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } } },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" },
  ].map((it) => JSON.stringify({ jsonrpc: "2.0", ...it })).join("\n");
  const answers = start("lathe", ["mcp"], `${lines}\n`).trim().split("\n").map((it) => JSON.parse(it));
  assert.ok(answers.find((it) => it.id === 2).result.tools.some((tool) => tool.name === "execute_code"));
  rmSync(join(folder, `node_modules/@lathe.invalid/lathe-linux-${arch}`), { recursive: true });
  const lonely = spawnSync(join(folder, "node_modules/.bin/lathe"), ["--version"], { encoding: "utf8" });
  assert.deepEqual([lonely.status, /is not installed/.test(lonely.stderr)], [126, true]);
});

test("the bundle for MCP clients starts, and server.json is what the registry takes", { skip }, async () => {
  const folder = fresh("mcpb"), file = find(/\.mcpb$/);
  execFileSync("python3", ["-m", "zipfile", "-e", file, folder]);
  const read = (path) => JSON.parse(readFileSync(path, "utf8"));
  const manifest = read(join(folder, "manifest.json")), server = read(join(out, "server.json"));
  const ajv = addFormats(new Ajv({ allErrors: true }));
  for (const [schema, value] of [[bundleManifest, manifest], [serverJson, server]]) {
    assert.ok(ajv.validate(schema, value), ajv.errorsText());
  }
  const program = manifest.server.mcp_config.command.replace("${__dirname}", folder);
  assert.equal(program, join(folder, manifest.server.entry_point));
  execFileSync("chmod", ["755", program]); // Python's zipfile leaves modes out
  assert.equal(execFileSync(program, ["run", "-e", "1+2"], { encoding: "utf8", env: bare }), "3\n");
  const [npm, bundle] = server.packages, launcher = read(join(out, "npm/lathe/package.json"));
  assert.deepEqual([npm.identifier, npm.version, server.name], [launcher.name, launcher.version, launcher.mcpName]);
  assert.equal(bundle.fileSha256, digest(file));
});

test("the wheel brings its library", { skip }, () => {
  const folder = fresh("wheel");
  execFileSync("python3", ["-m", "zipfile", "-e", find(/\.whl$/), folder]);
  const code = `
import lathe
def add(a: int, b: int) -> int:
    return a + b
with lathe.Sandbox(tools=[add]) as sandbox:
    print(sandbox.run("add({a: 1, b: 2})").value)
print(lathe._library.library()._name)`;
  const [value, library] = execFileSync("python3", ["-c", code], { encoding: "utf8", cwd: folder, env: { PATH: process.env.PATH, PYTHONPATH: folder } }).trim().split("\n");
  assert.deepEqual([value, library], ["3", join(folder, "lathe/liblathe.so.0")]);
  const record = readFileSync(join(folder, readdirSync(folder).find((it) => it.endsWith(".dist-info")), "RECORD"), "utf8").trim().split("\n");
  for (const line of record.filter((it) => it.includes("sha256="))) {
    const [name, sum] = line.split(",");
    assert.equal(sum, `sha256=${createHash("sha256").update(readFileSync(join(folder, name))).digest("base64url")}`, name);
  }
});
