/* Until the end is stored the prompt belongs to this process, and its conversation is busy. */
#include "agent/deferred_end.h"

#include "agent/agent_state.h"
#include "agent/heartbeat.h"
#include "base/mem.h"

typedef struct deferred_end {
  lt_agent *agent;
  char prompt[LT_STORE_ID_BYTES + 1];
  lt_prompt_state state;
  lt_buf usage, error;
} deferred_end;

static void deferred_end_free(deferred_end *l) {
  lt_buf_release(&l->usage);
  lt_buf_release(&l->error);
  lt_mem_free(l);
}

static deferred_end *deferred_end_new(const lt_turn *turn, lt_str usage, lt_str error) {
  deferred_end *l = lt_mem_zalloc(1, sizeof *l);
  if (l == NULL) {
    return NULL;
  }
  l->agent = turn->agent;
  l->state = turn->state;
  memcpy(l->prompt, turn->ids.prompt, sizeof l->prompt);
  lt_buf_init(&l->usage, LT_MIB);
  lt_buf_init(&l->error, LT_MIB);
  lt_buf_add(&l->usage, usage);
  lt_buf_add(&l->error, error);
  if (l->usage.status != LT_OK || l->error.status != LT_OK) {
    deferred_end_free(l);
    return NULL;
  }
  return l;
}

/* Retries after every error: a disk may be mounted again or have space again. */
static bool deferred_end_store(const deferred_end *l) LT_YIELDS {
  lt_status status = lt_store_prompt_set_state(l->agent->options.db, lt_str_of(l->prompt), l->state,
                                               lt_buf_view(&l->usage), lt_buf_view(&l->error), NULL);
  return status == LT_OK || status == LT_E_NOTFOUND || status == LT_E_CLOSED; /* removed, or taken over */
}

static void deferred_end_on_fiber(void *arg) {
  deferred_end *l = arg;
  lt_agent *agent = l->agent;
  lt_wait wait;
  lt_cancel_node node;
  uint64_t pause_ms = LT_PROMPT_LATE_MS;
  bool stored = false;
  lt_wait_init(&wait, agent->options.loop);
  lt_cancel_add(&agent->close, &node, &wait);
  while (!stored && !agent->closing) {
    lt_wait_on(&wait, pause_ms);
    stored = deferred_end_store(l);
    pause_ms = 2 * pause_ms < LT_PROMPT_LATE_MAX_MS ? 2 * pause_ms : LT_PROMPT_LATE_MAX_MS;
  }
  lt_cancel_remove(&agent->close, &node);
  if (!stored) {
    (void)lt_store_prompt_release(agent->options.db, lt_str_of(l->prompt), NULL);
  }
  deferred_end_free(l);
  agent->deferred_ends--;
  lt_heartbeat_check(agent);
  lt_wait_wake(&agent->ended, LT_OK);
}

bool lt_deferred_end_start(const lt_turn *turn, lt_str usage, lt_str error) {
  lt_agent *agent = turn->agent;
  deferred_end *l = agent->closing ? NULL : deferred_end_new(turn, usage, error);
  if (l == NULL) {
    return false;
  }
  agent->deferred_ends++;
  if (lt_loop_spawn(agent->options.loop, deferred_end_on_fiber, l, NULL) != LT_OK) {
    agent->deferred_ends--;
    deferred_end_free(l);
    return false;
  }
  return true;
}
