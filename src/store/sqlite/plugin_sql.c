/* One statement of a plugin: parameters from JSON, rows to JSON. */
#include <inttypes.h>

#include "base/mem.h"
#include "store/sqlite/sql_guard.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store.h"
#include "store/sqlite/sqlite_open.h"

typedef struct plugin_sql_job {
  lt_str plugin, text, params;
  lt_buf *out;
  size_t start;
  lt_arena arena; /* the parameters' index and texts */
} plugin_sql_job;

/* --- Parameters --------------------------------------------------------------------------------------------------- */

static int plugin_sql_bind_text(sqlite3_stmt *stmt, int at, lt_str s) {
  return lt_sqlite.bind_text64(stmt, at, s.p != NULL ? s.p : "", s.n, SQLITE_STATIC, SQLITE_UTF8);
}

static int plugin_sql_bind_number(sqlite3_stmt *stmt, int at, lt_json value) {
  int64_t whole;
  double real = 0;
  if (lt_json_int(value, &whole)) {
    return lt_sqlite.bind_int64(stmt, at, whole);
  }
  lt_json_double(value, &real);
  return lt_sqlite.bind_double(stmt, at, real);
}

static int plugin_sql_bind_value(sqlite3_stmt *stmt, int at, lt_json value, lt_arena *arena) {
  lt_str s;
  switch (lt_json_typeof(value)) {
    case LT_JSON_FALSE:
      return lt_sqlite.bind_int(stmt, at, 0);
    case LT_JSON_TRUE:
      return lt_sqlite.bind_int(stmt, at, 1);
    case LT_JSON_NUMBER:
      return plugin_sql_bind_number(stmt, at, value);
    case LT_JSON_STRING:
      return lt_json_str(value, arena, &s) ? plugin_sql_bind_text(stmt, at, s) : SQLITE_NOMEM;
    case LT_JSON_ARRAY:
    case LT_JSON_OBJECT:
      return plugin_sql_bind_text(stmt, at, lt_json_text(value));
    case LT_JSON_NONE:
    case LT_JSON_NULL:
      break;
  }
  return lt_sqlite.bind_null(stmt, at);
}

static lt_status plugin_sql_parse_params(plugin_sql_job *job, lt_json_doc *ret_doc, lt_err *err) {
  lt_str text = job->params.n > 0 ? job->params : LT_STR("[]");
  if (text.n > LT_SQL_PARAMS_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "parameters of more than %lu MiB", LT_SQL_PARAMS_MAX_BYTES / LT_MIB);
  }
  lt_status status = lt_json_parse(&job->arena, text, ret_doc, err);
  if (status != LT_OK) {
    lt_err_prefix(err, "the parameters");
    return status == LT_E_SYNTAX ? lt_fail(err, LT_E_INVALID, "%s", err != NULL ? err->msg : "") : status;
  }
  if (lt_json_typeof(lt_json_root(ret_doc)) != LT_JSON_ARRAY) {
    return lt_fail(err, LT_E_INVALID, "the parameters are %s: they must be an array, a value for each \"?\"",
                   lt_json_type_name(lt_json_typeof(lt_json_root(ret_doc))));
  }
  return LT_OK;
}

