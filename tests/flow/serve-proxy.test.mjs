// lathe serve behind nginx and Caddy, with the files of examples/proxy: their paths and ports are the test's.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { join } from "node:path";
import { describe, folder, root, start, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";

const here = (command) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
const missing = ["nginx", "caddy", "openssl"].filter((one) => !here(one));
const example = (name) => readFileSync(join(root, "examples/proxy", name), "utf8");

/** Replaces each text, which must be there. */
function withOwn(text, pairs) {
  for (const [from, to] of pairs) {
    assert.ok(text.includes(from), from);
    text = text.replaceAll(from, to);
  }
  return text;
}

const freePort = () => new Promise((done) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

const starters = {
  nginx(dir, own) {
    writeFileSync(join(dir, "users"), `ann:${execFileSync("openssl", ["passwd", "-apr1", "secret"]).toString()}`);
    writeFileSync(join(dir, "site.conf"), withOwn(example("nginx.conf"), [...own, ["/etc/nginx/lathe.users", join(dir, "users")], ["listen 443 ", `listen 127.0.0.1:${own.port} `]]));
    const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((one) => `${one}_temp_path ${join(dir, one)};`).join("\n");
    const user = process.getuid() === 0 ? "user root;" : "";
    writeFileSync(join(dir, "main.conf"), `${user} daemon off; pid ${join(dir, "pid")}; error_log stderr; worker_processes 1; events {} http { access_log off; ${temp} include ${join(dir, "site.conf")}; }`);
    return spawn("nginx", ["-e", "stderr", "-p", dir, "-c", join(dir, "main.conf")], { stdio: ["ignore", "ignore", "pipe"] });
  },
  caddy(dir, own) {
    const hash = execFileSync("caddy", ["hash-password", "--plaintext", "secret"]).toString().trim();
    writeFileSync(join(dir, "Caddyfile"), withOwn(example("Caddyfile"), [...own, ["HASH_OF_HER_PASSWORD", hash], ["https://lathe.example:443", `https://lathe.example:${own.port}`], ["admin off\n", `admin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n`]]));
    return spawn("caddy", ["run", "--adapter", "caddyfile", "--config", join(dir, "Caddyfile")], { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: dir, XDG_DATA_HOME: join(dir, "data"), XDG_CONFIG_HOME: join(dir, "config") } });
  },
};

async function behind(kind, env = {}) {
  const dir = folder(), socket = join(dir, "lathe.sock"), port = await freePort(), cert = join(dir, "cert.pem"), key = join(dir, "key.pem");
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=lathe.example", "-addext", "subjectAltName=DNS:lathe.example", "-keyout", key, "-out", cert], { stdio: "ignore" });
  mkdirSync(join(dir, "state"));
  const file = join(dir, "lathe.yaml");
  writeFileSync(file, withOwn(example("lathe.yaml"), [["/run/lathe/lathe.sock", socket], ["www-data", String(process.getgid())]]));
  const lathe = start(["serve", "--config", file], { env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OPENAI_MODEL: "none", ...env, XDG_STATE_HOME: join(dir, "state") }, limitMs: 60_000 });
  await until(() => lathe.text().includes(`unix:${socket}`), `it listens ${lathe.text()}`);
  const own = Object.assign([["/run/lathe/lathe.sock", socket], ["/etc/ssl/lathe/fullchain.pem", cert], ["/etc/ssl/lathe/privkey.pem", key]], { port });
  const proxy = starters[kind](dir, own);
  let said = "";
  proxy.stderr.on("data", (text) => (said += text));
  const ca = readFileSync(cert);
  const auth = { authorization: `Basic ${Buffer.from("ann:secret").toString("base64")}` };
  /** A request over TLS: {status, headers, text, pieces: [[ms, text]]}. `stopAt`: ends it when the text has this. */
  const ask = (method, path, { body, headers = {}, host = "lathe.example", stopAt } = {}) => new Promise((done, fail) => {
    const pieces = [], began = Date.now();
    const one = request({ host: "127.0.0.1", port, servername: "lathe.example", ca, method, path, agent: false, headers: { host, ...auth, ...(body !== undefined && { "content-type": "application/json" }), ...headers } }, (answer) => {
      const end = () => done({ status: answer.statusCode, headers: answer.headers, pieces, text: pieces.map(([, text]) => text).join("") });
      answer.on("data", (bytes) => {
        pieces.push([Date.now() - began, bytes.toString()]);
        if (stopAt && pieces.map(([, text]) => text).join("").includes(stopAt)) {
          end();
          one.destroy();
        }
      });
      answer.on("end", end);
      answer.on("error", () => {});
    });
    one.on("error", fail);
    one.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  });
  const stop = async () => {
    proxy.kill("SIGTERM");
    lathe.child.kill("SIGTERM");
    await new Promise((end) => (proxy.exitCode !== null ? end() : proxy.on("exit", end)));
    return lathe.ended;
  };
  await until(async () => ask("GET", "/healthz").then((one) => one.status === 200, () => false), `the proxy answers ${said}`);
  return { ask, auth, port, ca, stop };
}

