#include "gateway/gateway_asking.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "types/typegen_text.h"

#define STATE_DIGITS 32

/* One question, and who waits for its answer. */
typedef struct asking_question {
  struct asking_question *prev, *next;
  lt_gateway_asking *all;
  uint64_t number;
  char run[LT_STORE_ID_BYTES + 1];    /* empty: of no run that is known */
  char key[LT_GATEWAY_KEY_BYTES + 1]; /* among the questions of an answer */
  const char *method;
  const char *capability; /* that the client must have */
  const char *mode;       /* of elicitation: "form" or "url"; else NULL */
  lt_buf params;          /* JSON text of an object */
  bool is_put_off;        /* an approval that the client did not decide: asked again by another call */
  /* Sent as a request: to this client. */
  lt_gateway_peer *sent_to;
  lt_gateway_expected expected;
  /* An approval: the call that waits, and whose run it is. Freed with the question. */
  char *call, *user;
  /* A server's question: its fiber waits here. */
  const char *server;
  lt_wait *answered;
  lt_buf *ret_result;
  lt_status status; /* of the answer */
  bool is_answered;
} asking_question;

/* A run that a client of this user was asked about; the place is reused. */
typedef struct asking_state {
  char user[LT_GATEWAY_USER_BYTES + 1];
  char text[LT_STORE_ID_BYTES + 1 + STATE_DIGITS + 1];
} asking_state;

struct lt_gateway_asking {
  lt_responder base; /* first */
  lt_gateway *gateway;
  lt_responder *before; /* who answered servers before */
  asking_question *first;
  lt_gateway_attending *attending;
  uint64_t last_number;
  asking_state states[LT_GATEWAY_STATES_MAX];
  size_t next_state;
  size_t answering; /* fibers inside asking_answer */
  lt_wait ended;    /* woken when there is none any more */
};

/* --- What a client can -------------------------------------------------------------------------------------------- */
/* "an empty `capabilities` object is equivalent to declaring support for `form` mode only" (Elicitation) */
static bool asking_has_mode(lt_json elicitation, const char *mode) {
  bool has_none = lt_json_typeof(elicitation) == LT_JSON_OBJECT && !lt_json_exists(lt_json_get(elicitation, "form")) &&
                  !lt_json_exists(lt_json_get(elicitation, "url"));
  return has_none ? strcmp(mode, "form") == 0 : lt_json_typeof(lt_json_get(elicitation, mode)) == LT_JSON_OBJECT;
}

static bool asking_can(lt_json capability, const asking_question *q) {
  return q->mode != NULL ? asking_has_mode(capability, q->mode) : lt_json_typeof(capability) == LT_JSON_OBJECT;
}

static void asking_add_offers(lt_mcp_offers *offers, lt_json elicitation, lt_json sampling, lt_json roots) {
  offers->has_forms = offers->has_forms || asking_has_mode(elicitation, "form");
  offers->has_urls = offers->has_urls || asking_has_mode(elicitation, "url");
  offers->has_sampling = offers->has_sampling || lt_json_typeof(sampling) == LT_JSON_OBJECT;
  offers->has_roots = offers->has_roots || lt_json_typeof(roots) == LT_JSON_OBJECT;
}

/* A server that starts before any client has said what it can is offered everything; what the client cannot is then
 * declined. */
