#include "agent/turn.h"

#include "agent/media_parts.h"
#include "agent/model_request.h"
#include "agent/turn_observer.h"
#include "agent/turn_state.h"

/* --- Asking ------------------------------------------------------------------------------------------------------- */
/* What may be the beginning of a secret waits for more. The whole text is masked in the same way (lt_turn_text), so the
 * pieces are its beginning. */
static void turn_on_delta(void *arg, lt_str delta) {
  lt_turn *turn = arg;
  lt_buf *held = &turn->internal->held_text;
  LT_AUTO_BUF(masked, LT_MODEL_TEXT_MAX_BYTES);
  lt_buf_add(held, delta);
  lt_buf_consume(held, lt_secrets_mask_piece(turn->agent->options.secrets, lt_buf_view(held), &masked));
  bool is_whole = held->status == LT_OK && masked.status == LT_OK;
  if (is_whole && lt_outbox_stream(&turn->internal->outbox, lt_buf_view(&masked), NULL) == LT_OK) {
    turn->internal->streamed += masked.n;
  }
}

static void turn_on_draft(void *arg, const lt_draft_piece *piece) {
  lt_turn *turn = arg;
  lt_program_drafts_take(&turn->internal->drafts, piece);
}

void lt_turn_report_retry(void *arg, const lt_retry_notice *notice) {
  lt_turn *turn = arg;
  LT_AUTO_BUF(data, LT_KIB);
  lt_json_writer w = lt_json_writer_on(&data);
  lt_json_begin_object(&w);
  lt_json_put_pair(&w, "promptId", lt_str_of(turn->ids.prompt));
  lt_model_request_put_retry(&w, notice);
  lt_json_end_object(&w);
  (void)lt_outbox_event(&turn->internal->outbox, "prompt.retrying", lt_buf_view(&data), NULL);
}

/* Every recorded output follows from a recorded reply. When an output has no reply, the reply was lost, and the prompt
 * cannot continue. */
static lt_status turn_check_caught_up(const lt_turn *turn, lt_err *err) {
  const char *id = lt_outbox_unclaimed(&turn->internal->outbox);
  return id == NULL
             ? LT_OK
             : lt_fail(err, LT_E_DIVERGED,
                       "diverged: what the model replied is not on record as far as what came of it (\"%s\")", id);
}

static lt_status turn_ask_model(lt_turn *turn, const lt_turn_question *question, lt_completion *completion,
                                lt_err *err) LT_YIELDS {
  lt_str why_none = turn->internal->sends_no_media ? LT_STR("the model has refused it, or another one") : LT_STR("");
  LT_AUTO_BUF(filled_text, LT_PROMPT_MESSAGES_BYTES);
  lt_media_filled filled = {.out = &filled_text};
  LT_TRY(lt_media_parts_fill(turn, question->messages, why_none, &filled, err));
  const lt_completion_request request = {
      .model = turn->model,
      .messages = filled.messages,
      .has_parts = filled.messages.p != question->messages.p,
      .media_bytes = filled.media_bytes,
      .media_count = filled.media_count,
      .tools = question->tools,
      .cancel = &turn->cancel,
      .freeform = turn->mode->freeform,
      .on_text = question->streams ? turn_on_delta : NULL,
      .on_draft = turn->mode->programs_in != LT_PROGRAMS_NOWHERE ? turn_on_draft : NULL,
      .on_retry = lt_turn_report_retry,
      .arg = turn,
      .trace = &turn->caller.trace,
      .purpose = "round",
      .run = lt_str_of(turn->ids.prompt),
      .conversation = lt_str_of(turn->ids.conversation),
  };
  return lt_model_request_complete(&turn->agent->options, &request, completion, err);
}

lt_status lt_turn_ask(lt_turn *turn, const lt_turn_question *question, lt_completion *completion, lt_err *err) {
  turn->internal->streamed = 0;
  lt_buf_clear(&turn->internal->held_text);
  lt_program_drafts_drop(&turn->internal->drafts);
  LT_TRY(lt_outbox_flush(&turn->internal->outbox, err));
  lt_status status = LT_OK;
  LT_ERR_VAR(why);
  if (lt_turn_record_take(turn, question->hash, completion, &status, &why)) {
    LT_TRY(lt_turn_observer_reply(turn, err));
  } else {
    LT_TRY(lt_turn_observer_record_end(turn, "the model is asked once more", err));
    LT_TRY(turn_check_caught_up(turn, err));
    LT_TRY(lt_approvals_settle(&turn->internal->approvals, err));
    status = turn_ask_model(turn, question, completion, &why);
    lt_program_drafts_end(&turn->internal->drafts);
    lt_turn_record_put(turn, question->hash, completion, status, &why);
  }
  lt_turn_count_usage(turn, completion);
  if (status != LT_OK) {
    return lt_err_copy(err, &why);
  }
  return LT_OK;
}

/* --- Putting out -------------------------------------------------------------------------------------------------- */
lt_status lt_turn_text(lt_turn *turn, lt_str text, lt_err *err) {
  size_t streamed = turn->internal->streamed;
  turn->internal->streamed = 0;
  LT_TRY(lt_outbox_text(&turn->internal->outbox, text, streamed, err));
  return lt_outbox_flush(&turn->internal->outbox, err);
}

lt_status lt_turn_incomplete(lt_turn *turn, lt_incomplete reason, lt_str text, lt_err *err) {
  turn->internal->incomplete = reason;
  turn->internal->streamed = 0;
  LT_TRY(lt_outbox_incomplete(&turn->internal->outbox, reason, text, err));
  return lt_outbox_flush(&turn->internal->outbox, err);
}

/* With a journal this does not wait: the journal stores the output before it allows a call (turn_journal.c). */
lt_status lt_turn_tool_begin(lt_turn *turn, lt_str id, lt_str function, lt_str input, lt_str reason,
                             uint32_t *ret_number, lt_err *err) {
  const lt_outbox_tool tool = {.id = id, .function = function, .input = input, .reason = reason};
  LT_TRY(lt_outbox_tool_begin(&turn->internal->outbox, &tool, ret_number, err));
  lt_program_drafts_settle(&turn->internal->drafts);
  return turn->caller.journal != NULL ? lt_outbox_check(&turn->internal->outbox, err)
                                      : lt_outbox_flush(&turn->internal->outbox, err);
}

lt_status lt_turn_tool_logs(lt_turn *turn, uint32_t number, lt_str logs, lt_err *err) {
  return lt_outbox_tool_logs(&turn->internal->outbox, number, logs, err);
}

lt_status lt_turn_tool_end(lt_turn *turn, uint32_t number, lt_status status, lt_str answer, lt_err *err) {
  LT_TRY(lt_outbox_tool_end(&turn->internal->outbox, number, status, answer, err));
  return lt_outbox_flush(&turn->internal->outbox, err);
}
