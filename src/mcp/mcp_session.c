#include "mcp/mcp_session.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/mcp_requests.h"
#include "mcp/mcp_link.h"
#include "mcp/mcp_protocol.h"
#include "mcp/mcp_peer_text.h"

struct lt_mcp_session {
  lt_mcp_session_options o;
  lt_mcp_link *link;
  lt_mcp_requests calls;
  lt_arena arena; /* version, server_version, instructions */
  lt_str version;
  lt_str server_version;
  lt_str instructions;
  bool has_tools; /* the server declared the capability */
  bool changed;
  bool ended;
  bool warned_answer;
  size_t noise;
  lt_err why;
};

/* --- Warnings and the end ----------------------------------------------------------------------------------------- */

static void mcp_session_warn(lt_mcp_session *s, const char *before, lt_str words) {
  LT_AUTO_BUF(text, 4 * LT_KIB);
  lt_buf_addc(&text, before);
  lt_mcp_peer_text_add(&text, words, LT_MCP_HEAD, LT_MCP_WORDS_MAX_BYTES / 2, s->o.server->secrets);
  if (text.status == LT_OK) {
    s->o.on_warning(s->o.arg, lt_buf_view(&text));
  }
}

void lt_mcp_session_end(lt_mcp_session *s, const lt_err *why) {
  if (s->ended) {
    return;
  }
  s->ended = true;
  s->why = *why;
  lt_mcp_requests_fail_all(&s->calls, why);
  s->o.on_change(s->o.arg);
}

/* Appends ": the end of its stderr" to a message about a failed server; nothing if stderr is empty. */
static void mcp_session_add_stderr(const lt_mcp_session *s, lt_buf *text) {
  LT_AUTO_BUF(words, 2 * LT_MCP_WORDS_MAX_BYTES);
  lt_mcp_peer_text_add(&words, lt_mcp_link_stderr(s->link), LT_MCP_TAIL, LT_MCP_WORDS_MAX_BYTES, s->o.server->secrets);
  if (words.n > 0) {
    lt_buf_addc(text, "; the end of its stderr: ");
    lt_buf_add(text, lt_buf_view(&words));
  }
}

/* Advice about stdout for a missing answer: the server may have printed other text there. */
static void mcp_session_add_noise(const lt_mcp_session *s, lt_buf *text) {
  if (s->noise > 0) {
    lt_buf_printf(text, "; it has written %zu lines to its stdout that are not JSON-RPC messages", s->noise);
  }
}

static void mcp_session_on_end(void *arg, lt_status status) {
  lt_mcp_session *s = arg;
  lt_err why = LT_ERR_INIT;
  if (status == LT_E_NOMEM) {
    lt_fail(&why, status, "no memory to read what the server says");
  } else {
    const char *exit_text = lt_mcp_link_exit_text(s->link);
    LT_AUTO_BUF(text, 4 * LT_KIB);
    lt_buf_addc(&text, exit_text ? exit_text : "closed its connection without exiting");
    mcp_session_add_noise(s, &text);
    mcp_session_add_stderr(s, &text);
    lt_fail(&why, LT_E_CLOSED, "the server %.*s", LT_STR_ARG(lt_buf_view(&text)));
  }
  lt_mcp_session_end(s, &why);
}

/* --- Incoming ----------------------------------------------------------------------------------------------------- */

/* Answers to the requests in one line: a batch is answered with a batch. */
typedef struct mcp_replies {
  lt_buf buf;
  lt_json_writer w;
  bool batch;
  size_t count;
} mcp_replies;

/* "The server MUST NOT write anything to its `stdout` that is not a valid MCP message." (Transports, stdio) Many do. */
static void mcp_session_on_noise(void *arg, lt_str line) {
  lt_mcp_session *s = arg;
  if (s->ended) {
    return;
  }
  if (s->noise++ == 0) {
    mcp_session_warn(s,
                     "writes to its stdout what is not a JSON-RPC message (it should log to stderr); skipped: ", line);
  }
  if (s->noise > LT_MCP_NOISE_LINES_MAX) {
    lt_err why = LT_ERR_INIT;
    lt_fail(&why, LT_E_PROTOCOL,
            "the server was given up: more than %d lines on its stdout are not JSON-RPC messages. Check that its "
            "command starts an MCP server over stdio, and that it logs to stderr",
            LT_MCP_NOISE_LINES_MAX);
    lt_mcp_session_end(s, &why);
  }
}