static lt_mcp_offers asking_offers(lt_responder *base, lt_str server) {
  const lt_gateway_asking *all = (const lt_gateway_asking *)(const void *)base;
  lt_mcp_offers offers = {.has_forms = false};
  bool is_known = false;
  (void)server;
  for (const lt_gateway_peer *peer = all->gateway->peers; peer != NULL; peer = peer->next) {
    lt_json capabilities = lt_json_get(peer->hello, "capabilities");
    is_known = is_known || lt_json_exists(peer->hello);
    asking_add_offers(&offers, lt_json_get(capabilities, "elicitation"), lt_json_get(capabilities, "sampling"),
                      lt_json_get(capabilities, "roots"));
  }
  for (const lt_gateway_attending *a = all->attending; a != NULL; a = a->next) {
    is_known = true;
    asking_add_offers(&offers, lt_gateway_request_capability(a->request, "elicitation"),
                      lt_gateway_request_capability(a->request, "sampling"),
                      lt_gateway_request_capability(a->request, "roots"));
  }
  return is_known ? offers
                  : (lt_mcp_offers){.has_forms = true, .has_urls = true, .has_sampling = true, .has_roots = true};
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */
static void asking_remove(asking_question *q) {
  *(q->prev != NULL ? &q->prev->next : &q->all->first) = q->next;
  if (q->next != NULL) {
    q->next->prev = q->prev;
  }
  if (q->sent_to != NULL) {
    lt_gateway_peer_forget(q->sent_to, &q->expected);
  }
  lt_buf_release(&q->params);
  lt_mem_free(q->call);
  lt_mem_free(q->user);
  lt_mem_free(q);
}

static void asking_wake_attending(const lt_gateway_asking *all, const char *run) {
  for (const lt_gateway_attending *a = all->attending; a != NULL; a = a->next) {
    if (lt_str_eqc(a->run, run)) {
      lt_cancel_fire(a->until, LT_E_INTERRUPTED);
    }
  }
}

/* An approval on its way to the store. The question may be gone when it is there. */
typedef struct asking_approval {
  lt_gateway_asking *all;
  uint64_t number; /* of the question */
  lt_arena arena;  /* the texts */
  lt_str user, run, call;
} asking_approval;

static void asking_put_off(asking_question *q) {
  q->is_answered = false;
  q->is_put_off = true;
  asking_wake_attending(q->all, q->run);
}

static void asking_approval_free(asking_approval *approval) {
  lt_arena_release(&approval->arena);
  lt_mem_free(approval);
}

/* The agent says that it is decided, which removes the question. */
static void asking_approval_on_fiber(void *arg) {
  asking_approval *approval = arg;
  lt_gateway *gateway = approval->all->gateway;
  const lt_decision yes = {.is_approved = true};
  lt_status status = lt_agent_decide(gateway->agent, approval->user, approval->run, approval->call, &yes, NULL);
  asking_question *q = approval->all->first;
  while (q != NULL && q->number != approval->number) {
    q = q->next;
  }
  if (status != LT_OK && q != NULL) {
    asking_put_off(q);
  }
  asking_approval_free(approval);
  if (--gateway->requests == 0) {
    lt_wait_wake(&gateway->answered, LT_OK);
  }
}

/* It counts as a request: the gateway does not end before it. */
static bool asking_approve(asking_question *q) {
  lt_gateway *gateway = q->all->gateway;
  asking_approval *approval = lt_mem_zalloc(1, sizeof *approval);
  if (approval == NULL) {
    return false;
  }
  approval->all = q->all;
  approval->number = q->number;
  lt_arena_init(&approval->arena, LT_GATEWAY_QUESTION_BYTES);
  approval->user = lt_arena_dup(&approval->arena, lt_str_of(q->user));
  approval->run = lt_arena_dup(&approval->arena, lt_str_of(q->run));
  approval->call = lt_arena_dup(&approval->arena, lt_str_of(q->call));
  bool has_texts = approval->user.p != NULL && approval->run.p != NULL && approval->call.p != NULL;
  if (!has_texts || gateway->closing.why != LT_OK ||
      lt_loop_spawn(gateway->session->loop, asking_approval_on_fiber, approval, NULL) != LT_OK) {
    asking_approval_free(approval);
    return false;
  }
  gateway->requests++;
  return true;
}

/* "accept: User explicitly approved" (Elicitation, Response Actions); decline and cancel are also what clients say with
 * nobody there. */
static void asking_decide(asking_question *q, lt_json result) {
  q->is_answered = lt_json_str_eq(lt_json_get(result, "action"), LT_STR("accept")) && asking_approve(q);
  if (!q->is_answered) {
    asking_put_off(q);
  }
}

/* `result` NONE: the client could not answer. */
static void asking_take_answer(asking_question *q, lt_json result, lt_status status) {
  q->sent_to = NULL;
  if (q->call != NULL) {
    asking_decide(q, result);
    return;
  }
  if (q->is_answered) {
    return;
  }
  q->is_answered = true;
  q->status = status;
  if (status == LT_OK) {
    lt_buf_add(q->ret_result, lt_json_text(result));
  }
  lt_wait_wake(q->answered, LT_OK);
}

static void asking_on_response(void *arg, const lt_mcp_message *response) {
  asking_question *q = arg;
  lt_json none = {NULL, 0};
  if (response == NULL) { /* the client is gone: another one may wait for the run later */
    q->sent_to = NULL;
    q->is_put_off = q->call != NULL;
  } else if (lt_json_typeof(response->result) == LT_JSON_OBJECT) {
    asking_take_answer(q, response->result, LT_OK);
  } else {
    asking_take_answer(q, none, LT_E_TOOL);
  }
}

/* --- Questions as requests ---------------------------------------------------------------------------------------- */
static void asking_send(asking_question *q, lt_gateway_peer *peer, lt_gateway_request *request) {
  LT_AUTO_BUF(out, LT_MCP_LINE_MAX_BYTES);
  q->expected = (lt_gateway_expected){.on_response = asking_on_response, .arg = q};
  lt_gateway_peer_expect(peer, &q->expected);
  q->sent_to = peer;
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "jsonrpc");
  lt_json_put_cstr(&w, "2.0");
  lt_json_key(&w, "id");
  lt_json_put_int(&w, q->expected.id);
  lt_json_key(&w, "method");
  lt_json_put_cstr(&w, q->method);
  lt_json_key(&w, "params");
  lt_json_put_raw(&w, lt_buf_view(&q->params));
  lt_json_end_object(&w);
  if (out.status != LT_OK) {
    return;
  }
  if (request != NULL) {
    lt_gateway_request_send(request, lt_buf_view(&out));
  } else {
    peer->way.send(peer->way.arg, lt_buf_view(&out));
  }
}

