/* What a server asks: by requests of its own before 2026-07-28, inside an answer since then. */
#include "base/limits.h"
#include "base/mem.h"
#include "io/fan_out.h"
#include "mcp/mcp_session_impl.h"

/* A request of the server that is being answered, on a fiber of its own. */
typedef struct lt_mcp_open_question {
  struct lt_mcp_open_question *prev, *next;
  lt_mcp_session *session;
  lt_arena arena; /* owns the message */
  lt_json_doc doc;
  lt_mcp_message message;
  lt_cancel cancel;
} open_question;

/* --- One answer --------------------------------------------------------------------------------------------------- */

/* "Roots: uri: Unique identifier for the root. This MUST be a `file://` URI" (Roots, Data Types) */
static void mcp_questions_put_roots(lt_buf *out, const char *const *roots) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "roots");
  lt_json_begin_array(&w);
  for (size_t i = 0; roots != NULL && roots[i] != NULL; i++) {
    LT_AUTO_BUF(uri, 3 * LT_PROC_PATH_MAX_BYTES);
    lt_buf_addc(&uri, "file://");
    for (const char *p = roots[i]; *p != '\0'; p++) {
      bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                      strchr("-._~/", *p) != NULL;
      lt_buf_printf(&uri, is_plain ? "%c" : "%%%02X", (unsigned char)*p);
    }
    lt_json_begin_object(&w);
    lt_json_key(&w, "uri");
    lt_json_put_str(&w, lt_buf_view(&uri));
    lt_json_end_object(&w);
  }
  lt_json_end_array(&w);
  lt_json_end_object(&w);
}

/* Whether a method is one that we have told the server. */
static bool mcp_questions_is_offered(const lt_mcp_session *s, lt_json method, lt_mcp_ask_kind *ret_kind) {
  const struct {
    const char *method;
    lt_mcp_ask_kind kind;
    bool is_offered;
  } known[] = {{"elicitation/create", LT_MCP_ASK_ELICITATION, s->self.has_forms || s->self.has_urls},
               {"sampling/createMessage", LT_MCP_ASK_SAMPLING, s->self.has_sampling},
               {"roots/list", LT_MCP_ASK_ROOTS, s->self.has_roots}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (known[i].is_offered && lt_json_str_eq(method, lt_str_of(known[i].method))) {
      *ret_kind = known[i].kind;
      return true;
    }
  }
  return false;
}

/* "For backwards compatibility [...] Clients MUST treat requests without a `mode` field as form mode" (Elicitation) */
static bool mcp_questions_has_mode(const lt_mcp_session *s, const lt_mcp_ask *ask) {
  bool is_url = lt_json_str_eq(lt_json_get(ask->params, "mode"), LT_STR("url"));
  return ask->kind != LT_MCP_ASK_ELICITATION || (is_url ? s->self.has_urls : s->self.has_forms);
}

/* Appends the result of one question as JSON. Errors: LT_E_UNSUPPORTED (no such method), and what the client says.
 * LT_YIELDS. */
static lt_status mcp_questions_answer(lt_mcp_session *s, lt_json method, lt_mcp_ask *ask, lt_buf *out,
                                      lt_err *err) LT_YIELDS {
  const lt_mcp_options *server = s->o.server;
  if (!mcp_questions_is_offered(s, method, &ask->kind)) {
    return lt_fail(err, LT_E_UNSUPPORTED, "Method not found");
  }
  if (ask->kind == LT_MCP_ASK_ROOTS && server->roots != NULL) {
    mcp_questions_put_roots(out, server->roots);
  } else if (!mcp_questions_has_mode(s, ask)) {
    /* "Server sends an `elicitation/create` request with a mode not declared in client capabilities: -32602"
     * (Elicitation, Error Handling) */
    return lt_fail(err, LT_E_INVALID, "this client has not offered this mode of elicitation");
  } else {
    LT_TRY(server->on_ask(server->arg, ask, out, err));
  }
  return lt_buf_check(out, err, "no memory for an answer");
}

/* --- Inside an answer --------------------------------------------------------------------------------------------- */

