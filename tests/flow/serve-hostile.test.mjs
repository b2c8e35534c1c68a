// Bytes that no proper client sends to lathe serve: bodies, heads, framing, paths, slow and idle connections. Each gets
// the right status or a closed connection; the server lives, answers others meanwhile, and keeps no descriptor.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { describe, patience, sleep, test, until } from "./harness.mjs";
import { bare, serve } from "./server.mjs";

const HOST = "Host: 127.0.0.1\r\n", LAST = "Connection: close\r\n", JSON_TYPE = "Content-Type: application/json\r\n";
const BODY = '{"code":"1+1"}'; // 14 bytes, hexadecimal e
const CHUNKS = `e\r\n${BODY}\r\n0\r\n\r\n`;
const get = (path, more = "") => `GET ${path} HTTP/1.1\r\n${HOST}${LAST}${more}\r\n`;
const post = (headers, body, path = "/run") => `POST ${path} HTTP/1.1\r\n${HOST}${JSON_TYPE}${headers}\r\n${body}`;
const sized = (body, path) => post(`${LAST}Content-Length: ${Buffer.byteLength(body, "latin1")}\r\n`, body, path);
const descriptors = (s) => readdirSync(`/proc/${s.child.pid}/fd`).length;
const limits = { idleMs: 2000, bodyBytes: 256 * 1024, headerBytes: 8192 };

/** All that the server says to these bytes until it closes the connection. `end`: the client closes its half. */
async function say(s, bytes, { end = false } = {}) {
  const one = bare(s.port);
  await one.send(bytes);
  if (end) one.end();
  let ended = false;
  one.ended.then(() => { ended = true; });
  await until(() => ended, `the connection is closed: ${one.text().slice(0, 200)}`, 20_000 * patience);
  return one.ended;
}
const statuses = (text) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((one) => Number(one[1]));
/** The server as it is between attacks: it answers, and after them as many descriptors are open as before. */
async function attacked(attack, configuration = {}) {
  const s = await serve({ server: { limits }, ...configuration });
  const works = async () => assert.match(await say(s, sized(BODY)), /"text":"2"/);
  try {
    await works();
    await sleep(100);
    const before = descriptors(s);
    await attack(s);
    await works();
    await until(() => descriptors(s) <= before, `descriptors are closed: ${before} before`, 15_000 * patience);
  } catch (e) {
    s.child.kill("SIGKILL");
    await s.ended;
    throw e;
  }
  const end = await s.stop();
  assert.equal(end.code, 0, end.stderr);
}
/** Each row's bytes get one of its statuses, at once; 0: the connection ends without an answer. */
const table = (rows) => attacked(async (s) => {
  for (const [name, bytes, ...wanted] of rows) {
    const text = await say(s, bytes), [status = 0] = statuses(text);
    assert.ok(wanted.includes(status), `${name}: ${status}, not ${wanted}: ${text.slice(0, 400)}`);
    if (status >= 400 && text.includes("application/json")) assert.match(text, /\r\n\r\n\{"error":\{"code":"\w+","message":"[^]+"\}\}$/, name);
  }
});