/* The client need not ask its person any longer. */
static void asking_withdraw(asking_question *q) {
  LT_AUTO_BUF(params, LT_KIB);
  if (q->sent_to == NULL) {
    return;
  }
  lt_json_writer w = lt_json_writer_on(&params);
  lt_json_begin_object(&w);
  lt_json_key(&w, "requestId");
  lt_json_put_int(&w, q->expected.id);
  lt_json_key(&w, "reason");
  lt_json_put_cstr(&w, "the question is closed");
  lt_json_end_object(&w);
  lt_gateway_peer_notify(q->sent_to, "notifications/cancelled", lt_buf_view(&params));
}

/* --- Who is asked ------------------------------------------------------------------------------------------------- */
static bool asking_is_open(const asking_question *q) {
  return !q->is_answered && !q->is_put_off && q->sent_to == NULL;
}

/* A request that waits for the run. True: its client is asked, or will be with the answer. */
static bool asking_offer_to(asking_question *q, const lt_gateway_attending *a) {
  lt_json capability = lt_gateway_request_capability(a->request, q->capability);
  if (!lt_str_eqc(a->run, q->run) || !asking_can(capability, q) || !lt_gateway_request_is_wanted(a->request)) {
    return false;
  }
  if (a->request->is_modern) {
    a->request->wants_input = true;
    lt_cancel_fire(a->until, LT_E_INTERRUPTED);
  } else {
    asking_send(q, a->request->peer, a->request);
  }
  return true;
}

static bool asking_is_attended(const asking_question *q) {
  bool is_attended = false;
  for (const lt_gateway_attending *a = q->all->attending; a != NULL && !is_attended; a = a->next) {
    is_attended = lt_str_eqc(a->run, q->run);
  }
  return is_attended;
}

