#include "agent/decision_watch.h"

#include "agent/stored_decision.h"
#include "agent/turn_state.h"
#include "base/limits.h"

/* --- What other processes have decided ---------------------------------------------------------------------------- */
/* The turn may end while the store is asked: it is found again by its prompt. */
static lt_turn_state *watch_find_turn(const lt_agent *agent, const char *prompt) {
  lt_turn_state *turn_state = agent->turns;
  while (turn_state != NULL && strcmp(turn_state->turn.ids.prompt, prompt) != 0) {
    turn_state = turn_state->next;
  }
  return turn_state;
}

static void watch_apply(lt_agent *agent, const char *prompt, const lt_stored_decision *d) LT_YIELDS {
  lt_turn_state *turn_state = watch_find_turn(agent, prompt);
  if (d->is_taken || turn_state == NULL) {
    return;
  }
  if (!lt_str_eqc(d->verb, "cancel")) {
    (void)lt_approvals_decide(&turn_state->approvals, d);
    return;
  }
  lt_turn_record_cancel(&turn_state->turn);
  (void)lt_store_decision_take(agent->options.db, d->id, NULL);
}

lt_status lt_decision_watch_look(lt_agent *agent, const char *prompt) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  LT_AUTO_BUF(rows, LT_JSON_MAX_BYTES);
  LT_TRY(lt_store_decision_list(agent->options.db, lt_str_of(prompt), &rows, NULL));
  LT_TRY(lt_json_parse(&arena, lt_buf_view(&rows), &doc, NULL));
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    lt_stored_decision d;
    if (lt_stored_decision_read(it.value, &arena, &d)) {
      watch_apply(agent, prompt, &d);
    }
  }
  return LT_OK;
}

/* One transaction finds out which of the prompts have decisions: hardly any has one. Prompts may begin and end
 * meanwhile: their ids are copied first. */
static lt_status watch_look_at_all(lt_agent *agent) LT_YIELDS {
  LT_AUTO_BUF(prompts, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(decided, LT_JSON_MAX_BYTES);
  for (const lt_turn_state *turn_state = agent->turns; turn_state != NULL; turn_state = turn_state->next) {
    lt_buf_add(&prompts, lt_str_from(turn_state->turn.ids.prompt, sizeof turn_state->turn.ids.prompt));
  }
  LT_TRY(prompts.status);
  LT_TRY(lt_store_decision_find_open(agent->options.db, lt_buf_view(&prompts), &decided, NULL));
  lt_status status = LT_OK;
  for (size_t at = 0; at < decided.n; at += LT_STORE_ID_BYTES + 1) {
    lt_status look = lt_decision_watch_look(agent, decided.p + at);
    status = look != LT_OK ? look : status;
  }
  return status;
}

/* --- The fiber ---------------------------------------------------------------------------------------------------- */
static bool watch_has_waiting(const lt_agent *agent) {
  const lt_turn_state *turn_state = agent->turns;
  while (turn_state != NULL && turn_state->approvals.waiters == NULL) {
    turn_state = turn_state->next;
  }
  return turn_state != NULL;
}

/* After a failure the next look reads all again: the file may be locked for a moment. */
static void watch_look(lt_agent *agent) LT_YIELDS {
  int64_t version = 0;
  if (lt_store_decision_version(agent->options.db, &version, NULL) == LT_OK && version != agent->watch.version) {
    agent->watch.version = version;
    if (watch_look_at_all(agent) != LT_OK) {
      agent->watch.version = 0;
    }
  }
}

static void watch_on_fiber(void *arg) {
  lt_agent *agent = arg;
  while (agent->turns != NULL && !agent->closing) {
    uint64_t pause_ms = watch_has_waiting(agent) ? LT_DECISION_POLL_MS : LT_DECISION_IDLE_POLL_MS;
    if (lt_wait_on(&agent->watch.wait, pause_ms) == LT_E_TIMEOUT && !agent->closing && agent->turns != NULL) {
      watch_look(agent);
    }
  }
  agent->watch.is_running = false;
  lt_wait_wake(&agent->ended, LT_OK);
}

void lt_decision_watch_wake(lt_agent *agent) {
  if (agent->watch.is_running) {
    lt_wait_wake(&agent->watch.wait, LT_OK);
  } else if (agent->turns != NULL && !agent->closing) {
    agent->watch.version = 0;
    lt_wait_init(&agent->watch.wait, agent->options.loop);
    agent->watch.is_running = lt_loop_spawn(agent->options.loop, watch_on_fiber, agent, NULL) == LT_OK;
  }
}
