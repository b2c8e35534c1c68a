/* TypeScript mode: the model has one tool, which runs a program with all the others (seed CPE). */
#include "agent/agent_state.h"
#include "runner/call_summary.h"
#include "agent/modes/mode_table.h"
#include "agent/program_feedback.h"
#include "agent/tool_rounds.h"
#include "agent/modes/typescript_tool.h"
#include "base/limits.h"

/* --- What a program said ------------------------------------------------------------------------------------------ */
/* Appends the output, or the log lines. A note says when the text was cut, so that the model does not take it for
 * complete. */
static void typescript_put_said(const lt_turn *turn, const lt_run_result *result, bool output, lt_buf *out) {
  for (const lt_run_text *text = result->texts; text != NULL; text = text->next) {
    if (output ? text->said == LT_SAID_OUTPUT : lt_said_is_log(text->said)) {
      lt_buf_add(out, text->text);
      lt_buf_addc(out, output ? "" : "\n");
    }
  }
  if (output && result->output_cut) {
    lt_buf_addc(out, "\n[more was output than the ");
    lt_program_feedback_put_output_limit(out, turn);
    lt_buf_addc(out, " that are kept]\n");
  } else if (!output && result->log_cut) {
    lt_buf_printf(out, "[more was logged than the %lu KiB that are kept]\n", LT_RUN_LOG_MAX_BYTES / LT_KIB);
  }
}

static void typescript_put_place(const lt_run_result *result, lt_buf *out) {
  if (result->line > 0) {
    lt_buf_printf(out, "\n    at line %u, column %u", result->line, result->column);
    lt_buf_addc(out, result->context.n > 0 ? ": " : "");
    lt_buf_add(out, lt_buf_view(&result->context));
  }
  if (result->stack.n > 0) {
    lt_buf_addc(out, "\nStack:\n");
    lt_buf_add(out, lt_buf_view(&result->stack));
  }
}

/* Names the calls that were made, so that the model does not repeat them. */
static void typescript_put_calls(const lt_run_result *result, lt_buf *out) {
  const lt_call_summary summary = lt_call_summary_read(result, " (not finished)");
  lt_buf_addc(out, summary.count > 0 ? "\n\nTool calls it had made: " : "");
  lt_call_summary_put(out, &summary);
}

/* A program that did not look at a failed Result goes on as if the call had succeeded; so may the model. */
static void typescript_put_unread(const lt_turn *turn, const lt_run_result *result, lt_buf *out) {
  if (result->unread.n > 0) {
    size_t before = out->n;
    lt_buf_addc(out, before > 0 && out->p[before - 1] != '\n' ? "\n[" : "[");
    lt_buf_add(out, lt_buf_view(&result->unread));
    lt_buf_addc(out, "]\n");
    lt_secrets_mask_buf(turn->agent->options.secrets, out);
  }
}