/* A server's question whose client cannot answer. */
static void asking_decline(asking_question *q) {
  if (q->call == NULL && !q->is_answered) {
    for (const lt_gateway_attending *a = q->all->attending; a != NULL; a = a->next) {
      if (lt_str_eqc(a->run, q->run)) {
        a->request->lacking = q->capability;
        a->request->lacking_mode = q->mode;
      }
    }
    q->is_answered = true;
    q->status = LT_E_UNSUPPORTED;
    lt_wait_wake(q->answered, LT_OK);
  }
}

/* The only client is asked what belongs to no run, such as the roots for a server that starts; of the configuration's
 * user, because it may be about another user's call. */
static bool asking_offer_without_run(asking_question *q) {
  lt_gateway_peer *peer = q->all->gateway->peers;
  bool is_only =
      peer != NULL && peer->next == NULL && lt_json_exists(peer->hello) && lt_str_eq(peer->user, LT_GATEWAY_USER);
  if (!is_only || !asking_can(lt_json_get(lt_json_get(peer->hello, "capabilities"), q->capability), q)) {
    return false;
  }
  asking_send(q, peer, NULL);
  return true;
}

/* The server's own name for it, where no other open question of the run has that. */
static void asking_set_key(asking_question *q) {
  bool is_taken = q->key[0] == '\0';
  for (const asking_question *other = q->all->first; other != NULL && !is_taken; other = other->next) {
    is_taken = strcmp(other->run, q->run) == 0 && strcmp(other->key, q->key) == 0;
  }
  if (is_taken) {
    snprintf(q->key, sizeof q->key, "lathe-%" PRIu64, q->number);
  }
}

static void asking_begin(asking_question *q) {
  lt_gateway_asking *all = q->all;
  q->number = ++all->last_number;
  asking_set_key(q);
  q->next = all->first;
  if (q->next != NULL) {
    q->next->prev = q;
  }
  all->first = q;
  bool is_asked = q->run[0] == '\0' && asking_offer_without_run(q);
  for (const lt_gateway_attending *a = all->attending; a != NULL && !is_asked; a = a->next) {
    is_asked = asking_offer_to(q, a);
  }
  if (!is_asked && (q->run[0] == '\0' || asking_is_attended(q))) {
    asking_decline(q);
  }
}

static asking_question *asking_new_question(lt_gateway_asking *all, lt_str run) {
  asking_question *q = lt_mem_zalloc(1, sizeof *q);
  size_t slash = lt_str_find(run, LT_STR("/"), 0);
  lt_str root = lt_str_sub(run, 0, slash < run.n ? slash : run.n);
  if (q != NULL) {
    q->all = all;
    lt_buf_init(&q->params, LT_MCP_LINE_MAX_BYTES);
    snprintf(q->run, sizeof q->run, "%.*s", LT_STR_ARG(root));
  }
  return q;
}

/* --- Questions of servers ----------------------------------------------------------------------------------------- */
/* A person's client shows the message; it must say who asks. */
static void asking_put_params(const lt_server_question *question, lt_buf *out) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(out);
  bool is_elicitation = question->kind == LT_MCP_ASK_ELICITATION;
  lt_json_begin_object(&w);
  for (lt_json_iter it = lt_json_each(question->params); lt_json_next(&it);) {
    lt_str key = LT_STR_NULL, message;
    if (lt_json_str_eq(it.key, LT_STR("_meta")) || !lt_json_str(it.key, &arena, &key)) {
      continue;
    }
    lt_json_key_str(&w, key);
    if (is_elicitation && lt_str_eqc(key, "message") && lt_json_str(it.value, &arena, &message)) {
      LT_AUTO_BUF(text, LT_MCP_LINE_MAX_BYTES);
      lt_buf_addc(&text, "Server ");
      lt_typegen_put_string(&text, question->server);
      lt_buf_addc(&text, " asks: ");
      lt_buf_add(&text, message);
      lt_json_put_str(&w, lt_buf_view(&text));
    } else {
      lt_json_put_raw(&w, lt_json_text(it.value));
    }
  }
  lt_json_end_object(&w);
}

