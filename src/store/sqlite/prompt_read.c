/* Reading prompts: one, or a conversation's. Always two queries: the prompts of a range, and all of their outputs,
 * which are merged. */

#include "store/sqlite/db_job.h"
#include "store/sqlite/prompt_read.h"
#include "store/store_prompts.h"
#include "store/sqlite/query.h"

/* Prompts of a conversation, by number. An empty range has `first` behind `last`. */
typedef struct prompt_range {
  int64_t conversation, first, last;
  bool has_undone; /* also those that were taken back */
} prompt_range;

lt_status lt_prompt_not_found(lt_str id, lt_err *err) {
  return lt_fail(err, LT_E_NOTFOUND, "there is no prompt \"%.*s\"",
                 LT_STR_ARG(lt_str_sub(id, 0, 2 * LT_STORE_ID_BYTES)));
}

/* --- Ranges of prompts -------------------------------------------------------------------------------------------- */

static lt_status prompt_range_read(lt_query *query, prompt_range *ret_range, lt_err *err) {
  prompt_range r = {.first = 1};
  if (lt_query_row(query)) {
    r = (prompt_range){.conversation = lt_query_get_int(query, 0),
                       .first = lt_query_get_int(query, 1),
                       .last = lt_query_get_int(query, 2)};
  }
  LT_TRY(lt_query_end(query, err));
  *ret_range = r;
  return LT_OK;
}

static lt_status prompt_range_find(struct sqlite3 *sql, const lt_db_read_job *job, prompt_range *ret_range,
                                   lt_err *err) {
  lt_query query = lt_query_prepare(sql,
                                    "SELECT p.conversation, p.number, p.number FROM prompts p"
                                    " JOIN conversations c ON c.number = p.conversation WHERE p.id = ? AND c.user = ?");
  lt_query_text(&query, job->id);
  lt_query_text(&query, job->user);
  LT_TRY(prompt_range_read(&query, ret_range, err));
  ret_range->has_undone = true;
  return LT_OK;
}

typedef struct prompt_history_job {
  lt_db_read_job read; /* first */
  lt_str before;       /* a prompt's id; empty: none */
} prompt_history_job;