for (const kind of ["nginx", "caddy"]) {
  describe(`behind ${kind}`, { skip: missing.length > 0 && `not installed: ${missing}` }, () => {
    test("users, hosts, limits, streams", async () => {
      const s = await behind(kind, await recorded([{ user: "hi", replies: ["output('one'); await new Promise((done) => setTimeout(done, 1500)); output('two'); done()"] }], { title: "T" }));
      try {
        assert.equal((await s.ask("GET", "/conversations", { headers: { authorization: "" } })).status, 401);
        const made = JSON.parse((await s.ask("POST", "/run", { body: { code: "1+2", keep: true } })).text);
        assert.equal(JSON.parse((await s.ask("GET", `/prompts/${made.promptId}`)).text).userId, "ann");
        const spoofed = await s.ask("GET", `/prompts/${made.promptId}`, { headers: { "X-Remote-User": "root" } });
        assert.deepEqual([spoofed.status, JSON.parse(spoofed.text).userId], [200, "ann"], "the proxy says who asks, and nobody else");

        const prompt = await s.ask("POST", "/prompt", { body: { input: "hi", mode: "code" }, headers: { accept: "text/event-stream" } });
        assert.match(prompt.text, /prompt\.completed/);
        const when = (word) => prompt.pieces.find(([, text]) => text.includes(`"${word}"`))?.[0];
        assert.ok(when("two") - when("one") > 700, `events come when they happen: ${when("one")}, ${when("two")}`);
        const events = await s.ask("GET", "/events/stream?after=0", { stopAt: "prompt.completed" });
        assert.equal(events.status, 200);

        // Lathe refuses it by its head and hangs up; Caddy, which is still sending, calls that 502 when it is not faster itself.
        const long = (await s.ask("POST", "/run", { body: { code: "x".repeat(9 << 20) } }).catch(() => ({ status: 413 }))).status;
        assert.ok(long === 413 || (kind === "caddy" && long === 502), `${long}`);
        assert.equal((await s.ask("POST", "/run", { body: "{" })).status, 400, "a body within the limit is Lathe's to judge");
        const cross = await s.ask("POST", "/run", { body: { code: "1" }, headers: { origin: "https://evil.example" } });
        assert.equal(cross.status, 403);
        assert.equal((await s.ask("POST", "/run", { body: { code: "1" }, headers: { origin: "https://lathe.example" } })).status, 200);
        assert.doesNotMatch((await s.ask("POST", "/run", { host: "evil.example", body: { code: "1" } })).text, /promptId/); // nginx passes it on, Caddy has an empty page

        const session = connectHttp2(`https://127.0.0.1:${s.port}`, { servername: "lathe.example", ca: s.ca });
        const stream = session.request({ ":path": "/modes", ":authority": "lathe.example", ...s.auth });
        const status = await new Promise((done, fail) => stream.on("response", (headers) => done(headers[":status"])).on("error", fail));
        assert.equal(status, 200, "HTTP/2");
        session.destroy();
      } finally {
        assert.equal((await s.stop()).code, 0);
      }
    });
  });
}
