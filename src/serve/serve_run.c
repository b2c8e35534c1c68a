#include "serve/serve_run.h"

#include "serve/serve_events.h"
#include "serve/serve_limits.h"
#include "store/store_prompts.h"

static void run_on_timeout(void *arg) {
  lt_cancel_fire(arg, LT_E_TIMEOUT);
}

/* Appends the run when it ends. */
static lt_status run_await(const lt_serve_request *r, lt_str prompt, uint64_t wait_ms, lt_buf *ret_prompt,
                           lt_err *err) LT_YIELDS {
  lt_cancel until;
  lt_cancel_node node;
  lt_timer *timer;
  lt_cancel_init(&until);
  LT_TRY(lt_timer_new(r->serve->session->loop, run_on_timeout, &until, &timer, err));
  lt_cancel_follow(r->call->cancel, &node, &until);
  lt_timer_start(timer, wait_ms);
  (void)lt_agent_wait_for(r->serve->agent, prompt, &until, ret_prompt, NULL);
  lt_cancel_remove(r->call->cancel, &node);
  lt_timer_free(timer);
  return LT_OK;
}

/* A run that has ended is told from memory: the store may have nothing of it. */
static lt_status run_read(const lt_serve_request *r, lt_str prompt, lt_buf *text, lt_err *err) LT_YIELDS {
  if (text->n > 0) {
    return lt_buf_check(text, err, "no memory for the run");
  }
  LT_TRY(lt_agent_store(r->serve->agent, prompt, err));
  lt_serve_events_release(r->serve->events, prompt);
  return lt_store_prompt_get(lt_serve_store(r->serve), r->user, prompt, text, err);
}

static bool run_has_ended(lt_json prompt) {
  static const char *const open[] = {"running", "waiting_for_approval"};
  lt_json state = lt_json_get(prompt, "state");
  return !lt_json_str_eq(state, lt_str_of(open[0])) && !lt_json_str_eq(state, lt_str_of(open[1]));
}

lt_status lt_serve_run_begin(lt_serve_request *r, const lt_serve_run_options *options, lt_serve_run *ret_run,
                             lt_err *err) {
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  const lt_prompt_request request = {.user = r->user,
                                     .input = options->message,
                                     .mode = LT_STR("program"),
                                     .is_deferred = !options->is_kept,
                                     .trace = &r->trace};
  LT_TRY(lt_agent_start(r->serve->agent, &request, &ret_run->ids, err));
  lt_serve_limits_give(r, LT_SERVE_SEAT_PROMPT); /* the agent counts it from now on */
  lt_str prompt = lt_str_of(ret_run->ids.prompt);
  LT_TRY(run_await(r, prompt, options->wait_ms, &text, err));
  LT_TRY(run_read(r, prompt, &text, err));
  lt_str kept = lt_arena_dup(r->arena, lt_buf_view(&text));
  if (kept.p == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the run");
  }
  LT_TRY(lt_json_parse(r->arena, kept, &ret_run->doc, err));
  ret_run->prompt = lt_json_root(&ret_run->doc);
  ret_run->has_ended = run_has_ended(ret_run->prompt);
  return LT_OK;
}

lt_str lt_serve_run_text(const lt_serve_request *r, const lt_serve_run *run) {
  LT_AUTO_BUF(said, LT_JSON_MAX_BYTES);
  for (lt_json_iter it = lt_json_each(lt_json_get(run->prompt, "output")); lt_json_next(&it);) {
    lt_str text = LT_STR_NULL;
    if (lt_json_str_eq(lt_json_get(it.value, "type"), LT_STR("text")) &&
        lt_json_str(lt_json_get(it.value, "content"), r->arena, &text)) {
      lt_buf_add(&said, text);
    }
  }
  return lt_arena_dup_buf(r->arena, &said);
}
