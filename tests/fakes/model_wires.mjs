// The three APIs of models as their providers document them, for fake servers: what a request must be, what a reply looks
// like as a stream. A request that the provider would refuse is refused, so a client that forgets something fails here.
//
// A wire: {check(body, headers) -> why not, or undefined; turns(body): replies so far; lastWords(body);
// events(reply) -> [event...]; whole(reply)}. A reply is script_model.mjs's: {text, thinking, calls, usage, finish}.

const event = (value, name) => `${name ? `event: ${name}\n` : ""}data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;

/** A text or arguments in a few pieces, cut anywhere. */
export function* pieces(text) {
  const size = Math.max(1, Math.ceil(text.length / 3));
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
}

// A call with an `input` is one of a tool that takes a text, where the wire has such tools.
const argumentsOf = (call) => (call.input !== undefined ? JSON.stringify({ code: call.input }) : typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {}));
const only = (body, ...known) => Object.keys(body).filter((key) => !known.includes(key)).map((key) => `${key}: Extra inputs are not permitted`)[0];
const usageOf = (reply) => { const [input = 10, output = 5, reasoning = 0, cached = 0, written = 0] = reply.usage ?? []; return { input, output, reasoning, cached, written }; };

// --- chat completions ---------------------------------------------------------------------------------------------------
const chunk = (delta, finish = null) => ({
  id: "chatcmpl-1", object: "chat.completion.chunk", model: "fake-2026",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
/**
 * What DeepSeek (https://api-docs.deepseek.com/guides/thinking_mode) and Kimi (https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model)
 * refuse of thoughts in messages: the reasoner takes them with calls that are being answered, and nowhere else; V4 wants them in all of a prompt with calls, Kimi with each call.
 */
function thoughtsFault({ model, messages }) {
  const isMine = messages.map((message, i) => message.role === "assistant" && messages.findLastIndex((one) => one.role === "user") < i);
  for (const [i, { role, reasoning_content: thoughts, tool_calls: calls }] of messages.entries()) {
    if (role !== "assistant") continue;
    const isAnswering = Boolean(calls) && isMine[i];
    if (model === "deepseek-reasoner" && thoughts !== undefined && !isAnswering) return "reasoning_content is not supported in input messages";
    if (model === "deepseek-reasoner" && isAnswering && !thoughts) return `Missing \`reasoning_content\` field in the assistant message at message index ${i}`;
    if (/^deepseek-v4/.test(model) && !thoughts && messages.some((one) => one.tool_calls)) return "The `reasoning_content` in the thinking mode must be passed back to the API.";
    if (/^kimi/.test(model) && calls && !thoughts) return `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${i}`;
  }
  return undefined;
}

const chat = {
  check: thoughtsFault,
  turns: (body) => body.messages.filter((m) => m.role === "assistant").length,
  lastWords: (body) => body.messages.filter((m) => m.role === "user").at(-1)?.content ?? "",
  fault: (message, status, code) => ({ error: { message, code } }),
  *text(text, { thinking = "" }) {
    yield event(chunk({ role: "assistant", content: "" }));
    for (const piece of pieces(thinking)) yield event(chunk({ reasoning_content: piece }));
    for (const piece of pieces(text)) yield event(chunk({ content: piece }));
  },
  *rest(reply) {
    for (const [index, call] of (reply.calls ?? []).entries()) {
      const head = { index, id: call.id ?? `call_${index}`, type: "function", function: { name: call.name, arguments: "" } };
      yield event(chunk({ tool_calls: [head] }));
      for (const piece of pieces(argumentsOf(call))) yield event(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
    const [input, output, reasoning, cached] = reply.usage ?? [10, 5, 0];
    const usage = { prompt_tokens: input, completion_tokens: output, completion_tokens_details: { reasoning_tokens: reasoning ?? 0 } };
    if (cached !== undefined) usage.prompt_tokens_details = { cached_tokens: cached };
    yield event(chunk({}, reply.finish ?? (reply.calls ? "tool_calls" : "stop")));
    yield event({ choices: [], usage }) + event("[DONE]");
  },
  whole: (reply) => ({ choices: [{ index: 0, finish_reason: reply.finish ?? "stop", message: { role: "assistant", content: reply.text } }] }),
};

// --- Anthropic's Messages -----------------------------------------------------------------------------------------------
const signature = (thinking) => Buffer.from(`signed:${thinking}`).toString("base64");
const blocks = (message) => (typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content);

function* messagesFaults({ messages, system = [], tools = [], max_tokens, thinking, ...rest }, headers) {
  if (!headers["anthropic-version"]) yield "anthropic-version: header is required";
  yield only(rest, "model", "stream", "temperature", "output_config", "metadata", "stop_sequences", "tool_choice", "top_k", "top_p");
  if (!rest.model || !(max_tokens > 0)) yield "max_tokens: Field required";
  if (messages?.[0]?.role !== "user") yield "messages: first message must use the \"user\" role";
  if (thinking?.type === "enabled" && !(thinking.budget_tokens >= 1024 && thinking.budget_tokens < max_tokens)) yield "thinking.budget_tokens: must be at least 1024 and less than max_tokens";
  const marks = JSON.stringify([tools, system, messages]).match(/"cache_control"/g) ?? [];
  if (marks.length > 4) yield `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`;
  for (const tool of tools) if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name) || tool.input_schema?.type !== "object") yield `tools.${tool.name}: invalid`;
  for (const [i, message] of messages.entries()) {
    if (!["user", "assistant"].includes(message.role) || blocks(message).length === 0) yield `messages.${i}: must be non-empty`;
    for (const block of blocks(message)) {
      if (block.type === "text" && !block.text.trim()) yield "messages: text content blocks must be non-empty";
      if (block.type === "thinking" && block.signature !== signature(block.thinking)) yield `messages.${i}: Invalid \`signature\` in \`thinking\` block`;
    }
    const uses = blocks(message).filter((block) => block.type === "tool_use");
    const results = messages[i + 1] ? blocks(messages[i + 1]).filter((block) => block.type === "tool_result").map((block) => block.tool_use_id) : [];
    if (uses.some((use) => !results.includes(use.id))) yield `messages.${i + 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
    const resumes = uses.length > 0 && messages.slice(i + 1).every((later) => blocks(later).some((block) => block.type === "tool_result" || block.type === "tool_use"));
    if (thinking?.type === "enabled" && resumes && blocks(message)[0].type !== "thinking") yield `messages.${i}: Expected \`thinking\`, but found \`${blocks(message)[0].type}\``;
  }
}

