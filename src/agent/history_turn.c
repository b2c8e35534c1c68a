/* The history of a turn, as its mode shows it. */
#include "agent/history.h"
#include "agent/turn.h"
#include "base/limits.h"

static lt_status put_of_turn(const lt_turn *turn, lt_history_form form, lt_json_writer *w, size_t max_tokens,
                             lt_err *err) {
  lt_arena arena;
  lt_wire *wire = NULL;
  lt_arena_init(&arena, LT_HISTORY_MEMORY_BYTES);
  lt_status status = turn->prepared.catalog != NULL ? lt_wire_new(&arena, turn->prepared.catalog, &wire, err) : LT_OK;
  const lt_history history = {
      .prompts = lt_buf_view(&turn->history),
      .current = lt_str_of(turn->ids.prompt),
      .form = form,
      .wire = wire,
      .max_tokens = max_tokens,
  };
  if (status == LT_OK) {
    status = lt_history_put(&history, w, err);
  }
  lt_arena_release(&arena);
  return status;
}

lt_status lt_history_classic(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_err *err) {
  bool typescript = turn->mode == &lt_mode_typescript;
  return put_of_turn(turn, typescript ? LT_HISTORY_TYPESCRIPT : LT_HISTORY_CLASSIC, w, max_tokens, err);
}

lt_status lt_history_code(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_err *err) {
  return put_of_turn(turn, LT_HISTORY_CODE, w, max_tokens, err);
}
