// What is made from the tables of commands beside --help: completion in real shells, manual pages; and `make install`.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, folder, lathe, root, run, test } from "./harness.mjs";

const absent = (program) => spawnSync(program, ["--version"]).error?.code === "ENOENT" && `${program} is not there`;
/** What this shell says to a script. */
function shell(program, args, script) {
  const end = spawnSync(program, [...args, script], { encoding: "utf8", env: { ...process.env, HOME: "/nonexistent" } });
  assert.equal(end.status, 0, end.stderr);
  return end.stdout;
}
const script = async (name) => (await run(["completion", name])).stdout;

describe("completion", { concurrency: 3 }, () => {
  test("bash: commands, options, values, files", async () => {
    const at = folder();
    writeFileSync(join(at, "one.js"), "");
    const asked = ["ru", "run --la", "run --lang ''", "run --runner p", "mcp in", "mcp install --pr", "mcp --c", "config ''", "run --timeout ''", "run --input one", "run one", "serve token a", "nothing --x"];
    const tries = asked.map((words) => `try ${words}`).join("\n");
    const said = shell("bash", ["--noprofile", "--norc", "-c"], `cd ${at}
      compopt() { :; } # is only there while somebody completes
      ${await script("bash")}
      try() { COMP_WORDS=(lathe "$@"); COMP_CWORD=$#; _lathe; echo "\${COMPREPLY[*]}"; }
      ${tries}`);
    assert.deepEqual(said.split("\n").slice(0, -1), ["run", "--lang", "js ts python", "python", "install", "--project --print", "--config", "schema reference", "", "one.js", "one.js", "add", ""]);
  });
  test("zsh: the same script as a file of its path, and by eval", { skip: absent("zsh") }, async () => {
    const text = await script("zsh");
    const stubs = `_describe() { print -l -- "\${(@P)2}"; }; _arguments() { print -l -- "$words[1] $CURRENT" "$@"; }; compdef() { print "bound $*"; }`;
    assert.equal(shell("zsh", ["-fc"], `${stubs}\n${text}`), "bound _lathe lathe\n");
    const asked = (words, current) => shell("zsh", ["-fc"], `${stubs}\n${text}\nwords=(${words}); CURRENT=${current}; _lathe`).split("\n").slice(1);
    assert.ok(asked("lathe r", 2).includes("run:Run a program against the configured tools"));
    const options = asked("lathe run --la", 3);
    assert.equal(options[0], "run 2");
    assert.ok(options.some((one) => /^--lang\[.*\]:value:\(js ts python\)$/.test(one)), options.join("\n"));
    assert.ok(options.some((one) => /^--config\[.*\]:value:_files$/.test(one)));
    assert.ok(options.some((one) => /^--json\[[^\]]*\]$/.test(one)));
    assert.ok(asked("lathe mcp install --pr", 4).some((one) => one.startsWith("--project[")));
  });
  test("fish", { skip: absent("fish") }, async () => {
    const at = join(folder(), "lathe.fish");
    writeFileSync(at, await script("fish"));
    const asked = (words) => shell("fish", ["--no-config", "-c"], `source ${at}; complete -C '${words}'`).split("\n").map((line) => line.split("\t")[0]).filter(Boolean);
    assert.deepEqual(asked("lathe ru"), ["run"]);
    assert.deepEqual(asked("lathe run --la"), ["--lang"]);
    assert.deepEqual(asked("lathe run --lang ").sort(), ["js", "python", "ts"]);
    assert.deepEqual(asked("lathe config ").sort(), ["reference", "schema"]);
    assert.ok(asked("lathe mcp install --p").includes("--project"));
  });
  test("another shell is refused with what there is", async () => {
    const end = await run(["completion", "tcsh"]);
    assert.deepEqual([end.code, end.stdout, end.stderr], [2, "", "lathe completion: say bash, zsh or fish; see lathe completion --help\n"]);
  });
});

test("what make install puts there: the program, a manual page of each command, completions, the library; uninstall leaves nothing but what others put there", async () => {
  const at = folder(), to = join(at, "opt/lathe");
  const install = (job) => spawnSync(join(root, "scripts/install.sh"), [job, at, "/opt/lathe"], { encoding: "utf8", env: { ...process.env, LATHE: lathe } });
  const end = install("install");
  assert.equal(end.status, 0, end.stderr);
  assert.equal(spawnSync(join(to, "bin/lathe"), ["--version"], { encoding: "utf8" }).stdout, (await run(["--version"])).stdout);
  assert.match(readFileSync(join(to, "lib/systemd/system/lathe.service"), "utf8"), /^ExecStart=\/opt\/lathe\/bin\/lathe serve/m);
  const help = (await run(["--help"])).stdout;
  for (const [, name] of help.matchAll(/^  lathe (\S+)/gm)) assert.ok(existsSync(join(to, `share/man/man1/lathe-${name}.1`)), name);
  assert.match(readFileSync(join(to, "share/man/man1/lathe-mcp-install.1"), "utf8"), /^\.SH OPTIONS$/m);
  if (existsSync(join(dirname(lathe), "liblathe.so"))) { // it is not built for a sanitizer
    const files = readdirSync(to, { recursive: true });
    for (const name of ["include/lathe.h", "libexec/lathe/lathe-exec"]) assert.ok(files.includes(name), name);
    for (const name of ["liblathe.so", "liblathe.so.0", "liblathe.a", "pkgconfig/lathe.pc", "cmake/lathe/lathe-config.cmake"]) assert.ok(files.some((file) => file.startsWith("lib/") && file.endsWith(`/${name}`)), name);
  }
  writeFileSync(join(to, "share/theirs"), "");
  assert.equal(install("uninstall").status, 0);
  assert.deepEqual(readdirSync(to, { recursive: true }).filter((name) => statSync(join(to, name)).isFile()), ["share/theirs"]);
  const again = install("uninstall");
  assert.equal(again.status, 1);
  assert.match(again.stderr, /installed\.txt is not there/);
});

test("manual pages: mandoc finds nothing to complain about", { skip: absent("mandoc") }, async () => {
  const names = (await run(["__man"])).stdout.trimEnd().split("\n");
  assert.ok(names.length > 20 && names.includes("lathe") && names.includes("lathe mcp import"));
  for (const name of names) {
    const page = await run(["__man", ...name.split(" ")]);
    assert.equal(page.code, 0, name);
    const end = spawnSync("mandoc", ["-T", "lint", "-W", "warning"], { input: page.stdout, encoding: "utf8" });
    assert.equal(end.stdout + end.stderr, "", name);
  }
});