/* One of the questions of a result; they are asked side by side, so that a client of ours may be asked once. */
typedef struct inner_question {
  lt_mcp_session *session;
  lt_json key, value;
  const lt_mcp_call_options *call;
  lt_buf answer;
  lt_status status;
  lt_err err;
} inner_question;

static void mcp_questions_answer_inner(void *arg) {
  inner_question *q = arg;
  lt_mcp_ask ask = {
      .params = lt_json_get(q->value, "params"), .key = q->key, .cancel = q->call->cancel, .call = q->call};
  q->status = mcp_questions_answer(q->session, lt_json_get(q->value, "method"), &ask, &q->answer, &q->err);
}

static void mcp_questions_run_inner(lt_mcp_session *s, inner_question *all, uint32_t count) LT_YIELDS {
  lt_fan_out fan_out;
  lt_fan_out_init(&fan_out, s->o.loop);
  for (uint32_t i = 0; i < count; i++) {
    lt_fan_out_add(&fan_out, mcp_questions_answer_inner, &all[i]);
  }
  (void)lt_fan_out_wait(&fan_out, NULL, UINT64_MAX);
}

static lt_status mcp_questions_put_inner(const inner_question *all, uint32_t count, lt_arena *arena, lt_buf *out,
                                         lt_err *err) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  for (uint32_t i = 0; i < count; i++) {
    lt_str key, method = lt_json_text(lt_json_get(all[i].value, "method"));
    if (all[i].status == LT_E_UNSUPPORTED) {
      return lt_fail(err, LT_E_PROTOCOL, "the server wants input that Lathe has not offered to give: %.*s",
                     (int)(method.n > 60 ? 60 : method.n), method.p != NULL ? method.p : "");
    }
    if (all[i].status != LT_OK) {
      return lt_err_copy(err, &all[i].err);
    }
    if (lt_json_str(all[i].key, arena, &key)) {
      lt_json_key_str(&w, key);
      lt_json_put_raw(&w, lt_buf_view(&all[i].answer));
    }
  }
  lt_json_end_object(&w);
  return LT_OK;
}

lt_status lt_mcp_questions_answer_all(lt_mcp_session *s, lt_json questions, const lt_mcp_call_options *call,
                                      lt_buf *out, lt_err *err) {
  if (lt_json_typeof(questions) != LT_JSON_OBJECT || lt_json_count(questions) > LT_MCP_INPUTS_MAX) {
    return lt_fail(err, LT_E_PROTOCOL, "the server wants more input, but not as an object of at most %d questions",
                   LT_MCP_INPUTS_MAX);
  }
  LT_AUTO_ARENA(arena, LT_MIB);
  uint32_t count = lt_json_count(questions), i = 0;
  inner_question *all = lt_arena_zalloc(&arena, count + 1, sizeof *all);
  if (all == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the server's questions");
  }
  for (lt_json_iter it = lt_json_each(questions); lt_json_next(&it); i++) {
    all[i] = (inner_question){.session = s, .key = it.key, .value = it.value, .call = call, .err = LT_ERR_INIT};
    lt_buf_init(&all[i].answer, LT_MCP_LINE_MAX_BYTES);
  }
  mcp_questions_run_inner(s, all, count);
  lt_status status = mcp_questions_put_inner(all, count, &arena, out, err);
  for (i = 0; i < count; i++) {
    lt_buf_release(&all[i].answer);
  }
  return status;
}

/* --- Requests of the server --------------------------------------------------------------------------------------- */

void lt_mcp_questions_offer(lt_mcp_session *s) {
  const lt_mcp_options *server = s->o.server;
  lt_mcp_offers offers = server->offers != NULL ? server->offers(server->arg) : (lt_mcp_offers){.has_forms = false};
  s->self = (lt_mcp_self){.is_modern = s->self.is_modern,
                          .has_forms = offers.has_forms,
                          .has_urls = offers.has_urls,
                          .has_sampling = offers.has_sampling,
                          .log_level = server->log_level,
                          .has_roots = server->roots != NULL || offers.has_roots};
}

void lt_mcp_questions_init(lt_mcp_session *s) {
  s->questions = (lt_mcp_questions){0};
  lt_wait_init(&s->questions.ended, s->o.loop);
}

