#include "gateway/gateway_runs.h"

#include <string.h>

#include "base/limits.h"
#include "gateway/gateway_asking.h"
#include "gateway/gateway_files.h"
#include "gateway/gateway_progress.h"
#include "json/json.h"
#include "tool/whole_answer.h"

/* --- Starting ----------------------------------------------------------------------------------------------------- */
static void gateway_runs_put_message(const lt_gateway_program *program, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  lt_json_begin_object(&w);
  if (program->tool.n > 0) {
    lt_json_key(&w, "tool");
    lt_json_put_str(&w, program->tool);
    lt_json_key(&w, "input");
    lt_json_put_raw(&w, program->input);
    lt_json_end_object(&w);
    return;
  }
  lt_json_key(&w, "language");
  lt_json_put_str(&w, program->language);
  if (program->timeout_ms > 0) {
    lt_json_key(&w, "timeoutMs");
    lt_json_put_int(&w, program->timeout_ms);
  }
  if (program->session.n > 0) {
    lt_json_key(&w, "session");
    lt_json_put_str(&w, program->session);
  }
  lt_json_key(&w, "code");
  lt_json_put_str(&w, program->code);
  lt_json_end_object(&w);
}

lt_status lt_gateway_runs_start(const lt_gateway_request *r, const lt_gateway_program *program,
                                char ret_run[LT_STORE_ID_BYTES + 1], lt_err *err) {
  LT_AUTO_BUF(message, LT_PROMPT_INPUT_BYTES);
  lt_prompt_ids ids;
  gateway_runs_put_message(program, &message);
  LT_TRY(lt_buf_check(&message, err, "the program is too long"));
  const lt_prompt_request request = {.user = r->peer->user,
                                     .input = lt_buf_view(&message),
                                     .mode = LT_STR("program"),
                                     .is_deferred = program->session.n == 0,
                                     .trace = &r->span.trace};
  LT_TRY(lt_agent_start(r->gateway->agent, &request, &ids, err));
  memcpy(ret_run, ids.prompt, LT_STORE_ID_BYTES + 1);
  return LT_OK;
}

/* --- Going on ----------------------------------------------------------------------------------------------------- */
static bool gateway_runs_is_orphan(const lt_json_doc *orphans, lt_str run) {
  bool found = false;
  for (lt_json_iter it = lt_json_each(lt_json_root(orphans)); !found && lt_json_next(&it);) {
    found = lt_json_str_eq(lt_json_get(it.value, "id"), run);
  }
  return found;
}

/* Prompts of conversations are in the same store, and no client's business: a run is named by its whole id, and is a
 * prompt of mode "program". */
lt_status lt_gateway_runs_find(const lt_gateway_request *r, lt_str wanted, char ret_run[LT_STORE_ID_BYTES + 1],
                               lt_err *err) {
  LT_AUTO_BUF(prompt, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  lt_json_doc doc;
  lt_store *store = lt_toolbox_db(r->gateway->session->toolbox);
  if (wanted.n != LT_STORE_ID_BYTES) {
    return lt_fail(err, LT_E_NOTFOUND, "name the run by its whole id: the answer that named it has it");
  }
  LT_TRY(lt_store_prompt_get(store, r->peer->user, wanted, &prompt, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&prompt), &doc, err));
  if (!lt_json_str_eq(lt_json_get(lt_json_root(&doc), "mode"), LT_STR("program"))) {
    return lt_fail(err, LT_E_NOTFOUND, "no such run");
  }
  memcpy(ret_run, wanted.p, wanted.n);
  ret_run[wanted.n] = '\0';
  return LT_OK;
}

lt_status lt_gateway_runs_continue(const lt_gateway_request *r, lt_str wanted, char ret_run[LT_STORE_ID_BYTES + 1],
                                   lt_err *err) {
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  lt_json_doc orphans;
  lt_store *store = lt_toolbox_db(r->gateway->session->toolbox);
  LT_TRY(lt_gateway_runs_find(r, wanted, ret_run, err));
  LT_TRY(lt_store_prompt_orphans_of(store, r->peer->user, LT_STR_NULL, &list, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&list), &orphans, err));
  lt_str run = lt_str_of(ret_run);
  return gateway_runs_is_orphan(&orphans, run) ? lt_agent_resume(r->gateway->agent, r->peer->user, run, err) : LT_OK;
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */
static void gateway_runs_on_timeout(void *arg) {
  lt_cancel_fire(arg, LT_E_TIMEOUT);
}

