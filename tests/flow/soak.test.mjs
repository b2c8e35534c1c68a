// Mixed requests for a few seconds: each is answered as it should be, nothing is left open, and under a sanitizer nothing
// leaks (its exit code). For hours: scripts/soak-serve.mjs.
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { folder, patience, root, test } from "./harness.mjs";
import { soak } from "./soak.mjs";

test("hundreds of mixed requests leave nothing behind", async () => {
  const lathe = resolve(process.env.LATHE ?? join(root, "build/lathe"));
  const options = { lathe, work: folder(), fakeServer: join(root, "tests/fakes/mcp_server.mjs"), requests: patience > 1 ? 400 : 700, clients: 8, samples: 10 };
  const seen = await soak(options);
  assert.equal(seen.failed, 0, seen.failures.join("\n"));
  assert.equal(seen.code, 0, seen.said);
  assert.doesNotMatch(seen.said, /Sanitizer/);
  /* The clients' kept connections are among the files of the first sample, too. */
  assert.ok(seen.after.fds <= seen.samples[0].fds + 16, `${seen.samples[0].fds} files at first, ${seen.after.fds} at the end`);
});
