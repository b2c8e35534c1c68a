// Pages of other sites in a browser: what server.origins admits (CORS), what nothing admits, and names that point here.
import assert from "node:assert/strict";
import { describe, folder, test } from "./harness.mjs";
import { bare, serve, tokens } from "./server.mjs";

const APP = "https://app.example", LAST = "Connection: close\r\n";
/** A request with exactly these headers: its status, its headers (names in lower case), its text. */
async function send(s, method, path, headers) {
  const one = bare(s.port);
  await one.send(`${method} ${path} HTTP/1.1\r\n${Object.entries({ Host: `127.0.0.1:${s.port}`, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`).join("")}${LAST}\r\n`);
  const text = await one.ended, [head] = text.split("\r\n\r\n");
  return { status: Number(text.slice(9, 12)), text, headers: Object.fromEntries(head.split("\r\n").slice(1).map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)])) };
}
const cors = (answer) => Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"));
const stop = async (s) => assert.equal((await s.stop()).code, 0);
const list = (text) => text.split(", ");

describe("pages of other sites", { concurrency: 4 }, () => {
  test("are refused unless they are named: no header lets them read anything, also not that they are refused", async () => {
    const s = await serve();
    for (const origin of [APP, "null", "http://localhost.evil.example", `http://127.0.0.1.evil.example:${s.port}`, `http://127.0.0.1:${s.port + 1}`, "http://127.0.0.1", "file://", "http://127.0.0.1:"]) {
      for (const [method, path] of [["GET", "/conversations"], ["POST", "/run"], ["OPTIONS", "/run"], ["DELETE", "/conversations/x"], ["GET", "/events/stream"], ["POST", "/mcp"], ["OPTIONS", "/mcp"], ["GET", "/nope"]]) {
        const answer = await send(s, method, path, { Origin: origin, "Access-Control-Request-Method": "POST" });
        assert.deepEqual([answer.status, cors(answer)], [403, []], `${origin} ${method} ${path}`);
      }
    }
    assert.equal((await send(s, "GET", "/conversations", { Origin: `http://127.0.0.1:${s.port}` })).status, 200, "the server's own page");
    await stop(s);
  });

  test("that are named may send what the API takes, and read what it says, errors too; without credentials", async () => {
    const state = folder(), [ann] = await tokens(state, "ann");
    const s = await serve({ server: { origins: [APP] } }, { state });
    for (const path of ["/run", "/mcp", "/conversations/x"]) {
      const asked = await send(s, "OPTIONS", path, { Origin: APP, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type" });
      assert.equal(asked.status, 204, "without a token: a browser sends none");
      assert.equal(asked.headers["access-control-allow-origin"], APP);
      for (const method of ["GET", "POST", "PATCH", "DELETE"]) assert.ok(list(asked.headers["access-control-allow-methods"]).includes(method));
      for (const name of ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Mcp-Session-Id"]) assert.ok(list(asked.headers["access-control-allow-headers"]).includes(name));
      assert.match(asked.headers["access-control-max-age"], /^\d+$/);
    }
    const auth = { Authorization: ann.authorization, Origin: APP };
    for (const [method, path, headers, status] of [["GET", "/modes", auth, 200], ["GET", "/modes", { Origin: APP }, 401], ["GET", "/nope", auth, 404], ["PUT", "/modes", auth, 405], ["GET", "/prompts/x", auth, 404], ["GET", "/mcp", auth, 405], ["GET", "/healthz", { Origin: APP }, 200]]) {
      const answer = await send(s, method, path, headers);
      assert.deepEqual([answer.status, answer.headers["access-control-allow-origin"], answer.headers["access-control-allow-credentials"]], [status, APP, undefined], `${method} ${path}: ${answer.text}`);
      for (const name of ["Retry-After", "WWW-Authenticate", "Mcp-Session-Id"]) assert.ok(list(answer.headers["access-control-expose-headers"]).includes(name));
      assert.match(answer.text, /\r\nVary: Origin\r\n/);
    }
    for (const near of ["http://app.example", "https://app.example:8443", "https://sub.app.example", "https://example", "https://app.example.evil.example", "https://evil.example/https://app.example", `${APP} `.trim() + ".", `${APP}, https://evil.example`, "null"]) {
      assert.equal((await send(s, "GET", "/modes", { ...auth, Origin: near })).status, 403, near);
    }
    assert.deepEqual(cors(await send(s, "GET", "/modes", { Authorization: ann.authorization })), [], "a program is told nothing of it");
    await stop(s);
  });

  test("that send no origin (pictures, scripts, forms of old browsers) are told apart by Sec-Fetch-Site", async () => {
    const s = await serve({ server: { origins: [APP] } });
    const from = (site, mode) => ({ "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode });
    for (const [method, path] of [["POST", "/run"], ["POST", "/prompts/x/approve"], ["DELETE", "/conversations/x"], ["PATCH", "/conversations/x"], ["POST", "/mcp"]]) {
      for (const mode of ["cors", "no-cors", "navigate"]) assert.equal((await send(s, method, path, from("cross-site", mode))).status, 403, `${method} ${path} ${mode}`);
    }
    for (const path of ["/conversations", "/events/stream", "/artifacts/x"]) assert.equal((await send(s, "GET", path, from("cross-site", "no-cors"))).status, 403, path);
    assert.equal((await send(s, "GET", "/", from("cross-site", "navigate"))).status, 406, "a link to the page (this client takes no gzip)");
    assert.equal((await send(s, "GET", "/conversations", from("cross-site", "navigate"))).status, 200);
    for (const site of ["same-origin", "none"]) assert.equal((await send(s, "GET", "/conversations", from(site, "cors"))).status, 200);
    assert.equal((await send(s, "GET", "/conversations", { ...from("cross-site", "cors"), Origin: APP })).status, 200);
    await stop(s);
  });

  test("names that are made to point here (DNS rebinding) are refused, whatever the origin says", async () => {
    const s = await serve({ server: { hosts: ["lathe.example"], origins: [APP] } });
    for (const host of ["evil.example", `evil.example:${s.port}`, "localhost.evil.example", "127.0.0.1.evil.example", "evil.example@127.0.0.1", "lathe.example.evil.example", "sub.lathe.example", "[::ffff:1.2.3.4]", "2130706433", "0.0.0.0", ""]) {
      for (const origin of [undefined, `http://${host}`, APP]) {
        for (const [method, path] of [["GET", "/conversations"], ["POST", "/run"], ["OPTIONS", "/run"], ["GET", "/"]]) {
          const answer = await send(s, method, path, { Host: host, ...(origin && { Origin: origin }) });
          assert.deepEqual([answer.status, cors(answer)], [421, []], `${host} ${origin} ${method} ${path}`);
        }
      }
    }
    for (const host of ["localhost", `LOCALHOST:${s.port}`, "127.0.0.1", "127.9.9.9", "[::1]", "lathe.example:443", "Lathe.Example"]) assert.equal((await send(s, "GET", "/conversations", { Host: host })).status, 200, host);
    await stop(s);
  });
});