static void gateway_runs_await(lt_gateway_request *request, lt_str run, lt_buf *ret_prompt) LT_YIELDS {
  lt_gateway *gateway = request->gateway;
  lt_cancel until;
  lt_cancel_node node;
  lt_timer *timer;
  lt_cancel_init(&until);
  if (lt_timer_new(gateway->session->loop, gateway_runs_on_timeout, &until, &timer, NULL) != LT_OK) {
    return; /* the answer is that it is not done */
  }
  lt_cancel_follow(&request->cancel, &node, &until);
  lt_gateway_attending attending = {.request = request, .run = run, .until = &until};
  lt_gateway_asking_attend(gateway->asking, &attending);
  lt_timer_start(timer, (uint64_t)gateway->session->config.mcp_wait_ms);
  lt_gateway_await await = {.request = request, .run = run};
  lt_gateway_progress_enter(&await);
  (void)lt_agent_wait_for(gateway->agent, run, &until, ret_prompt, NULL);
  lt_gateway_asking_leave(gateway->asking, &attending);
  lt_gateway_progress_leave(&await);
  lt_cancel_remove(&request->cancel, &node);
  lt_timer_free(timer);
}

/* --- Telling ------------------------------------------------------------------------------------------------------ */
typedef struct gateway_run_view {
  lt_str run;
  lt_json prompt; /* as lt_store_prompt_get has it */
  lt_arena *arena;
  const lt_gateway_asking *asking;
  bool approves_by_call; /* mcp.approveByCall */
} gateway_run_view;

static lt_str gateway_runs_text_of(const gateway_run_view *view, lt_json value) {
  lt_str text = LT_STR_NULL;
  (void)lt_json_str(value, view->arena, &text);
  return text;
}

static bool gateway_runs_is(lt_json object, const char *key, const char *value) {
  return lt_json_str_eq(lt_json_get(object, key), lt_str_of(value));
}

static void gateway_runs_put_texts(const gateway_run_view *view, lt_buf *out) {
  for (lt_json_iter it = lt_json_each(lt_json_get(view->prompt, "output")); lt_json_next(&it);) {
    if (gateway_runs_is(it.value, "type", "text")) {
      lt_buf_add(out, gateway_runs_text_of(view, lt_json_get(it.value, "content")));
    }
  }
}

/* Whether it is a call of one tool, in place of a program. */
static bool gateway_runs_is_of_tool(const gateway_run_view *view) {
  lt_json_doc doc;
  lt_str message = gateway_runs_text_of(view, lt_json_get(view->prompt, "input"));
  return lt_json_parse(view->arena, message, &doc, NULL) == LT_OK &&
         lt_json_exists(lt_json_get(lt_json_root(&doc), "tool"));
}

/* The output that is the program itself has no parent. */
static void gateway_runs_put_error(const gateway_run_view *view, lt_buf *out) {
  lt_str error = gateway_runs_text_of(view, lt_json_get(view->prompt, "error"));
  for (lt_json_iter it = lt_json_each(lt_json_get(view->prompt, "output")); lt_json_next(&it);) {
    lt_json result = lt_json_get(it.value, "result");
    if (!lt_json_exists(lt_json_get(it.value, "parent")) && gateway_runs_is(result, "type", "error")) {
      error = gateway_runs_text_of(view, lt_json_get(result, "error"));
    }
  }
  lt_buf_addc(out, out->n > 0 && out->p[out->n - 1] != '\n' ? "\n" : "");
  lt_buf_addc(out, gateway_runs_is_of_tool(view) ? "" : "error: ");
  lt_buf_add(out, error);
}

/* A call that the program made, and that a person has to decide about. */
static void gateway_runs_put_waiting(const gateway_run_view *view, lt_json output, lt_buf *out) {
  lt_str id = gateway_runs_text_of(view, lt_json_get(output, "id"));
  lt_str tool = gateway_runs_text_of(view, lt_json_get(output, "function"));
  lt_buf_printf(out, "\nwaiting for approval of %.*s ", LT_STR_ARG(tool));
  lt_buf_add(out, lt_str_sub(lt_json_text(lt_json_get(output, "input")), 0, LT_GATEWAY_INPUT_SHOWN_BYTES));
  lt_buf_printf(out, ": a person decides with `lathe approve %.*s %.*s` or `lathe reject %.*s %.*s`",
                LT_STR_ARG(view->run), LT_STR_ARG(id), LT_STR_ARG(view->run), LT_STR_ARG(id));
  if (view->approves_by_call) {
    lt_buf_printf(out, "; or ask the user, and call continue_run with call \"%.*s\" and decision", LT_STR_ARG(id));
  }
}

/* A program is an output, too. */
static bool gateway_runs_is_call(lt_json output) {
  return gateway_runs_is(output, "type", "tool") && !gateway_runs_is(output, "function", "program.run");
}

