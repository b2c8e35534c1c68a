/* Code mode: the model's reply is a program, and the program's feedback is the next message (seeds 013, 014, 015). */
#include "agent/modes/mode_table.h"
#include "agent/program_feedback.h"
#include "agent/prompt_data.h"
#include "agent/request_messages.h"
#include "agent/turn_state.h"
#include "agent/modes/code_prompt.h"
#include "agent/modes/code_prose.h"
#include "base/mem.h"
#include "tool/answer_spill.h"

#define CODE_FUNCTION "code.execute"

typedef struct code_loop {
  lt_turn *turn;
  lt_request_messages messages;
  bool was_prose; /* the last reply was no program */
} code_loop;

static lt_status code_begin(code_loop *l, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(system, LT_PROMPT_MESSAGES_BYTES);
  LT_TRY(lt_code_prompt_put(l->turn, &system, err));
  return lt_request_messages_begin(&l->messages, lt_buf_view(&system), err);
}

/* --- One program -------------------------------------------------------------------------------------------------- */
/* The result as JSON, empty for undefined. A long result becomes an artifact, and a preview replaces it. */
static void code_put_value(const lt_turn *turn, const lt_run_result *result, lt_buf *out) LT_YIELDS {
  lt_json_writer w = lt_json_writer_on(out);
  if (result->status != LT_OK || result->kind == LT_VALUE_UNDEFINED) {
    return;
  }
  if (result->kind == LT_VALUE_STRING) {
    lt_json_put_str(&w, lt_buf_view(&result->value));
  } else {
    lt_json_put_raw(&w, lt_buf_view(&result->value));
  }
  if (out->n > LT_ANSWER_MAX_BYTES) {
    (void)lt_answer_spill(&turn->caller, LT_STR(CODE_FUNCTION), out,
                          NULL); /* on failure the preview says that the rest is lost */
  }
}

static lt_status code_begin_output(lt_turn *turn, lt_str code, uint32_t *ret_number, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(input, LT_PROMPT_MEMORY_BYTES);
  lt_json_writer w = lt_json_writer_on(&input);
  lt_json_begin_object(&w);
  lt_json_key(&w, "code");
  lt_json_put_str(&w, code);
  lt_json_end_object(&w);
  LT_TRY(lt_buf_check(&input, err, "the program is too long"));
  return lt_turn_tool_begin(turn, LT_STR_NULL, LT_STR(CODE_FUNCTION), lt_buf_view(&input), LT_STR("Executing..."),
                            ret_number, err);
}

static lt_status code_end_output(lt_turn *turn, uint32_t number, const lt_run_result *result, lt_str value,
                                 lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(logs, 2 * LT_RUN_LOG_MAX_BYTES);
  LT_AUTO_BUF(error, 2 * LT_RUN_LOG_MAX_BYTES);
  lt_program_feedback_put_logs(&logs, result);
  LT_TRY(lt_turn_tool_logs(turn, number, lt_buf_view(&logs), err));
  if (result->done) {
    LT_TRY(lt_prompt_data_keep(turn, number, err));
  }
  if (result->status == LT_OK) {
    return lt_turn_tool_end(turn, number, LT_OK, value, err);
  }
  lt_program_feedback_put_error(&error, result);
  return lt_turn_tool_end(turn, number, result->status, lt_buf_view(&error), err);
}

/* A reply that is not run: it is recorded as a program that failed, and the model is told why. */
static lt_status code_refuse(code_loop *l, lt_str code, lt_status status, lt_str why, lt_err *err) LT_YIELDS {
  uint32_t number;
  LT_TRY(code_begin_output(l->turn, code, &number, err));
  LT_TRY(lt_turn_tool_end(l->turn, number, status, why, err));
  LT_TRY(lt_request_messages_put(&l->messages, "assistant", code, err));
  LT_AUTO_BUF(feedback, LT_PROMPT_MEMORY_BYTES);
  lt_buf_addc(&feedback, "Execution error: ");
  lt_buf_add(&feedback, why);
  LT_TRY(lt_buf_check(&feedback, err, "no memory for the program's feedback"));
  return lt_request_messages_put(&l->messages, "user", lt_buf_view(&feedback), err);
}

/* A reply that was cut off is not run: half a program might do half of something. */
static lt_status code_refuse_cut_program(code_loop *l, lt_str code, lt_err *err) LT_YIELDS {
  static const char why[] =
      "the reply was cut off where it reached the limit of tokens (maxTokens), so the program was not run: write a "
      "shorter one, or do the task in several steps";
  return code_refuse(l, code, LT_E_LIMIT, lt_str_of(why), err);
}

/* The second reply in a row that is no program is the answer. */
static lt_status code_take_prose(code_loop *l, lt_str reply, lt_str why, bool *ret_done, lt_err *err) LT_YIELDS {
  *ret_done = l->was_prose;
  l->was_prose = true;
  if (!*ret_done) {
    return code_refuse(l, reply, LT_E_SYNTAX, why, err);
  }
  lt_program_drafts_drop(&l->turn->internal->drafts);
  return lt_turn_text(l->turn, lt_str_trim(reply), err);
}

