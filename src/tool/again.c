#include "tool/again.h"

#include "tool/door_impl.h"
#include "tool/answer_spill.h"

static const lt_recorded_call *find(const lt_record *record, uint64_t seq) {
  for (size_t i = 0; i < record->call_count; i++) {
    if (record->calls[i].seq == seq) {
      return &record->calls[i];
    }
  }
  return NULL;
}

/* Nobody knows what came of it, and nobody will. */
static lt_status interrupt(lt_door *door, lt_str id, const lt_caller *caller, int64_t record, lt_buf *out,
                           lt_err *err) LT_YIELDS {
  lt_err why = LT_ERR_INIT;
  lt_buf_addc(out, LT_JOURNAL_INTERRUPTED);
  if (caller->journal->finish(caller->journal, record, LT_E_INTERRUPTED, lt_buf_view(out), &why) != LT_OK) {
    lt_door_warn(door, "an answer of \"%.*s\" could not be recorded: %s", LT_STR_ARG(id), lt_err_msg(&why));
  }
  return lt_fail(err, LT_E_INTERRUPTED, LT_JOURNAL_INTERRUPTED);
}

/* As the door does it. */
static lt_status give(const lt_recorded_call *call, lt_str id, const lt_invoke_options *options, lt_buf *out,
                      lt_err *err) LT_YIELDS {
  lt_buf_add(out, call->answer);
  if (call->status == LT_OK && options->max_answer_bytes > 0 && out->n > options->max_answer_bytes) {
    (void)lt_answer_spill(options->caller, id, out, NULL);
  }
  if (out->status != LT_OK) {
    return lt_fail(err, out->status, "no memory for an answer of \"%.*s\" that is on record", LT_STR_ARG(id));
  }
  return call->status == LT_OK ? LT_OK : lt_fail(err, call->status, "%.*s", LT_STR_ARG(lt_buf_view(out)));
}

static lt_status answer_from(lt_door *door, lt_str id, const lt_recorded_call *call, const lt_invoke_options *options,
                             lt_recalled *ret_recalled, lt_buf *out, lt_err *err) LT_YIELDS {
  const lt_caller *caller = options->caller;
  *ret_recalled = call->finished || !call->repeatable ? LT_RECALLED_ANSWERED : LT_RECALLED_OPEN;
  if (*ret_recalled == LT_RECALLED_OPEN) {
    return LT_OK;
  }
  return call->finished ? give(call, id, options, out, err) : interrupt(door, id, caller, call->id, out, err);
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
  const lt_recorded_call *call = find(&record, options->seq);
  lt_buf_clear(out);
  if (call != NULL && call->hash != lt_journal_hash(id, input)) {
    *ret_recalled = LT_RECALLED_ANSWERED;
    status = lt_fail(err, LT_E_DIVERGED, "diverged: another call than this of \"%.*s\" is on record: %.*s %.*s",
                     LT_STR_ARG(lt_str_sub(id, 0, LT_RECORD_SHOWN_BYTES)),
                     LT_STR_ARG(lt_str_sub(call->tool, 0, LT_RECORD_SHOWN_BYTES)), LT_STR_ARG(call->input));
    lt_buf_addc(out, lt_err_msg(err));
  } else if (call != NULL) {
    status = answer_from(door, id, call, options, ret_recalled, out, err);
  }
  lt_record_release(&record);
  return status;
}

/* What was refused at the door did not count then, either. */
void lt_recorded_call_count(const lt_door *door, const lt_caller *caller, lt_str tool, lt_status status) {
  if (status != LT_E_INVALID && status != LT_E_NOTFOUND && status != LT_E_LIMIT && status != LT_E_DIVERGED) {
    (void)lt_budget_take(caller->budget, tool, lt_loop_now_ms(door->loop), NULL);
  }
}

/* Its input without secrets, as all that is told of calls. */
void lt_recorded_call_report(const lt_door *door, const lt_caller *caller, const lt_call_event *event) {
  if (caller->on_call == NULL) {
    return;
  }
  lt_call_event shown = *event;
  lt_buf input;
  lt_buf_init(&input, LT_JSON_MAX_BYTES);
  lt_secrets_mask_json(door->options.secrets, event->input, &input);
  shown.stage = LT_CALL_FINISHED;
  shown.call = 0;
  shown.run = caller->run;
  shown.input = input.n > 0 && input.status == LT_OK ? lt_buf_view(&input) : LT_STR("{}");
  caller->on_call(caller->arg, &shown);
  lt_buf_release(&input);
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
