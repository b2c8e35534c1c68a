// What the flow tests of `lathe serve` share: a server that is started, asked over real HTTP, killed and started again.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { config, folder, run, start, until } from "./harness.mjs";

/** Starts `lathe serve` on a port of the kernel's choice, and waits until it is ready. `state` is its store's folder, `more` further options. With `cwd` it finds that folder's own configuration. */
export async function serve(configuration = {}, { state = folder(), env = {}, limitMs = 60_000, cwd, program, file = cwd ? join(cwd, "lathe.yaml") : config(configuration), listen = "127.0.0.1:0", more = [] } = {}) {
  const options = { cwd, program, env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OPENAI_MODEL: "none", ...env, XDG_STATE_HOME: state }, limitMs };
  const one = start(["serve", "--listen", listen, ...(cwd ? [] : ["--config", file]), ...more], options);
  const found = await until(() => /http:\/\/[\d.]+:(\d+)/.exec(one.text()), `it listens\n${one.text()}`);
  const server = {
    ...one, file, state, url: found[0], port: Number(found[1]),
    /** A request: {status, headers, text, json}. `body` is sent as JSON, unless it is text or bytes. */
    async ask(method, path, body, headers = {}) {
      const answer = await fetch(found[0] + path, {
        method, headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      let json;
      try { json = JSON.parse(text); } catch { /* no JSON */ }
      return { status: answer.status, headers: answer.headers, text, json };
    },
    get: (path, headers) => server.ask("GET", path, undefined, headers),
    post: (path, body, headers) => server.ask("POST", path, body, headers),
    /** The prompt, once it is in one of these states. */
    async prompt(id, headers, ...states) {
      return until(async () => {
        const { json } = await server.get(`/prompts/${id}`, headers);
        return (states.length ? states : ["completed", "failed", "cancelled"]).includes(json?.state) && json;
      }, `prompt ${id} is ${states}`);
    },
    /** The first call that waits for approval. */
    async waiting(id, headers) {
      const prompt = await server.prompt(id, headers, "waiting_for_approval");
      return prompt.output.find((one) => one.result?.question !== undefined);
    },
    /** Follows the events: {events, close, ended}. */
    follow: (query = "", headers = {}) => followEvents(`${found[0]}/events/stream${query}`, headers),
    async stop(signal = "SIGTERM") {
      one.child.kill(signal);
      return one.ended;
    },
  };
  await until(async () => (await server.get("/readyz")).status === 200, "it is ready");
  return server;
}

/** Writes the configuration of a server, sends SIGHUP, and waits for the line that says how it went; what it says from then on. */
export async function reload(s, value, wanted = /configuration reloaded$/) {
  writeFileSync(s.file, typeof value === "string" ? value : JSON.stringify(value));
  const before = s.text().length;
  s.child.kill("SIGHUP");
  const line = await until(() => /^.*configuration (not )?reloaded.*$/m.exec(s.text().slice(before))?.[0], `it says so\n${s.text()}`);
  assert.match(line, wanted);
  return s.text().slice(before);
}

/** A stream of server-sent events, as it comes: events have {id, event, data}. */
export function followEvents(url, headers = {}, { method = "GET", body } = {}) {
  const events = [];
  const state = { events, status: 0, text: "", lastId: undefined };
  const ask = request(url, { method, headers: { accept: "text/event-stream", ...headers } });
  state.ended = new Promise((done) => {
    ask.on("response", (answer) => {
      let rest = "";
      state.status = answer.statusCode;
      state.answer = answer;
      answer.setEncoding("utf8");
      answer.on("data", (text) => {
        state.text += text;
        rest += text;
        for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
          const lines = rest.slice(0, end).split("\n");
          const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          if (field("id") !== undefined) state.lastId = Number(field("id"));
          if (field("data")) events.push({ id: field("id") === undefined ? undefined : Number(field("id")), ...JSON.parse(field("data")) });
        }
      });
      answer.on("end", () => done("ended"));
      answer.on("error", () => done("broken"));
      answer.on("close", () => done("closed"));
    });
    ask.on("error", () => done("refused"));
  });
  state.close = () => ask.destroy();
  state.names = () => events.map((one) => one.event);
  if (body !== undefined) ask.write(JSON.stringify(body));
  ask.end();
  return state;
}

/** Makes tokens in the store below `state`: each as headers of a request. */
export async function tokens(state, ...users) {
  const made = [];
  for (const user of users) made.push({ authorization: `Bearer ${(await run(["serve", "token", "add", user], { env: { XDG_STATE_HOME: state } })).stdout.trim()}` });
  return made;
}

/** A bare connection: {send, text(), ended (a promise of everything that came), until(pattern), close, end}. `to`: a port, or the options of net.connect. */
export function bare(to) {
  const socket = connect(typeof to === "number" ? { port: to, host: "127.0.0.1" } : to);
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (more) => (text += more));
  socket.on("error", () => {});
  const ended = new Promise((done) => socket.on("close", () => done(text)));
  return {
    socket, ended, text: () => text,
    send: (bytes) => new Promise((done) => socket.write(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes, "latin1"), () => done())),
    until: (pattern) => until(() => (typeof pattern === "string" ? text.includes(pattern) : pattern.test(text)) && text, `the connection says ${pattern}: ${text.slice(0, 300)}`),
    end: () => socket.end(),
    close: () => socket.destroy(),
  };
}

/** What a reader of these events shows of the first program that is being written: the pieces since the last restart. */
export function draftOf(events) {
  let draft = "";
  for (const { event, data } of events) {
    if (event === "prompt.stream" && data.program) draft = (data.restart ? "" : draft) + (data.index ? "" : data.delta);
  }
  return draft;
}