static void asking_set_kind(asking_question *q, const lt_server_question *question) {
  static const struct {
    const char *method, *capability;
  } kinds[] = {
      [LT_MCP_ASK_ELICITATION] = {"elicitation/create", "elicitation"},
      [LT_MCP_ASK_SAMPLING] = {"sampling/createMessage", "sampling"},
      [LT_MCP_ASK_ROOTS] = {"roots/list", "roots"},
  };
  bool is_url = lt_json_str_eq(lt_json_get(question->params, "mode"), LT_STR("url"));
  q->method = kinds[question->kind].method;
  q->capability = kinds[question->kind].capability;
  q->mode = question->kind != LT_MCP_ASK_ELICITATION ? NULL : is_url ? "url" : "form";
}

/* A name with a NUL in it, or a long one, is replaced by ours. */
static void asking_take_key(asking_question *q, lt_json key) {
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_str name;
  if (lt_json_str(key, &arena, &name) && name.n <= LT_GATEWAY_KEY_BYTES && memchr(name.p, 0, name.n) == NULL) {
    memcpy(q->key, name.p, name.n);
  }
}

static lt_status asking_finish(const asking_question *q, const lt_server_question *question, lt_buf *ret_result,
                               lt_err *err) {
  if (!q->is_answered || q->status == LT_E_CANCELLED) {
    return lt_fail(err, LT_E_CANCELLED, "the question was withdrawn");
  }
  if (q->status == LT_E_UNSUPPORTED && question->kind == LT_MCP_ASK_ELICITATION) {
    lt_buf_addc(ret_result, "{\"action\":\"decline\"}");
    return LT_OK;
  }
  if (q->status != LT_OK) {
    return lt_fail(err, q->status == LT_E_UNSUPPORTED ? LT_E_UNSUPPORTED : LT_E_DENIED,
                   q->status == LT_E_UNSUPPORTED ? "Method not found" : "the client did not answer the question");
  }
  return LT_OK;
}

static lt_status asking_answer(lt_responder *base, const lt_server_question *question, lt_buf *ret_result,
                               lt_err *err) LT_YIELDS {
  lt_gateway_asking *all = (lt_gateway_asking *)(void *)base;
  lt_wait answered;
  asking_question *q = asking_new_question(all, question->run);
  if (q == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a question");
  }
  all->answering++;
  lt_wait_init(&answered, all->gateway->session->loop);
  q->answered = &answered;
  q->ret_result = ret_result;
  q->server = question->server.p;
  asking_set_kind(q, question);
  asking_take_key(q, question->key);
  asking_put_params(question, &q->params);
  asking_begin(q);
  lt_cancel_node node;
  lt_cancel_add(question->cancel, &node, &answered);
  while (!q->is_answered && (question->cancel == NULL || question->cancel->why == LT_OK)) {
    lt_wait_on(&answered, UINT64_MAX);
  }
  lt_cancel_remove(question->cancel, &node);
  lt_status status = asking_finish(q, question, ret_result, err);
  asking_withdraw(q);
  asking_remove(q);
  if (--all->answering == 0) {
    lt_wait_wake(&all->ended, LT_OK);
  }
  return status;
}

/* --- Approvals ---------------------------------------------------------------------------------------------------- */
/* The question of an approval, as `lathe approve` has it. False: the input is too long to be shown whole, and a person
 * must not decide about a part of it. */
