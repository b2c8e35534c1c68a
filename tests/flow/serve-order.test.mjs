// The order and completeness of lathe serve's events: many prompts, several readers that are cut off anywhere, kills.
import assert from "node:assert/strict";
import { request } from "node:http";
import { before } from "node:test";
import { config, folder, scripted, sleep, test, until } from "./harness.mjs";
import { recorded } from "./model.mjs";
import { serve } from "./server.mjs";

const turns = [
  { user: "pay", replies: ["let r; try { r = cashPay({ n: 1 }).n } catch (e) { r = e.message }\noutput('paid ' + r); done()"] },
  { user: "look", replies: ["output(parallel([1, 2, 3].map((n) => ({ tool: 'cash.look', input: { n } }))).map((one) => one.n).join()); done()"] },
  { user: "fail", replies: ["cashLook({ n: 1 }); throw new Error('no')", "output('mended'); done()"] },
  { user: "long", replies: ["for (let i = 0; i < 200; i++) { cashLook({ n: i }) }\ndone()"] },
];
const ENDS = ["prompt.completed", "prompt.cancelled", "prompt.error"];
let env;
before(async () => {
  env = await recorded(turns);
});

/** Reads the events until it has those up to `wanted()`, in connections that end after a random number of bytes; all numbered ones, as they came. */
async function readInCuts(url, wanted, bytes) {
  const events = [];
  let last = 0;
  while (last < wanted()) {
    await new Promise((done) => {
      let rest = "", left = bytes();
      const ask = request(`${url()}/events/stream`, { headers: { "last-event-id": String(last) } });
      const timer = setTimeout(() => ask.destroy(), 700);
      ask.on("response", (answer) => {
        answer.setEncoding("latin1");
        answer.on("data", (more) => {
          rest += more.slice(0, left);
          left -= more.length;
          for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
            const lines = rest.slice(0, end).split("\n");
            const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
            if (field("id") === undefined) continue;
            last = Number(field("id"));
            if (field("data") !== undefined) events.push({ id: last, ...JSON.parse(Buffer.from(field("data"), "latin1")) });
          }
          if (left <= 0) ask.destroy();
        });
        answer.on("error", () => {});
      });
      ask.on("error", () => {});
      ask.on("close", () => (clearTimeout(timer), done()));
      ask.end();
    });
    await sleep(5);
  }
  return events;
}

/** What the events of one prompt must be like, wherever they came from. */
function checkOrder(id, events) {
  const names = events.map((one) => one.event), told = `${id}: ${names.join(" ")}`;
  assert.equal(names[0], "prompt.created", told);
  assert.equal(names.filter((name) => name === "prompt.created").length, 1, told);
  assert.deepEqual(names.filter((name) => ENDS.includes(name)).length, 1, told);
  assert.ok(ENDS.includes(names.at(-1)), told);
  const open = new Set(), ended = new Set();
  for (const { event, data } of events) {
    if (event === "prompt.approval-requested") open.add(data.request.toolCallId);
    if (event === "prompt.approval-decided") assert.ok(open.has(data.toolCallId), `decided before it was asked: ${told}`);
    if (event !== "prompt.output" || data.output.type !== "tool") continue;
    const isPending = data.output.result.type === "pending";
    assert.ok(!(isPending && ended.has(data.output.id)), `pending after its end: ${told}`);
    if (!isPending) ended.add(data.output.id);
  }
  const last = events.at(-1);
  if (last.event === "prompt.completed") assert.ok(last.data.output.every((one) => one.result?.type !== "pending"), told);
}

test("events never contradict their prompt, and none is lost or repeated: many prompts, cuts anywhere, kills", async () => {
  const tools = [{ tool: { name: "pay", inputSchema: { type: "object" } } }, { tool: { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }, delayMs: 15 }];
  const file = config({ mcpServers: { cash: scripted(tools) }, tools: { policy: [{ match: "cash.pay", action: "ask" }] }, server: { graceMs: 0 } });
  const state = folder(), again = () => serve({}, { env, state, file });
  let s = await again(), wanted = Infinity;
  const ids = new Map();
  const readers = [() => 2 ** (Math.random() * 17), () => 2000 + Math.random() * 50_000, () => 1e9].map((bytes) => readInCuts(() => s.url, () => wanted, () => Math.ceil(bytes())));
  const begin = async (input) => ids.set((await s.post("/prompt", { input, mode: "code" })).json.promptId, input);
  const decide = async (id, verb) => {
    const call = await s.waiting(id);
    await s.post(`/prompts/${id}/${verb}`, { toolCallId: call.id });
  };
  for (let i = 0; i < 3; i++) for (const input of ["pay", "look", "fail", "pay", "long", "pay"]) await begin(input);
  const of = (input) => [...ids].filter(([, one]) => one === input).map(([id]) => id);
  const pays = of("pay");
  await decide(pays[0], "approve");
  await decide(pays[1], "reject");
  await s.waiting(pays[2]);
  await s.post(`/prompts/${pays[2]}/cancel`, {});
  await s.post(`/prompts/${of("long")[0]}/cancel`, {});
  for (const [i, signal] of ["SIGKILL", "SIGTERM", "SIGKILL"].entries()) {
    await s.stop(signal);
    s = await again();
    await begin("look");
    await decide(pays[3 + i], i % 2 ? "reject" : "approve");
  }
  for (const id of pays.slice(6)) await s.waiting(id).then((call) => s.post(`/prompts/${id}/approve`, { toolCallId: call.id }));
  for (const id of of("long").slice(1)) await s.post(`/prompts/${id}/cancel`, {});
  for (const id of ids.keys()) await s.prompt(id);
  const whole = s.follow("?after=0");
  const ofPrompt = (id) => whole.events.filter((one) => one.data.promptId === id);
  await until(() => [...ids.keys()].every((id) => ENDS.includes(ofPrompt(id).at(-1)?.event)), "all ends are told");
  const all = whole.events.filter((one) => one.id !== undefined);
  wanted = all.at(-1).id;
  for (const reader of readers) assert.deepEqual((await reader).slice(0, all.length), all);
  for (const id of ids.keys()) {
    checkOrder(id, ofPrompt(id));
    const stateOf = { "prompt.completed": "completed", "prompt.cancelled": "cancelled", "prompt.error": "failed" };
    assert.equal((await s.get(`/prompts/${id}`)).json.state, stateOf[ofPrompt(id).at(-1).event]);
  }
  assert.deepEqual(pays.slice(0, 3).map((id) => ofPrompt(id).at(-1).event), ["prompt.completed", "prompt.completed", "prompt.cancelled"]);
  whole.close();
  await s.stop();
});
