#include "agent/history/history_turn.h"

#include "agent/agent_state.h"
#include "agent/history/history.h"
#include "agent/modes/mode_table.h"

/* Does `work` on the loop's thread where the history is short, and off it where it is long. */
static lt_status history_turn_do(const lt_turn *turn, void (*work)(void *arg), void *arg, lt_err *err) LT_YIELDS {
  if (turn->history.n > LT_HISTORY_INLINE_BYTES) {
    return lt_loop_offload(turn->agent->options.loop, work, arg, err);
  }
  work(arg);
  return LT_OK;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
typedef struct history_scan {
  lt_turn *turn;
  lt_str data; /* in the history's text */
  lt_status status;
  lt_err err;
} history_scan;

static void history_scan_prompt(history_scan *scan, lt_json prompt) {
  lt_json_iter it = lt_json_each(lt_json_get(prompt, "output"));
  while (lt_json_next(&it)) {
    lt_json data = lt_json_get(it.value, "data");
    if (lt_json_exists(data)) {
      scan->data = lt_json_text(data);
    }
  }
}

/* The turn's own prompt is the last one of its conversation already: it is cut off. */
static void history_turn_scan(void *arg) {
  history_scan *scan = arg;
  lt_buf *history = &scan->turn->history;
  lt_str own = lt_str_of(scan->turn->ids.prompt);
  size_t end = 1; /* of the prompts to keep */
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  scan->status = lt_json_parse(&arena, lt_buf_view(history), &doc, &scan->err);
  if (scan->status != LT_OK) {
    return;
  }
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it) && !lt_json_str_eq(lt_json_get(it.value, "id"), own)) {
    lt_str text = lt_json_text(it.value);
    end = (size_t)(text.p - history->p) + text.n;
    history_scan_prompt(scan, it.value);
  }
  history->n = end;
  lt_buf_byte(history, ']');
  scan->status = history->status;
}

static lt_status history_turn_load(lt_turn *turn, lt_err *err) LT_YIELDS {
  lt_status status = LT_E_LIMIT;
  for (size_t max = LT_PROMPT_HISTORY_MAX; max > 0 && status == LT_E_LIMIT; max /= 10) {
    lt_buf_clear(&turn->history);
    status = lt_store_history(turn->agent->options.db, turn->user, lt_str_of(turn->ids.conversation), max + 1,
                              &turn->history, err);
    status = status == LT_OK ? turn->history.status : status;
  }
  return status;
}

lt_status lt_history_turn_read(lt_turn *turn, lt_str *ret_data, lt_err *err) {
  history_scan scan = {.turn = turn, .err = LT_ERR_INIT};
  lt_status status = history_turn_load(turn, err);
  if (status == LT_OK) {
    status = history_turn_do(turn, history_turn_scan, &scan, err);
  }
  if (status == LT_OK) {
    status = lt_err_copy(err, &scan.err);
  }
  if (status != LT_OK) {
    return lt_err_prefix(err, "the conversation's history cannot be read");
  }
  *ret_data = scan.data;
  return LT_OK;
}

/* --- Showing ------------------------------------------------------------------------------------------------------ */
typedef struct history_job {
  const lt_turn *turn;
  lt_history history;
  lt_json_writer *w;
  lt_buf *user;
  lt_status status;
  lt_err err;
} history_job;

/* Touches nothing of the loop's: the catalog may be read anywhere, and the turn's history does not change. */
static void history_turn_write(void *arg) {
  history_job *job = arg;
  lt_tool_definitions *definitions = NULL;
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  job->status = job->turn->prepared.catalog != NULL && job->turn->history.n > 2
                    ? lt_tool_definitions_new(&arena, job->turn->prepared.catalog, &definitions, &job->err)
                    : LT_OK;
  job->history.definitions = definitions;
  if (job->status == LT_OK) {
    job->status = lt_history_put(&job->history, job->w, job->user, &job->err);
  }
}

lt_status lt_history_turn_put(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_buf *ret_user,
                              lt_err *err) {
  history_job job = {.turn = turn, .w = w, .user = ret_user, .err = LT_ERR_INIT};
  job.history = (lt_history){
      .prompts = lt_buf_view(&turn->history),
      .current = lt_str_of(turn->ids.prompt),
      .form = turn->mode->history,
      .modes = turn->agent->modes,
      .mode_count = turn->agent->mode_count,
      .max_tokens = max_tokens,
  };
  LT_TRY(history_turn_do(turn, history_turn_write, &job, err));
  return job.status == LT_OK ? LT_OK : lt_err_copy(err, &job.err);
}
