#include "agent/turn_observer.h"

#include "agent/outbox_impl.h"
#include "agent/turn_state.h"

static lt_replay_observer *observer_of(const lt_turn *turn) {
  return turn->agent->options.observer;
}

static lt_status observer_end_turn(lt_turn *turn, lt_status found, const lt_err *why, lt_err *err) {
  return found == LT_OK ? LT_OK : lt_turn_diverge(turn, lt_str_of(lt_err_msg(why)), err);
}

static lt_replay_output observer_output(const lt_output *output) {
  return (lt_replay_output){.id = output->id, .json = lt_buf_view(&output->json)};
}

lt_status lt_turn_observer_reply(lt_turn *turn, lt_err *err) {
  lt_turn_record *record = &turn->internal->record;
  lt_replay_observer *observer = observer_of(turn);
  LT_ERR_VAR(why);
  lt_status found = observer->on_reply(observer, record->other_question, !record->has_other_question, &why);
  record->has_other_question = record->has_other_question && found == LT_OK; /* otherwise the reason says it */
  return observer_end_turn(turn, found, &why, err);
}

lt_status lt_turn_observer_record_end(lt_turn *turn, const char *what, lt_err *err) {
  lt_replay_observer *observer = observer_of(turn);
  LT_ERR_VAR(why);
  return observer_end_turn(turn, observer->on_record_end(observer, what, &why), &why, err);
}

lt_status lt_turn_observer_end(lt_turn *turn, const char *missing, lt_err *err) {
  lt_replay_observer *observer = observer_of(turn);
  LT_ERR_VAR(why);
  return observer_end_turn(turn, observer->on_end(observer, missing, &why), &why, err);
}

void lt_turn_observer_text(lt_turn *turn, const lt_output *output, lt_str text) {
  const lt_replay_output stored = observer_output(output);
  lt_replay_observer *observer = observer_of(turn);
  LT_ERR_VAR(why);
  (void)observer_end_turn(turn, observer->on_text(observer, &stored, text, &why), &why, NULL);
}

void lt_turn_observer_call(lt_turn *turn, const lt_output *output, const lt_outbox_tool *tool) {
  const lt_replay_output stored = observer_output(output);
  lt_replay_observer *observer = observer_of(turn);
  LT_ERR_VAR(why);
  lt_status found = observer->on_call(observer, &stored, tool->function, tool->input, &why);
  (void)observer_end_turn(turn, found, &why, NULL);
}

void lt_turn_observer_result(lt_turn *turn, const lt_output *output, lt_status status, lt_str answer) {
  const lt_replay_output stored = observer_output(output);
  lt_replay_observer *observer = observer_of(turn);
  LT_ERR_VAR(why);
  (void)observer_end_turn(turn, observer->on_result(observer, &stored, status, answer, &why), &why, NULL);
}