static bool asking_put_approval(lt_str run, lt_json request, lt_arena *arena, lt_buf *out) {
  LT_AUTO_BUF(text, LT_MIB);
  LT_AUTO_BUF(input, LT_JSON_MAX_BYTES);
  lt_str tool = LT_STR_NULL, reason = LT_STR_NULL, refusal = LT_STR_NULL;
  (void)lt_json_str(lt_json_get(request, "toolName"), arena, &tool);
  (void)lt_json_str(lt_json_get(request, "reason"), arena, &reason);
  (void)lt_json_str(lt_json_get(request, "refusal"), arena, &refusal);
  lt_json_pretty(lt_json_get(request, "input"), &input);
  lt_buf_addc(&text, "The program wants to call ");
  lt_typegen_put_line(&text, tool, 200);
  lt_buf_addc(&text, "\nwhy it is asked: ");
  lt_typegen_put_line(&text, reason, 500);
  if (refusal.n > 0) {
    lt_buf_addc(&text, "\nasked again, as the last decision could not be carried out: ");
    lt_typegen_put_line(&text, refusal, 500);
  }
  lt_buf_addc(&text, "\ninput: ");
  lt_typegen_put_visible(&text, lt_buf_view(&input));
  lt_buf_printf(&text, "\nAccept: the call is made. Otherwise it goes on waiting; `lathe reject %.*s` ends that.",
                LT_STR_ARG(run));
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "message");
  lt_json_put_str(&w, lt_buf_view(&text));
  lt_json_key(&w, "requestedSchema");
  lt_json_put_raw(&w, LT_STR("{\"type\":\"object\",\"properties\":{}}"));
  lt_json_end_object(&w);
  return input.n <= LT_GATEWAY_QUESTION_BYTES && text.status == LT_OK && out->status == LT_OK;
}

static void asking_begin_approval(lt_gateway_asking *all, lt_str user, lt_str run, lt_json request, lt_arena *arena) {
  lt_str call;
  asking_question *q = asking_new_question(all, run);
  if (q == NULL) {
    return; /* the call waits all the same */
  }
  q->method = "elicitation/create";
  q->capability = "elicitation";
  q->mode = "form";
  q->call = lt_json_str(lt_json_get(request, "toolCallId"), arena, &call) ? lt_mem_strdup(call) : NULL;
  q->user = lt_mem_strdup(user);
  if (q->call == NULL || q->user == NULL || !asking_put_approval(run, request, arena, &q->params)) {
    lt_buf_release(&q->params);
    lt_mem_free(q->call);
    lt_mem_free(q->user);
    lt_mem_free(q);
    return;
  }
  asking_begin(q);
}

/* The run has ended: nobody wants what its servers asked. */
static void asking_cancel_questions(lt_gateway_asking *all, lt_str run) {
  for (asking_question *q = all->first; q != NULL; q = q->next) {
    if (q->call == NULL && !q->is_answered && (run.n == 0 || lt_str_eqc(run, q->run))) {
      q->is_answered = true;
      q->status = LT_E_CANCELLED;
      lt_wait_wake(q->answered, LT_OK);
    }
  }
}

/* Empty `call`: all of the run. */
static void asking_end_approvals(lt_gateway_asking *all, lt_str run, lt_str call) {
  for (asking_question *q = all->first, *next; q != NULL; q = next) {
    next = q->next;
    if (q->call != NULL && lt_str_eqc(run, q->run) && (call.n == 0 || lt_str_eqc(call, q->call))) {
      asking_withdraw(q);
      asking_remove(q);
    }
  }
}

void lt_gateway_asking_take_event(lt_gateway_asking *all, lt_str user, const char *event, lt_str data) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  lt_str run = LT_STR_NULL, call = LT_STR_NULL;
  bool is_asked = strcmp(event, "prompt.approval-requested") == 0;
  bool is_decided = strcmp(event, "prompt.approval-decided") == 0;
  bool is_over = strcmp(event, "prompt.completed") == 0 || strcmp(event, "prompt.cancelled") == 0 ||
                 strcmp(event, "prompt.error") == 0;
  bool is_about_none = all->first == NULL && !is_asked; /* most runs ask nothing */
  if (is_about_none || (!is_asked && !is_decided && !is_over) || lt_json_parse(&arena, data, &doc, NULL) != LT_OK ||
      !lt_json_str(lt_json_get(lt_json_root(&doc), "promptId"), &arena, &run)) {
    return;
  }
  lt_json request = lt_json_get(lt_json_root(&doc), "request");
  (void)lt_json_str(lt_json_get(is_asked ? request : lt_json_root(&doc), "toolCallId"), &arena, &call);
  asking_end_approvals(all, run, is_over ? LT_STR_NULL : call);
  if (is_over) {
    asking_cancel_questions(all, run);
  } else if (is_asked) {
    asking_begin_approval(all, user, run, request, &arena);
  }
}

