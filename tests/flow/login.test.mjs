// `lathe login` and `lathe logout`: a person agrees in a browser, tokens are kept, renewed, and given to nobody else.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, folder, program, run, servers, start, test, until } from "./harness.mjs";
import { loginServer } from "../fakes/login_server.mjs";

/** A person's machine: a server in the configuration, and a state folder that stays. */
function person(server, more = {}, env = {}) {
  const state = folder();
  const at = servers({ web: { url: server.url, ...more } });
  const options = { env: { XDG_STATE_HOME: state, XDG_CACHE_HOME: folder(), ...env } };
  const tokens = join(state, "lathe/tokens");
  const files = () => (existsSync(tokens) ? readdirSync(tokens).filter((name) => name.endsWith(".json")).map((name) => join(tokens, name)) : []);
  return {
    state, tokens, files, options,
    kept: () => JSON.parse(readFileSync(files()[0], "utf8")).tokens,
    login: (...args) => start(["login", "web", ...at, ...args], options),
    logout: () => run(["logout", "web", ...at], options),
    call: (tool = "echo", extra = {}) => program(`tools["web.${tool}"]({})`, at, { env: { ...options.env, ...extra } }),
  };
}

/** The address that a login prints, once it is there. */
const address = (login) => until(() => login.out().match(/^http\S+(?=\n)/m)?.[0], "the address is printed");

/** A login to its end, with a browser that follows the address. */
async function loggedIn(who, ...args) {
  const login = who.login(...args);
  const answer = await fetch(await address(login));
  assert.equal(answer.status, 200, await answer.text());
  return login.ended;
}

/** The same, with something that happens before the person agrees. */
async function loggedInWith(who, before) {
  const login = who.login();
  const url = await address(login);
  before();
  await fetch(url);
  return login.ended;
}

const secretsOf = (server) => [...server.access, ...server.refresh];
const saysNoToken = (end, server) => { for (const secret of secretsOf(server)) assert.ok(!`${end.stdout}${end.stderr}`.includes(secret), "a token was shown"); };

