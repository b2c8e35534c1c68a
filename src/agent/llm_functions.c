#include "agent/llm_functions.h"

#include "agent/llm.h"
#include "agent/turn_state.h"

static void llm_functions_count(void *arg, const lt_completion *completion) {
  lt_turn_count_usage(arg, completion);
  lt_turn_record_put_llm(arg, completion);
}

/* As before a mode asks: what has led to the question is on record before anybody sees it. */
static lt_status llm_functions_flush(lt_llm *llm, lt_err *err) LT_YIELDS {
  lt_turn *turn = llm->arg;
  return lt_outbox_flush(&turn->internal->outbox, err);
}

bool lt_llm_functions_add(lt_turn *turn, lt_run_request *world) {
  lt_llm *llm = lt_arena_zalloc(&turn->arena, 1, sizeof *llm);
  if (llm == NULL) {
    return false;
  }
  *llm = (lt_llm){
      .http = turn->agent->options.http,
      .secrets = turn->agent->options.secrets,
      .monitor = turn->agent->options.monitor,
      .run = lt_str_of(turn->ids.prompt),
      .model = turn->model,
      .prepare = llm_functions_flush,
      .on_completion = llm_functions_count,
      .on_retry = lt_turn_report_retry,
      .arg = turn,
  };
  return lt_llm_add_functions(llm, &turn->arena, world);
}
