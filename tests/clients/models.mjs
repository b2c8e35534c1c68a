// Fake models for the real clients of scripts/try-clients.sh: one server on loopback that speaks the four wires that they
// expect (Anthropic messages, OpenAI responses, chat completions, Gemini) and lets a function decide what the model says.
import { createServer } from "node:http";

const event = (value, name) => `${name ? `event: ${name}\n` : ""}data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const textOf = (content) => (typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? (part.content ? textOf(part.content) : "")).join("\n"));

/** Each wire: whether a request is of it, the tools and the last result that it hands to the model, and the answer with {text} or {tool, input}. */
const wires = {
  anthropic: {
    is: (path) => path.endsWith("/v1/messages"),
    tools: (body) => (body.tools ?? []).map((tool) => ({ name: tool.name, description: tool.description })),
    // Tools that are deferred are named in texts only.
    results: (body) => body.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((part) => part.type === "tool_result").map((part) => textOf(part.content)),
    answer(res, body, say, id) {
      const block = say.tool ? { type: "tool_use", id: `toolu_${id}`, name: say.tool.name, input: {} } : { type: "text", text: "" };
      const delta = say.tool ? { type: "input_json_delta", partial_json: JSON.stringify(say.input) } : { type: "text_delta", text: say.text };
      const message = { id: `msg_${id}`, type: "message", role: "assistant", model: body.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } };
      const stop = say.tool ? "tool_use" : "end_turn";
      if (!body.stream) return void res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ...message, stop_reason: stop, content: [say.tool ? { ...block, input: say.input } : { type: "text", text: say.text }] }));
      res.writeHead(200, { "content-type": "text/event-stream" });
      for (const e of [
        { type: "message_start", message }, { type: "content_block_start", index: 0, content_block: block }, { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 }, { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 5 } }, { type: "message_stop" },
      ]) res.write(event(e, e.type));
      res.end();
    },
  },
  responses: {
    is: (path) => path.endsWith("/responses"),
    tools: (body) => (body.tools ?? []).flatMap((tool) => (tool.type === "namespace" ? tool.tools.map((inner) => ({ name: inner.name, namespace: tool.name, description: inner.description })) : [{ name: tool.name ?? tool.type, description: tool.description }])),
    results: (body) => (body.input ?? []).filter((item) => item.type === "function_call_output").map((item) => textOf(item.output)),
    answer(res, body, say, id) {
      const item = say.tool
        ? { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: say.tool.name, ...(say.tool.namespace && { namespace: say.tool.namespace }), arguments: JSON.stringify(say.input), status: "completed" }
        : { type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content: [{ type: "output_text", text: say.text, annotations: [] }] };
      res.writeHead(200, { "content-type": "text/event-stream" });
      for (const e of [
        { type: "response.created", response: { id: `resp_${id}` } }, { type: "response.output_item.added", output_index: 0, item }, { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { id: `resp_${id}`, output: [item], usage: { input_tokens: 10, input_tokens_details: null, output_tokens: 5, output_tokens_details: null, total_tokens: 15 } } },
      ]) res.write(event(e, e.type));
      res.end();
    },
  },
  chat: {
    is: (path) => path.endsWith("/chat/completions"),
    tools: (body) => (body.tools ?? []).map((tool) => ({ name: tool.function.name, description: tool.function.description })),
    results: (body) => body.messages.filter((m) => m.role === "tool").map((m) => textOf(m.content)),
    answer(res, body, say, id) {
      const calls = say.tool && [{ index: 0, id: `call_${id}`, type: "function", function: { name: say.tool.name, arguments: JSON.stringify(say.input) } }];
      const chunk = (delta, finish_reason = null) => ({ id: `c_${id}`, object: "chat.completion.chunk", created: 1, model: body.model, choices: [{ index: 0, delta, finish_reason }] });
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.write(event(chunk(calls ? { role: "assistant", content: null, tool_calls: calls } : { role: "assistant", content: say.text })));
      res.write(event({ ...chunk({}, calls ? "tool_calls" : "stop"), usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }));
      res.end(event("[DONE]"));
    },
  },
  gemini: {
    is: (path) => /:(streamGenerateContent|generateContent)/.test(path),
    tools: (body) => (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []).map((tool) => ({ name: tool.name, description: tool.description })),
    results: (body) => body.contents.flatMap((c) => c.parts ?? []).filter((part) => part.functionResponse).map((part) => JSON.stringify(part.functionResponse.response)),
    answer(res, body, say, id, path) {
      const parts = [say.tool ? { functionCall: { id: `call_${id}`, name: say.tool.name, args: say.input } } : { text: say.text }];
      const answer = { candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }, modelVersion: "fake" };
      const isStream = path.includes(":stream");
      res.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
      res.end(isStream ? event(answer) : JSON.stringify(answer));
    },
  },
};

/**
 * Listens on a port of the kernel's choice. `decide({tools, results, body})` returns {text} or {tool: one of tools, input};
 * it is asked for requests that offer tools, others (titles, routing) get a text. `asked` has every request that offered tools.
 */
export async function models() {
  const asked = [], others = [];
  let decide = () => ({ text: "done" }), last = 0;
  const server = createServer(async (req, res) => {
    const raw = [];
    for await (const piece of req) raw.push(piece);
    const path = req.url.split("?")[0];
    const wire = Object.values(wires).find((one) => one.is(path));
    if (!wire) {
      others.push(`${req.method} ${req.url}`);
      const known = path.endsWith("/count_tokens") || path.includes(":countTokens");
      return void res.writeHead(known ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(known ? { input_tokens: 10, totalTokens: 10 } : { error: { message: "not here" } }));
    }
    let body;
    try { body = JSON.parse(Buffer.concat(raw)); } catch { return void res.writeHead(400).end(); }
    const tools = wire.tools(body);
    if (tools.length === 0) return void wire.answer(res, body, { text: "{}" }, ++last, req.url);
    const seen = { tools, results: wire.results(body), body };
    asked.push(seen);
    wire.answer(res, body, await decide(seen), ++last, req.url);
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  return { url: `http://127.0.0.1:${server.address().port}`, asked, others, plays: (fn) => { decide = fn; asked.length = 0; }, close: () => { server.closeAllConnections(); server.close(); } };
}