describe("a login", { concurrency: 3 }, () => {
  test("without one the server fails alone; with one it works, and its token is masked", async () => {
    const server = await loginServer(), who = person(server);
    const before = await who.call();
    assert.equal(before.code, 1);
    assert.match(before.stderr, /MCP server "web": it wants a login: run `lathe login web`/);
    const end = await loggedIn(who);
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stderr, /logged in to "web": 2 tools\n$/);
    assert.match(end.stdout, /^http:\S+\n$/);
    const asked = server.of("/authorize")[0].query;
    assert.deepEqual([asked.get("response_type"), asked.get("code_challenge_method"), asked.get("resource")], ["code", "S256", server.url]);
    const after = await who.call();
    assert.equal(after.stdout, "you sent Bearer ***\n");
    for (const one of [end, after]) saysNoToken(one, server);
    assert.deepEqual([statSync(who.tokens).mode & 0o777, statSync(who.files()[0]).mode & 0o777], [0o700, 0o600]);
    assert.equal(server.of("/register").length, 1);
  });
  test("an answer with another state does not count, and does not end it", async () => {
    const server = await loginServer(), who = person(server), login = who.login();
    const callback = new URL(new URL(await address(login)).searchParams.get("redirect_uri"));
    const wrong = await fetch(`${callback.href}?code=x&state=somebody&iss=${encodeURIComponent(server.origin)}`);
    assert.deepEqual([wrong.status, (await fetch(callback.origin)).status], [400, 404]);
    assert.equal((await fetch(await address(login))).status, 200);
    const end = await login.ended;
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stderr, /an answer that is not of this login \(another state\) does not count/);
    assert.equal(server.of("/token").length, 1);
  });
  for (const [what, iss] of [["another issuer", "https://evil.example"], ["no issuer where one was promised", ""], ["an issuer that is only nearly right", undefined]]) {
    test(`an answer with ${what} is refused`, async () => {
      const server = await loginServer();
      server.options.iss = iss ?? `${server.origin}/`;
      const end = await loggedIn(person(server));
      assert.equal(end.code, 1);
      assert.match(end.stderr, /lathe login: the answer does not come from the authorization server that was asked \(issuer\)/);
      assert.equal(server.of("/token").length, 0, "the code went nowhere");
    });
  }
  test("refused by the person", async () => {
    const server = await loginServer({ error: "access_denied" }), who = person(server);
    const end = await loggedIn(who);
    assert.deepEqual([end.code, end.stderr.split("\n").at(-2)], [1, "lathe login: the login was refused: access_denied"]);
    assert.deepEqual(who.files(), []);
  });
  test("nobody comes", async () => {
    const end = await person(await loginServer()).login("--timeout", "50").ended;
    assert.equal(end.code, 124);
    assert.match(end.stderr, /lathe login: nobody has logged in within 0\.05 s: run the command again, and open the address\n$/);
  });
  test("interrupted, while it waits for the person and while it waits for the server", async () => {
    const server = await loginServer(), silent = await loginServer({ silent: true });
    for (const [one, ready] of [[server, address], [silent, () => until(() => silent.seen.length > 0, "the server was asked")]]) {
      const login = person(one).login();
      await ready(login);
      login.child.kill("SIGINT");
      assert.equal((await login.ended).code, 130);
    }
  });
  test("on another machine: the address that the browser ended at is pasted", async () => {
    const server = await loginServer(), who = person(server);
    who.options.typed = true;
    const login = who.login();
    await fetch(await address(login), { redirect: "manual" });
    login.type("a code without its issuer\n");
    login.type(`${server.last}\n`);
    const end = await login.ended;
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stderr, /paste the whole address that the browser was sent to/);
  });
  test("at a terminal: the same, and no browser without a display", async () => {
    const server = await loginServer(), who = person(server, {}, { DISPLAY: "", WAYLAND_DISPLAY: "" });
    who.options.terminal = true;
    const login = who.login();
    const url = await until(() => login.out().match(/^http\S+(?=\r?\n)/m)?.[0], "the address is printed");
    await fetch(url, { redirect: "manual" });
    login.type(`${server.last}\n`);
    const end = await login.ended;
    assert.equal(end.code, 0, end.stdout);
  });
  for (const [what, options, said] of [
    ["metadata of another issuer", { issuer: "https://evil.example" }, /calls itself by another name \(issuer\)/],
    ["a resource of somebody else", { resource: { resource: "https://evil.example/mcp" } }, /is for another address than "url"/],
    ["no PKCE", { metadata: { code_challenge_methods_supported: ["plain"] } }, /does not say that it has PKCE with S256/],
    ["an endpoint without TLS elsewhere", { metadata: { token_endpoint: "http://tokens.example/" } }, /does not begin with https/],
    ["an endpoint with a line of its own", { metadata: { authorization_endpoint: "http://127.0.0.1:1/a\nlogged in" } }, /has characters that no address has/],
    ["nobody registers by itself", { metadata: { registration_endpoint: undefined } }, /register Lathe there with the redirect address http:\/\/127\.0\.0\.1:\d+\/callback/],
  ]) {
    test(`${what}: refused before anybody is asked`, async () => {
      const server = await loginServer(options);
      const end = await person(server).login().ended;
      assert.match(end.stderr, said);
      assert.notEqual(end.code, 0);
      assert.deepEqual([end.stdout, server.of("/token").length], ["", 0]);
    });
  }
  test("a server that is a program, one with a key, one that is not there", async () => {
    const at = servers({ web: { url: "https://mcp.invalid/", headers: { Authorization: "Bearer abcdefgh" } }, local: { command: "true" } });
    for (const [name, said] of [["local", /"local" wants no login: it is a program/], ["web", /"web" wants no login: it has a key of its own/], ["nope", /there is no server "nope"/]]) {
      const end = await run(["login", name, ...at]);
      assert.equal(end.code, 2, end.stderr);
      assert.match(end.stderr, said);
    }
  });
});

