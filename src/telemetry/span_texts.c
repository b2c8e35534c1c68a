#include "telemetry/span_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "model/model.h"
#include "runner/run_request.h"
#include "trace/otlp.h"
#include "trace/server_address.h"

/* --- Times, failures ---------------------------------------------------------------------------------------------- */
static uint64_t span_ns(const lt_span_style *style, int64_t monotonic_us) {
  int64_t us = monotonic_us + style->offset_us;
  return us > 0 ? (uint64_t)us * 1000 : 0;
}

/* "The error.type SHOULD be predictable, and SHOULD have low cardinality": E_TIMEOUT becomes "timeout". */
static void span_put_error(lt_otlp_writer *w, lt_status status) {
  char type[32];
  const char *name = lt_status_name(status);
  size_t n = 0;
  for (name += strncmp(name, "E_", 2) == 0 ? 2 : 0; name[n] != '\0' && n + 1 < sizeof type; n++) {
    type[n] = (char)(name[n] >= 'A' && name[n] <= 'Z' ? name[n] + ('a' - 'A') : name[n]);
  }
  type[n] = '\0';
  lt_otlp_put_text(w, "error.type", lt_str_of(type));
}

/* A message may say what was asked or answered. */
static void span_end(lt_otlp_writer *w, const lt_span_style *style, bool is_error, lt_str message) {
  lt_otlp_end_span(w, is_error, style->has_content ? message : LT_STR_NULL);
}

/* A text of somebody else's. */
static void span_put_masked(lt_otlp_writer *w, const lt_span_style *style, const char *key, lt_str text) {
  LT_AUTO_BUF(masked, LT_JSON_MAX_BYTES);
  lt_secrets_mask(style->secrets, text, &masked);
  lt_otlp_put_text(w, key, lt_buf_view_or(&masked, LT_STR("***")));
}

static void span_put_content(lt_otlp_writer *w, const lt_span_style *style, const char *key, lt_str text) {
  if (style->has_content && text.n > 0) {
    span_put_masked(w, style, key, text);
  }
}

static void span_put_server(lt_otlp_writer *w, lt_str url) {
  lt_str host;
  unsigned port;
  if (lt_server_address_read(url, &host, &port)) {
    lt_otlp_put_text(w, "server.address", host);
    lt_otlp_put_int(w, "server.port", port);
  }
}

/* --- Models ------------------------------------------------------------------------------------------------------- */
/* gen_ai.provider.name, "the value SHOULD be set based on the instrumentation's best knowledge". Every other host
 * speaks as OpenAI does. */
static lt_str span_provider(lt_str url) {
  static const char *const hosts[][2] = {
      {"anthropic.com", "anthropic"},
      {"openai.azure.com", "azure.ai.openai"},
      {"mistral.ai", "mistral_ai"},
      {"googleapis.com", "gcp.gemini"},
      {"groq.com", "groq"},
      {"deepseek.com", "deepseek"},
      {"x.ai", "x_ai"},
      {"perplexity.ai", "perplexity"},
      {"cohere.com", "cohere"},
      {"cohere.ai", "cohere"},
      {"moonshot.ai", "moonshot_ai"},
  };
  lt_str host;
  unsigned port;
  for (size_t i = 0; lt_server_address_read(url, &host, &port) && i < sizeof hosts / sizeof *hosts; i++) {
    lt_str known = lt_str_of(hosts[i][0]);
    bool is_below = host.n > known.n && lt_str_ends(host, known) && host.p[host.n - known.n - 1] == '.';
    if (is_below || lt_str_eq(host, known)) {
      return lt_str_of(hosts[i][1]);
    }
  }
  return LT_STR("openai");
}

static void span_put_usage(lt_otlp_writer *w, const lt_usage *usage) {
  if (usage != NULL && usage->input_tokens + usage->output_tokens > 0) {
    lt_otlp_put_int(w, "gen_ai.usage.input_tokens", usage->input_tokens);
    lt_otlp_put_int(w, "gen_ai.usage.output_tokens", usage->output_tokens);
  }
}

static lt_str span_finish(lt_finish finish) {
  switch (finish) {
    case LT_FINISH_TOOLS:
      return LT_STR("tool_calls");
    case LT_FINISH_LENGTH:
      return LT_STR("length");
    case LT_FINISH_FILTERED:
      return LT_STR("content_filter");
    case LT_FINISH_STOP:
      break;
  }
  return LT_STR("stop");
}

