#!/usr/bin/env node
// A model that is none: a small server of chat completions that plays back replies recorded in a file. What a real model
// would answer at its own pace and price, this one answers at once and always the same, so that the demonstration and the
// tests need neither key nor network. Node 18 or later, no dependencies.
//
//   node examples/recorded-model.mjs RECORDING.json [--port=N] [--pace=MS]
//
// Prints "PORT N" when it listens; ends when its input ends. A recording is
//
//   {"title": "...", "summary": "...", "turns": [{"user": "...", "replies": [reply, ...]}, ...]}
//
// The turn is the one whose "user" is the last message of that text in what is asked; which of its replies comes is a
// question of how many answers of the model follow that message already. A reply is a text, {"file": "..."} (a text beside
// the recording), {"text"?, "calls": [{"name", "arguments"}]}, or one of these with {"waitMs": N} before it begins.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";

const file = process.argv[2];
const option = (name) => process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const pace = Number(option("pace") ?? 0);
const recording = JSON.parse(readFileSync(file, "utf8"));
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const textOf = (message) => (typeof message.content === "string" ? message.content : (message.content ?? []).map((part) => part.text ?? "").join(""));

/** What is to be said to these messages; undefined: it was not recorded. */
function find(messages) {
  if (messages.some((message) => message.role === "system" && /^Give this conversation a title/.test(textOf(message)))) {
    return recording.title ?? "A recorded conversation";
  }
  if (messages.some((message) => message.role === "system" && /^You keep the memory of a conversation/.test(textOf(message)))) {
    return recording.summary ?? "What was said before was recorded.";
  }
  for (let at = messages.length - 1; at >= 0; at--) {
    const turn = messages[at].role === "user" && recording.turns.find((one) => one.user.trim() === textOf(messages[at]).trim());
    if (turn) {
      return turn.replies[messages.slice(at).filter((message) => message.role === "assistant").length];
    }
  }
}

/** The pieces in which a reply is streamed, about a word each. */
function* pieces({ text, calls }, asked) {
  for (const content of text.match(/\s*\S+\s*/g) ?? []) yield { content };
  for (const [index, call] of calls.entries()) {
    const given = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
    yield { tool_calls: [{ index, id: `call_${asked}_${index}`, type: "function", function: { name: call.name, arguments: "" } }] };
    for (const part of given.match(/[^]{1,40}/g) ?? []) yield { tool_calls: [{ index, function: { arguments: part } }] };
  }
}

async function say(res, reply, body) {
  const { waitMs = 0, ...rest } = typeof reply === "string" ? { text: reply } : reply;
  const text = rest.file ? readFileSync(join(dirname(file), rest.file), "utf8") : rest.text ?? "";
  const calls = rest.calls ?? [];
  await sleep(waitMs);
  res.writeHead(200, { "content-type": "text/event-stream" });
  const send = (more) => res.write(`data: ${JSON.stringify({ id: "recorded", object: "chat.completion.chunk", model: "recorded", ...more })}\n\n`);
  for (const delta of pieces({ text, calls }, body.messages.filter((message) => message.role !== "system").length)) {
    send({ choices: [{ index: 0, delta, finish_reason: null }] });
    if (pace > 0) await sleep(pace);
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }] });
  const tokens = (value) => Math.ceil(JSON.stringify(value).length / 4); // roughly: it has no tokenizer
  send({ choices: [], usage: { prompt_tokens: tokens([body.messages, body.tools ?? []]), completion_tokens: tokens([text, calls]) } });
  res.end("data: [DONE]\n\n");
}

const server = createServer(async (req, res) => {
  const parts = [];
  for await (const part of req) parts.push(part);
  const body = JSON.parse(Buffer.concat(parts).toString() || "{}");
  const reply = find(body.messages ?? []);
  if (reply === undefined) {
    res.writeHead(400, { "content-type": "application/json" });
    res.end(JSON.stringify({ error: { message: "this model only plays back what was recorded, and nothing was for this" } }));
    return;
  }
  await say(res, reply, body);
});
server.listen(Number(option("port") ?? 0), "127.0.0.1", () => console.log(`PORT ${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0)).resume();
