/* Mode codex: the contract that the Codex CLI's models are trained on. The model has two tools: `exec` runs JavaScript
 * that calls all other tools, `wait` waits for a program that goes on in the background (docs/internals/codex.md). */
#include "agent/modes/codex_answer.h"
#include "agent/modes/codex_pragma.h"
#include "agent/modes/codex_tool.h"
#include "agent/modes/mode_table.h"
#include "agent/prompt_data.h"
#include "agent/tool_rounds.h"
#include "agent/turn_state.h"
#include "tool/cell_name.h"

typedef struct codex_state {
  lt_cells cells;
  lt_buf tools;
  bool has_values; /* the turn has the values that earlier prompts stored */
} codex_state;

/* --- A cell's answer ---------------------------------------------------------------------------------------------- */
/* What the cell stored is there for those that begin from now on. */
static lt_status codex_keep_values(lt_turn *turn, const lt_cell_news *news, uint32_t number, lt_err *err) {
  bool is_changed = false;
  if (!news->has_ended || news->cell->result.status == LT_E_CANCELLED) {
    return LT_OK;
  }
  LT_TRY(lt_stored_values_merge(turn->values, news->cell->values, news->cell->found, &is_changed, err));
  return is_changed ? lt_prompt_values_keep(turn, number, err) : LT_OK;
}

static lt_status codex_end_output(lt_turn *turn, uint32_t number, lt_status status, lt_str answer,
                                  lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(json, LT_JSON_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&json);
  if (status != LT_OK) {
    return lt_turn_tool_end(turn, number, status, answer, err);
  }
  lt_json_put_str(&w, answer);
  return lt_turn_tool_end(turn, number, LT_OK, lt_buf_view(&json), err);
}

/* `number`: the output of the call that is answered, exec's or wait's. */
static lt_status codex_tell(lt_tool_round_call *call, lt_cell *cell, uint32_t number, const lt_cell_patience *patience,
                            size_t max_tokens, lt_err *err) LT_YIELDS {
  lt_turn *turn = cell->cells->turn;
  lt_cell_news news;
  LT_TRY(lt_cell_await(cell, patience, &news, err));
  LT_TRY(codex_keep_values(turn, &news, number, err));
  LT_TRY(lt_codex_answer_put(turn, &news, max_tokens, &call->answer, &call->parts, err));
  lt_status how = news.has_ended && cell->result.status != LT_E_CANCELLED ? cell->result.status : LT_OK;
  return codex_end_output(turn, number, how, lt_buf_view(&call->answer), err);
}

/* --- exec --------------------------------------------------------------------------------------------------------- */
/* A value that was too large for what later prompts may find is not worth the prompt. */
static void codex_find_values(codex_state *state) {
  if (!state->has_values) {
    state->has_values = true;
    (void)lt_prompt_values_find(state->cells.turn, NULL);
  }
}

/* Some models write the program as the whole of the arguments. */
static bool codex_read_code(lt_arena *arena, lt_str input, lt_str *ret_code, lt_buf *why) {
  lt_json_doc doc;
  if (lt_json_parse(arena, input, &doc, NULL) == LT_OK) {
    lt_json root = lt_json_root(&doc), code = lt_json_get(root, "code");
    if (lt_json_str(lt_json_exists(code) ? code : root, arena, ret_code)) {
      return true;
    }
  }
  lt_buf_addc(why, "exec expects {\"code\": \"...\"} with a JavaScript program");
  return false;
}

static lt_status codex_exec(codex_state *state, lt_tool_round *round, lt_tool_round_call *call, lt_err *err) LT_YIELDS {
  lt_turn *turn = round->turn;
  lt_codex_pragma pragma;
  lt_cell *cell;
  lt_str code;
  uint32_t number;
  if (!codex_read_code(&turn->arena, call->input, &code, &call->answer) ||
      !lt_codex_pragma_read(code, &pragma, &call->answer)) {
    return lt_tool_rounds_refuse(round, call, LT_E_INVALID, err);
  }
  codex_find_values(state);
  LT_TRY(lt_turn_tool_begin(turn, call->id, LT_STR(LT_CODEX_EXEC), call->input, LT_STR("Executing..."), &number, err));
  LT_ERR_VAR(why);
  lt_status status = lt_cell_begin(&state->cells, number, code, &cell, &why);
  if (status != LT_OK) {
    lt_buf_addc(&call->answer, lt_err_msg(&why));
    return lt_turn_tool_end(turn, number, status, lt_buf_view(&call->answer), err);
  }
  const lt_cell_patience patience = {.yield_ms = pragma.yield_ms};
  return codex_tell(call, cell, number, &patience, pragma.max_tokens, err);
}