describe("tokens", { concurrency: 3 }, () => {
  test("an expired one is renewed, and the new refresh token is kept", async () => {
    const server = await loginServer({ expiresIn: 1 }), who = person(server);
    assert.equal((await loggedIn(who)).code, 0);
    const first = who.kept();
    server.options.expiresIn = 3600;
    server.access.clear();
    const end = await who.call();
    assert.equal(end.stdout, "you sent Bearer ***\n", end.stderr);
    const second = who.kept();
    assert.notEqual(second.refreshToken, first.refreshToken);
    assert.deepEqual([server.access.has(second.accessToken), server.refresh.has(second.refreshToken)], [true, true]);
    saysNoToken(end, server);
  });
  test("one that the server does not take any more is renewed, too", async () => {
    const server = await loginServer(), who = person(server);
    await loggedIn(who);
    server.access.clear();
    assert.equal((await who.call()).stdout, "you sent Bearer ***\n");
    assert.equal(server.of("/token").length, 2);
  });
  test("one that the server does not take when it is new, either", async () => {
    const server = await loginServer(), who = person(server);
    await loggedIn(who);
    server.options.distrusts = true; // as one that has moved to another authorization server
    assert.match((await who.call()).stderr, /it does not take a token that was just renewed: run `lathe login web`/);
    assert.equal(server.of("/token").length, 2);
  });
  test("a refresh token that is used up: log in again, with the same registration", async () => {
    const server = await loginServer(), who = person(server);
    await loggedIn(who);
    const { refreshToken } = who.kept();
    server.access.clear();
    server.refresh.clear();
    server.options.words = `it is used up: ${refreshToken}`;
    const end = await who.call();
    assert.equal(end.code, 1);
    assert.ok(!end.stderr.includes(refreshToken), "what the authorization server repeats is masked");
    assert.match(end.stderr, /run `lathe login web`: the authorization server refuses a token: invalid_grant: it is used up: \*\*\*/);
    assert.match((await who.call()).stderr, /it wants a login: run `lathe login web`/);
    const failed = await loggedInWith(who, () => (server.options.deny = true));
    assert.match(failed.stderr, /lathe login: the authorization server refuses a token: invalid_grant: it is used up: /);
    server.options.deny = false;
    assert.equal((await loggedIn(who)).code, 0);
    assert.equal(server.of("/register").length, 1);
    assert.equal((await who.call()).code, 0);
  });
  test("several processes renew at once: one of them asks", async () => {
    const server = await loginServer({ slowTokenMs: 200 }), who = person(server);
    await loggedIn(who);
    server.access.clear();
    const ends = await Promise.all(Array.from({ length: 5 }, () => who.call()));
    assert.deepEqual(ends.map((end) => end.stdout), Array(5).fill("you sent Bearer ***\n"));
    assert.equal(server.of("/token").filter((r) => r.body.includes("grant_type=refresh_token")).length, 1);
  });
  test("more rights: the next login asks for what it had, and for them", async () => {
    const server = await loginServer({ resource: { scopes_supported: ["read"] } }), who = person(server);
    server.options.mayWrite = () => server.of("/authorize").at(-1).query.get("scope").includes("write");
    await loggedIn(who);
    assert.match((await who.call("write")).stderr, /the server wants more rights \(scope "write"\) than it was given: run `lathe login web`/);
    await loggedIn(who);
    assert.deepEqual(server.of("/authorize").map((r) => r.query.get("scope")), ["read", "read write"]);
    assert.equal((await who.call("write")).code, 0);
    server.options.mayWrite = () => false;
    assert.match((await who.call("write")).stderr, /wants the scope "write", which the token has already: it does not allow this/);
  });
  test("a client that acts for itself needs no login", async () => {
    const server = await loginServer({ metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] } });
    const who = person(server, { oauth: { grant: "client_credentials", clientId: "robot", clientSecretEnv: "ROBOT_SECRET" } }, { ROBOT_SECRET: "a secret: of it" });
    assert.equal((await who.call()).stdout, "you sent Bearer ***\n");
    assert.equal((await who.call()).stdout, "you sent Bearer ***\n");
    const asked = server.of("/token");
    assert.deepEqual([asked.length, Buffer.from(asked[0].authorization.slice(6), "base64").toString()], [1, "robot:a%20secret%3A%20of%20it"]);
    assert.equal((await who.login().ended).code, 2);
    delete who.options.env.ROBOT_SECRET;
    assert.match((await who.call()).stderr, /oauth\.clientSecretEnv names the variable ROBOT_SECRET, which is not set/);
    assert.equal((await who.logout()).code, 0);
    assert.deepEqual(who.files(), []);
  });
  test("one that was renewed while a call was open is masked in that call's answer, too", async () => {
    const server = await loginServer(), who = person(server);
    await loggedIn(who);
    let calls = 0;
    server.options.holds = async () => {
      if (++calls > 1) return;
      server.access.clear(); // so the other call gets a new token
      await until(() => server.of("/token").length === 2, "the token was renewed");
      await until(() => calls === 2, "the other call was made with it");
    };
    const at = servers({ web: { url: server.url } });
    const end = await program(`const echo = () => tools["web.echo"]({}); (await Promise.all([echo(), echo()])).join("|")`, at, who.options);
    assert.equal(end.stdout, "you sent Bearer ***|you sent Bearer ***\n", end.stderr);
    saysNoToken(end, server);
  });
  test("a client's own secret goes to no other authorization server than before", async () => {
    const server = await loginServer(), other = await loginServer();
    const who = person(server, { oauth: { grant: "client_credentials", clientId: "robot", clientSecretEnv: "ROBOT_SECRET" } }, { ROBOT_SECRET: "a secret of it" });
    assert.equal((await who.call()).code, 0);
    server.access.clear();
    server.options.resource = { authorization_servers: [other.origin] };
    assert.match((await who.call()).stderr, /names another authorization server than before.*run `lathe logout web` first/);
    assert.deepEqual(other.of("/token"), []);
    assert.equal((await who.logout()).code, 0);
    server.options.distrusts = true;
    await who.call();
    assert.equal(other.of("/token").length, 1);
  });
  test("a changed url does not get the old token", async () => {
    const server = await loginServer(), other = await loginServer(), who = person(server);
    await loggedIn(who);
    const end = await program(`tools["web.echo"]({})`, servers({ web: { url: other.url } }), who.options);
    assert.equal(end.code, 1);
    assert.match(end.stderr, /it wants a login/);
    assert.deepEqual(other.seen.filter((r) => r.authorization !== undefined), []);
  });
  test("a redirect of the token endpoint is not followed", async () => {
    const server = await loginServer(), other = await loginServer();
    server.options.movedTo = `${other.origin}/token`;
    const end = await loggedIn(person(server));
    assert.equal(end.code, 1);
    assert.match(end.stderr, /the authorization server answers with HTTP status 307, not with a token/);
    assert.deepEqual(other.seen, []);
  });
  test("with LATHE_TOKEN_KEY they are encrypted", async () => {
    const key = randomBytes(32).toString("hex");
    const server = await loginServer(), who = person(server, {}, { LATHE_TOKEN_KEY: key });
    await loggedIn(who);
    const text = readFileSync(who.files()[0], "utf8");
    for (const secret of secretsOf(server)) assert.ok(!text.includes(secret));
    assert.equal(JSON.parse(text).tokens, undefined);
    assert.equal((await who.call()).stdout, "you sent Bearer ***\n");
    assert.match((await who.call("echo", { LATHE_TOKEN_KEY: "" })).stderr, /its tokens are encrypted: set LATHE_TOKEN_KEY/);
    assert.match((await who.call("echo", { LATHE_TOKEN_KEY: randomBytes(32).toString("hex") })).stderr, /encrypted with another LATHE_TOKEN_KEY/);
    assert.match((await who.call("echo", { LATHE_TOKEN_KEY: "short" })).stderr, /LATHE_TOKEN_KEY has to be 64 hexadecimal digits/);
  });
  test("LATHE_TOKEN_KEY is for Lathe alone", async () => {
    const local = { command: process.execPath, args: ["-e", `
      const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      require("readline").createInterface({ input: process.stdin }).on("line", (line) => { const m = JSON.parse(line);
        if (m.method === "initialize") say(m.id, { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } });
        else if (m.method === "tools/list") say(m.id, { tools: [{ name: "keys", inputSchema: { type: "object" } }] });
        else if (m.method === "tools/call") say(m.id, { content: [{ type: "text", text: ["LATHE_TOKEN_KEY", "ROBOT_SECRET", "OTHER"].filter((name) => process.env[name]).join() }] });
        else if (m.id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id: m.id, error: { code: -32601, message: "no" } })); });`] };
    const at = servers({ local, web: { url: "https://mcp.invalid/", disabled: true, oauth: { clientSecretEnv: "ROBOT_SECRET" } } });
    const end = await program(`tools["local.keys"]({})`, at, { env: { LATHE_TOKEN_KEY: "0".repeat(64), ROBOT_SECRET: "robot-robot", OTHER: "yes" } });
    assert.equal(end.stdout, "OTHER\n", end.stderr);
  });
  test("a state folder that cannot be written: the message is still about the login", { skip: process.getuid() === 0 && "root may write anywhere" }, async () => {
    const server = await loginServer(), who = person(server);
    chmodSync(who.state, 0o500);
    assert.match((await who.call()).stderr, /it wants a login: run `lathe login web`/);
    chmodSync(who.state, 0o700);
  });
  test("a file that others may read is not used", async () => {
    const server = await loginServer(), who = person(server);
    await loggedIn(who);
    chmodSync(who.files()[0], 0o644);
    const end = await who.call();
    assert.equal(end.code, 1);
    assert.match(end.stderr, /others may read or write .*\.json: delete it, and log in again/);
    assert.equal((await loggedIn(who)).code, 0);
    assert.equal((await who.call()).code, 0);
  });
});

describe("a logout", { concurrency: 3 }, () => {
  test("revokes and deletes; a second one has nothing to do", async () => {
    const server = await loginServer(), who = person(server);
    await loggedIn(who);
    const end = await who.logout();
    assert.deepEqual([end.code, end.stderr], [0, 'logged out of "web": its tokens are deleted, and revoked\n']);
    assert.deepEqual([server.access.size, server.refresh.size, who.files().length], [0, 0, 0]);
    assert.match((await who.call()).stderr, /it wants a login/);
    const again = await who.logout();
    assert.deepEqual([again.code, again.stderr], [0, 'nobody is logged in to "web"\n']);
  });
  test("without an endpoint for it they are deleted only", async () => {
    const server = await loginServer({ metadata: { revocation_endpoint: undefined } }), who = person(server);
    await loggedIn(who);
    assert.match((await who.logout()).stderr, /its tokens are deleted; the authorization server has not revoked them/);
    assert.deepEqual(who.files(), []);
  });
});
