// What `make dist` packs: all that git has and what is generated, in one folder, to be built where wabt, Node.js and npm are not.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder, root } from "./harness.mjs";

const skip = existsSync(join(root, ".git")) ? false : "these are the sources of a release";
const run = (cwd, command, args, options = {}) => execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"], ...options });

/** A clone in which everything is generated already, and newer than what it was made of. */
function generated() {
  const clone = join(folder(), "clone"), now = new Date();
  run(root, "git", ["clone", "-q", root, clone]);
  for (const name of ["engine", "page"]) {
    cpSync(join(root, "build", name), join(clone, "build", name), { recursive: true });
    for (const file of readdirSync(join(clone, "build", name))) utimesSync(join(clone, "build", name, file), now, now);
  }
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  appendFileSync(join(clone, ".git/info/exclude"), "node_modules\n");
  return clone;
}

/** A PATH with every command of this machine but those. */
function pathWithout(hidden) {
  const path = folder();
  for (const at of ["/usr/local/bin", "/usr/bin", "/bin"].filter(existsSync)) {
    for (const name of readdirSync(at)) {
      if (!hidden.includes(name) && !existsSync(join(path, name))) symlinkSync(join(at, name), join(path, name));
    }
  }
  return path;
}

test("a release has git's files and what is generated, and is configured without wabt, Node.js and npm", { skip }, () => {
  const clone = generated(), out = folder();
  run(clone, "make", ["dist"], { env: { ...process.env, LATHE_XZ: "-0" } });
  const tarball = readdirSync(join(clone, "build")).find((name) => /^lathe-\d[\d.]*\.tar\.xz$/.test(name));
  run(out, "tar", ["-xf", join(clone, "build", tarball)]);
  const [name] = readdirSync(out), release = join(out, name);
  assert.deepEqual([readdirSync(out).length, name], [1, tarball.replace(".tar.xz", "")]);

  const files = run(release, "find", [".", "!", "-type", "d", "-printf", "%P\\n"]).trim().split("\n").sort();
  const ours = files.filter((file) => !file.startsWith("generated/")), git = run(clone, "git", ["ls-files"]).trim().split("\n");
  assert.deepEqual([git.filter((file) => !ours.includes(file)), ours.filter((file) => !git.includes(file))], [[], []]);
  for (const file of ["engine/qjs.c", "engine/wasm-rt.h", "page/page.pack", "licences/wabt", "licences/npm-quickjs-wasi"]) {
    assert.ok(files.includes(`generated/${file}`), file);
  }

  const env = { PATH: pathWithout(["wasm2c", "node", "nodejs", "npm", "npx"]), HOME: out };
  const engine = readdirSync(join(release, "generated/engine")).map((file) => `build/engine/${file}`);
  run(release, "make", ["check", ...engine, "page", "build/release.configured"], { env });
  writeFileSync(join(release, "build/engine/libqjs.a"), ""); // of qjs.c, in 40 seconds
  const steps = run(release, "ninja", ["-C", "build/release", "-n", "lathe", "liblathe"], { env }); // says what is missing
  assert.match(steps, /Linking C executable lathe/);
});
