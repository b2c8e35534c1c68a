/* Taking back a conversation's last prompt. Its rows and its record stay; histories and lists leave it out. */

#include "base/clock.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/prompt_read.h"
#include "store/sqlite/query.h"
#include "store/store_prompts.h"

typedef struct prompt_undo_job {
  lt_str user, id;
  char now[LT_CLOCK_STAMP_BYTES];
} prompt_undo_job;

/* Only the last one: a later prompt has been answered with this one in sight. */
static lt_status prompt_undo_check(struct sqlite3 *sql, const prompt_undo_job *job, int64_t *ret_conversation,
                                   lt_err *err) {
  lt_query query = lt_query_prepare(
      sql,
      "SELECT c.number, p.completed_at IS NOT NULL, p.undone_at IS NOT NULL,"
      " EXISTS (SELECT 1 FROM prompts WHERE conversation = c.number AND number > p.number AND undone_at IS NULL)"
      " FROM prompts p JOIN conversations c ON c.number = p.conversation WHERE p.id = ? AND c.user = ?");
  lt_query_text(&query, job->id);
  lt_query_text(&query, job->user);
  bool is_found = lt_query_row(&query);
  int64_t conversation = is_found ? lt_query_get_int(&query, 0) : 0;
  bool has_ended = is_found && lt_query_get_int(&query, 1) != 0;
  bool is_undone = is_found && lt_query_get_int(&query, 2) != 0;
  bool is_followed = is_found && lt_query_get_int(&query, 3) != 0;
  LT_TRY(lt_query_end(&query, err));
  if (!is_found) {
    return lt_prompt_not_found(job->id, err);
  }
  if (!has_ended || is_undone || is_followed) {
    return lt_fail(err, LT_E_INVALID, "the prompt %.*s cannot be taken back: %s", LT_STR_ARG(job->id),
                   !has_ended  ? "it has not ended; wait for it, or cancel it"
                   : is_undone ? "it has been already"
                               : "the conversation has gone on; take back its last prompt first");
  }
  *ret_conversation = conversation;
  return LT_OK;
}

static lt_status prompt_undo_mark(struct sqlite3 *sql, const prompt_undo_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(sql, "UPDATE prompts SET undone_at = ? WHERE id = ?");
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, job->id);
  return lt_query_run(&query, err);
}

/* The title was made of the first message. */
static lt_status prompt_undo_drop_title(struct sqlite3 *sql, int64_t conversation, lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "UPDATE conversations SET title = NULL WHERE number = ?1 AND NOT EXISTS"
                                    " (SELECT 1 FROM prompts WHERE conversation = ?1 AND undone_at IS NULL)");
  lt_query_int(&query, conversation);
  return lt_query_run(&query, err);
}

static lt_status prompt_undo(struct sqlite3 *sql, void *arg, lt_err *err) {
  const prompt_undo_job *job = arg;
  int64_t conversation = 0;
  LT_TRY(prompt_undo_check(sql, job, &conversation, err));
  LT_TRY(prompt_undo_mark(sql, job, err));
  return prompt_undo_drop_title(sql, conversation, err);
}

lt_status lt_store_prompt_undo(lt_store *db, lt_str user, lt_str id, lt_err *err) {
  prompt_undo_job job = {.user = user, .id = id};
  lt_str *texts[] = {&job.user, &job.id};
  lt_clock_stamp(job.now);
  return lt_db_job_run(db, LT_DB_LAZY, prompt_undo, &job, texts, sizeof texts / sizeof texts[0], err);
}