void lt_span_texts_put_prompt(lt_buf *out, const lt_monitor_prompt *prompt, const lt_span_style *style) {
  lt_otlp_writer w;
  bool is_failed = prompt->state == NULL || strcmp(prompt->state, "failed") == 0;
  uint64_t begin_ns = span_ns(style, prompt->began_us);
  uint64_t end_ns = span_ns(style, prompt->ended_us);
  const lt_otlp_span span = {.context = prompt->trace,
                             .parent = prompt->parent,
                             .name = LT_STR("invoke_agent lathe"),
                             .kind = LT_SPAN_INTERNAL,
                             .begin_ns = begin_ns,
                             .end_ns = end_ns};
  lt_otlp_begin_span(&w, out, &span);
  lt_otlp_put_text(&w, "gen_ai.operation.name", LT_STR("invoke_agent"));
  lt_otlp_put_text(&w, "gen_ai.provider.name", span_provider(prompt->model->base_url));
  lt_otlp_put_text(&w, "gen_ai.agent.name", LT_STR("lathe"));
  lt_otlp_put_text(&w, "gen_ai.agent.version", LT_STR(LT_VERSION));
  lt_otlp_put_text(&w, "gen_ai.conversation.id", prompt->conversation);
  lt_otlp_put_text(&w, "gen_ai.request.model", prompt->model->name);
  span_put_usage(&w, prompt->usage);
  lt_otlp_put_text(&w, "user.id", prompt->user);
  lt_otlp_put_text(&w, "lathe.prompt.id", prompt->id);
  lt_otlp_put_text(&w, "lathe.prompt.mode", prompt->mode);
  lt_otlp_put_text(&w, "lathe.prompt.state", lt_str_of(prompt->state));
  if (prompt->is_resumed) {
    lt_otlp_put_bool(&w, "lathe.prompt.resumed", true);
  }
  span_put_content(&w, style, "lathe.prompt.input", prompt->input);
  lt_otlp_put_text(&w, "error.type", is_failed ? LT_STR("failed") : LT_STR_NULL);
  span_end(&w, style, is_failed, prompt->error);
}

