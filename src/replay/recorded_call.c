#include "replay/recorded_call.h"

#include "replay/notes.h"
#include "tool/answer_spill.h"

/* The outcome is unknown and stays so. */
static lt_status recorded_call_interrupt(lt_door *door, lt_str id, const lt_caller *caller, int64_t record, lt_buf *out,
                                         lt_err *err) LT_YIELDS {
  LT_ERR_VAR(why);
  lt_buf_addc(out, LT_JOURNAL_INTERRUPTED);
  if (caller->journal->finish(caller->journal, record, LT_E_INTERRUPTED, lt_buf_view(out), &why) != LT_OK) {
    lt_door_warn(door, "an answer of \"%.*s\" could not be recorded: %s", LT_STR_ARG(id), lt_err_msg(&why));
  }
  return lt_fail(err, LT_E_INTERRUPTED, LT_JOURNAL_INTERRUPTED);
}

/* The answer as lt_door_call gives it. */
static lt_status recorded_call_give(const lt_recorded_call *call, lt_str id, const lt_invoke_options *options,
                                    lt_buf *out, lt_err *err) LT_YIELDS {
  lt_buf_add(out, call->answer);
  if (call->status == LT_OK && options->max_answer_bytes > 0 && out->n > options->max_answer_bytes) {
    (void)lt_answer_spill(options->caller, id, out, NULL);
  }
  if (out->status != LT_OK) {
    return lt_fail(err, out->status, "no memory for an answer of \"%.*s\" that is on record", LT_STR_ARG(id));
  }
  return lt_fail_if(err, call->status, "%.*s", LT_STR_ARG(lt_buf_view(out)));
}

static lt_status recorded_call_answer(lt_door *door, lt_str id, const lt_recorded_call *call,
                                      const lt_invoke_options *options, lt_recalled *ret_recalled, lt_buf *out,
                                      lt_err *err) LT_YIELDS {
  const lt_caller *caller = options->caller;
  if (!call->finished && call->repeatable) {
    *ret_recalled = call->withheld ? LT_RECALLED_WITHHELD : LT_RECALLED_OPEN;
    return LT_OK;
  }
  *ret_recalled = LT_RECALLED_ANSWERED;
  return call->finished ? recorded_call_give(call, id, options, out, err)
                        : recorded_call_interrupt(door, id, caller, call->id, out, err);
}

lt_status lt_recorded_call_recall(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options,
                                  lt_recalled *ret_recalled, lt_buf *out, lt_err *err) {
  const lt_caller *caller = options->caller;
  lt_record record = {0};
  lt_status status = LT_OK;
  *ret_recalled = LT_RECALLED_NOTHING;
  if (!caller->recalled || options->seq == 0 || caller->journal == NULL || caller->journal->recall == NULL) {
    return LT_OK;
  }
  LT_TRY(caller->journal->recall(caller->journal, caller->run, &record, err));
  const lt_recorded_call *call = lt_notes_find_call(&record, options->seq);
  lt_buf_clear(out);
  if (call != NULL && call->hash != lt_journal_hash(id, input)) {
    *ret_recalled = LT_RECALLED_ANSWERED;
    status = lt_fail(err, LT_E_DIVERGED, "diverged: another call than this of \"%.*s\" is on record: %.*s %.*s",
                     LT_STR_ARG(lt_str_sub(id, 0, LT_RECORD_SHOWN_BYTES)),
                     LT_STR_ARG(lt_str_sub(call->tool, 0, LT_RECORD_SHOWN_BYTES)), LT_STR_ARG(call->input));
    lt_buf_addc(out, lt_err_msg(err));
  } else if (call != NULL) {
    status = recorded_call_answer(door, id, call, options, ret_recalled, out, err);
  }
  lt_record_release(&record);
  return status;
}

/* Calls that the door refused are not counted, as in the first run. */
void lt_recorded_call_count(const lt_door *door, const lt_caller *caller, lt_str tool, lt_status status) {
  if (status != LT_E_INVALID && status != LT_E_NOTFOUND && status != LT_E_LIMIT && status != LT_E_DIVERGED) {
    (void)lt_budget_take(caller->budget, tool, lt_loop_now_ms(lt_door_loop(door)), NULL);
  }
}

/* The input without secrets, as in all events of calls. */
void lt_recorded_call_report(const lt_door *door, const lt_caller *caller, const lt_call_event *event) {
  if (caller->on_call == NULL) {
    return;
  }
  lt_call_event shown = *event;
  LT_AUTO_BUF(input, LT_JSON_MAX_BYTES);
  lt_secrets_mask_json(lt_door_secrets(door), event->input, &input);
  shown.stage = LT_CALL_FINISHED;
  shown.call = 0;
  shown.run = caller->run;
  shown.input = input.n > 0 ? lt_buf_view_or(&input, LT_STR("{}")) : LT_STR("{}");
  caller->on_call(caller->arg, &shown);
}

lt_status lt_recorded_call_make(lt_door *door, lt_str id, lt_str input, const lt_invoke_options *options, lt_buf *out,
                                lt_err *err) {
  lt_recalled recalled = LT_RECALLED_NOTHING;
  lt_status status = LT_OK;
  if (options->caller != NULL) {
    status = lt_recorded_call_recall(door, id, input, options, &recalled, out, err);
  }
  if (status == LT_OK && recalled != LT_RECALLED_ANSWERED) {
    return lt_door_call(door, id, input, options, out, err);
  }
  if (recalled == LT_RECALLED_ANSWERED) {
    const lt_call_event event = {
        .seq = options->seq, .tool = id, .input = input, .status = status, .answer = lt_buf_view(out)};
    lt_recorded_call_count(door, options->caller, id, status);
    lt_recorded_call_report(door, options->caller, &event);
  }
  return status;
}