const named = (value) => event(value, value.type);
const stops = { stop: "end_turn", length: "max_tokens", content_filter: "refusal", tool_calls: "tool_use" };
const messages = {
  check: (body, headers) => [...messagesFaults(body, headers)].find(Boolean),
  turns: (body) => body.messages.filter((m) => m.role === "assistant").length,
  lastWords: (body) => blocks(body.messages.filter((m) => m.role === "user").at(-1)).at(-1).text ?? "",
  fault: (message, status) => ({ type: "error", error: { type: status === 529 ? "overloaded_error" : status === 429 ? "rate_limit_error" : "invalid_request_error", message }, request_id: "req_1" }),
  *text(text, reply) {
    const { input, cached, written } = usageOf(reply);
    yield named({ type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", model: "claude-fake-2026", content: [], stop_reason: null, stop_sequence: null,
      usage: { input_tokens: input, cache_read_input_tokens: cached, cache_creation_input_tokens: written, output_tokens: 1 } } });
    let index = 0;
    if (reply.thinking !== undefined) {
      yield named({ type: "content_block_start", index, content_block: { type: "thinking", thinking: "", signature: "" } });
      for (const piece of pieces(reply.thinking)) yield named({ type: "content_block_delta", index, delta: { type: "thinking_delta", thinking: piece } });
      yield named({ type: "content_block_delta", index, delta: { type: "signature_delta", signature: signature(reply.thinking) } }) + named({ type: "content_block_stop", index });
      index++;
    }
    if (text) {
      yield named({ type: "content_block_start", index, content_block: { type: "text", text: "" } }) + named({ type: "ping" });
      for (const piece of pieces(text)) yield named({ type: "content_block_delta", index, delta: { type: "text_delta", text: piece } });
      yield named({ type: "content_block_stop", index });
    }
  },
  *rest(reply) {
    for (const [i, call] of (reply.calls ?? []).entries()) {
      const index = i + 2;
      yield named({ type: "content_block_start", index, content_block: { type: "tool_use", id: call.id ?? `toolu_${i}`, name: call.name, input: {} } });
      for (const piece of ["", ...pieces(argumentsOf(call))]) yield named({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: piece } });
      yield named({ type: "content_block_stop", index });
    }
    yield named({ type: "message_delta", delta: { stop_reason: stops[reply.finish ?? (reply.calls ? "tool_calls" : "stop")], stop_sequence: null }, usage: { output_tokens: usageOf(reply).output } });
    yield named({ type: "message_stop" });
  },
  whole: (reply) => ({ type: "message", role: "assistant", model: "claude-fake-2026", content: [{ type: "text", text: reply.text }], stop_reason: "end_turn", usage: { input_tokens: 10, output_tokens: 5 } }),
};

// --- OpenAI's Responses -------------------------------------------------------------------------------------------------
const sealed = (thinking) => `gAAAAA${Buffer.from(thinking).toString("base64")}`;

