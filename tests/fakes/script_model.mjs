#!/usr/bin/env node
// A fake server of all three APIs (model_wires.mjs) that says what a script tells it to: Node 18 or later, no dependencies.
//
//   node script_model.mjs DIR
//
// Prints "PORT N" when it listens; ends when its input ends. POST /NAME/v1/chat/completions, /responses and /messages
// answer with the next reply of DIR/NAME.json, an array; the last one is given again and again. What was asked is appended
// to DIR/NAME.asked, a body of a request per line. A reply is a string, or an object:
//
//   {"text", "thinking"?, "calls": [{"id"?, "name", "arguments"}], "finish"?, "usage"?: [in, out, reasoning?, cached?,
//    written?], "status"?, "code"?, "headers"?: (of the answer with that status), "delayMs"?, "hang"?: true (after the text), "cut"?: true (likewise), "echo"?: true (the user's last words are the text),
//    "whole"?: true (one JSON document, not a stream; without calls)}
//
// or {"rounds": [reply, ...]}: the one for as many replies as there are already in what is asked.
import { createServer } from "node:http";
import { appendFileSync, readFileSync } from "node:fs";
import { wireOf } from "./model_wires.mjs";

const dir = process.argv[2];
const times = new Map();

function next(name) {
  const n = times.get(name) ?? 0;
  times.set(name, n + 1);
  const replies = JSON.parse(readFileSync(`${dir}/${name}.json`, "utf8"));
  const reply = replies[Math.min(n, replies.length - 1)];
  return reply;
}

function choose(reply, body, wire) {
  if (reply.rounds) reply = reply.rounds[wire.turns(body)] ?? "";
  return typeof reply === "string" ? { text: reply } : reply;
}

function send(res, wire, reply, text) {
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (const piece of wire.text(text, reply)) res.write(piece);
  if (reply.hang) return;
  if (reply.cut) return void setTimeout(() => res.destroy(), 10);
  for (const piece of wire.rest(reply)) res.write(piece);
  res.end();
}

createServer(async (req, res) => {
  const name = req.url.split("/")[1];
  if (req.method === "GET") { // .../models
    const data = [...Array.from({ length: 10 }, (_, i) => `other-${i + 1}`), "scripted-mini", "scripted-max"].map((id) => ({ id, object: "model" }));
    return res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
  }
  const raw = [];
  for await (const piece of req) raw.push(piece);
  const body = JSON.parse(Buffer.concat(raw).toString()), wire = wireOf(req.url);
  appendFileSync(`${dir}/${name}.asked`, JSON.stringify(body) + "\n");
  const json = (status, value, headers) => {
    res.writeHead(status, { "content-type": "application/json", ...headers });
    res.end(JSON.stringify(value));
  };
  const fault = wire.check(body, req.headers);
  if (fault) return json(400, wire.fault(fault, 400));
  const reply = choose(next(name), body, wire);
  if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
  if (reply.status) return json(reply.status, wire.fault(reply.text ?? "no", reply.status, reply.code), { "retry-after": "0", ...reply.headers });
  if (reply.whole) return json(200, wire.whole(reply));
  send(res, wire, reply, reply.echo ? wire.lastWords(body) : reply.text ?? "");
}).listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, function () {
  console.log(`PORT ${this.address().port}`);
});
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0)).resume();