static lt_status plugin_sql_bind_params(plugin_sql_job *job, sqlite3_stmt *stmt, lt_err *err) {
  lt_json_doc doc;
  LT_TRY(plugin_sql_parse_params(job, &doc, err));
  lt_json params = lt_json_root(&doc);
  int wanted = lt_sqlite.bind_parameter_count(stmt);
  if (lt_json_count(params) != (uint32_t)wanted) {
    return lt_fail(err, LT_E_INVALID, "the statement has %d parameter%s, but %" PRIu32 " %s given", wanted,
                   wanted == 1 ? "" : "s", lt_json_count(params), lt_json_count(params) == 1 ? "is" : "are");
  }
  lt_json_iter it = lt_json_each(params);
  for (int at = 1; lt_json_next(&it); at++) {
    int rc = plugin_sql_bind_value(stmt, at, it.value, &job->arena);
    if (rc != SQLITE_OK) {
      return lt_query_fail(lt_sqlite.db_handle(stmt), rc, err);
    }
  }
  return LT_OK;
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */

static void plugin_sql_put_value(lt_json_writer *w, sqlite3_stmt *stmt, int column) {
  int type = lt_sqlite.column_type(stmt, column);
  const void *p = type == SQLITE_TEXT || type == SQLITE_BLOB ? lt_sqlite.column_blob(stmt, column) : NULL;
  lt_str bytes = p != NULL ? lt_str_from(p, (size_t)lt_sqlite.column_bytes(stmt, column)) : LT_STR("");
  switch (type) {
    case SQLITE_INTEGER:
      lt_json_put_int(w, lt_sqlite.column_int64(stmt, column));
      break;
    case SQLITE_FLOAT:
      lt_json_put_double(w, lt_sqlite.column_double(stmt, column));
      break;
    case SQLITE_TEXT:
      lt_json_put_str(w, bytes);
      break;
    case SQLITE_BLOB:
      lt_db_job_put_base64(w, bytes);
      break;
    default:
      lt_json_put_null(w);
  }
}

static lt_status plugin_sql_put_row(lt_json_writer *w, sqlite3_stmt *stmt, lt_err *err) {
  lt_json_begin_object(w);
  for (int i = 0; i < lt_sqlite.column_count(stmt); i++) {
    const char *name = lt_sqlite.column_name(stmt, i);
    if (name == NULL) {
      return lt_fail(err, LT_E_NOMEM, "no memory for the rows of a statement");
    }
    lt_json_key(w, name);
    plugin_sql_put_value(w, stmt, i);
  }
  lt_json_end_object(w);
  return LT_OK;
}

static lt_status plugin_sql_put_rows(plugin_sql_job *job, lt_sql_guard *guard, sqlite3_stmt *stmt, lt_err *err) {
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  bool row;
  LT_TRY(lt_sql_guard_step(guard, stmt, &row, err));
  while (row) {
    LT_TRY(plugin_sql_put_row(&w, stmt, err));
    if (job->out->n - job->start > LT_SQL_ROWS_MAX_BYTES || job->out->status == LT_E_LIMIT) {
      return lt_fail(err, LT_E_LIMIT, "rows of more than %lu MiB: ask for fewer, with LIMIT",
                     LT_SQL_ROWS_MAX_BYTES / LT_MIB);
    }
    LT_TRY(lt_sql_guard_step(guard, stmt, &row, err));
  }
  lt_json_end_array(&w);
  return lt_db_job_check_out(job->out, err);
}

/* --- The statement ------------------------------------------------------------------------------------------------ */

/* Only white space, comments and semicolons may follow the statement. */
static lt_status plugin_sql_check_rest(lt_sql_guard *guard, lt_str rest, lt_err *err) {
  while (rest.n > 0) {
    sqlite3_stmt *stmt = NULL;
    LT_ERR_VAR(why);
    lt_status status = lt_sql_guard_begin(guard, rest, &stmt, &rest, &why);
    bool more = stmt != NULL;
    if (status == LT_OK) {
      status = lt_sql_guard_end(guard, stmt, &why);
    }
    if (status == LT_E_NOMEM || status == LT_E_IO) {
      return lt_fail(err, status, "%s", lt_err_msg(&why));
    }
    if (more || status != LT_OK) {
      return lt_fail(err, LT_E_INVALID, "more than one statement: run them one by one, or as a migration");
    }
  }
  return LT_OK;
}

static lt_status plugin_sql_run_statement(plugin_sql_job *job, lt_sql_guard *guard, lt_err *err) {
  sqlite3_stmt *stmt = NULL;
  lt_str rest;
  LT_TRY(lt_sql_guard_begin(guard, job->text, &stmt, &rest, err));
  lt_status status = stmt != NULL ? LT_OK : lt_fail(err, LT_E_INVALID, "there is no SQL statement");
  if (status == LT_OK) {
    status = plugin_sql_bind_params(job, stmt, err);
  }
  if (status == LT_OK) {
    status = plugin_sql_put_rows(job, guard, stmt, err);
  }
  lt_status ended = lt_sql_guard_end(guard, stmt, status == LT_OK ? err : NULL);
  LT_TRY(status != LT_OK ? status : ended);
  return plugin_sql_check_rest(guard, rest, err);
}

static lt_status plugin_sql_run(struct sqlite3 *sql, void *arg, lt_err *err) {
  plugin_sql_job *job = arg;
  lt_sql_guard guard;
  lt_db_job_rewind(job->out, job->start);
  LT_TRY(lt_sql_guard_enter(&guard, sql, job->plugin, err));
  lt_arena_init(&job->arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status status = plugin_sql_run_statement(job, &guard, err);
  lt_arena_release(&job->arena);
  lt_sql_guard_leave(&guard);
  return status;
}

lt_status lt_store_sql(lt_store *db, lt_str plugin, lt_str sql, lt_str params, lt_buf *out, lt_err *err) {
  plugin_sql_job job = {.plugin = plugin, .text = sql, .params = params, .out = out, .start = out->n};
  lt_str *texts[] = {&job.plugin, &job.text, &job.params};
  LT_TRY(lt_db_job_check_out(out, err));
  lt_status status = lt_db_job_run(db, LT_DB_LAZY, plugin_sql_run, &job, texts, sizeof texts / sizeof texts[0], err);
  if (status != LT_OK) {
    lt_db_job_rewind(out, job.start);
  }
  return status;
}