/* --- Requests that wait ------------------------------------------------------------------------------------------- */
/* A call that begins anew asks again what was put off; one that brings answers does not. */
void lt_gateway_asking_attend(lt_gateway_asking *all, lt_gateway_attending *attending) {
  lt_gateway_request *request = attending->request;
  request->wants_input = false;
  attending->next = all->attending;
  all->attending = attending;
  bool is_put_off = false;
  for (asking_question *q = all->first, *next; q != NULL; q = next) {
    next = q->next;
    if (!lt_str_eqc(attending->run, q->run)) {
      continue;
    }
    q->is_put_off = q->is_put_off && request->has_brought_input;
    is_put_off = is_put_off || q->is_put_off;
    if (asking_is_open(q) && !asking_offer_to(q, attending)) {
      asking_decline(q);
    }
  }
  if (is_put_off) {
    lt_cancel_fire(attending->until, LT_E_INTERRUPTED);
  }
}

void lt_gateway_asking_leave(lt_gateway_asking *all, lt_gateway_attending *attending) {
  lt_gateway_attending **place = &all->attending;
  while (*place != attending) {
    place = &(*place)->next;
  }
  *place = attending->next;
  bool is_open = false; /* it may have been decided elsewhere meanwhile */
  for (const asking_question *q = all->first; q != NULL && !is_open; q = q->next) {
    is_open = lt_str_eqc(attending->run, q->run) && asking_is_open(q);
  }
  attending->request->wants_input = attending->request->wants_input && is_open;
  snprintf(attending->request->input_run, sizeof attending->request->input_run, "%.*s", LT_STR_ARG(attending->run));
}

/* --- Questions inside an answer ----------------------------------------------------------------------------------- */
/* "Servers MUST treat requestState as untrusted input" (2026-07-28, Multi Round-Trip Requests): it is known, or it is
 * not ours. */
static const char *asking_make_state(lt_gateway_asking *all, lt_str user, const char *run) {
  asking_state *state = &all->states[all->next_state];
  char random[STATE_DIGITS + 1];
  if (!lt_random_hex(random, STATE_DIGITS)) {
    return NULL;
  }
  all->next_state = (all->next_state + 1) % LT_GATEWAY_STATES_MAX;
  snprintf(state->user, sizeof state->user, "%.*s", LT_STR_ARG(user));
  snprintf(state->text, sizeof state->text, "%s.%s", run, random);
  return state->text;
}

static void asking_put_request(lt_json_writer *w, const char *method, const lt_buf *params) {
  lt_json_begin_object(w);
  lt_json_key(w, "method");
  lt_json_put_cstr(w, method);
  lt_json_key(w, "params");
  lt_json_put_raw(w, lt_buf_view(params));
  lt_json_end_object(w);
}

lt_status lt_gateway_asking_put_question(lt_gateway_request *r, const lt_server_question *question) {
  asking_question q = {.number = 0};
  LT_AUTO_BUF(params, LT_MCP_LINE_MAX_BYTES);
  asking_set_kind(&q, question);
  if (!asking_can(lt_gateway_request_capability(r, q.capability), &q)) {
    r->lacking = q.capability;
    r->lacking_mode = q.mode;
    return lt_gateway_request_fail_lacking(r);
  }
  asking_put_params(question, &params);
  LT_TRY(lt_buf_check(&params, r->err, "no memory for a question"));
  asking_put_request(r->w, q.method, &params);
  return LT_OK;
}