describe("hostile bytes", { concurrency: 4 }, () => {
  test("paths and methods", () => table([
    ["two slashes", get("//"), 404], ["two slashes and a name", get("//modes"), 404], ["a slash behind", get("/modes/"), 404],
    ["dots", get("/../etc/passwd"), 404], ["encoded dots", get("/%2e%2e/%2e%2e/etc/passwd"), 404], ["dots in an id", get("/artifacts/..%2f..%2fetc%2fpasswd"), 404],
    ["a NUL in an id", get("/prompts/a%00b"), 400], ["a broken escape", get("/prompts/a%zz"), 400], ["no UTF-8", get("/prompts/%ff%fe"), 400], ["a NUL in a query", get("/tools?query=a%00"), 400],
    ["100 KB", get(`/${"a".repeat(100_000)}`), 414], ["as long as may be", get(`/prompts/${"a".repeat(7000)}`), 404],
    ["a star", get("*"), 404], ["OPTIONS of a star", `OPTIONS * HTTP/1.1\r\n${HOST}${LAST}\r\n`, 404], ["no slash", get("modes"), 404],
    ["another server's", get("http://evil.example/modes"), 404], ["CONNECT", `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${HOST}${LAST}\r\n`, 404],
    ...["PUT", "TRACE", "FOO", "get", "PROPFIND"].map((method) => [method, `${method} /modes HTTP/1.1\r\n${HOST}${LAST}\r\n`, 405]),
    ["GET of what is posted", get("/run"), 405], ["DELETE of what is read", `DELETE /tools HTTP/1.1\r\n${HOST}${LAST}\r\n`, 405],
    ["an unknown query", get("/modes?a=1"), 400], ["a limit that is none", get("/tools?limit=1e9"), 400], ["a limit below", get("/tools?limit=-1"), 400],
    ["a cursor of nobody", get("/conversations?cursor=%27%20OR%201"), 400, 200],
  ]));

  test("heads that two servers could read differently", () => table([
    ["two lengths", post("Content-Length: 14\r\nContent-Length: 3\r\n", BODY), 400], ["two equal lengths", post("Content-Length: 14\r\nContent-Length: 14\r\n", BODY), 400],
    ["a list of lengths", post("Content-Length: 14, 14\r\n", BODY), 400],
    ["length and chunks", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", `${CHUNKS}${get("/modes")}`), 400],
    ["chunks and length", post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", CHUNKS), 400],
    ["an encoding before chunked", post("Transfer-Encoding: gzip, chunked\r\n", CHUNKS), 400], ["an unknown encoding", post("Transfer-Encoding: xchunked\r\n", CHUNKS), 400],
    ["two encodings", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", CHUNKS), 400],
    ...["-1", "+14", "0xe", "1 4", "", "14;"].map((length) => [`a length of "${length}"`, post(`Content-Length: ${length}\r\n`, BODY), 400]),
    ["a length beyond all", post("Content-Length: 99999999999999999999999\r\n", BODY), 413], ["a length over the limit", post("Content-Length: 300000\r\n", ""), 413],
    ["no host", `GET /modes HTTP/1.1\r\n${LAST}\r\n`, 400], ["two hosts", get("/modes", "Host: evil.example\r\n"), 400], ["two hosts, the other first", `GET /modes HTTP/1.1\r\nHost: evil.example\r\n${HOST}\r\n`, 400],
    ["a space before the colon", "GET /modes HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n", 400], ["a length with a space", post("Content-Length : 14\r\n", BODY), 400],
    ["a space before the first header", `GET /modes HTTP/1.1\r\n X: a\r\n${HOST}\r\n`, 400], ["a header without a colon", get("/modes", "garbage\r\n"), 400],
    ["a control character", get("/modes", "X: a\x01b\r\n"), 400], ["a name that is none", get("/modes", "X(): a\r\n"), 400],
    ["a folded host", `GET /modes HTTP/1.1\r\nHost:\r\n 127.0.0.1\r\n${LAST}\r\n`, 400, 421], ["1,500 headers", get("/modes", "a:b\r\n".repeat(1500)), 431],
    ["a chunk that is none", post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), 400], ["an endless chunk", post("Transfer-Encoding: chunked\r\n", "ffffffffffffffffff\r\n{}"), 413],
    ["HTTP/0.9", "GET /modes\r\n\r\n", 400, 0], ["HTTP/2.0", `GET /modes HTTP/2.0\r\n${HOST}\r\n`, 505], ["HTTP/2, with its preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
    ["no version", `GET /modes HTTP/x\r\n${HOST}\r\n`, 400], ["1.0 without a host", "GET /modes HTTP/1.0\r\n\r\n", 421],
    // These are unusual, and everybody reads them in the same way.
    ["HTTP/1.0", `GET /modes HTTP/1.0\r\n${HOST}\r\n`, 200], ["a folded header", get("/modes", "X: a\r\n b\r\n"), 200, 400], ["bare line feeds", "GET /modes HTTP/1.1\nHost: 127.0.0.1\nConnection: close\n\n", 200, 400],
    ["empty lines before", `\r\n\r\n${get("/modes")}`, 200], ["an extension of a chunk", post(`${LAST}Transfer-Encoding: Chunked\r\n`, `e;a=b\r\n${BODY}\r\n0\r\n\r\n`), 200],
    ["an upgrade that nobody offers", get("/modes", "Upgrade: h2c\r\n"), 200], ["a body that nobody wants", get("/modes", "Content-Length: 5\r\n") + "hello", 200],
  ]));

  test("bodies", () => table([
    ["nothing", sized(""), 400], ["white space", sized("  \n"), 400], ["half of it", sized('{"code":"1+'), 400], ["two values", sized(`${BODY}${BODY}`), 400], ["a list", sized("[]"), 400], ["null", sized("null"), 400],
    ["too deep", sized(`{"code":${"[".repeat(50_000)}${"]".repeat(50_000)}}`), 413], ["deep objects", sized('{"code":'.repeat(20_000)), 413], ["a deep input", sized(`{"input":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, "/tools/artifact.store/invoke"), 413],
    ["no UTF-8", sized('{"code":"\xff\xfe"}'), 400], ["an overlong slash", sized('{"code":"\xc0\xaf"}'), 400], ["half of a pair", sized('{"code":"\\ud800"}'), 400, 200], ["a BOM", sized(`\xef\xbb\xbf${BODY}`), 400], ["UTF-16", sized(Buffer.from(BODY, "utf16le").toString("latin1")), 400],
    ["a NUL behind it", sized(`${BODY}\0`), 400], ["a NUL in a name", sized('{"code\\u0000":"1","code":"1+1"}'), 400], ["a NUL in an id", sized('{"input":"x","conversationId":"a\\u0000b"}', "/prompt"), 400, 404], ["a name twice", sized('{"code":"1","code":"2"}'), 400, 200],
    ["a number", sized('{"code":1}'), 400], ["an unknown member", sized('{"code":"1","constructor":{}}'), 400], ["a prototype", sized('{"code":"1","__proto__":{}}'), 400], ["a number beyond all", sized('{"code":"1","timeoutMs":1e400}'), 400], ["a time below zero", sized('{"code":"1","timeoutMs":-1}'), 400],
    ["too long, in chunks", post("Transfer-Encoding: chunked\r\n", `50000\r\n${"x".repeat(0x50000)}\r\n0\r\n\r\n`), 413],
    ...["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application/json-patch+json", ""].map((type) => [`as ${type}`, `POST /run HTTP/1.1\r\n${HOST}${LAST}Content-Type: ${type}\r\nContent-Length: 14\r\n\r\n${BODY}`, 415]),
    ["a token that is none", get("/conversations", "Authorization: Bearer lathe_00\r\n"), 401], ["another scheme", get("/conversations", "Authorization: Basic bGF0aGU6\r\n"), 200, 401],
    ["a long token", get("/conversations", `Authorization: Bearer ${"x".repeat(6000)}\r\n`), 401], ["a long key", sized('{"input":"x"}', "/prompt").replace("POST /prompt HTTP/1.1\r\n", `POST /prompt HTTP/1.1\r\nIdempotency-Key: ${"k".repeat(300)}\r\n`), 400],
  ]));

  test("requests behind each other are answered in their order; who closes half of the connection ends the wait", () => attacked(async (s) => {
    const slow = '{"code":"await new Promise((d) => setTimeout(d, 300)); 42"}';
    const text = await say(s, `GET /healthz HTTP/1.1\r\n${HOST}\r\n${post(`Content-Length: ${slow.length}\r\n`, slow)}GET /nope HTTP/1.1\r\n${HOST}\r\n${sized(BODY)}`);
    assert.deepEqual(statuses(text), [200, 200, 404, 200]);
    assert.match(text, /"text":"42"[^]*there is nothing at \/nope[^]*"text":"2"/);
    const many = await say(s, `GET /healthz HTTP/1.1\r\n${HOST}\r\n`.repeat(500) + get("/nope"));
    assert.deepEqual([statuses(many).length, statuses(many).at(-1)], [501, 404]);
    // A client that is gone looks the same: the wait ends, with an answer or without one, and the program runs on.
    const half = bare(s.port), asked = Date.now();
    await half.send(sized('{"code":"await new Promise((d) => setTimeout(d, 3000)); 42"}'));
    await sleep(100);
    half.end();
    assert.deepEqual(statuses(await half.ended).filter((one) => one !== 202), []);
    assert.ok(Date.now() - asked < 2500 * patience, "nobody waits for the program");
    const [{ id }] = (await s.get("/conversations")).json.conversations;
    const [prompt] = (await s.get(`/conversations/${id}`)).json.prompts;
    assert.equal((await s.prompt(prompt.id)).state, "completed");
    for (const bytes of ["", "GET /mo", post("Content-Length: 70\r\n", BODY)]) assert.deepEqual(statuses(await say(s, bytes, { end: true })), []);
  }));

  test("Expect: the body is asked for once the head is right", () => attacked(async (s) => {
    const one = bare(s.port);
    await one.send(post(`${LAST}Content-Length: 14\r\nExpect: 100-continue\r\n`, ""));
    assert.equal(await one.until(/\r\n\r\n/), "HTTP/1.1 100 Continue\r\n\r\n");
    await one.send(BODY);
    assert.match(await one.ended, /HTTP\/1\.1 200 OK[^]*"text":"2"/);
    assert.deepEqual(statuses(await say(s, post("Content-Length: 14\r\nExpect: 100-continue\r\n", "", "/nope"))), [404]);
    assert.deepEqual(statuses(await say(s, post("Content-Length: 300000\r\nExpect: 100-continue\r\n", ""))), [413]);
  }));

  test("noise, before, in and behind requests", () => attacked(async (s) => {
    const noise = (n) => randomBytes(n).toString("latin1");
    const made = [];
    for (let i = 0; i < 60; i++) {
      const from = [noise(1 + i * 40), `GET /${noise(40)} HTTP/1.1\r\n${HOST}\r\n\r\n`, get("/modes", `${noise(60)}\r\n`), sized(noise(200)), `${get("/healthz")}${noise(300)}`, post("Transfer-Encoding: chunked\r\n", noise(100))][i % 6];
      made.push(from);
    }
    const cut = sized(BODY); // cut off anywhere, and one byte changed anywhere
    for (let i = 0; i < cut.length; i += 3) made.push(cut.slice(0, i), cut.slice(0, i) + String.fromCharCode(128 + (i % 128)) + cut.slice(i + 1));
    const texts = await Promise.all(made.map((bytes) => say(s, bytes, { end: true }).then((text) => [bytes, text])));
    for (const [bytes, text] of texts) assert.ok(statuses(text).every((one) => one < 500 || one === 505), JSON.stringify([bytes.slice(0, 200), text.slice(0, 200)]));
  }));
});

describe("time", { concurrency: 2 }, () => {
  test("heads and bodies byte by byte are cut off at the limit, and hurt nobody", () => attacked(async (s) => {
    const whole = post(`Content-Length: 4000\r\n`, "x".repeat(4000)), start = Date.now();
    const slow = Array.from({ length: 40 }, (_, i) => {
      const one = bare(s.port), from = i % 2 ? whole.indexOf("\r\n\r\n") + 4 : 0;
      one.send(whole.slice(0, from));
      let at = from;
      const timer = setInterval(() => one.send(whole[at++]), 50);
      return one.ended.then((text) => (clearInterval(timer), { text, ms: Date.now() - start }));
    });
    let answered = 0, slowest = 0;
    for (const end = Date.now() + 1500; Date.now() < end; answered++) {
      const asked = Date.now();
      assert.equal((await s.get("/modes")).status, 200);
      slowest = Math.max(slowest, Date.now() - asked);
    }
    assert.ok(answered > 2 && slowest < 4000 * patience, `${answered} answers, the slowest after ${slowest} ms`);
    for (const { text, ms } of await Promise.all(slow)) {
      assert.equal(text, "");
      assert.ok(ms >= 1900 && ms < 8000 * patience, `cut off after ${ms} ms`);
    }
  }));

  test("a thousand idle connections: requests are answered, also where all places are taken; streams stay", () => attacked(async (s) => {
    const stream = s.follow();
    await until(() => stream.status === 200, "the stream is open");
    const idle = Array.from({ length: 1000 }, () => bare(s.port));
    for (let i = 0; i < 50; i++) assert.deepEqual(statuses(await say(s, i % 2 ? get("/modes") : sized(BODY))), [200]);
    assert.ok(descriptors(s) < 300, "no more than are configured");
    await Promise.all(idle.map((one) => one.ended));
    assert.equal(stream.status, 200);
    const [, promptId] = /"promptId":"(\w+)"/.exec(await say(s, sized('{"code":"1","keep":true}')));
    await until(() => stream.events.some((one) => one.data.promptId === promptId), "the stream goes on");
    stream.close();
  }, { server: { limits: { ...limits, connections: 200 } } }));
});
