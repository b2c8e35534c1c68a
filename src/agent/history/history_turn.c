/* The history of a turn, as its mode shows it. */
#include "agent/history/history.h"
#include "agent/turn_state.h"

typedef struct history_job {
  const lt_turn *turn;
  lt_history history;
  lt_json_writer *w;
  lt_status status;
  lt_err err;
} history_job;

/* Touches nothing of the loop's: the catalog may be read anywhere, and the turn's history does not change. */
static void history_turn_work(void *arg) {
  history_job *j = arg;
  lt_arena arena;
  lt_tool_definitions *wire = NULL;
  lt_arena_init(&arena, LT_HISTORY_MEMORY_BYTES);
  j->status = j->turn->prepared.catalog != NULL && j->turn->history.n > 2
                  ? lt_tool_definitions_new(&arena, j->turn->prepared.catalog, &wire, &j->err)
                  : LT_OK;
  j->history.wire = wire;
  if (j->status == LT_OK) {
    j->status = lt_history_put(&j->history, j->w, &j->err);
  }
  lt_arena_release(&arena);
}

static lt_status history_turn_put(const lt_turn *turn, lt_history_form form, lt_json_writer *w, size_t max_tokens,
                                  lt_err *err) LT_YIELDS {
  history_job j = {.turn = turn, .w = w, .err = LT_ERR_INIT};
  j.history = (lt_history){
      .prompts = lt_buf_view(&turn->history),
      .current = lt_str_of(turn->ids.prompt),
      .form = form,
      .max_tokens = max_tokens,
  };
  if (turn->history.n <= LT_HISTORY_INLINE_BYTES) {
    history_turn_work(&j);
  } else {
    LT_TRY(lt_loop_offload(turn->agent->options.loop, history_turn_work, &j, err));
  }
  return j.status == LT_OK ? LT_OK : lt_fail(err, j.status, "%s", lt_err_msg(&j.err));
}

lt_status lt_history_classic(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_err *err) {
  bool typescript = turn->mode != NULL && turn->mode->run == lt_mode_typescript.run;
  return history_turn_put(turn, typescript ? LT_HISTORY_TYPESCRIPT : LT_HISTORY_CLASSIC, w, max_tokens, err);
}

lt_status lt_history_code(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_err *err) {
  return history_turn_put(turn, LT_HISTORY_CODE, w, max_tokens, err);
}