void lt_span_texts_put_question(lt_buf *out, const lt_monitor_question *question, const lt_span_style *style) {
  lt_otlp_writer w;
  const lt_model *model = question->model;
  const lt_completion *completion = question->completion;
  LT_AUTO_BUF(name, LT_KIB);
  lt_buf_printf(&name, "chat %.*s", LT_STR_ARG(lt_str_sub(model->name, 0, 200)));
  const lt_otlp_span span = {.context = question->trace,
                             .parent = question->parent,
                             .name = lt_buf_view(&name),
                             .kind = LT_SPAN_CLIENT,
                             .begin_ns = span_ns(style, (int64_t)question->began_us),
                             .end_ns = span_ns(style, (int64_t)(question->began_us + question->took_us))};
  lt_otlp_begin_span(&w, out, &span);
  lt_otlp_put_text(&w, "gen_ai.operation.name", LT_STR("chat"));
  lt_otlp_put_text(&w, "gen_ai.provider.name", span_provider(model->base_url));
  lt_otlp_put_text(&w, "gen_ai.request.model", model->name);
  lt_otlp_put_text(&w, "gen_ai.response.model", completion->model);
  lt_otlp_put_text(&w, "gen_ai.conversation.id", question->request->conversation);
  lt_otlp_put_text(&w, "gen_ai.output.type", question->request->json ? LT_STR("json") : LT_STR_NULL);
  span_put_server(&w, model->base_url);
  span_put_usage(&w, &completion->usage);
  lt_otlp_put_text(&w, "lathe.question.purpose", lt_str_of(question->purpose));
  if (completion->retries > 0) {
    lt_otlp_put_int(&w, "lathe.question.retries", completion->retries);
  }
  span_put_content(&w, style, "gen_ai.input.messages", question->request->messages);
  if (question->status == LT_OK) {
    lt_otlp_put_list(&w, "gen_ai.response.finish_reasons", span_finish(completion->finish));
    span_put_content(&w, style, "lathe.question.answer", lt_buf_view(&completion->text));
  } else {
    span_put_error(&w, question->status);
  }
  span_end(&w, style, question->status != LT_OK, LT_STR_NULL);
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */
void lt_span_texts_put_program(lt_buf *out, const lt_monitor_program *program, const lt_span_style *style) {
  lt_otlp_writer w;
  lt_str language = lt_lang_name(program->request->lang);
  LT_AUTO_BUF(name, LT_KIB);
  lt_buf_printf(&name, "run_program %.*s", LT_STR_ARG(language));
  const lt_otlp_span span = {.context = program->trace,
                             .parent = program->parent,
                             .name = lt_buf_view(&name),
                             .kind = LT_SPAN_INTERNAL,
                             .begin_ns = span_ns(style, (int64_t)program->began_us),
                             .end_ns = span_ns(style, (int64_t)(program->began_us + program->took_us))};
  lt_otlp_begin_span(&w, out, &span);
  lt_otlp_put_text(&w, "lathe.program.language", language);
  lt_otlp_put_text(&w, "lathe.program.runner", lt_str_of(program->runner));
  lt_otlp_put_text(&w, "lathe.run", program->request->caller->run);
  span_put_content(&w, style, "lathe.program.code", program->request->code);
  if (program->status != LT_OK) {
    span_put_error(&w, program->status);
  }
  span_end(&w, style, program->status != LT_OK, LT_STR_NULL);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
/* "network.transport SHOULD be set to tcp or quic if the transport protocol is HTTP. It SHOULD be set to pipe if the
 * transport is stdio." */
static void span_put_peer(lt_otlp_writer *w, const lt_call_peer *peer) {
  lt_otlp_put_text(w, "mcp.method.name", LT_STR("tools/call"));
  lt_otlp_put_text(w, "mcp.protocol.version", lt_str_of(peer->protocol));
  lt_otlp_put_text(w, "network.transport", peer->is_process ? LT_STR("pipe") : LT_STR("tcp"));
  lt_otlp_put_text(w, "network.protocol.name", peer->is_process ? LT_STR_NULL : LT_STR("http"));
  lt_otlp_put_text(w, "server.address", lt_str_of(peer->address));
  if (peer->port != 0) {
    lt_otlp_put_int(w, "server.port", peer->port);
  }
}

/* "SHOULD be set to the string representation of the JSON-RPC error code, if one is returned"; a result with isError is
 * "tool_error". */
static void span_put_call_error(lt_otlp_writer *w, const lt_call_event *event) {
  char code[24];
  int64_t number = event->trace->peer.error_code;
  if (event->status != LT_E_TOOL && number == 0) {
    span_put_error(w, event->status);
    return;
  }
  snprintf(code, sizeof code, "%" PRId64, number);
  lt_otlp_put_text(w, "error.type", number != 0 ? lt_str_of(code) : LT_STR("tool_error"));
  lt_otlp_put_text(w, "rpc.response.status_code", number != 0 ? lt_str_of(code) : LT_STR_NULL);
}

/* The name on the wire: what follows the server's name. */
static lt_str span_wire_name(lt_str id) {
  size_t dot = lt_str_find(id, LT_STR("."), 0);
  return dot == SIZE_MAX ? id : lt_str_sub(id, dot + 1, id.n);
}

void lt_span_texts_put_call(lt_buf *out, const lt_call_event *event, const lt_span_style *style) {
  lt_otlp_writer w;
  const lt_call_trace *trace = event->trace;
  bool is_mcp = trace->peer.is_mcp;
  /* An id that no tool has is the caller's text. */
  lt_str tool = !event->is_known ? LT_STR("unknown") : is_mcp ? span_wire_name(event->tool) : event->tool;
  LT_AUTO_BUF(name, LT_KIB);
  lt_buf_printf(&name, "%s %.*s", is_mcp ? "tools/call" : "execute_tool", LT_STR_ARG(lt_str_sub(tool, 0, 200)));
  const lt_otlp_span span = {.context = &trace->self,
                             .parent = &trace->parent,
                             .name = lt_buf_view(&name),
                             .kind = is_mcp ? LT_SPAN_CLIENT : LT_SPAN_INTERNAL,
                             .begin_ns = span_ns(style, (int64_t)trace->begun_us),
                             .end_ns = span_ns(style, (int64_t)trace->ended_us)};
  lt_otlp_begin_span(&w, out, &span);
  lt_otlp_put_text(&w, "gen_ai.operation.name", LT_STR("execute_tool"));
  lt_otlp_put_text(&w, "gen_ai.tool.name", tool);
  lt_otlp_put_text(&w, "gen_ai.tool.type", LT_STR("function"));
  lt_otlp_put_text(&w, "lathe.tool.id", event->is_known ? event->tool : LT_STR_NULL);
  lt_otlp_put_text(&w, "lathe.run", event->run);
  if (is_mcp) {
    span_put_peer(&w, &trace->peer);
  }
  lt_str input = event->edited_input.n > 0 ? event->edited_input : event->input;
  span_put_content(&w, style, "gen_ai.tool.call.arguments", input);
  span_put_content(&w, style, "gen_ai.tool.call.result", event->status == LT_OK ? event->answer : LT_STR_NULL);
  if (event->status != LT_OK) {
    span_put_call_error(&w, event);
  }
  if (trace->asked_us != 0) {
    lt_otlp_begin_event(&w, "approval.requested", span_ns(style, (int64_t)trace->asked_us));
  }
  if (trace->decided_us != 0) {
    lt_otlp_begin_event(&w, "approval.decided", span_ns(style, (int64_t)trace->decided_us));
  }
  span_end(&w, style, event->status != LT_OK, event->answer);
}

/* --- Requests over HTTP ------------------------------------------------------------------------------------------- */
/* "HTTP request method value SHOULD be "known" to the instrumentation [...] otherwise _OTHER" */
static lt_str span_method(lt_str method) {
  static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (lt_str_eqc(method, known[i])) {
      return method;
    }
  }
  return LT_STR("_OTHER");
}

void lt_span_texts_put_request(lt_buf *out, const lt_telemetry_request *request, const lt_span_style *style) {
  lt_otlp_writer w;
  char code[16];
  lt_str method = span_method(request->method);
  bool is_failed = request->status >= 500;
  LT_AUTO_BUF(name, LT_KIB);
  lt_buf_printf(&name, "%.*s%s%s", LT_STR_ARG(lt_str_eqc(method, "_OTHER") ? LT_STR("HTTP") : method),
                request->route != NULL ? " " : "", request->route != NULL ? request->route : "");
  const lt_otlp_span span = {.context = &request->trace,
                             .parent = &request->parent,
                             .name = lt_buf_view(&name),
                             .kind = LT_SPAN_SERVER,
                             .begin_ns = span_ns(style, (int64_t)request->begun_us),
                             .end_ns = span_ns(style, (int64_t)request->ended_us)};
  snprintf(code, sizeof code, "%d", request->status);
  lt_otlp_begin_span(&w, out, &span);
  lt_otlp_put_text(&w, "http.request.method", method);
  lt_otlp_put_text(&w, "http.route", lt_str_of(request->route));
  span_put_masked(&w, style, "url.path", request->path);
  lt_otlp_put_text(&w, "url.scheme", LT_STR("http"));
  lt_otlp_put_int(&w, "http.response.status_code", request->status);
  lt_otlp_put_text(&w, "error.type", is_failed ? lt_str_of(code) : LT_STR_NULL);
  lt_otlp_end_span(&w, is_failed, LT_STR_NULL);
}

/* --- Requests over MCP -------------------------------------------------------------------------------------------- */
static void span_put_mcp_error(lt_otlp_writer *w, const lt_telemetry_mcp *request) {
  char code[16] = "";
  if (request->error_code != 0) {
    snprintf(code, sizeof code, "%d", request->error_code);
  }
  lt_otlp_put_text(w, "error.type",
                   code[0] != '\0'          ? lt_str_of(code)
                   : request->is_tool_error ? LT_STR("tool_error")
                   : request->is_cancelled  ? LT_STR("cancelled")
                                            : LT_STR_NULL);
  lt_otlp_put_text(w, "rpc.response.status_code", lt_str_of(code));
}

void lt_span_texts_put_mcp(lt_buf *out, const lt_telemetry_mcp *request, const lt_span_style *style) {
  lt_otlp_writer w;
  lt_str method = request->method.n > 0 ? request->method : LT_STR("unknown");
  lt_str target = request->tool.n > 0 ? request->tool : request->prompt;
  LT_AUTO_BUF(name, LT_KIB);
  lt_buf_printf(&name, "%.*s%s%.*s", LT_STR_ARG(method), target.n > 0 ? " " : "",
                LT_STR_ARG(lt_str_sub(target, 0, 200)));
  const lt_otlp_span span = {.context = &request->trace,
                             .parent = &request->parent,
                             .link = &request->link,
                             .name = lt_buf_view(&name),
                             .kind = LT_SPAN_SERVER,
                             .begin_ns = span_ns(style, (int64_t)request->begun_us),
                             .end_ns = span_ns(style, (int64_t)request->ended_us)};
  lt_otlp_begin_span(&w, out, &span);
  lt_otlp_put_text(&w, "mcp.method.name", method);
  lt_otlp_put_text(&w, "mcp.protocol.version", request->version);
  lt_otlp_put_text(&w, "mcp.session.id", request->session);
  span_put_masked(&w, style, "jsonrpc.request.id", request->id); /* the client's text */
  lt_otlp_put_text(&w, "gen_ai.operation.name", request->tool.n > 0 ? LT_STR("execute_tool") : LT_STR_NULL);
  lt_otlp_put_text(&w, "gen_ai.tool.name", request->tool);
  lt_otlp_put_text(&w, "gen_ai.prompt.name", request->prompt);
  lt_otlp_put_text(&w, "network.transport", request->is_http ? LT_STR("tcp") : LT_STR("pipe"));
  lt_otlp_put_text(&w, "network.protocol.name", request->is_http ? LT_STR("http") : LT_STR_NULL);
  span_put_mcp_error(&w, request);
  lt_otlp_end_span(&w, request->error_code != 0 || request->is_tool_error || request->is_cancelled, LT_STR_NULL);
}
