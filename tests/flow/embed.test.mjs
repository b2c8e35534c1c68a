// The library as those who build against it meet it: installed, found by pkg-config and CMake, and the example of the guide.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, folder, lathe, root, test } from "./harness.mjs";
import { entries, missing } from "./npm-servers.mjs";

const build = dirname(lathe);
const hasPackage = /^LT_SANITIZE:STRING=$/m.test(readFileSync(join(build, "CMakeCache.txt"), "utf8"));
const prefix = folder();
const lib = () => execFileSync("find", [prefix, "-name", "liblathe.so.0", "-printf", "%h"]).toString();
const example = join(root, "examples/embed/c/order.c");
const run = (program, args, env = {}) => execFileSync(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: ["ignore", "pipe", "inherit"] }).toString();
const flags = (...options) => run("pkg-config", ["--cflags", "--libs", ...options, "lathe"], { PKG_CONFIG_PATH: `${lib()}/pkgconfig` }).trim().split(/\s+/);

/** What the example prints. */
function assertExample(text) {
  const [output, approved, ordering, report, ...rest] = text.split("\n");
  assert.equal(output, "output: there are 3");
  assert.equal(approved, 'approved, although it spends money: {"item":"tea","count":7}');
  assert.equal(ordering, 'ordering: {"item":"tea","count":7}');
  assert.deepEqual(rest, [""]);
  const { result, outputs, calls } = JSON.parse(report);
  assert.deepEqual([result, outputs, calls.map((call) => call.tool)], [{ ordered: 7 }, ["there are 3"], ["shop.stock", "shop.order"]]);
}

// Under a sanitizer a host would need its run-time library, too.
describe("the library", { skip: hasPackage ? false : "not built for a sanitizer" }, () => {
  test("is installed, and exports the functions of lathe.h alone", () => {
    run("cmake", ["--install", build, "--component", "library", "--prefix", prefix]);
    const declared = [...readFileSync(join(prefix, "include/lathe.h"), "utf8").matchAll(/^LATHE_API [\w ]+?\*?(lathe_\w+)\(/gm)].map(([, name]) => name).sort();
    const exported = run("nm", ["-D", "--defined-only", join(lib(), "liblathe.so")]).matchAll(/ (\w+)@@LATHE_0$/gm);
    assert.ok(declared.length > 20, "functions are found in lathe.h");
    assert.deepEqual([...exported].map(([, name]) => name).sort(), declared);
    assert.equal(run("nm", ["-D", "--defined-only", join(lib(), "liblathe.so")]).match(/ [TDBRVW] /g).length, declared.length);
    assert.deepEqual(run("nm", ["-g", "--defined-only", join(lib(), "liblathe.a")]).match(/\w+$/gm).sort(), declared);
  });
  test("with pkg-config: the shared library, as strict C", () => {
    const program = join(prefix, "order");
    run("cc", ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", program, example, ...flags()]);
    assertExample(run(program, [], { LD_LIBRARY_PATH: lib() }));
  });
  test("starts processes through the lathe-exec that is installed with it: a real server, Python, a check of types", { skip: missing(["filesystem"]).length > 0 && "not installed" }, () => {
    const host = join(prefix, "host"), place = folder({ "a.txt": "from a real server" });
    run("cc", ["-Wall", "-Wextra", "-Werror", "-o", host, join(root, "tests/fakes/embed_host.c"), ...flags()]);
    const config = { mcpServers: entries(place, ["filesystem"]), typescript: { check: true, path: join(root, "tests/node_modules/.bin/tsc") } };
    const ask = (language, code, library = lib(), expected = 0) => {
      const end = spawnSync(host, [JSON.stringify(config), language, code], { encoding: "utf8", env: { PATH: process.env.PATH, LD_LIBRARY_PATH: library } });
      assert.equal(end.status, expected, end.stdout + end.stderr);
      return end.stdout;
    };
    assert.match(ask("js", `filesystemReadTextFile({path: ${JSON.stringify(join(place, "a.txt"))}})`), /from a real server/);
    assert.match(ask("python", `filesystem_read_text_file(path=${JSON.stringify(join(place, "a.txt"))})`), /from a real server/);
    assert.match(ask("ts", "const n: number = 'one'; n", lib(), 2), /not assignable to type 'number'/);
    // the library alone, and a lathe-exec of another version
    const alone = folder(), helper = join(alone, "libexec/lathe/lathe-exec");
    mkdirSync(join(alone, "lib"));
    cpSync(join(lib(), "liblathe.so.0"), join(alone, "lib/liblathe.so.0"), { dereference: true });
    const [warning, report] = ask("js", "6 * 7", join(alone, "lib")).split("\n");
    assert.match(warning, /^MCP server "filesystem": .*\/lib\/lathe-exec, which starts it: no such file or directory$/);
    assert.equal(JSON.parse(report).result, 42);
    mkdirSync(dirname(helper), { recursive: true });
    writeFileSync(helper, readFileSync(join(prefix, "libexec/lathe/lathe-exec")).toString("latin1").replaceAll("__exec-0", "__exec-9"), { encoding: "latin1", mode: 0o755 });
    assert.match(ask("js", "6 * 7", join(alone, "lib")), /this is lathe-exec .*install both from the same version/);
  });
  test("with pkg-config: the static library", () => {
    const program = join(prefix, "order-static");
    run("cc", ["-o", program, example, ...flags("--static").map((flag) => (flag === "-llathe" ? "-l:liblathe.a" : flag))]);
    assertExample(run(program, []));
  });
  test("with CMake: both", () => {
    const project = folder({
      "CMakeLists.txt": `cmake_minimum_required(VERSION 3.25)\nproject(order C)\nfind_package(lathe 0.1 REQUIRED)
        add_executable(shared ${example})\ntarget_link_libraries(shared PRIVATE lathe::lathe)
        add_executable(static ${example})\ntarget_link_libraries(static PRIVATE lathe::static)\n`,
    });
    run("cmake", ["-S", project, "-B", join(project, "build"), "-G", "Ninja", `-DCMAKE_PREFIX_PATH=${prefix}`]);
    run("cmake", ["--build", join(project, "build")]);
    for (const name of ["shared", "static"]) assertExample(run(join(project, "build", name), []));
  });
  test("lathe.h is C++, too, and stands beside the header of plugins", () => {
    const source = join(prefix, "both.cc");
    writeFileSync(source, '#include "lathe_plugin.h"\n#include "lathe.h"\nint main() { return lathe_version() == nullptr; }\n');
    run("c++", ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", `-I${join(root, "include")}`, source]);
  });
  test("the smallest program of the guide", () => {
    const source = join(prefix, "squares.c");
    const [, text] = /```c\n([^`]+)```/.exec(readFileSync(join(root, "docs/guide/embedding.md"), "utf8"));
    writeFileSync(source, text);
    run("cc", ["-Wall", "-Werror", "-o", join(prefix, "squares"), source, ...flags()]);
    assert.deepEqual(JSON.parse(run(join(prefix, "squares"), [], { LD_LIBRARY_PATH: lib() })).result, [1, 4, 9]);
  });
});
