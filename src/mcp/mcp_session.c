#include "mcp/mcp_session.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "mcp/mcp_param_headers.h"
#include "mcp/mcp_peer_text.h"
#include "mcp/mcp_session_impl.h"

/* --- Warnings and the end ----------------------------------------------------------------------------------------- */

void lt_mcp_session_warn(lt_mcp_session *s, const char *before, lt_str words) {
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
void lt_mcp_session_add_stderr(const lt_mcp_session *s, lt_buf *text) {
  LT_AUTO_BUF(words, 2 * LT_MCP_WORDS_MAX_BYTES);
  lt_mcp_peer_text_add(&words, lt_mcp_link_stderr(s->link), LT_MCP_TAIL, LT_MCP_WORDS_MAX_BYTES, s->o.server->secrets);
  if (words.n > 0) {
    lt_buf_addc(text, "; the end of its stderr: ");
    lt_buf_add(text, lt_buf_view(&words));
  }
}

/* Advice about stdout for a missing answer: the server may have printed other text there. */
void lt_mcp_session_add_noise(const lt_mcp_session *s, lt_buf *text) {
  if (s->noise > 0) {
    lt_buf_printf(text, "; it has written %zu lines to its stdout that are not JSON-RPC messages", s->noise);
  }
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */

lt_status lt_mcp_session_enter(lt_mcp_session *s, lt_mcp_request *request, lt_err *err) {
  if (s->ended) {
    return lt_err_copy(err, &s->why);
  }
  lt_mcp_requests_enter(&s->calls, request);
  return LT_OK;
}

/* "When the request has not received a success or error response within the timeout period, the sender SHOULD issue a
 * cancellation notification for that request and stop waiting for a response." (Lifecycle, Timeouts) */
static void mcp_session_send_cancelled(lt_mcp_session *s, const lt_mcp_request *request, const char *reason) {
  if (lt_mcp_link_drop(s->link, request->id)) {
    return; /* the server has not seen the request, or sees that nobody waits */
  }
  lt_buf message;
  lt_buf_init(&message, LT_MCP_LINE_MAX_BYTES);
  lt_mcp_write_cancelled(&message, request->id, reason);
  const lt_mcp_outgoing about = {.method = "notifications/cancelled"};
  lt_mcp_link_send(s->link, &message, &about, NULL);
}

static lt_status mcp_session_fail_timeout(const lt_mcp_session *s, const lt_mcp_request *request,
                                          const lt_mcp_question *q, lt_err *err) {
  LT_AUTO_BUF(hints, LT_KIB);
  lt_mcp_session_add_noise(s, &hints);
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

static lt_status mcp_session_give_up(lt_mcp_session *s, lt_mcp_request *request, const lt_mcp_question *q,
                                     lt_err *err) {
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

/* A server that waits for a person's answer cannot answer. */
static void mcp_session_wait(lt_mcp_session *s, lt_mcp_request *request, const lt_mcp_question *q) LT_YIELDS {
  bool is_over = request->done || (q->cancel != NULL && q->cancel->why != LT_OK);
  while (!is_over) {
    lt_status why = lt_wait_on(&request->wait, q->timeout_ms);
    is_over = request->done || why != LT_E_TIMEOUT || s->questions.count == 0 ||
              (q->cancel != NULL && q->cancel->why != LT_OK);
  }
}

/* Sends the message of a request that has been entered, and waits. Takes the message. On LT_OK the answer is in the
 * request. */
lt_status lt_mcp_session_ask(lt_mcp_session *s, lt_mcp_request *request, lt_buf *message, const lt_mcp_outgoing *about,
                             const lt_mcp_question *q, lt_err *err) {
  if (!request->done) {
    lt_mcp_outgoing outgoing = *about;
    outgoing.id = request->id;
    lt_status sent = lt_mcp_link_send(s->link, message, &outgoing, err);
    if (sent != LT_OK) {
      lt_mcp_requests_leave(&s->calls, request);
      return sent;
    }
  }
  lt_cancel_node node;
  lt_cancel_add(q->cancel, &node, &request->wait);
  mcp_session_wait(s, request, q);
  lt_cancel_remove(q->cancel, &node);
  lt_buf_release(message);
  if (!request->done && q->is_lasting) {
    return lt_fail(err, LT_E_TIMEOUT, "no answer to %s within %" PRIu64 " ms", q->what, q->timeout_ms);
  }
  if (!request->done) {
    return mcp_session_give_up(s, request, q, err);
  }
  return lt_err_copy(err, &request->err);
}

uint64_t lt_mcp_session_left_of(lt_mcp_session *s, uint64_t deadline_ms) {
  uint64_t now = lt_loop_now_ms(s->o.loop);
  return deadline_ms > now ? deadline_ms - now : 0;
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */

static lt_status mcp_session_ask_page(lt_mcp_session *s, lt_mcp_request *request, uint64_t deadline_ms, lt_str cursor,
                                      lt_err *err) LT_YIELDS {
  LT_TRY(lt_mcp_session_enter(s, request, err));
  lt_buf message;
  lt_buf_init(&message, LT_MCP_LINE_MAX_BYTES);
  lt_mcp_write_list(&message, request->id, &s->self, cursor);
  const lt_mcp_outgoing about = {.method = "tools/list"};
  lt_mcp_question q = {.what = "tools/list", .timeout_ms = lt_mcp_session_left_of(s, deadline_ms)};
  return lt_mcp_session_ask(s, request, &message, &about, &q, err);
}

static lt_status mcp_session_read_page(lt_mcp_session *s, uint64_t deadline_ms, lt_mcp_list *list, lt_str *cursor,
                                       lt_err *err) LT_YIELDS {
  lt_mcp_request request = {0};
  LT_TRY(mcp_session_ask_page(s, &request, deadline_ms, *cursor, err));
  lt_status status = lt_mcp_list_add_page(list, request.answer.result, cursor, err);
  lt_mcp_result_release(&request.answer);
  return status;
}

/* "Clients using the Streamable HTTP transport MUST reject tool definitions where any `x-mcp-header` value violates
 * these constraints" (2026-07-28, Streamable HTTP) */
static void mcp_session_leave_out_misheaded(lt_mcp_session *s, lt_mcp_list *list) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    const char *why = "";
    if (lt_mcp_param_headers_are_valid(list->tools[i].input_schema, &why)) {
      list->tools[kept++] = list->tools[i];
      continue;
    }
    LT_AUTO_BUF(text, 2 * LT_KIB);
    lt_buf_printf(&text, "\"%.*s\": %s", LT_STR_ARG(list->tools[i].name), why);
    lt_mcp_session_warn(s, "lists a tool that cannot be called over HTTP; left out: ", lt_buf_view(&text));
  }
  list->count = kept;
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
  if (s->self.is_modern && !lt_mcp_link_is_process(s->link)) {
    mcp_session_leave_out_misheaded(s, list);
  }
  if (list->nameless > 0) {
    lt_mcp_session_warn(s, "lists tools without a name; left out", LT_STR_NULL);
  }
  if (list->misnamed > 0) {
    lt_mcp_session_warn(s, "lists tools whose names are too long or have control characters; left out", LT_STR_NULL);
  }
  return LT_OK;
}

lt_status lt_mcp_session_measure(lt_mcp_session *s, uint64_t deadline_ms, uint64_t *ret_us, lt_err *err) {
  lt_mcp_request request = {0};
  *ret_us = 0;
  if (!s->has_tools) {
    return LT_OK;
  }
  uint64_t began_us = lt_clock_monotonic_us();
  LT_TRY(mcp_session_ask_page(s, &request, deadline_ms, LT_STR_NULL, err));
  *ret_us = lt_clock_monotonic_us() - began_us;
  lt_mcp_result_release(&request.answer);
  return LT_OK;
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
  s->hint = options->hint;
  lt_mcp_questions_offer(s);
  lt_mcp_questions_init(s);
  lt_wait_init(&s->listening_pause, options->loop);
  lt_wait_init(&s->listening_ended, options->loop);
  const lt_mcp_link_events events = lt_mcp_inbox_events(s);
  lt_mcp_transport transport = options->hint.is_old_transport ? LT_MCP_OLD_SSE : server->transport;
  lt_status status = lt_mcp_link_open(options->loop, server, options->argv, transport, &events, &s->link, err);
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
  lt_mcp_questions_end(s);
  lt_mcp_listening_end(s);
  lt_mcp_link_close(s->link);
  lt_arena_release(&s->arena);
  lt_mem_free(s);
}

const lt_err *lt_mcp_session_ended(const lt_mcp_session *s) {
  return s->ended ? &s->why : NULL;
}

int lt_mcp_session_pid(const lt_mcp_session *s) {
  return lt_mcp_link_pid(s->link);
}

bool lt_mcp_session_has_new_extras(const lt_mcp_session *s) {
  return s->has_new_extras;
}

lt_mcp_features lt_mcp_session_take_features(lt_mcp_session *s) {
  s->has_new_extras = false;
  return s->features;
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

bool lt_mcp_session_has_hint(const lt_mcp_session *s, lt_mcp_hint *ret_hint) {
  *ret_hint = s->hint;
  return s->is_hinted;
}
