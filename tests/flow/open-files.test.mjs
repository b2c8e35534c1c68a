// Open files: Lathe takes what it may have, and gives its children what it was given.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, fake, folder, root, run, servers, start, test, until } from "./harness.mjs";

const lathe = resolve(process.env.LATHE ?? join(root, "build/lathe"));
/** Lathe with a soft limit of `soft` open files. */
function limited(soft) {
  const path = join(folder({ limited: `#!/bin/sh\nulimit -Sn ${soft}\nexec "${lathe}" "$@"\n` }), "limited");
  chmodSync(path, 0o700);
  return path;
}
const limitsOf = (pid) => /^Max open files +(\d+) +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "latin1")).slice(1).map(Number);
const hard = Math.min(limitsOf("self")[1], 1024 * 1024);

describe("a soft limit of open files that is low", { skip: hard < 1000 && "the hard limit is low, too" }, () => {
  test("more servers than that would allow are all there", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `s${i}`);
    const code = `[${names.map((name) => `${name}Add({ a: 40, b: 2 })`).join()}].join()`;
    const end = await run(["run", "-e", code, ...servers(Object.fromEntries(names.map((name) => [name, fake()])))], { program: limited(60), limitMs: 60_000 });
    assert.deepEqual([end.code, end.stderr], [0, ""]);
    assert.match(end.stdout, /^"?42(,42){19}"?\n$/);
  });
  test("servers have it as it was, Lathe itself has the hard one", async () => {
    const path = join(folder(), "limits");
    const { command, args } = fake();
    const server = { command: "sh", args: ["-c", 'ulimit -Sn >"$0"; ulimit -Hn >>"$0"; exec "$@"', path, command, ...args] };
    const going = start(["run", "-e", "output('here'); sleep(20000)", ...servers({ server })], { program: limited(90) });
    await until(() => existsSync(path) && readFileSync(path, "utf8").split("\n").length === 3, "the server has begun");
    assert.deepEqual(readFileSync(path, "utf8").trim().split("\n").map(Number), [90, limitsOf("self")[1]]);
    await until(() => going.text().includes("here"), "the program has begun");
    assert.equal(limitsOf(going.child.pid)[0], hard);
    going.child.kill("SIGTERM");
    assert.equal((await going.ended).code, 130);
  });
});