/* `max` is not 0. When there are fewer prompts, the range begins at 0, before all of them. */
static lt_status prompt_range_find_newest(struct sqlite3 *sql, const prompt_history_job *job, prompt_range *ret_range,
                                          lt_err *err) {
  lt_query query =
      lt_query_prepare(sql,
                       "SELECT c.number, ifnull((SELECT number FROM prompts WHERE conversation = c.number"
                       " AND number < e.at AND undone_at IS NULL ORDER BY number DESC LIMIT 1 OFFSET ?), 0), e.at - 1"
                       " FROM (SELECT ifnull((SELECT number FROM prompts WHERE id = ?), "
                       "0x7fffffffffffffff) AS at) e, conversations c WHERE c.id = ? AND c.user = ?");
  lt_query_int(&query, job->read.max <= INT64_MAX ? (int64_t)job->read.max - 1 : INT64_MAX);
  lt_query_text(&query, job->before);
  lt_query_text(&query, job->read.id);
  lt_query_text(&query, job->read.user);
  return prompt_range_read(&query, ret_range, err);
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

#define IN_RANGE "WHERE p.conversation = ? AND p.number BETWEEN ? AND ? AND (? OR p.undone_at IS NULL) "

static void prompt_range_bind(lt_query *query, const prompt_range *r) {
  lt_query_int(query, r->conversation);
  lt_query_int(query, r->first);
  lt_query_int(query, r->last);
  lt_query_int(query, r->has_undone);
}

/* The order in which they are written; the outputs come between INPUT and USAGE. */
enum {
  NUMBER,
  ID,
  USER,
  CONVERSATION,
  MODEL,
  MODE,
  VISIBLE,
  STATE,
  INPUT,
  ATTACHMENTS,
  USAGE,
  ERROR,
  INCOMPLETE,
  CREATED_AT,
  COMPLETED_AT
};
#define SELECT_PROMPTS                                                                                          \
  "SELECT p.number, p.id, c.user, c.id, p.model, p.mode, p.visible, p.state, p.input, p.attachments, p.usage, " \
  "p.error, "                                                                                                   \
  "p.incomplete, p.created_at, p.completed_at FROM prompts p JOIN conversations c ON c.number = "               \
  "p.conversation " IN_RANGE "ORDER BY p.number"
#define SELECT_OUTPUTS                                                                                  \
  "SELECT o.prompt, o.json FROM prompts p CROSS JOIN prompt_outputs o ON o.prompt = p.number " IN_RANGE \
  "ORDER BY p.number, o.number"

static void prompt_read_put_text_if_any(lt_json_writer *w, const char *key, lt_str text) {
  if (text.n > 0) {
    lt_json_put_pair(w, key, text);
  }
}

/* `has_more`: `outputs` is at a row. Takes the rows of this prompt. */
static void prompt_read_put_outputs(lt_json_writer *w, int64_t prompt, lt_query *outputs, bool *has_more) {
  lt_json_begin_array(w);
  while (*has_more && lt_query_get_int(outputs, 0) == prompt) {
    lt_json_put_raw(w, lt_query_get(outputs, 1));
    *has_more = lt_query_row(outputs);
  }
  lt_json_end_array(w);
}

static void prompt_read_put(lt_json_writer *w, const lt_query *p, lt_query *outputs, bool *has_more) {
  lt_json_begin_object(w);
  lt_json_put_pair(w, "id", lt_query_get(p, ID));
  lt_json_put_pair(w, "userId", lt_query_get(p, USER));
  lt_json_put_pair(w, "conversationId", lt_query_get(p, CONVERSATION));
  lt_json_put_pair(w, "model", lt_query_get(p, MODEL));
  lt_json_put_pair(w, "mode", lt_query_get(p, MODE));
  lt_json_key(w, "visible");
  lt_json_put_bool(w, lt_query_get_int(p, VISIBLE) != 0);
  lt_json_put_pair(w, "state", lt_query_get(p, STATE));
  lt_json_put_pair(w, "input", lt_query_get(p, INPUT));
  if (lt_query_get(p, ATTACHMENTS).n > 0) {
    lt_json_key(w, "attachments");
    lt_json_put_raw(w, lt_query_get(p, ATTACHMENTS));
  }
  lt_json_key(w, "output");
  prompt_read_put_outputs(w, lt_query_get_int(p, NUMBER), outputs, has_more);
  lt_str usage = lt_query_get(p, USAGE);
  if (usage.n > 0) {
    lt_json_key(w, "usage");
    lt_json_put_raw(w, usage);
  }
  prompt_read_put_text_if_any(w, "error", lt_query_get(p, ERROR));
  if (lt_query_get(p, INCOMPLETE).n > 0) {
    lt_json_key(w, "incomplete");
    lt_json_begin_object(w);
    lt_json_put_pair(w, "reason", lt_query_get(p, INCOMPLETE));
    lt_json_end_object(w);
  }
  lt_json_put_pair(w, "createdAt", lt_query_get(p, CREATED_AT));
  prompt_read_put_text_if_any(w, "completedAt", lt_query_get(p, COMPLETED_AT));
  lt_json_end_object(w);
}

/* Both queries go through the prompts in the same order. */
static lt_status prompt_range_put(struct sqlite3 *sql, const prompt_range *r, lt_json_writer *w, lt_err *err) {
  lt_query prompts = lt_query_prepare(sql, SELECT_PROMPTS);
  lt_query outputs = lt_query_prepare(sql, SELECT_OUTPUTS);
  prompt_range_bind(&prompts, r);
  prompt_range_bind(&outputs, r);
  bool has_more = lt_query_row(&outputs);
  while (lt_query_row(&prompts)) {
    prompt_read_put(w, &prompts, &outputs, &has_more);
  }
  lt_status first = lt_query_end(&prompts, err);
  lt_status second = lt_query_end(&outputs, first == LT_OK ? err : NULL);
  return lt_status_first(first, second);
}

/* --- Prompts and lists of prompts --------------------------------------------------------------------------------- */

static lt_status prompt_read_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  prompt_range r;
  lt_db_job_rewind(job->out, job->start);
  LT_TRY(prompt_range_find(sql, job, &r, err));
  if (r.first > r.last) {
    return lt_prompt_not_found(job->id, err);
  }
  lt_json_writer w = lt_json_writer_on(job->out);
  LT_TRY(prompt_range_put(sql, &r, &w, err));
  return lt_db_job_check_out(job->out, err);
}

static lt_status prompt_read_select_history(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  prompt_range r = {.first = 1};
  lt_db_job_rewind(job->out, job->start);
  if (job->max > 0) {
    LT_TRY(prompt_range_find_newest(sql, arg, &r, err));
  }
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  if (r.first <= r.last) {
    LT_TRY(prompt_range_put(sql, &r, &w, err));
  }
  lt_json_end_array(&w);
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_prompt_get(lt_store *db, lt_str user, lt_str id, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.user = user, .id = id, .out = out};
  return lt_db_job_read(db, prompt_read_select, &job, err);
}

lt_status lt_store_history(lt_store *db, lt_str user, lt_str conversation, size_t max, lt_buf *out, lt_err *err) {
  return lt_store_history_before(db, user, conversation, LT_STR(""), max, out, err);
}

lt_status lt_store_history_before(lt_store *db, lt_str user, lt_str conversation, lt_str before, size_t max,
                                  lt_buf *out, lt_err *err) {
  prompt_history_job job = {.read = {.user = user, .id = conversation, .max = max, .out = out}, .before = before};
  return lt_db_job_read(db, prompt_read_select_history, &job.read, err);
}