/* Standard error, then standard output. */
static void typescript_put_failure(const lt_turn *turn, const lt_run_result *result, lt_buf *out) {
  typescript_put_said(turn, result, false, out);
  lt_buf_add(out, result->error.n > 0 ? lt_buf_view(&result->error) : lt_str_of(lt_status_text(result->status)));
  typescript_put_place(result, out);
  typescript_put_calls(result, out);
  lt_secrets_mask_buf(turn->agent->options.secrets, out);
  size_t before = out->n;
  lt_buf_addc(out, "\n\nSTDOUT:\n");
  size_t start = out->n;
  typescript_put_said(turn, result, true, out);
  if (out->n == start) {
    lt_buf_cut(out, before);
  }
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
typedef struct typescript_request {
  lt_str code;
  uint64_t timeout_ms;
} typescript_request;

/* Some models write the arguments as a string. */
static bool typescript_read_object(lt_arena *arena, lt_str text, lt_json_doc *doc) {
  lt_str inner;
  if (lt_json_parse(arena, text, doc, NULL) != LT_OK) {
    return false;
  }
  if (lt_json_str(lt_json_root(doc), arena, &inner) && lt_json_parse(arena, inner, doc, NULL) != LT_OK) {
    return false;
  }
  return lt_json_typeof(lt_json_root(doc)) == LT_JSON_OBJECT;
}

/* False: the error is appended. */
static bool typescript_read_request(lt_arena *arena, lt_str input, typescript_request *ret, lt_buf *faults) {
  lt_json_doc doc;
  lt_str code;
  int64_t ms = 0;
  if (!typescript_read_object(arena, input, &doc) ||
      !lt_json_str(lt_json_get(lt_json_root(&doc), "code"), arena, &code)) {
    lt_buf_addc(faults, "Error parsing parameters: expected {\"code\": \"...\"} with the program as a string");
    return false;
  }
  lt_json timeout = lt_json_get(lt_json_root(&doc), "timeout");
  bool has = lt_json_exists(timeout) && lt_json_typeof(timeout) != LT_JSON_NULL;
  if (has && (!lt_json_int(timeout, &ms) || ms < 1)) {
    lt_buf_addc(faults, "Error parsing parameters: timeout: expected a number of milliseconds, 1 or more");
    return false;
  }
  *ret = (typescript_request){.code = code, .timeout_ms = (uint64_t)ms};
  ret->timeout_ms = ret->timeout_ms < LT_RUN_TIMEOUT_MAX_MS ? ret->timeout_ms : LT_RUN_TIMEOUT_MAX_MS;
  return true;
}

static lt_status typescript_end_success(lt_turn *turn, uint32_t number, lt_str stdout_text, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(json, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&json);
  lt_json_put_str(&w, stdout_text);
  return lt_turn_tool_end(turn, number, LT_OK, lt_buf_view(&json), err);
}

/* Stores the whole answer; the model gets the beginning and the end of a long one. */
static lt_status typescript_end_program(lt_tool_round *round, lt_tool_round_call *call, uint32_t number,
                                        const lt_run_result *result, lt_err *err) LT_YIELDS {
  lt_turn *turn = round->turn;
  LT_AUTO_BUF(text, LT_RUN_RESULT_MAX_BYTES);
  LT_AUTO_BUF(logs, LT_RUN_RESULT_MAX_BYTES);
  typescript_put_said(turn, result, false, &logs);
  if (logs.n > 0) {
    LT_TRY(lt_turn_tool_logs(turn, number, lt_buf_view(&logs), err));
  }
  if (result->status == LT_OK) {
    typescript_put_said(turn, result, true, &text);
    typescript_put_unread(turn, result, &text);
  } else {
    typescript_put_failure(turn, result, &text);
  }
  lt_program_feedback_cut(&call->answer, lt_buf_view(&text), LT_FEEDBACK_TOKENS);
  return result->status == LT_OK ? typescript_end_success(turn, number, lt_buf_view(&text), err)
                                 : lt_turn_tool_end(turn, number, result->status, lt_buf_view(&text), err);
}

static lt_status typescript_run_program(lt_tool_round *round, lt_tool_round_call *call, const typescript_request *what,
                                        lt_err *err) LT_YIELDS {
  uint32_t number;
  lt_run_result result;
  lt_turn_program program = {
      .code = what->code, .lang = LT_LANG_TYPESCRIPT, .timeout_ms = what->timeout_ms, .takes_images = true};
  LT_TRY(lt_turn_tool_begin(round->turn, call->id, LT_STR(LT_TYPESCRIPT_TOOL), call->input, LT_STR("Executing..."),
                            &number, err));
  program.output = number;
  lt_run_result_init(&result);
  lt_status status = lt_turn_run(round->turn, &program, &result, err);
  if (status == LT_OK) {
    status = typescript_end_program(round, call, number, &result, err);
  }
  lt_run_result_release(&result);
  return status;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
static const lt_tool *typescript_find_meant(const lt_catalog *catalog, lt_str name) {
  const lt_tool *tool = lt_catalog_find_word(catalog, LT_TOOL_TYPESCRIPT, name).tool;
  return tool != NULL ? tool : lt_catalog_find(catalog, name);
}

static void typescript_put_not_found(lt_tool_round *round, lt_tool_round_call *call) {
  const lt_tool *meant = typescript_find_meant(round->turn->prepared.catalog, call->asked->name);
  lt_buf_addc(&call->answer, "Tool \"");
  lt_buf_add(&call->answer, call->asked->name);
  lt_buf_addc(&call->answer, "\" not found. Available tools: " LT_TYPESCRIPT_TOOL);
  if (meant != NULL) {
    lt_buf_addc(&call->answer, ". Call it in its code: await ");
    lt_buf_add(&call->answer, meant->ts_name);
    lt_buf_addc(&call->answer, "({...})");
  }
}

static lt_status typescript_carry_out(lt_tool_round *round, lt_tool_round_call *call, lt_err *err) LT_YIELDS {
  typescript_request what;
  if (call->broken) {
    return lt_tool_rounds_refuse(round, call, LT_E_SYNTAX, err);
  }
  if (!lt_str_eqc(call->asked->name, LT_TYPESCRIPT_TOOL)) {
    typescript_put_not_found(round, call);
    return lt_tool_rounds_refuse(round, call, LT_E_NOTFOUND, err);
  }
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  return typescript_read_request(&arena, call->input, &what, &call->answer)
             ? typescript_run_program(round, call, &what, err)
             : lt_tool_rounds_refuse(round, call, LT_E_INVALID, err);
}

/* In order: what one program stores the next one recalls. */
static lt_status typescript_carry_out_all(lt_tool_round *round, lt_err *err) LT_YIELDS {
  for (size_t i = 0; i < round->count; i++) {
    LT_TRY(typescript_carry_out(round, &round->calls[i], err));
  }
  return LT_OK;
}

static const char typescript_system[] =
    "You are an assistant that works by writing TypeScript programs: execute_typescript runs one, and its description "
    "says what a program can call. Do as much as you can in one program, and print only what you need to see. A "
    "program "
    "that fails says why and which calls it had made: do not make these again. When the task is done, answer briefly, "
    "in "
    "the user's language.";

/* --- The mode ----------------------------------------------------------------------------------------------------- */
/* Defined once: the tools of programs do not change within a prompt. */
static lt_status typescript_define(void *arg, lt_turn *turn, uint32_t round, lt_tool_round_tools *ret_tools,
                                   lt_err *err) LT_YIELDS {
  lt_buf *tools = arg;
  if (round == 0) {
    LT_TRY(
        lt_typescript_tool_define(turn->prepared.catalog, &turn->prepared.defaults, LT_TYPESCRIPT_TOKENS, tools, err));
  }
  *ret_tools = (lt_tool_round_tools){.definitions = lt_buf_view(tools)};
  return LT_OK;
}

static lt_status typescript_run(lt_turn *turn, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(tools, LT_PROMPT_MESSAGES_BYTES);
  const lt_tool_rounds rounds = {
      .define = typescript_define, .carry_out = typescript_carry_out_all, .system = typescript_system, .arg = &tools};
  return lt_tool_rounds_run(turn, &rounds, err);
}

static lt_status typescript_put_tools(const lt_agent *agent, const lt_catalog *catalog, lt_buf *out, lt_err *err) {
  return lt_typescript_tool_define(catalog, &agent->options.defaults, LT_TYPESCRIPT_TOKENS, out, err);
}

const lt_mode lt_typescript_mode = {
    .id = "typescript",
    .name = "TypeScript (programs as a tool)",
    .rounds = LT_ROUNDS_TYPESCRIPT,
    .for_programs = true,
    .history = LT_HISTORY_TYPESCRIPT,
    .programs_in = LT_PROGRAMS_IN_CALLS,
    .program = LT_TYPESCRIPT_TOOL,
    .put_tools = typescript_put_tools,
    .run = typescript_run,
};