static lt_status code_feed_back(code_loop *l, uint32_t number, lt_str code, const lt_run_result *result, lt_str value,
                                lt_err *err) {
  LT_AUTO_BUF(feedback, LT_PROMPT_MEMORY_BYTES);
  LT_AUTO_BUF(edits, LT_PROMPT_MEMORY_BYTES);
  lt_program_feedback_put(&feedback, l->turn, result, value);
  lt_turn_edits_put(l->turn, lt_outbox_id(&l->turn->internal->outbox, number), &edits);
  lt_buf_addc(&feedback, edits.n > 0 ? "\n\n" : "");
  lt_buf_add(&feedback, lt_buf_view(&edits));
  LT_TRY(lt_buf_check(&feedback, err, "no memory for the program's feedback"));
  LT_TRY(lt_request_messages_put(&l->messages, "assistant", code, err));
  return lt_request_messages_put(&l->messages, "user", lt_buf_view(&feedback), err);
}

/* Tells the reader that the output is incomplete. */
static lt_status code_report_cut(lt_turn *turn, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(text, LT_KIB);
  lt_buf_addc(&text, "\n(The program put out more than the ");
  lt_program_feedback_put_output_limit(&text, turn);
  lt_buf_addc(&text, " that are allowed (sandbox.maxOutputBytes): the rest is dropped)");
  LT_TRY(lt_buf_check(&text, err, "no memory for what the prompt puts out"));
  return lt_turn_text(turn, lt_buf_view(&text), err);
}

static lt_status code_finish(code_loop *l, lt_str code, uint32_t number, const lt_run_result *result,
                             lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(value, LT_JSON_MAX_BYTES);
  code_put_value(l->turn, result, &value);
  LT_TRY(lt_buf_check(&value, err, "no memory for the program's result"));
  LT_TRY(code_end_output(l->turn, number, result, lt_buf_view(&value), err));
  if (result->output_cut) {
    LT_TRY(code_report_cut(l->turn, err));
  }
  return result->done ? LT_OK : code_feed_back(l, number, code, result, lt_buf_view(&value), err);
}

static lt_status code_execute(code_loop *l, lt_str code, bool *ret_done, lt_err *err) LT_YIELDS {
  uint32_t number;
  LT_TRY(code_begin_output(l->turn, code, &number, err));
  lt_run_result result;
  lt_run_result_init(&result);
  const lt_turn_program program = {
      .output = number, .code = code, .lang = LT_LANG_JAVASCRIPT, .streams = true, .takes_images = true};
  lt_status status = lt_turn_run(l->turn, &program, &result, err);
  if (status == LT_OK) {
    status = code_finish(l, code, number, &result, err);
  }
  *ret_done = result.done;
  lt_run_result_release(&result);
  return status;
}

/* --- The loop ----------------------------------------------------------------------------------------------------- */
/* An empty reply, or one that the provider's filter ended: it is not run. */
static lt_status code_report_no_program(lt_turn *turn, const lt_completion *completion, lt_err *err) LT_YIELDS {
  lt_str why = lt_completion_incomplete_reason(completion->finish);
  lt_str text = why.n == 0 ? LT_STR("(No response from model)")
                           : lt_arena_printf(&turn->arena, "(%.*s. No program was run)", LT_STR_ARG(why));
  lt_program_drafts_drop(&turn->internal->drafts);
  return lt_turn_incomplete(turn, lt_incomplete_of_reply(completion->finish, true), text, err);
}

static lt_status code_run_round(code_loop *l, lt_completion *completion, bool *ret_done, lt_err *err) LT_YIELDS {
  LT_TRY(lt_request_messages_ask(&l->messages, LT_STR_NULL, false, completion, err));
  lt_str code = lt_buf_view(&completion->text);
  if (lt_str_trim(code).n == 0 || completion->finish == LT_FINISH_FILTERED) {
    *ret_done = true;
    return code_report_no_program(l->turn, completion, err);
  }
  if (completion->finish == LT_FINISH_LENGTH) {
    return code_refuse_cut_program(l, code, err);
  }
  LT_AUTO_BUF(why, LT_PROMPT_MEMORY_BYTES);
  if (lt_code_prose_is(l->turn, code, &why)) {
    LT_TRY(lt_buf_check(&why, err, "no memory for the program's feedback"));
    return code_take_prose(l, code, lt_buf_view(&why), ret_done, err);
  }
  l->was_prose = false;
  return code_execute(l, code, ret_done, err);
}

static lt_status code_run_rounds(code_loop *l, lt_err *err) LT_YIELDS {
  LT_TRY(code_begin(l, err));
  LT_TRY(lt_prompt_data_find(l->turn, err));
  for (uint32_t i = 0; i < l->turn->rounds; i++) {
    bool done = false;
    lt_completion completion;
    lt_completion_init(&completion);
    lt_status status = code_run_round(l, &completion, &done, err);
    lt_completion_release(&completion);
    if (status != LT_OK || done) {
      return status;
    }
  }
  return lt_turn_incomplete(l->turn, LT_INCOMPLETE_ROUNDS,
                            LT_STR("(Reached maximum iterations without done() being called)"), err);
}

static lt_status code_run(lt_turn *turn, lt_err *err) LT_YIELDS {
  code_loop l = {.turn = turn};
  lt_request_messages_init(&l.messages, turn);
  lt_status status = code_run_rounds(&l, err);
  lt_request_messages_release(&l.messages);
  return status;
}

const lt_mode lt_code_mode = {
    .id = "code",
    .name = "Code (JavaScript sandbox)",
    .rounds = LT_ROUNDS_CODE,
    .for_programs = true,
    .history = LT_HISTORY_CODE,
    .programs_in = LT_PROGRAMS_IN_TEXT,
    .program = CODE_FUNCTION,
    .put_tools = lt_code_prompt_put_listing,
    .run = code_run,
};
