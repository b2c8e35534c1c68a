#include "agent/history/history_turn.h"

#include "agent/conversation_search.h"
#include "agent/history/history.h"
#include "agent/turn_state.h"

/* Does `work` on the loop's thread where the history is short, and off it where it is long. */
static lt_status history_turn_do(const lt_turn *turn, void (*work)(void *arg), void *arg, lt_err *err) LT_YIELDS {
  if (turn->history.n > LT_HISTORY_INLINE_BYTES) {
    return lt_loop_offload(turn->agent->options.loop, work, arg, err);
  }
  work(arg);
  return LT_OK;
}

lt_status lt_history_turn_read(lt_turn *turn, lt_err *err) {
  lt_status status = LT_E_LIMIT;
  if (turn->internal->is_first) {
    lt_buf_addc(&turn->history, "[]");
    return lt_buf_check(&turn->history, err, "no memory for the conversation's history");
  }
  for (size_t max = LT_PROMPT_HISTORY_MAX; max > 0 && status == LT_E_LIMIT; max /= 10) {
    lt_buf_clear(&turn->history);
    status = lt_store_history(turn->agent->options.db, turn->user, lt_str_of(turn->ids.conversation), max + 1,
                              &turn->history, err);
    status = lt_status_first(status, turn->history.status);
  }
  if (status != LT_OK) {
    return lt_err_prefix(err, "the conversation's history cannot be read");
  }
  return LT_OK;
}

/* --- Showing ------------------------------------------------------------------------------------------------------ */
typedef struct history_job {
  const lt_turn *turn;
  lt_history history;
  lt_json_writer *w;
  lt_buf *user, *parts;
  lt_status status;
  lt_err err;
} history_job;

/* Runs on any thread: it only reads the catalog and the turn's history, which do not change. */
static void history_turn_write(void *arg) {
  history_job *job = arg;
  lt_tool_definitions *definitions = NULL;
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  job->status = job->turn->prepared.catalog != NULL && job->turn->history.n > 2
                    ? lt_tool_definitions_new(&arena, job->turn->prepared.catalog, &definitions, &job->err)
                    : LT_OK;
  job->history.definitions = definitions;
  if (job->status == LT_OK) {
    job->status = lt_history_put(&job->history, job->w, job->user, job->parts, &job->err);
  }
}

lt_status lt_history_turn_put(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_buf *ret_user,
                              lt_buf *ret_parts, lt_err *err) {
  history_job job = {.turn = turn, .w = w, .user = ret_user, .parts = ret_parts, .err = LT_ERR_INIT};
  job.history = (lt_history){
      .prompts = lt_buf_view(&turn->history),
      .current = lt_str_of(turn->ids.prompt),
      .summary = turn->internal->summary,
      .can_search = lt_conversation_search_is_offered(turn),
      .form = turn->mode->history,
      .modes = turn->agent->modes,
      .mode_count = turn->agent->mode_count,
      .max_tokens = max_tokens,
      .ret_data = &turn->internal->last_data,
  };
  LT_TRY(history_turn_do(turn, history_turn_write, &job, err));
  return lt_err_copy(err, &job.err);
}

/* --- Copying ------------------------------------------------------------------------------------------------------ */
static void history_turn_copy(void *arg) {
  history_job *job = arg;
  lt_str own = lt_str_of(job->turn->ids.prompt);
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  job->status = lt_json_parse(&arena, lt_buf_view(&job->turn->history), &doc, &job->err);
  lt_json_iter it = lt_json_each(job->status == LT_OK ? lt_json_root(&doc) : (lt_json){0});
  lt_json_begin_array(job->w);
  while (lt_json_next(&it)) {
    if (!lt_json_str_eq(lt_json_get(it.value, "id"), own)) {
      lt_json_put_raw(job->w, lt_json_text(it.value));
    }
  }
  lt_json_end_array(job->w);
}

lt_status lt_history_turn_copy(const lt_turn *turn, lt_json_writer *w, lt_err *err) {
  history_job job = {.turn = turn, .w = w, .err = LT_ERR_INIT};
  LT_TRY(history_turn_do(turn, history_turn_copy, &job, err));
  return lt_err_copy(err, &job.err);
}
