/* Program mode: the message is the program, and no model is asked. So a run of a program is a prompt: it is stored,
 * waits for approvals, survives a kill and is decided about from anywhere. The gateway's runs are such prompts. A
 * message may also be a call of one tool, which is answered with all of its content.
 */
#include "agent/modes/mode_table.h"
#include "agent/program_feedback.h"
#include "agent/program_session.h"
#include "agent/turn_state.h"
#include "base/limits.h"

#define PROGRAM_FUNCTION "program.run"

/* --- The request -------------------------------------------------------------------------------------------------- */
static bool program_find_language(lt_str name, lt_lang *ret_lang) {
  static const struct {
    const char *name;
    lt_lang lang;
  } languages[] = {{"javascript", LT_LANG_JAVASCRIPT}, {"typescript", LT_LANG_TYPESCRIPT}, {"python", LT_LANG_PYTHON}};
  for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++) {
    if (lt_str_eqc(name, languages[i].name)) {
      *ret_lang = languages[i].lang;
      return true;
    }
  }
  return false;
}

/* The message is {"code", "language"?, "timeoutMs"?, "session"?, "typed"?, "shows"?} or, in a dialogue, JavaScript as
 * it is. "typed": a person types it; what the program puts out are outputs of their own, and not in the answer.
 * "shows": its value is a text for a person. */
static void program_read_message(lt_turn *turn, lt_turn_program *ret, lt_str *ret_session) {
  lt_json_doc doc;
  lt_str code, language = LT_STR("javascript");
  int64_t timeout_ms = 0;
  *ret = (lt_turn_program){.code = turn->input, .lang = LT_LANG_JAVASCRIPT};
  *ret_session = LT_STR_NULL;
  if (lt_json_parse(&turn->arena, turn->input, &doc, NULL) != LT_OK ||
      !lt_json_str(lt_json_get(lt_json_root(&doc), "code"), &turn->arena, &code)) {
    return;
  }
  lt_json root = lt_json_root(&doc);
  if (lt_json_exists(lt_json_get(root, "language")) &&
      (!lt_json_str(lt_json_get(root, "language"), &turn->arena, &language) ||
       !program_find_language(language, &ret->lang))) {
    return;
  }
  ret->code = code;
  (void)lt_json_str(lt_json_get(root, "session"), &turn->arena, ret_session);
  ret->shows_value = lt_json_bool(lt_json_get(root, "shows"), false);
  ret->is_typed = ret->streams = lt_json_bool(lt_json_get(root, "typed"), false);
  if (lt_json_int(lt_json_get(root, "timeoutMs"), &timeout_ms) && timeout_ms > 0) {
    ret->timeout_ms = (uint64_t)timeout_ms < LT_RUN_TIMEOUT_MAX_MS ? (uint64_t)timeout_ms : LT_RUN_TIMEOUT_MAX_MS;
  }
}

/* --- The answer --------------------------------------------------------------------------------------------------- */
/* What was said, in order: outputs as they are, each log on a line. */
static void program_put_said(const lt_turn *turn, const lt_run_result *result, lt_buf *out) {
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    lt_buf_add(out, text->text);
    lt_buf_addc(out, lt_str_ends(text->text, LT_STR("\n")) ? "" : "\n");
  }
  if (result->output_cut) {
    lt_buf_addc(out, "[more was output than the ");
    lt_program_feedback_put_output_limit(out, turn);
    lt_buf_addc(out, " that are kept]\n");
  }
  if (result->log_cut) {
    lt_buf_printf(out, "[more was logged than the %lu KiB that are kept]\n", LT_RUN_LOG_MAX_BYTES / LT_KIB);
  }
}