static void mcp_questions_free(open_question *q) {
  lt_mcp_questions *all = &q->session->questions;
  *(q->prev != NULL ? &q->prev->next : &all->first) = q->next;
  if (q->next != NULL) {
    q->next->prev = q->prev;
  }
  all->count--;
  lt_wait_wake(&all->ended, LT_OK);
  lt_arena_release(&q->arena);
  lt_mem_free(q);
}

static int mcp_questions_code_of(lt_status status) {
  return status == LT_E_UNSUPPORTED ? LT_MCP_METHOD_NOT_FOUND
         : status == LT_E_INVALID   ? LT_MCP_INVALID_PARAMS
         : status == LT_E_DENIED    ? LT_MCP_REJECTED
                                    : LT_MCP_INTERNAL_ERROR;
}

static void mcp_questions_run(void *arg) {
  open_question *q = arg;
  lt_mcp_session *s = q->session;
  LT_ERR_VAR(err);
  LT_AUTO_BUF(answer, LT_MCP_LINE_MAX_BYTES);
  lt_buf message;
  lt_buf_init(&message, LT_MCP_LINE_MAX_BYTES);
  lt_mcp_ask ask = {.params = q->message.params, .cancel = &q->cancel};
  lt_status status = mcp_questions_answer(s, q->message.method, &ask, &answer, &err);
  /* "Receivers of cancellation notifications SHOULD [...] not send a response for the cancelled request" (Cancellation)
   */
  if (!s->ended && q->cancel.why == LT_OK) {
    lt_json_writer w = lt_json_writer_on(&message);
    lt_str id = lt_json_text(q->message.id);
    if (status == LT_OK) {
      lt_mcp_put_result(&w, id, lt_buf_view(&answer));
    } else {
      lt_mcp_put_error(&w, id, mcp_questions_code_of(status), lt_err_msg(&err));
    }
    lt_buf_byte(&message, '\n');
    (void)lt_mcp_link_send(s->link, &message, &(lt_mcp_outgoing){0}, NULL);
  }
  lt_buf_release(&message);
  mcp_questions_free(q);
}

/* The text is copied: the message that it came in goes before the answer is there. */
static bool mcp_questions_copy(open_question *q, lt_str text) {
  lt_arena_init(&q->arena, LT_MCP_MESSAGE_MEMORY_BYTES);
  lt_str copy = lt_arena_dup(&q->arena, text);
  if (copy.p == NULL || lt_json_parse(&q->arena, copy, &q->doc, NULL) != LT_OK) {
    return false;
  }
  q->message = lt_mcp_message_read(lt_json_root(&q->doc));
  return true;
}

bool lt_mcp_questions_take(lt_mcp_session *s, const lt_mcp_message *message, lt_str text) {
  lt_mcp_ask_kind kind;
  bool is_known = mcp_questions_is_offered(s, message->method, &kind);
  if (!is_known || s->self.is_modern || s->questions.count >= LT_MCP_QUESTIONS_MAX) {
    return false;
  }
  open_question *q = lt_mem_zalloc(1, sizeof *q);
  if (q == NULL) {
    return false;
  }
  q->session = s;
  lt_cancel_init(&q->cancel);
  q->next = s->questions.first;
  if (q->next != NULL) {
    q->next->prev = q;
  }
  s->questions.first = q;
  s->questions.count++;
  if (!mcp_questions_copy(q, text) || lt_loop_spawn(s->o.loop, mcp_questions_run, q, NULL) != LT_OK) {
    mcp_questions_free(q);
    return false;
  }
  return true;
}

void lt_mcp_questions_cancel(lt_mcp_session *s, lt_json request_id) {
  for (open_question *q = s->questions.first; q != NULL; q = q->next) {
    if (lt_json_exists(request_id) && lt_str_eq(lt_json_text(q->message.id), lt_json_text(request_id))) {
      lt_cancel_fire(&q->cancel, LT_E_CANCELLED);
    }
  }
}

void lt_mcp_questions_end(lt_mcp_session *s) {
  for (open_question *q = s->questions.first; q != NULL; q = q->next) {
    lt_cancel_fire(&q->cancel, LT_E_CANCELLED);
  }
  while (s->questions.count > 0) {
    lt_wait_on(&s->questions.ended, UINT64_MAX);
  }
}
