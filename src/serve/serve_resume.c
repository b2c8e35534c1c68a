#include "serve/serve_resume.h"

#include <string.h>

#include "serve/serve_events.h"
#include "store/store_prompts.h"

/* Prompts that were not resumed, and that was said. */
typedef struct resume_failures {
  lt_buf final;   /* ids of prompts that will not be tried again: they belong to another configuration, ... */
  lt_buf passing; /* ... and of those that may succeed another time */
} resume_failures;

static bool resume_is_in(const lt_buf *ids, lt_str id) {
  for (size_t at = 0; at + LT_STORE_ID_BYTES <= ids->n; at += LT_STORE_ID_BYTES) {
    if (id.n == LT_STORE_ID_BYTES && memcmp(ids->p + at, id.p, id.n) == 0) {
      return true;
    }
  }
  return false;
}

/* Another process may be quicker, and the prompt may have ended: both are as they should be. */
static bool resume_is_failure(lt_status status) {
  return status != LT_OK && status != LT_E_CLOSED && status != LT_E_INVALID && status != LT_E_NOTFOUND;
}

static void resume_one(lt_serve *serve, resume_failures *failures, lt_str user, lt_str prompt) LT_YIELDS {
  LT_ERR_VAR(err);
  if (resume_is_in(&failures->final, prompt)) {
    return;
  }
  lt_status status = lt_agent_resume(serve->agent, user, prompt, &err);
  if (!resume_is_failure(status)) {
    return;
  }
  if (!resume_is_in(&failures->passing, prompt)) {
    lt_report_warning(&serve->session->report, "the prompt %.*s is not resumed: %s", LT_STR_ARG(prompt),
                      lt_err_msg(&err));
  }
  lt_buf_add(status == LT_E_CONFIG || status == LT_E_LIMIT ? &failures->final : &failures->passing, prompt);
}

static lt_status resume_all(lt_serve *serve, resume_failures *failures, lt_err *err) LT_YIELDS {
  lt_json_doc doc;
  lt_str user, prompt;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(list, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_prompt_orphans_of(lt_serve_store(serve), LT_STR_NULL, LT_STR_NULL, &list, err));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&list), &doc, err));
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it) && serve->closing.why == LT_OK;) {
    if (lt_json_str(lt_json_get(it.value, "userId"), &arena, &user) &&
        lt_json_str(lt_json_get(it.value, "id"), &arena, &prompt)) {
      resume_one(serve, failures, user, prompt);
    }
  }
  return LT_OK;
}

/* A store that cannot be read for a while is reported once. */
static void resume_look(lt_serve *serve, resume_failures *failures, bool *is_failing) LT_YIELDS {
  LT_ERR_VAR(err);
  lt_status status = resume_all(serve, failures, &err);
  if (status == LT_OK) {
    status = lt_serve_events_tell_unended(serve->events, &err);
  }
  if (status != LT_OK && !*is_failing && serve->closing.why == LT_OK) {
    lt_report_warning(&serve->session->report, "what other processes leave cannot be looked for: %s", lt_err_msg(&err));
  }
  *is_failing = status != LT_OK;
}

static void resume_on_fiber(void *arg) {
  lt_serve *serve = arg;
  resume_failures failures;
  bool is_failing = false;
  lt_wait wait;
  lt_cancel_node node;
  lt_buf_init(&failures.final, LT_SERVE_UNRESUMED_BYTES);
  lt_buf_init(&failures.passing, LT_SERVE_UNRESUMED_BYTES);
  lt_wait_init(&wait, serve->session->loop);
  lt_cancel_add(&serve->closing, &node, &wait);
  while (serve->closing.why == LT_OK) {
    resume_look(serve, &failures, &is_failing);
    serve->has_resumed = true;
    (void)lt_wait_on(&wait, LT_SERVE_ORPHANS_MS);
  }
  lt_cancel_remove(&serve->closing, &node);
  lt_buf_release(&failures.final);
  lt_buf_release(&failures.passing);
  serve->is_resuming = false;
  lt_wait_wake(&serve->idle, LT_OK);
}

lt_status lt_serve_resume_start(lt_serve *serve, lt_err *err) {
  LT_TRY(lt_loop_spawn(serve->session->loop, resume_on_fiber, serve, err));
  serve->is_resuming = true;
  return LT_OK;
}

void lt_serve_resume_stop(lt_serve *serve) {
  while (serve->is_resuming) {
    lt_wait_on(&serve->idle, UINT64_MAX);
  }
}