static void program_put_answer(const lt_turn *turn, const lt_turn_program *program, const lt_program_session *session,
                               const lt_run_result *result, lt_buf *out) {
  if (!program->streams) {
    program_put_said(turn, result, out);
  }
  if (result->status == LT_OK && result->kind != LT_VALUE_UNDEFINED) {
    lt_buf_add(out, lt_buf_view(&result->value));
  }
  if (!program->is_typed) {
    lt_program_session_tell(session, result, out);
  }
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
/* A program that failed is a prompt that failed. */
static lt_status program_end_failed(lt_turn *turn, uint32_t number, const lt_run_result *result,
                                    lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(text, LT_PROMPT_MEMORY_BYTES);
  lt_program_feedback_put_error(&text, result);
  lt_program_feedback_put_stack(&text, result);
  lt_program_feedback_put_calls(&text, result);
  LT_TRY(lt_buf_check(&text, err, "no memory for the program's error"));
  LT_TRY(lt_turn_tool_end(turn, number, result->status, lt_buf_view(&text), err));
  return lt_fail(err, LT_E_PROGRAM, "%.*s", LT_STR_ARG(lt_buf_view(&result->error)));
}

/* For clients that read values; a reader of texts has it at the end of the text. A long one is there only. */
static void program_put_value(const lt_run_result *result, lt_buf *out) {
  lt_str value = lt_buf_view(&result->value);
  if (result->kind == LT_VALUE_UNDEFINED || value.n > LT_ANSWER_MAX_BYTES / 2) {
    return;
  }
  if (result->kind == LT_VALUE_JSON) {
    lt_buf_add(out, value);
  } else {
    lt_json_writer w = lt_json_writer_on(out);
    lt_json_put_str(&w, value);
  }
}

static lt_status program_end_done(lt_turn *turn, uint32_t number, const lt_run_result *result, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(value, 4 * LT_ANSWER_MAX_BYTES);
  program_put_value(result, &value);
  lt_str answer = value.n <= LT_ANSWER_MAX_BYTES ? lt_buf_view(&value) : LT_STR_NULL;
  return lt_turn_tool_end(turn, number, LT_OK, answer, err);
}

/* Who types programs is warned where one has ended, and its variables could not be kept. */
static void program_warn(const lt_turn *turn, const lt_program_session *session, const lt_run_result *result) {
  const lt_agent_options *o = &turn->agent->options;
  LT_AUTO_BUF(text, LT_KIB);
  if (result->status == LT_OK && session->why != NULL && o->on_said != NULL) {
    lt_program_session_tell(session, result, &text);
    o->on_said(o->arg, lt_str_of(turn->ids.prompt), LT_SAID_WARNING, lt_buf_view(&text));
  }
}

static lt_status program_end(lt_turn *turn, const lt_turn_program *program, const lt_program_session *session,
                             const lt_run_result *result, lt_err *err) LT_YIELDS {
  uint32_t number = program->output;
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  program_put_answer(turn, program, session, result, &text);
  if (program->is_typed) {
    program_warn(turn, session, result);
  }
  LT_TRY(lt_buf_check(&text, err, "no memory for the program's answer"));
  if (text.n > 0) {
    LT_TRY(lt_turn_text(turn, lt_buf_view(&text), err));
  }
  LT_AUTO_BUF(logs, 2 * LT_RUN_LOG_MAX_BYTES);
  lt_program_feedback_put_logs(&logs, result);
  if (logs.n > 0) {
    LT_TRY(lt_turn_tool_logs(turn, number, lt_buf_view(&logs), err));
  }
  return result->status == LT_OK ? program_end_done(turn, number, result, err)
                                 : program_end_failed(turn, number, result, err);
}

static lt_status program_begin(lt_turn *turn, uint32_t *ret_number, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(input, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&input);
  lt_json_begin_object(&w);
  lt_json_key(&w, "message");
  lt_json_put_str(&w, turn->input);
  lt_json_end_object(&w);
  LT_TRY(lt_buf_check(&input, err, "the program is too long"));
  return lt_turn_tool_begin(turn, LT_STR_NULL, LT_STR(PROGRAM_FUNCTION), lt_buf_view(&input), LT_STR("Executing..."),
                            ret_number, err);
}

/* --- One call ----------------------------------------------------------------------------------------------------- */
typedef struct program_one_call {
  lt_str tool, input;
  bool is_plain; /* the text is the value, else the whole answer */
  int64_t timeout_ms;
} program_one_call;

/* A call is {"tool": id, "input": object, "plain"?, "timeoutMs"?}. */
static bool program_read_call(lt_str message, lt_arena *arena, program_one_call *ret) {
  lt_json_doc doc;
  if (lt_json_parse(arena, message, &doc, NULL) != LT_OK) {
    return false;
  }
  lt_json root = lt_json_root(&doc);
  *ret = (program_one_call){.input = lt_json_text(lt_json_get(root, "input")),
                            .is_plain = lt_json_bool(lt_json_get(root, "plain"), false)};
  (void)lt_json_int(lt_json_get(root, "timeoutMs"), &ret->timeout_ms);
  return lt_json_str(lt_json_get(root, "tool"), arena, &ret->tool);
}

static bool program_is_call(lt_str message) {
  program_one_call call;
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES);
  return program_read_call(message, &arena, &call);
}

/* The text is the whole answer (tool/whole_answer.h), also of a tool that says that it failed; or the value. */
static lt_status program_call(lt_turn *turn, const program_one_call *call, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(answer, LT_JSON_MAX_BYTES);
  const lt_invoke_options options = {.timeout_ms = call->timeout_ms > 0 ? (uint64_t)call->timeout_ms : 0,
                                     .cancel = &turn->cancel,
                                     .caller = &turn->caller,
                                     .wants_whole = !call->is_plain};
  lt_status status = lt_turn_call_with(turn, LT_STR_NULL, call->tool, call->input, &options, &answer, err);
  if (status == LT_OK || (status == LT_E_TOOL && !call->is_plain)) {
    LT_TRY(lt_turn_text(turn, lt_buf_view(&answer), err));
  }
  return status;
}

static lt_status program_run_in_session(lt_turn *turn, const lt_turn_program *program, lt_program_session *session,
                                        lt_err *err) LT_YIELDS {
  lt_run_result result;
  lt_run_result_init(&result);
  lt_status status = lt_turn_run(turn, program, &result, err);
  if (status == LT_OK) {
    lt_program_session_end(session, &result);
    status = program_end(turn, program, session, &result, err);
  }
  lt_run_result_release(&result);
  return status;
}

static lt_status program_run(lt_turn *turn, lt_err *err) LT_YIELDS {
  lt_turn_program program;
  lt_program_session session;
  program_one_call call;
  lt_str name;
  if (program_read_call(turn->input, &turn->arena, &call)) {
    return program_call(turn, &call, err);
  }
  program_read_message(turn, &program, &name);
  LT_TRY(program_begin(turn, &program.output, err));
  LT_ERR_VAR(why);
  lt_status status = lt_program_session_begin(&session, turn, name, &why);
  program.session = name.n > 0 ? &session.run : NULL;
  if (status == LT_OK) {
    status = program_run_in_session(turn, &program, &session, err);
  } else if (lt_turn_tool_end(turn, program.output, status, lt_str_of(lt_err_msg(&why)), err) == LT_OK) {
    lt_err_copy(err, &why);
  }
  lt_program_session_release(&session);
  return status;
}

const lt_mode lt_program_mode = {
    .id = "program",
    .name = "Program (no model)",
    .rounds = 1,
    .for_programs = true,
    .is_call = program_is_call,
    .history = LT_HISTORY_CODE,
    .program = PROGRAM_FUNCTION,
    .run = program_run,
};