/* Fails the request that the lost line belongs to. If that request is unknown, the lost line becomes a warning. */
static void mcp_session_on_lost(void *arg, const char *how) {
  lt_mcp_session *s = arg;
  if (!s->ended && !lt_mcp_requests_lost_line(&s->calls, how)) {
    mcp_session_warn(s, "sent a message that was dropped: it is ", lt_str_of(how));
  }
}

static void mcp_session_take_garbled(lt_mcp_session *s, lt_json message, lt_str line) {
  lt_mcp_message m = lt_mcp_message_read(message);
  int64_t id;
  lt_err why = LT_ERR_INIT;
  lt_fail(&why, LT_E_PROTOCOL,
          "the server's answer is not UTF-8: let it write UTF-8 to its stdout (a server in Python: PYTHONUTF8=1 in "
          "its env)");
  if (lt_json_exists(message) && m.kind != LT_MCP_RESPONSE) {
    mcp_session_on_noise(s, line);
  } else if (m.kind == LT_MCP_RESPONSE && lt_mcp_id_read(m.id, &id)) {
    lt_mcp_requests_fail(&s->calls, id, &why);
  } else if (s->calls.first != NULL) {
    lt_mcp_requests_fail_all(&s->calls, &why); /* it is the answer to one of them */
  } else {
    mcp_session_on_noise(s, line);
  }
}

/* Fails the request of the answer; all requests when the answer's id cannot be read. */
static void mcp_session_on_garbled(void *arg, lt_mcp_result *line) {
  lt_mcp_session *s = arg;
  if (s->ended) {
    return;
  }
  if (lt_json_typeof(line->result) != LT_JSON_ARRAY) {
    mcp_session_take_garbled(s, line->result, line->doc.text);
    return;
  }
  for (lt_json_iter it = lt_json_each(line->result); lt_json_next(&it);) {
    mcp_session_take_garbled(s, it.value, lt_json_text(it.value));
  }
}

static void mcp_session_reply(mcp_replies *r, const lt_mcp_message *m) {
  if (r->batch && r->count == 0) {
    lt_json_begin_array(&r->w);
  }
  r->count++;
  lt_str id = lt_json_text(m->id);
  if (lt_json_str_eq(m->method, LT_STR("ping"))) {
    /* "The receiver MUST respond promptly with an empty response" (Ping, Behavior Requirements) */
    lt_mcp_put_empty_result(&r->w, id);
  } else {
    lt_mcp_put_error(&r->w, id, LT_MCP_METHOD_NOT_FOUND, "Method not found");
  }
}

static void mcp_session_notice(lt_mcp_session *s, const lt_mcp_message *m, lt_arena *arena) {
  if (lt_json_str_eq(m->method, LT_STR("notifications/tools/list_changed"))) {
    s->changed = true;
    s->o.on_change(s->o.arg);
  } else if (lt_json_str_eq(m->method, LT_STR("notifications/progress"))) {
    lt_mcp_requests_progress(&s->calls, m->params, arena);
  }
}

static void mcp_session_take_answer(lt_mcp_session *s, const lt_mcp_message *m, lt_mcp_result *line) {
  if (lt_mcp_requests_answer(&s->calls, m, line, s->o.server->secrets) == LT_MCP_ANSWERED_NONE && !s->warned_answer) {
    s->warned_answer = true;
    mcp_session_warn(s, "sent an answer that no request waits for; ignored: ", lt_json_text(lt_json_root(&line->doc)));
  }
}

static void mcp_session_take_message(lt_mcp_session *s, lt_mcp_result *line, mcp_replies *r) {
  lt_mcp_message m = lt_mcp_message_read(lt_json_root(&line->doc));
  switch (m.kind) {
    case LT_MCP_NOISE:
      mcp_session_on_noise(s, line->doc.text);
      break;
    case LT_MCP_REQUEST:
      mcp_session_reply(r, &m);
      break;
    case LT_MCP_NOTIFICATION:
      mcp_session_notice(s, &m, &line->arena);
      break;
    case LT_MCP_RESPONSE:
      mcp_session_take_answer(s, &m, line);
      break;
  }
}

