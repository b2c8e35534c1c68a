/* Decisions that come in this process. They are rows in the store, like those of other processes (decision_watch.h). */
#include <stdio.h>

#include "agent/agent_state.h"
#include "agent/decision_watch.h"
#include "agent/waiting_calls.h"

/* The store tells of changes that others make: what this process stores itself is looked for at once. */
static lt_status deciding_store(lt_agent *agent, const lt_decision_row *row, lt_err *err) LT_YIELDS {
  int64_t id;
  char prompt[LT_STORE_ID_BYTES + 1];
  LT_TRY(lt_store_decision_put(agent->options.db, row, &id, err));
  if (lt_agent_runs(agent, row->prompt)) {
    snprintf(prompt, sizeof prompt, "%.*s", LT_STR_ARG(row->prompt));
    (void)lt_decision_watch_look(agent, prompt);
  }
  return LT_OK;
}

static lt_status deciding_store_about(lt_agent *agent, const lt_waiting_calls *waiting, lt_decision_row *row,
                                      lt_err *err) LT_YIELDS {
  const lt_waiting_call *call = lt_waiting_calls_find(waiting, row->call);
  if (waiting->has_ended) { /* a prompt that runs here was taken over meanwhile, and finds out when it ends */
    (void)lt_agent_stop(agent, row->user, row->prompt);
    return lt_agent_fail_inactive(row->prompt, err);
  }
  if (call == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "No tool call \"%.*s\" waits for approval",
                   LT_STR_ARG(lt_str_sub(row->call, 0, 100)));
  }
  row->hash = call->hash;
  row->tool = call->tool;
  return deciding_store(agent, row, err);
}

lt_status lt_agent_decide(lt_agent *agent, lt_str user, lt_str prompt, lt_str call, const lt_decision *decision,
                          lt_err *err) {
  lt_waiting_calls waiting;
  lt_decision_row row = {.prompt = prompt,
                         .verb = decision->is_approved ? LT_VERB_APPROVE : LT_VERB_REJECT,
                         .user = user,
                         .call = call,
                         .decision = *decision};
  LT_ERR_VAR(why);
  lt_status status = lt_waiting_calls_read(agent->options.db, user, prompt, &waiting, &why);
  if (status == LT_OK) {
    status = deciding_store_about(agent, &waiting, &row, &why);
  } else if (status == LT_E_NOTFOUND) {
    status = lt_agent_fail_inactive(prompt, &why);
  }
  lt_waiting_calls_release(&waiting);
  return status == LT_OK ? LT_OK : lt_err_copy(err, &why);
}

/* Of a prompt that is not stored nothing is left after a kill. */
lt_status lt_agent_cancel(lt_agent *agent, lt_str user, lt_str prompt, lt_err *err) {
  const lt_decision_row row = {.prompt = prompt, .verb = LT_VERB_CANCEL, .user = user};
  LT_ERR_VAR(why);
  if (!lt_agent_is_stored(agent, prompt)) {
    return lt_agent_stop(agent, user, prompt) ? LT_OK : lt_agent_fail_inactive(prompt, err);
  }
  lt_status status = deciding_store(agent, &row, &why);
  bool is_cancelled_already = status == LT_E_INVALID;
  return status == LT_OK || is_cancelled_already ? LT_OK : lt_err_copy(err, &why);
}
