#!/usr/bin/env node
// A fake server of chat completions that says what a script tells it to: Node 18 or later, no dependencies.
//
//   node script_model.mjs DIR
//
// Prints "PORT N" when it listens; ends when its input ends. POST /NAME/v1/chat/completions answers with the next reply
// of DIR/NAME.json, an array; the last one is given again and again. What was asked is appended to DIR/NAME.asked, a
// body of a request per line. A reply is a string, or an object:
//
//   {"text", "calls": [{"id"?, "name", "arguments"}], "finish"?, "usage"?: [in, out, reasoning?, cached?], "status"?,
//    "delayMs"?, "hang"?: true (after the text), "cut"?: true (likewise), "echo"?: true (the user's last words are the text),
//    "whole"?: true (one JSON document, not a stream; without calls)}
//
// or {"rounds": [reply, ...]}: the one for as many replies as there are already in what is asked.
import { createServer } from "node:http";
import { appendFileSync, readFileSync } from "node:fs";

const dir = process.argv[2];
const times = new Map();

const event = (value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const chunk = (delta, finish = null) => ({
  id: "chatcmpl-1", object: "chat.completion.chunk", model: "fake-2026",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

function next(name) {
  const n = times.get(name) ?? 0;
  times.set(name, n + 1);
  const replies = JSON.parse(readFileSync(`${dir}/${name}.json`, "utf8"));
  const reply = replies[Math.min(n, replies.length - 1)];
  return reply;
}

function choose(reply, body) {
  if (reply.rounds) reply = reply.rounds[body.messages.filter((m) => m.role === "assistant").length] ?? "";
  return typeof reply === "string" ? { text: reply } : reply;
}

const lastWords = (body) => body.messages.filter((m) => m.role === "user").at(-1)?.content ?? "";

// A text or arguments in a few pieces, cut anywhere.
function* pieces(text) {
  const size = Math.max(1, Math.ceil(text.length / 3));
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
}

function send(res, reply, text) {
  res.writeHead(200, { "content-type": "text/event-stream" });
  res.write(event(chunk({ role: "assistant", content: "" })));
  for (const piece of pieces(text)) res.write(event(chunk({ content: piece })));
  if (reply.hang) return;
  if (reply.cut) return void setTimeout(() => res.destroy(), 10);
  (reply.calls ?? []).forEach((call, index) => {
    const args = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
    const head = { index, id: call.id ?? `call_${index}`, type: "function", function: { name: call.name, arguments: "" } };
    res.write(event(chunk({ tool_calls: [head] })));
    for (const piece of pieces(args)) res.write(event(chunk({ tool_calls: [{ index, function: { arguments: piece } }] })));
  });
  const [input, output, reasoning, cached] = reply.usage ?? [10, 5, 0];
  const usage = { prompt_tokens: input, completion_tokens: output, completion_tokens_details: { reasoning_tokens: reasoning ?? 0 } };
  if (cached !== undefined) usage.prompt_tokens_details = { cached_tokens: cached };
  res.write(event(chunk({}, reply.finish ?? (reply.calls ? "tool_calls" : "stop"))));
  res.end(event({ choices: [], usage }) + event("[DONE]"));
}

createServer(async (req, res) => {
  const name = req.url.split("/")[1];
  const raw = [];
  for await (const piece of req) raw.push(piece);
  const body = JSON.parse(Buffer.concat(raw).toString());
  appendFileSync(`${dir}/${name}.asked`, JSON.stringify(body) + "\n");
  const reply = choose(next(name), body);
  if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
  if (reply.status) {
    res.writeHead(reply.status, { "content-type": "application/json", "retry-after": "0" });
    return res.end(JSON.stringify({ error: { message: reply.text ?? "no" } }));
  }
  if (reply.whole) {
    res.writeHead(200, { "content-type": "application/json" });
    return res.end(JSON.stringify({ choices: [{ index: 0, finish_reason: reply.finish ?? "stop", message: { role: "assistant", content: reply.text } }] }));
  }
  send(res, reply, reply.echo ? lastWords(body) : reply.text ?? "");
}).listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, function () {
  console.log(`PORT ${this.address().port}`);
});
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0)).resume();
