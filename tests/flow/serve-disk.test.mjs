// A disk that fills up below lathe serve: the right status with the reason, and with room again everything goes on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, folder, lathe, start, test, until } from "./harness.mjs";

// A small disk, in a mount namespace of its own: needs to be root, or user namespaces.
const unshare = [["-m"], ["-rm"]].find((words) => spawnSync("unshare", [...words, "sh", "-c", "mount -t tmpfs none /mnt"]).status === 0);

describe("a disk", { skip: !unshare && "no mount namespaces here: neither root nor user namespaces" }, () => {
  test("that is full: prompts are refused with the reason, reading goes on; with room everything works, and nothing is half there", async () => {
    const home = folder({ "lathe.yaml": JSON.stringify({ store: "sqlite:disk/lathe.db" }) });
    const script = `mkdir disk && mount -t tmpfs -o size=4m none disk && exec "${lathe}" serve --listen 127.0.0.1:0 --config lathe.yaml`;
    const one = start([...unshare, "sh", "-c", script], { program: "unshare", cwd: home, env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OPENAI_MODEL: "none" } });
    const [url] = await until(() => /http:\/\/[\d.]+:(\d+)/.exec(one.text()), "it listens");
    const ask = async (method, path, body) => {
      const answer = await fetch(url + path, { method, ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }) });
      return { status: answer.status, json: await answer.json().catch(() => undefined) };
    };
    const disk = join(`/proc/${one.child.pid}/root`, home, "disk"); // in the server's namespace
    await until(async () => (await ask("GET", "/readyz")).status === 200, "it is ready");
    const kept = { code: "storeArtifact('kept'); 1", keep: true };
    assert.equal((await ask("POST", "/run", kept)).json.result, 1);
    assert.ok(existsSync(join(disk, "lathe.db")));
    try { writeFileSync(join(disk, "pad"), Buffer.alloc(1 << 22)); } catch (e) { assert.equal(e.code, "ENOSPC"); }
    let refused;
    for (let i = 0; i < 50 && refused === undefined; i++) {
      const answer = await ask("POST", "/run", { ...kept, code: `storeArtifact("${"x".repeat(4000)}"); 1` });
      if (answer.status !== 200) refused = answer;
    }
    assert.ok([503, 507].includes(refused?.status), JSON.stringify(refused));
    assert.match(refused.json.error.message, /the disk is full/);
    assert.equal((await ask("GET", "/readyz")).json.error.code, "store");
    for (const path of ["/healthz", "/conversations", "/artifacts", "/tools"]) assert.equal((await ask("GET", path)).status, 200, path);
    assert.equal((await ask("POST", "/run", { code: "1 + 1" })).json.result, 2, "what stores nothing works");
    rmSync(join(disk, "pad"));
    const again = await until(async () => { const answer = await ask("POST", "/run", kept); return answer.status === 200 && answer.json.result === 1 && answer; }, "it works again");
    assert.equal((await ask("GET", `/prompts/${again.json.promptId}`)).json.state, "completed");
    for (const { id } of (await ask("GET", "/conversations?limit=200")).json.conversations) {
      for (const prompt of (await ask("GET", `/conversations/${id}`)).json.prompts) await until(async () => ["completed", "failed"].includes((await ask("GET", `/prompts/${prompt.id}`)).json.state), `prompt ${prompt.id} has ended`);
    }
    const check = spawnSync("python3", ["-S", "-c", "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchall()[0][0])", join(disk, "lathe.db")], { encoding: "utf8" });
    assert.equal(check.stdout.trim(), "ok", check.stderr);
    one.child.kill("SIGTERM");
    const end = await one.ended;
    assert.equal(end.code, 0, end.stderr);
    assert.doesNotMatch(end.stderr, /lost/i);
  });
});
