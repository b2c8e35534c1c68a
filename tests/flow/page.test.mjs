// The page of lathe serve in a real browser: what a person does with it, from the first message to a server that was killed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { before } from "node:test";
import { gunzipSync } from "node:zlib";
import { closePage, openPage, pageTest } from "./browser.mjs";
import { folder, test } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

let env;
before(async () => {
  env = await recorded([{ user: "hello", replies: ["output('Hello!'); done()"] }]);
});

/** As it stands on the wire: fetch would uncompress it. */
const wire = (url, headers = {}) => new Promise((done, no) => {
  request(url, { headers }, (answer) => {
    const parts = [];
    answer.on("data", (part) => parts.push(part)).on("end", () => done({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
  }).on("error", no).end();
});

test("the page's files are compressed, known again by their ETag, and under a strict policy", async () => {
  const s = await serve({}, { env });
  const gzip = { "accept-encoding": "gzip, br" };
  const page = await wire(`${s.url}/`, gzip);
  assert.deepEqual([page.status, page.headers["content-type"], page.headers["content-encoding"], page.headers["cache-control"]], [200, "text/html; charset=utf-8", "gzip", "no-cache"]);
  assert.match(page.headers["content-security-policy"], /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'$/);
  assert.equal(page.headers["referrer-policy"], "no-referrer");
  const html = gunzipSync(page.body).toString();
  assert.match(html, /^<!doctype html>/);
  assert.doesNotMatch(html, /<script>|<style|style=|onclick=/);
  for (const [, name] of html.matchAll(/(?:src|href)="(page\/[^"]+)"/g)) {
    const file = await wire(`${s.url}/${name}`, gzip);
    assert.deepEqual([file.status, file.headers["content-encoding"]], [200, "gzip"], name);
    const again = await wire(`${s.url}/${name}`, { ...gzip, "if-none-match": file.headers.etag });
    assert.deepEqual([again.status, again.body.length], [304, 0], name);
  }
  assert.equal((await wire(`${s.url}/page/main.js`)).status, 406);
  for (const name of ["nothing.js", "..%2fserve.c", "main.js/x"]) assert.equal((await wire(`${s.url}/page/${name}`, gzip)).status, 404, name);
  await s.stop();
});

test("--page FOLDER serves files as they are now, the embedded ones where it has none, and nothing outside", async () => {
  const place = folder({ "main.js": "// first", "secret.txt": "no page's file" });
  const s = await serve({}, { env, more: ["--page", place] });
  const gzip = { "accept-encoding": "gzip" };
  const first = await wire(`${s.url}/page/main.js`, gzip);
  assert.deepEqual([first.status, first.body.toString(), first.headers["content-type"]], [200, "// first", "text/javascript; charset=utf-8"]);
  writeFileSync(join(place, "main.js"), "// second");
  assert.equal((await wire(`${s.url}/page/main.js`)).body.toString(), "// second");
  assert.equal((await wire(`${s.url}/page/page_api.js`, gzip)).headers["content-encoding"], "gzip");
  for (const name of ["secret.txt", "..%2flathe.yaml", "..%2f..%2fetc%2fpasswd", ".hidden.js"]) assert.equal((await wire(`${s.url}/page/${name}`, gzip)).status, 404, name);
  await s.stop();
});

pageTest("the page opens in a browser, without a fault", async () => {
  const s = await serve({}, { env });
  const page = await openPage(s);
  await page.getByRole("heading", { name: "New conversation" }).waitFor();
  await closePage(page);
  await s.stop();
});
