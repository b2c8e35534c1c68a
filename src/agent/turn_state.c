#include "agent/turn_state.h"

void lt_turn_send_event(const lt_turn *turn, const char *event, const lt_buf *data) {
  const lt_agent_options *o = &turn->agent->options;
  if (o->on_event != NULL && data->status == LT_OK) {
    o->on_event(o->arg, turn->user, event, lt_buf_view(data));
  }
}

void lt_turn_add_usage(lt_turn *turn, const lt_usage *usage) {
  turn->usage.input_tokens += usage->input_tokens;
  turn->usage.output_tokens += usage->output_tokens;
  turn->usage.cached_input_tokens += usage->cached_input_tokens;
  turn->usage.cache_write_tokens += usage->cache_write_tokens;
  turn->usage.reasoning_tokens += usage->reasoning_tokens;
  turn->usage.cost += usage->cost;
  turn->usage.estimated = turn->usage.estimated || usage->estimated;
}

void lt_turn_count_usage(lt_turn *turn, const lt_completion *completion) {
  lt_usage usage = completion->usage;
  usage.cost = lt_model_cost(&usage, &turn->model->price);
  lt_turn_add_usage(turn, &usage);
  turn->internal->requests++;
  if (turn->internal->resolved_model.n == 0 && completion->model.n > 0) {
    turn->internal->resolved_model = lt_arena_dup(&turn->arena, completion->model);
  }
}

void lt_turn_put_call_id(const lt_turn *turn, lt_str run, uint64_t seq, lt_buf *out) {
  size_t prompt = turn->caller.run.n + 1;
  for (size_t i = prompt; i < run.n; i++) {
    lt_buf_byte(out, run.p[i] == '/' ? '.' : run.p[i]);
  }
  lt_buf_printf(out, ".%llu", (unsigned long long)seq);
}

/* Appends likely causes of a divergence: other messages in a request, other tools, another Lathe. */
static void turn_explain_divergence(const lt_turn_record *record, lt_buf *out) {
  if (record->has_other_question) {
    lt_buf_printf(out, "; what the model was told before its reply %llu was something else, too",
                  (unsigned long long)record->other_question + 1);
  }
  lt_buf_addc(out, record->has_other_tools ? "; the tools are others than they were then" : "");
  if (record->begun_with.n > 0 && !lt_str_eqc(record->begun_with, LT_VERSION)) {
    lt_buf_printf(out, "; Lathe %.*s began the prompt, this is " LT_VERSION,
                  LT_STR_ARG(lt_str_sub(record->begun_with, 0, 40)));
  }
}

lt_status lt_turn_diverge(lt_turn *turn, lt_str why, lt_err *err) {
  lt_turn_state *turn_state = turn->internal;
  LT_AUTO_BUF(text, LT_ERR_MSG_MAX);
  lt_buf_addc(&text, lt_str_starts(why, LT_STR("diverged: ")) ? "" : "diverged: ");
  lt_buf_add(&text, lt_str_sub(why, 0, LT_ERR_MSG_MAX / 2));
  turn_explain_divergence(&turn_state->record, &text);
  turn->agent->options.observer->on_divergence(turn->agent->options.observer, turn_state->record.reply_count, &text);
  if (turn_state->divergence.n == 0) {
    turn_state->divergence = lt_arena_dup(&turn->arena, lt_buf_view(&text));
  }
  lt_cancel_fire(&turn->cancel, LT_E_DIVERGED);
  return lt_fail(err, LT_E_DIVERGED, "%.*s", LT_STR_ARG(turn_state->divergence));
}