function* responsesFaults({ input, tools = [], store, ...rest }) {
  yield only(rest, "model", "instructions", "stream", "temperature", "max_output_tokens", "reasoning", "include", "prompt_cache_key", "text");
  if (store !== false) yield "store: this fake keeps nothing";
  const isGrammar = ({ format }) => format?.type === "grammar" && format.syntax === "lark" && /^start: /.test(format.definition);
  for (const tool of tools) if (!tool.name || !(tool.type === "function" ? tool.strict === false : tool.type === "custom" && isGrammar(tool))) yield `Invalid tool ${JSON.stringify(tool)}`;
  for (const [i, item] of input.entries()) {
    const isLater = (type, id) => input.slice(i + 1).some((later) => later.type === type && later.call_id === id);
    if (item.type === "function_call" && !isLater("function_call_output", item.call_id)) yield `No tool output found for function call ${item.call_id}.`;
    if (item.type === "custom_tool_call" && (typeof item.input !== "string" || !isLater("custom_tool_call_output", item.call_id))) yield `No tool output found for custom tool call ${item.call_id}.`;
    if (item.type === "reasoning" && !item.encrypted_content?.startsWith("gAAAAA")) yield `Item '${item.id}' not found. Items are not persisted when \`store\` is set to false.`;
    if (item.type === "reasoning" && !["function_call", "custom_tool_call", "reasoning"].includes(input[i + 1]?.type) && input[i + 1]?.role !== "assistant") yield `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
  }
}

function* customCall(output_index, item, input) {
  yield named({ type: "response.output_item.added", output_index, item });
  for (const delta of pieces(input)) yield named({ type: "response.custom_tool_call_input.delta", item_id: item.id, output_index, delta });
  yield named({ type: "response.custom_tool_call_input.done", item_id: item.id, output_index, input });
  yield named({ type: "response.output_item.done", output_index, item: { ...item, input } });
}

const isCall = (item) => item?.type === "function_call" || item?.type === "custom_tool_call";
const responses = {
  check: (body) => [...responsesFaults(body)].find(Boolean),
  turns: (body) => body.input.filter((item, i) => (item.role === "assistant" || isCall(item)) && !isCall(body.input[i - 1]) && body.input[i - 1]?.role !== "assistant").length,
  lastWords: (body) => body.input.filter((item) => item.role === "user").at(-1)?.content ?? "",
  fault: (message, status) => ({ error: { message, type: status === 429 ? "rate_limit_error" : "invalid_request_error", param: null, code: null } }),
  *text(text, reply) {
    yield named({ type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } });
    if (reply.thinking !== undefined) {
      const item = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: reply.thinking }] };
      yield named({ type: "response.output_item.added", output_index: 0, item: { ...item, summary: [] } });
      for (const delta of pieces(reply.thinking)) yield named({ type: "response.reasoning_summary_text.delta", item_id: "rs_1", output_index: 0, summary_index: 0, delta });
      yield named({ type: "response.output_item.done", output_index: 0, item: { ...item, encrypted_content: sealed(reply.thinking) } });
    }
    if (text) {
      yield named({ type: "response.output_item.added", output_index: 1, item: { id: "msg_1", type: "message", role: "assistant", content: [] } });
      for (const delta of pieces(text)) yield named({ type: "response.output_text.delta", item_id: "msg_1", output_index: 1, content_index: 0, delta });
      yield named({ type: "response.output_item.done", output_index: 1, item: { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text }] } });
    }
  },
  *rest(reply) {
    for (const [i, call] of (reply.calls ?? []).entries()) {
      if (call.input !== undefined) {
        yield* customCall(i + 2, { id: `ctc_${i}`, type: "custom_tool_call", call_id: call.id ?? `call_${i}`, name: call.name, input: "" }, call.input);
        continue;
      }
      const output_index = i + 2, item = { id: `fc_${i}`, type: "function_call", call_id: call.id ?? `call_${i}`, name: call.name, arguments: "" };
      yield named({ type: "response.output_item.added", output_index, item });
      for (const delta of pieces(argumentsOf(call))) yield named({ type: "response.function_call_arguments.delta", item_id: item.id, output_index, delta });
      yield named({ type: "response.output_item.done", output_index, item: { ...item, arguments: argumentsOf(call) } });
    }
    const { input, output, reasoning, cached, written } = usageOf(reply);
    const usage = { input_tokens: input, input_tokens_details: { cached_tokens: cached, cache_write_tokens: written }, output_tokens: output, output_tokens_details: { reasoning_tokens: reasoning }, total_tokens: input + output };
    const cut = { length: "max_output_tokens", content_filter: "content_filter" }[reply.finish];
    const type = cut ? "response.incomplete" : "response.completed";
    yield named({ type, response: { id: "resp_1", model: "gpt-fake-2026", status: cut ? "incomplete" : "completed", incomplete_details: cut ? { reason: cut } : null, output: [], usage } });
  },
  whole: (reply) => ({ object: "response", status: "completed", output: [{ type: "message", content: [{ type: "output_text", text: reply.text }] }] }),
};

/** The wire of a request's path. */
export const wireOf = (url) => (url.endsWith("/messages") ? messages : url.endsWith("/responses") ? responses : chat);