lt_status lt_gateway_asking_put_input(lt_gateway_asking *all, lt_gateway_request *r) {
  const char *state = asking_make_state(all, r->peer->user, r->input_run);
  if (state == NULL) {
    return lt_fail(r->err, LT_E_IO, "there are no random bytes");
  }
  lt_json_key(r->w, "resultType");
  lt_json_put_cstr(r->w, "input_required");
  lt_json_key(r->w, "inputRequests");
  lt_json_begin_object(r->w);
  for (const asking_question *q = all->first; q != NULL; q = q->next) {
    bool is_for_client = asking_can(lt_gateway_request_capability(r, q->capability), q);
    if (!is_for_client || !asking_is_open(q) || strcmp(q->run, r->input_run) != 0) {
      continue;
    }
    lt_json_key_str(r->w, lt_str_of(q->key));
    asking_put_request(r->w, q->method, &q->params);
  }
  lt_json_end_object(r->w);
  lt_json_key(r->w, "requestState");
  lt_json_put_cstr(r->w, state);
  return LT_OK;
}

static bool asking_knows_state(const lt_gateway_asking *all, lt_str user, lt_str text) {
  for (size_t i = 0; i < LT_GATEWAY_STATES_MAX; i++) {
    if (text.n > 0 && lt_str_eqc(text, all->states[i].text) && lt_str_eqc(user, all->states[i].user)) {
      return true;
    }
  }
  return false;
}

static void asking_take_responses(lt_gateway_asking *all, lt_str run, lt_json responses) {
  for (asking_question *q = all->first, *next; q != NULL; q = next) {
    next = q->next; /* a decision does not remove others' questions before its event */
    lt_json response = lt_json_get_str(responses, lt_str_of(q->key));
    if (lt_json_typeof(response) == LT_JSON_OBJECT && lt_str_eqc(run, q->run) && asking_is_open(q)) {
      asking_take_answer(q, response, LT_OK);
    }
  }
}

lt_status lt_gateway_asking_take_input(lt_gateway_asking *all, lt_gateway_request *r, lt_buf *ret_run, lt_err *err) {
  lt_json state = lt_json_get(r->params, "requestState");
  lt_str text = LT_STR_NULL;
  if (!r->is_modern || !lt_json_exists(state)) {
    return lt_fail(err, LT_E_NOTFOUND, "no state");
  }
  if (!lt_json_str(state, r->arena, &text) || !asking_knows_state(all, r->peer->user, text)) {
    return lt_fail(err, LT_E_INVALID,
                   "requestState: it is not one that this gateway gave, or it has ended: call continue_run with the "
                   "run's id, or make the call anew");
  }
  lt_buf_add(ret_run, lt_str_sub(text, 0, lt_str_find(text, LT_STR("."), 0)));
  r->has_brought_input = true;
  asking_take_responses(all, lt_buf_view(ret_run), lt_json_get(r->params, "inputResponses"));
  return lt_buf_check(ret_run, err, "no memory for a run");
}

void lt_gateway_asking_put_open(const lt_gateway_asking *all, lt_str run, lt_buf *out) {
  for (const asking_question *q = all->first; q != NULL; q = q->next) {
    if (q->call == NULL && !q->is_answered && lt_str_eqc(run, q->run)) {
      lt_buf_printf(out, "\nwaiting for an answer to %s of a server", q->method);
    }
  }
}

/* --- Life --------------------------------------------------------------------------------------------------------- */
lt_gateway_asking *lt_gateway_asking_new(lt_gateway *gateway) {
  lt_gateway_asking *all = lt_mem_zalloc(1, sizeof *all);
  if (all == NULL) {
    return NULL;
  }
  all->base = (lt_responder){.offers = asking_offers, .answer = asking_answer};
  all->gateway = gateway;
  lt_wait_init(&all->ended, gateway->session->loop);
  all->before = gateway->session->answers.way_in;
  gateway->session->answers.way_in = &all->base;
  return all;
}

void lt_gateway_asking_close(lt_gateway_asking *all) {
  if (all == NULL) {
    return;
  }
  all->gateway->session->answers.way_in = all->before;
  while (all->answering > 0) {
    asking_cancel_questions(all, LT_STR_NULL);
    lt_wait_on(&all->ended, UINT64_MAX);
  }
  while (all->first != NULL) {
    asking_remove(all->first);
  }
  lt_mem_free(all);
}