/* Each message of a batch gets its own document, because an answer outlives the line. */
static void mcp_session_take_batch_item(lt_mcp_session *s, lt_str text, mcp_replies *r) {
  lt_mcp_result item = {0};
  lt_arena_init(&item.arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  lt_str copy = lt_arena_dup(&item.arena, text);
  if (!copy.p || lt_json_parse(&item.arena, copy, &item.doc, NULL) != LT_OK) {
    mcp_session_on_lost(s, "too large to be read with the memory there is");
  } else {
    mcp_session_take_message(s, &item, r);
  }
  lt_arena_release(&item.arena);
}

static void mcp_session_send_replies(lt_mcp_session *s, mcp_replies *r) {
  if (r->count > 0 && !s->ended) {
    if (r->batch) {
      lt_json_end_array(&r->w);
    }
    lt_buf_byte(&r->buf, '\n');
    lt_mcp_link_send(s->link, &r->buf, 0, NULL); /* a server that does not read does not get its answers */
  }
  lt_buf_release(&r->buf);
}

static void mcp_session_on_line(void *arg, lt_mcp_result *line) {
  lt_mcp_session *s = arg;
  if (s->ended) {
    return;
  }
  mcp_replies r = {0};
  lt_buf_init(&r.buf, LT_MCP_LINE_MAX_BYTES);
  r.w = lt_json_writer_on(&r.buf);
  r.batch = lt_json_typeof(line->result) == LT_JSON_ARRAY;
  if (!r.batch) {
    mcp_session_take_message(s, line, &r);
  } else {
    /* "MCP implementations MAY support sending JSON-RPC batches, but MUST support receiving JSON-RPC batches."
     * (2025-03-26, Overview, Batching; gone since 2025-06-18) */
    lt_json_iter it = lt_json_each(line->result);
    while (lt_json_next(&it)) {
      mcp_session_take_batch_item(s, lt_json_text(it.value), &r);
    }
  }
  mcp_session_send_replies(s, &r);
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */

typedef struct mcp_question {
  const char *what; /* "tools/list", "tool \"x\"": for messages */
  uint64_t timeout_ms;
  lt_cancel *cancel;  /* may be NULL */
  bool uncancellable; /* "The `initialize` request MUST NOT be cancelled by clients" (Cancellation) */
} mcp_question;

static lt_status mcp_session_enter(lt_mcp_session *s, lt_mcp_request *request, lt_err *err) {
  if (s->ended) {
    return lt_err_copy(err, &s->why);
  }
  lt_mcp_requests_enter(&s->calls, request);
  return LT_OK;
}

/* "When the request has not received a success or error response within the timeout period, the sender SHOULD issue a
 * cancellation notification for that request and stop waiting for a response." (Lifecycle, Timeouts) */
static void mcp_session_send_cancelled(lt_mcp_session *s, const lt_mcp_request *request, const char *reason) {
  if (lt_mcp_link_unsend(s->link, request->id)) {
    return; /* the server has not seen the request */
  }
  lt_buf message;
  lt_buf_init(&message, LT_MCP_LINE_MAX_BYTES);
  lt_mcp_write_cancelled(&message, request->id, reason);
  lt_mcp_link_send(s->link, &message, 0, NULL);
}

static lt_status mcp_session_fail_timeout(const lt_mcp_session *s, const lt_mcp_request *request, const mcp_question *q,
                                          lt_err *err) {
  LT_AUTO_BUF(hints, LT_KIB);
  mcp_session_add_noise(s, &hints);
  lt_status status = LT_E_TIMEOUT;
  if (request->suspect) {
    status = lt_fail(err, LT_E_LIMIT,
                     "no answer to %s within %" PRIu64
                     " ms; it was probably the message that was dropped, which was %s: ask for less at once",
                     q->what, q->timeout_ms, s->calls.lost_how);
  } else {
    lt_fail(err, status, "no answer to %s within %" PRIu64 " ms%.*s", q->what, q->timeout_ms,
            LT_STR_ARG(lt_buf_view(&hints)));
  }
  return status;
}

static lt_status mcp_session_give_up(lt_mcp_session *s, lt_mcp_request *request, const mcp_question *q, lt_err *err) {
  bool fired = q->cancel && q->cancel->why != LT_OK;
  lt_status why = fired ? q->cancel->why : LT_E_TIMEOUT;
  lt_mcp_requests_leave(&s->calls, request);
  if (!q->uncancellable) {
    mcp_session_send_cancelled(s, request, why == LT_E_TIMEOUT ? "timed out" : "cancelled by the caller");
  }
  if (!fired) {
    return mcp_session_fail_timeout(s, request, q, err);
  }
  return lt_fail(
      err, why,
      why == LT_E_TIMEOUT ? "the deadline came before the answer to %s" : "%s was cancelled before it answered",
      q->what);
}

/* Sends the message of a request that has been entered, and waits. Takes the message. On LT_OK the answer is in the
 * request. */
static lt_status mcp_session_ask(lt_mcp_session *s, lt_mcp_request *request, lt_buf *message, const mcp_question *q,
                                 lt_err *err) LT_YIELDS {
  if (!request->done) {
    lt_status sent = lt_mcp_link_send(s->link, message, request->id, err);
    if (sent != LT_OK) {
      lt_mcp_requests_leave(&s->calls, request);
      return sent;
    }
  }
  lt_cancel_node node;
  lt_cancel_add(q->cancel, &node, &request->wait);
  if (!request->done) {
    lt_wait_on(&request->wait, q->timeout_ms);
  }
  lt_cancel_remove(q->cancel, &node);
  lt_buf_release(message);
  if (!request->done) {
    return mcp_session_give_up(s, request, q, err);
  }
  return lt_err_copy(err, &request->err);
}

static uint64_t mcp_session_left_of(lt_mcp_session *s, uint64_t deadline_ms) {
  uint64_t now = lt_loop_now_ms(s->o.loop);
  return deadline_ms > now ? deadline_ms - now : 0;
}

/* --- Handshake ---------------------------------------------------------------------------------------------------- */

/* Only shown: a server without a name, or no memory for it, is no failure. */
static void mcp_session_keep_server_version(lt_mcp_session *s, lt_json info) {
  lt_str name = LT_STR_NULL, version = LT_STR_NULL;
  lt_json_str(lt_json_get(info, "name"), &s->arena, &name);
  lt_json_str(lt_json_get(info, "version"), &s->arena, &version);
  LT_AUTO_BUF(words, LT_KIB);
  lt_mcp_peer_text_add(&words, name, LT_MCP_HEAD, 100, s->o.server->secrets);
  lt_buf_addc(&words, name.n > 0 && version.n > 0 ? " " : "");
  lt_mcp_peer_text_add(&words, version, LT_MCP_HEAD, 40, s->o.server->secrets);
  s->server_version = lt_arena_dup(&s->arena, lt_buf_view(&words));
}

/* "If the client does not support the version in the server's response, it SHOULD disconnect." (Lifecycle, Version
 * Negotiation) */
static lt_status mcp_session_read_initialized(lt_mcp_session *s, lt_json result, lt_err *err) {
  lt_str version;
  if (!lt_json_str(lt_json_get(result, "protocolVersion"), &s->arena, &version)) {
    return lt_fail(err, LT_E_PROTOCOL, "the server's answer to initialize has no protocolVersion");
  }
  if (!lt_mcp_version_known(version)) {
    LT_AUTO_BUF(words, LT_KIB);
    lt_mcp_peer_text_add(&words, version, LT_MCP_HEAD, 40, s->o.server->secrets);
    return lt_fail(err, LT_E_PROTOCOL,
                   "the server speaks protocol version \"%.*s\"; known are " LT_MCP_VERSIONS_TEXT
                   ". Use a version of the server that speaks one of these",
                   LT_STR_ARG(lt_buf_view(&words)));
  }
  /* "Both parties MUST [...] only use capabilities that were successfully negotiated" (Lifecycle, Operation) */
  s->has_tools = lt_json_typeof(lt_json_get(lt_json_get(result, "capabilities"), "tools")) == LT_JSON_OBJECT;
  lt_str instructions = LT_STR_NULL;
  lt_json_str(lt_json_get(result, "instructions"), &s->arena, &instructions);
  s->instructions = lt_arena_dup(&s->arena, instructions);
  s->version = lt_arena_dup(&s->arena, version);
  mcp_session_keep_server_version(s, lt_json_get(result, "serverInfo"));
  return s->version.p && s->instructions.p ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the handshake");
}

static lt_status mcp_session_say_initialized(lt_mcp_session *s, lt_err *err) {
  lt_buf message;
  lt_buf_init(&message, LT_KIB);
  lt_mcp_write_initialized(&message);
  return lt_mcp_link_send(s->link, &message, 0, err);
}

/* A silent server is the most common problem, so the message gives advice. */
static lt_status mcp_session_explain_silence(const lt_mcp_session *s, uint64_t waited_ms, lt_err *err) {
  LT_AUTO_BUF(text, 4 * LT_KIB);
  mcp_session_add_noise(s, &text);
  mcp_session_add_stderr(s, &text);
  lt_fail(err, LT_E_TIMEOUT,
          "the server did not answer initialize within %" PRIu64
          " ms. Check that \"%s\" starts an MCP server over stdin and stdout (some want an argument such as \"stdio\") "
          "and does not wait for something else, such as a download or a question%.*s",
          waited_ms, s->o.server->command, LT_STR_ARG(lt_buf_view(&text)));
  return LT_E_TIMEOUT;
}

lt_status lt_mcp_session_start(lt_mcp_session *s, uint64_t deadline_ms, lt_err *err) {
  lt_mcp_request request = {0};
  LT_TRY(mcp_session_enter(s, &request, err));
  lt_buf message;
  lt_buf_init(&message, LT_KIB);
  lt_mcp_write_initialize(&message, request.id);
  mcp_question q = {.what = "initialize", .timeout_ms = mcp_session_left_of(s, deadline_ms), .uncancellable = true};
  lt_status status = mcp_session_ask(s, &request, &message, &q, err);
  if (status == LT_E_TIMEOUT) {
    return mcp_session_explain_silence(s, q.timeout_ms, err);
  }
  LT_TRY(status);
  status = mcp_session_read_initialized(s, request.answer.result, err);
  lt_mcp_result_release(&request.answer);
  LT_TRY(status);
  /* "After successful initialization, the client MUST send an `initialized` notification" (Lifecycle, Initialization)
   */
  return mcp_session_say_initialized(s, err);
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */

static lt_status mcp_session_read_page(lt_mcp_session *s, uint64_t deadline_ms, lt_mcp_list *list, lt_str *cursor,
                                       lt_err *err) LT_YIELDS {
  lt_mcp_request request = {0};
  LT_TRY(mcp_session_enter(s, &request, err));
  lt_buf message;
  lt_buf_init(&message, LT_MCP_LINE_MAX_BYTES);
  lt_mcp_write_list(&message, request.id, *cursor);
  mcp_question q = {.what = "tools/list", .timeout_ms = mcp_session_left_of(s, deadline_ms)};
  LT_TRY(mcp_session_ask(s, &request, &message, &q, err));
  lt_status status = lt_mcp_list_add_page(list, request.answer.result, cursor, err);
  lt_mcp_result_release(&request.answer);
  return status;
}

lt_status lt_mcp_session_list(lt_mcp_session *s, uint64_t deadline_ms, lt_mcp_list *list, lt_err *err) {
  lt_str cursor = LT_STR_NULL;
  s->changed = false;
  if (!s->has_tools) {
    return s->ended ? lt_err_copy(err, &s->why) : LT_OK;
  }
  do {
    LT_TRY(mcp_session_read_page(s, deadline_ms, list, &cursor, err));
  } while (cursor.n > 0);
  if (list->nameless > 0) {
    mcp_session_warn(s, "lists tools without a name; left out", LT_STR_NULL);
  }
  if (list->misnamed > 0) {
    mcp_session_warn(s, "lists tools whose names are too long or have control characters; left out", LT_STR_NULL);
  }
  return LT_OK;
}

typedef struct mcp_call_job {
  lt_buf message;
  int64_t id;
  lt_str tool;
  lt_str arguments;
  bool progress;
  lt_status status;
  lt_err err;
} mcp_call_job;

static void mcp_session_write_call(void *arg) {
  mcp_call_job *job = arg;
  lt_str arguments = lt_str_trim(job->arguments);
  job->status = lt_json_check(arguments, &job->err);
  if (job->status == LT_OK && arguments.p[0] != '{') {
    job->status = lt_fail(&job->err, LT_E_INVALID, "expected an object");
  }
  if (job->status == LT_OK) {
    lt_mcp_write_call(&job->message, job->id, job->tool, arguments, job->progress);
    job->status = job->message.status;
  }
}

static lt_status mcp_session_encode_call(lt_mcp_session *s, mcp_call_job *job, lt_err *err) LT_YIELDS {
  if (job->arguments.n < LT_MCP_OFFLOAD_BYTES ||
      lt_loop_offload(s->o.loop, mcp_session_write_call, job, NULL) != LT_OK) {
    mcp_session_write_call(job);
  }
  if (job->status == LT_E_LIMIT) {
    return lt_fail(err, LT_E_LIMIT, "the tool's arguments are over %lu MiB or nested too deep",
                   LT_MCP_LINE_MAX_BYTES / LT_MIB);
  }
  if (job->status == LT_E_NOMEM) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the tool's arguments");
  }
  if (job->status != LT_OK) {
    return lt_fail(err, LT_E_INVALID, "the tool's arguments are not a JSON object: %s", lt_err_msg(&job->err));
  }
  return LT_OK;
}

static lt_status mcp_session_call(lt_mcp_session *s, lt_mcp_request *request, mcp_call_job *job, const mcp_question *q,
                                  lt_err *err) LT_YIELDS {
  lt_status status = mcp_session_encode_call(s, job, err);
  if (status != LT_OK) {
    if (!request->done) {
      lt_mcp_requests_leave(&s->calls, request);
    } else if (request->status == LT_OK) {
      lt_mcp_result_release(&request->answer);
    }
    return status;
  }
  return mcp_session_ask(s, request, &job->message, q, err);
}

lt_status lt_mcp_session_call(lt_mcp_session *s, lt_str tool, lt_str arguments, const lt_mcp_call_options *options,
                              uint64_t timeout_ms, lt_mcp_result *ret_result, lt_err *err) {
  char what[128];
  snprintf(what, sizeof what, "tool \"%.*s\"", (int)(tool.n > 100 ? 100 : tool.n), tool.p ? tool.p : "");
  lt_mcp_request request = {.on_progress = options->on_progress, .arg = options->arg};
  LT_TRY(mcp_session_enter(s, &request, err));
  mcp_call_job job = {.id = request.id, .tool = tool, .arguments = arguments, .progress = options->on_progress != NULL};
  lt_buf_init(&job.message, LT_MCP_LINE_MAX_BYTES);
  mcp_question q = {.what = what, .timeout_ms = timeout_ms, .cancel = options->cancel};
  lt_status status = mcp_session_call(s, &request, &job, &q, err);
  lt_buf_release(&job.message);
  if (status == LT_OK) {
    *ret_result = request.answer;
    ret_result->result.doc = &ret_result->doc;
  }
  return status;
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

lt_status lt_mcp_session_open(const lt_mcp_session_options *options, lt_mcp_session **ret_session, lt_err *err) {
  lt_mcp_session *s = lt_mem_zalloc(1, sizeof *s);
  if (!s) {
    return lt_fail(err, LT_E_NOMEM, "no memory to start a server");
  }
  s->o = *options;
  lt_mcp_requests_init(&s->calls, options->loop);
  lt_arena_init(&s->arena, LT_MCP_LIST_MAX_BYTES);
  const lt_mcp_options *server = options->server;
  lt_process_options process = {
      .file = server->command,
      .argv = options->argv,
      .env = server->env,
      .cwd = server->cwd,
      .line_max = LT_MCP_LINE_MAX_BYTES,
      .helper = server->helper,
      .echo_stderr = server->verbose,
  };
  const lt_mcp_link_events events = {.on_line = mcp_session_on_line,
                                     .on_noise = mcp_session_on_noise,
                                     .on_garbled = mcp_session_on_garbled,
                                     .on_lost = mcp_session_on_lost,
                                     .on_end = mcp_session_on_end,
                                     .arg = s};
  lt_status status = lt_mcp_link_open(options->loop, &process, &events, &s->link, err);
  if (status != LT_OK) {
    s->ended = true;
    lt_mcp_session_close(s);
    return status;
  }
  *ret_session = s;
  return LT_OK;
}

void lt_mcp_session_close(lt_mcp_session *s) {
  if (!s) {
    return;
  }
  LT_CHECK(s->ended);
  lt_mcp_link_close(s->link);
  lt_arena_release(&s->arena);
  lt_mem_free(s);
}

const lt_err *lt_mcp_session_ended(const lt_mcp_session *s) {
  return s->ended ? &s->why : NULL;
}

bool lt_mcp_session_changed(const lt_mcp_session *s) {
  return s->changed;
}

lt_str lt_mcp_session_version(const lt_mcp_session *s) {
  return s->version;
}

lt_str lt_mcp_session_server_version(const lt_mcp_session *s) {
  return s->server_version;
}

lt_str lt_mcp_session_instructions(const lt_mcp_session *s) {
  return s->instructions;
}