static void gateway_runs_put_progress(const gateway_run_view *view, lt_buf *out) {
  size_t calls = 0, done = 0;
  LT_AUTO_BUF(waiting, LT_PROMPT_MEMORY_BYTES);
  for (lt_json_iter it = lt_json_each(lt_json_get(view->prompt, "output")); lt_json_next(&it);) {
    lt_json result = lt_json_get(it.value, "result");
    if (!gateway_runs_is_call(it.value)) {
      continue;
    }
    bool is_pending = gateway_runs_is(result, "type", "pending");
    calls++;
    done += !is_pending;
    if (is_pending && lt_json_exists(lt_json_get(result, "question"))) {
      gateway_runs_put_waiting(view, it.value, &waiting);
    }
  }
  lt_buf_printf(out, "Run %.*s is not done: %zu of %zu calls done.", LT_STR_ARG(view->run), done, calls);
  lt_buf_add(out, lt_buf_view(&waiting));
  lt_gateway_asking_put_open(view->asking, view->run, out);
  lt_buf_printf(out, "\nNothing is lost. Call continue_run with run \"%.*s\" to wait on and get the answer.",
                LT_STR_ARG(view->run));
}

/* Only a call of one tool has a whole answer. Most texts are none by their first character. */
static bool gateway_runs_is_whole(const gateway_run_view *view, lt_str text) {
  lt_json_doc doc;
  return lt_str_starts(lt_str_trim(text), LT_STR("{")) && gateway_runs_is_of_tool(view) &&
         lt_json_parse(view->arena, text, &doc, NULL) == LT_OK && lt_whole_answer_is(lt_json_root(&doc));
}

static lt_status gateway_runs_put(const gateway_run_view *view, lt_gateway_answer *answer, lt_err *err) {
  bool is_failed = gateway_runs_is(view->prompt, "state", "failed");
  bool is_cancelled = gateway_runs_is(view->prompt, "state", "cancelled");
  if (!is_failed && !is_cancelled && !gateway_runs_is(view->prompt, "state", "completed")) {
    gateway_runs_put_progress(view, &answer->text);
    return lt_buf_check(&answer->text, err, "no memory for the answer");
  }
  gateway_runs_put_texts(view, &answer->text);
  if (gateway_runs_is_whole(view, lt_buf_view(&answer->text))) {
    lt_buf_add(&answer->whole, lt_buf_view(&answer->text));
    lt_buf_clear(&answer->text);
    return lt_buf_check(&answer->whole, err, "no memory for the answer");
  }
  if (is_failed) {
    gateway_runs_put_error(view, &answer->text);
  } else if (is_cancelled) {
    lt_buf_printf(&answer->text, "Run %.*s was cancelled.", LT_STR_ARG(view->run));
  } else if (answer->text.n == 0) {
    lt_buf_addc(&answer->text, "(completed, no output)");
  }
  answer->is_error = is_failed || is_cancelled;
  return lt_buf_check(&answer->text, err, "no memory for the answer");
}

static lt_status gateway_runs_tell_prompt(const lt_gateway_request *r, lt_str run, const lt_buf *prompt,
                                          lt_gateway_answer *ret_answer, lt_err *err) LT_YIELDS {
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  lt_json_doc doc;
  LT_TRY(lt_buf_check(prompt, err, "no memory for the run"));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(prompt), &doc, err));
  const gateway_run_view view = {.run = run,
                                 .prompt = lt_json_root(&doc),
                                 .arena = &arena,
                                 .asking = r->gateway->asking,
                                 .approves_by_call = r->gateway->session->config.mcp_approves_by_call};
  LT_TRY(gateway_runs_put(&view, ret_answer, err));
  if (ret_answer->whole.n == 0) {
    lt_gateway_files_put(r, view.prompt, &arena, ret_answer);
  }
  return lt_buf_check(&ret_answer->text, err, "no memory for the answer");
}

lt_status lt_gateway_runs_tell(const lt_gateway_request *r, lt_str run, lt_gateway_answer *ret_answer, lt_err *err) {
  LT_AUTO_BUF(prompt, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_prompt_get(lt_toolbox_db(r->gateway->session->toolbox), r->peer->user, run, &prompt, err));
  return gateway_runs_tell_prompt(r, run, &prompt, ret_answer, err);
}

/* What has ended is told from memory: the store may not have it. */
lt_status lt_gateway_runs_answer(lt_gateway_request *request, lt_str run, lt_gateway_answer *ret_answer, lt_err *err) {
  LT_AUTO_BUF(prompt, LT_JSON_MAX_BYTES);
  gateway_runs_await(request, run, &prompt);
  if (prompt.n > 0) {
    return gateway_runs_tell_prompt(request, run, &prompt, ret_answer, err);
  }
  LT_TRY(lt_agent_store(request->gateway->agent, run, err));
  return lt_gateway_runs_tell(request, run, ret_answer, err);
}