/* --- wait --------------------------------------------------------------------------------------------------------- */
typedef struct codex_wait_request {
  lt_cell *cell;
  lt_cell_patience patience;
  size_t max_tokens;
  bool should_terminate;
} codex_wait_request;

static void codex_put_no_cell(const lt_cells *cells, lt_str id, lt_buf *why) {
  lt_buf_printf(why, "there is no cell \"%.*s\"", LT_STR_ARG(lt_str_sub(id, 0, LT_RUN_CONTEXT_BYTES)));
  const char *before = ": running are ";
  for (const lt_cell *cell = cells->first; cell != NULL; cell = cell->next) {
    if (!cell->is_end_told) {
      lt_buf_printf(why, "%s\"%u\"", before, cell->number);
      before = ", ";
    }
  }
  lt_buf_addc(why, before[0] == ':' ? ": none is running" : "");
}

/* Models write an id as a number, too. */
static lt_str codex_read_id(lt_json value, lt_arena *arena) {
  lt_str id = LT_STR("");
  return lt_json_str(value, arena, &id) || !lt_json_exists(value) ? id : lt_json_text(value);
}

static bool codex_read_wait(const lt_cells *cells, lt_str input, codex_wait_request *ret, lt_buf *why) {
  lt_json_doc doc;
  int64_t ms = 0, tokens = 0;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&arena, input, &doc, NULL) != LT_OK || lt_json_typeof(lt_json_root(&doc)) != LT_JSON_OBJECT) {
    lt_buf_addc(why, "wait expects {\"cell_id\": \"...\"}");
    return false;
  }
  lt_json root = lt_json_root(&doc);
  if (!lt_codex_pragma_number(lt_json_get(root, "yield_time_ms"), "yield_time_ms", LT_CELL_YIELD_MS,
                              LT_RUN_TIMEOUT_MAX_MS, &ms, why) ||
      !lt_codex_pragma_number(lt_json_get(root, "max_tokens"), "max_tokens", LT_CELL_TOKENS, LT_CELL_TOKENS_MAX,
                              &tokens, why)) {
    return false;
  }
  lt_str id = lt_str_trim(codex_read_id(lt_json_get(root, "cell_id"), &arena));
  *ret = (codex_wait_request){.cell = lt_cell_find(cells, id),
                              .patience = {.yield_ms = (uint64_t)ms, .is_wait = true},
                              .max_tokens = (size_t)tokens,
                              .should_terminate = lt_json_bool(lt_json_get(root, "terminate"), false)};
  if (ret->cell == NULL) {
    codex_put_no_cell(cells, id, why);
  }
  return ret->cell != NULL;
}

static lt_status codex_wait(codex_state *state, lt_tool_round *round, lt_tool_round_call *call, lt_err *err) LT_YIELDS {
  uint32_t number;
  codex_wait_request what;
  if (!codex_read_wait(&state->cells, call->input, &what, &call->answer)) {
    return lt_tool_rounds_refuse(round, call, LT_E_INVALID, err);
  }
  LT_TRY(lt_turn_tool_begin(round->turn, call->id, LT_STR(LT_CODEX_WAIT), call->input, LT_STR("Waiting..."), &number,
                            err));
  if (what.should_terminate) {
    lt_cell_terminate(what.cell);
    what.patience.yield_ms = LT_RUN_TIMEOUT_MAX_MS; /* its end comes at once */
  }
  return codex_tell(call, what.cell, number, &what.patience, what.max_tokens, err);
}

/* --- A reply's calls ---------------------------------------------------------------------------------------------- */
static void codex_put_not_found(lt_tool_round *round, lt_tool_round_call *call) {
  const lt_catalog *catalog = round->turn->prepared.catalog;
  const lt_tool *meant = lt_cell_name_find(catalog, call->asked->name);
  meant = meant != NULL ? meant : lt_catalog_find_any(catalog, call->asked->name);
  lt_buf_addc(&call->answer, "Tool \"");
  lt_buf_add(&call->answer, call->asked->name);
  lt_buf_addc(&call->answer, "\" not found. Available tools: " LT_CODEX_EXEC ", " LT_CODEX_WAIT);
  if (meant != NULL) {
    lt_buf_addc(&call->answer, ". Call it in the program of exec: await tools.");
    lt_cell_name_put(meant, &call->answer);
    lt_buf_addc(&call->answer, "({...})");
  }
}

static lt_status codex_carry_out(codex_state *state, lt_tool_round *round, lt_tool_round_call *call,
                                 lt_err *err) LT_YIELDS {
  if (call->broken) {
    return lt_tool_rounds_refuse(round, call, LT_E_SYNTAX, err);
  }
  if (lt_str_eqc(call->asked->name, LT_CODEX_EXEC)) {
    return codex_exec(state, round, call, err);
  }
  if (lt_str_eqc(call->asked->name, LT_CODEX_WAIT)) {
    return codex_wait(state, round, call, err);
  }
  codex_put_not_found(round, call);
  return lt_tool_rounds_refuse(round, call, LT_E_NOTFOUND, err);
}

/* In order: what one program stores the next one loads. */
static lt_status codex_carry_out_all(lt_tool_round *round, lt_err *err) LT_YIELDS {
  for (size_t i = 0; i < round->count; i++) {
    LT_TRY(codex_carry_out(round->arg, round, &round->calls[i], err));
  }
  return LT_OK;
}

static const char codex_system[] =
    "You are an assistant that works by writing JavaScript programs: exec runs one, and its description says what a "
    "program can call. Do as much as you can in one program, run calls that do not depend on each other at the same "
    "time, and show yourself only what you need to see. When the task is done, answer briefly, in the user's language.";

/* --- The mode ----------------------------------------------------------------------------------------------------- */
/* Defined once: the tools of programs do not change within a prompt. */
static lt_status codex_define(void *arg, lt_turn *turn, uint32_t round, lt_tool_round_tools *ret_tools,
                              lt_err *err) LT_YIELDS {
  codex_state *state = arg;
  if (round == 0) {
    LT_TRY(lt_codex_tool_define(turn->prepared.catalog, &turn->prepared.defaults, LT_TYPESCRIPT_TOKENS, &state->tools,
                                err));
  }
  *ret_tools = (lt_tool_round_tools){.definitions = lt_buf_view(&state->tools)};
  return LT_OK;
}

static lt_status codex_run(lt_turn *turn, lt_err *err) LT_YIELDS {
  codex_state state = {0};
  const lt_tool_rounds rounds = {
      .define = codex_define, .carry_out = codex_carry_out_all, .system = codex_system, .arg = &state};
  lt_cell_list_init(&state.cells, turn);
  lt_buf_init(&state.tools, LT_PROMPT_MESSAGES_BYTES);
  lt_status status = lt_tool_rounds_run(turn, &rounds, err);
  lt_cell_list_release(&state.cells);
  lt_buf_release(&state.tools);
  return status;
}

static lt_status codex_put_tools(const lt_agent *agent, const lt_catalog *catalog, lt_buf *out, lt_err *err) {
  return lt_codex_tool_define(catalog, &agent->options.defaults, LT_TYPESCRIPT_TOKENS, out, err);
}

const lt_mode lt_codex_mode = {
    .id = "codex",
    .name = "Codex (exec and wait)",
    .rounds = LT_ROUNDS_CODEX,
    .for_programs = true,
    .history = LT_HISTORY_CODEX,
    .programs_in = LT_PROGRAMS_IN_CALLS,
    .program = LT_CODEX_EXEC,
    .put_tools = codex_put_tools,
    .freeform = &lt_codex_freeform,
    .run = codex_run,
};
