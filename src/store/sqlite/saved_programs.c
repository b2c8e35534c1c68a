/* Saved programs (store/store_programs.h). */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store_programs.h"
#include "store/sqlite/sqlite_open.h"

typedef struct saved_job {
  lt_saved_program program;
  int64_t version;
  bool is_new;
  int64_t hash;
  char now[LT_CLOCK_STAMP_BYTES];
} saved_job;

lt_status lt_store_program_check_name(lt_str name, lt_err *err) {
  bool is_name = name.n > 0 && name.n <= LT_SAVED_NAME_BYTES;
  for (size_t i = 0; is_name && i < name.n; i++) {
    char c = name.p[i];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    is_name = is_letter || (i > 0 && ((c >= '0' && c <= '9') || c == '_' || c == '-'));
  }
  return is_name && !lt_str_eqc(name, "save")
             ? LT_OK
             : lt_fail(
                   err, LT_E_INVALID,
                   "a program's name is a letter, then letters, digits, \"_\" and \"-\", at most %d of them, and not "
                   "\"save\": the tool is programs.NAME",
                   LT_SAVED_NAME_BYTES);
}

/* --- Whether there are any ---------------------------------------------------------------------------------------- */
/* A file beside the database: processes that save nothing and call none need not open it. */
static bool saved_mark_path(const lt_store *store, lt_buf *out) {
  lt_str path = lt_str_of(lt_store_path(store));
  lt_buf_add(out, path);
  lt_buf_addc(out, "-programs");
  lt_buf_byte(out, '\0');
  return out->status == LT_OK && !lt_str_starts(path, LT_STR(":memory:"));
}

bool lt_store_programs_may_exist(const lt_store *store) {
  LT_AUTO_BUF(path, 8 * LT_KIB);
  return saved_mark_path(store, &path) && access(path.p, F_OK) == 0;
}

static lt_status saved_put_mark(const lt_store *store, lt_err *err) {
  LT_AUTO_BUF(path, 8 * LT_KIB);
  return saved_mark_path(store, &path) ? lt_file_replace(path.p, LT_STR(""), NULL, err) : LT_OK;
}

/* --- Saving ------------------------------------------------------------------------------------------------------- */
static lt_status saved_count(struct sqlite3 *sql, const saved_job *job, int64_t *ret_count, lt_err *err) {
  lt_query query = lt_query_prepare(
      sql, "SELECT count(DISTINCT name) FROM saved_programs WHERE user = ? AND deleted_at IS NULL AND name <> ?");
  lt_query_text(&query, job->program.user);
  lt_query_text(&query, job->program.name);
  *ret_count = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  return lt_query_end(&query, err);
}

/* A save that is repeated, after a kill for example, adds nothing. */
static lt_status saved_find_same(struct sqlite3 *sql, saved_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(
      sql,
      "SELECT version FROM saved_programs WHERE user = ?1 AND name = ?2 AND deleted_at IS NULL AND language = ?3"
      " AND description = ?4 AND schema = ?5 AND code = ?6"
      " AND version = (SELECT max(version) FROM saved_programs WHERE user = ?1 AND name = ?2)");
  lt_str texts[] = {job->program.user,        job->program.name,   job->program.language,
                    job->program.description, job->program.schema, job->program.code};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    lt_query_text(&query, texts[i]);
  }
  job->is_new = !lt_query_row(&query);
  job->version = job->is_new ? 0 : lt_query_get_int(&query, 0);
  return lt_query_end(&query, err);
}

static lt_status saved_insert(struct sqlite3 *sql, saved_job *job, lt_err *err) {
  lt_query query = lt_query_prepare(
      sql,
      "INSERT INTO saved_programs(user, name, version, saved_at, language, description, schema, hash, code)"
      " VALUES(?1, ?2, ifnull((SELECT max(version) FROM saved_programs WHERE user = ?1 AND name = ?2), 0) + 1,"
      " ?3, ?4, ?5, ?6, ?7, ?8) RETURNING version");
  lt_query_text(&query, job->program.user);
  lt_query_text(&query, job->program.name);
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, job->program.language);
  lt_query_text(&query, job->program.description);
  lt_query_text(&query, job->program.schema);
  lt_query_int(&query, job->hash);
  lt_query_text(&query, job->program.code);
  job->version = lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0;
  return lt_query_end(&query, err);
}

static lt_status saved_forget(struct sqlite3 *sql, const saved_job *job, lt_err *err) {
  lt_query old = lt_query_prepare(sql, "DELETE FROM saved_programs WHERE user = ? AND name = ? AND version <= ?");
  lt_query_text(&old, job->program.user);
  lt_query_text(&old, job->program.name);
  lt_query_int(&old, job->version - LT_SAVED_VERSIONS_MAX);
  LT_TRY(lt_query_run(&old, err));
  lt_query deleted = lt_query_prepare(
      sql, "DELETE FROM saved_programs WHERE deleted_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ? || ' days')");
  lt_query_int(&deleted, LT_SAVED_DELETED_DAYS);
  return lt_query_run(&deleted, err);
}

static lt_status saved_save(struct sqlite3 *sql, void *arg, lt_err *err) {
  saved_job *job = arg;
  int64_t others = 0;
  LT_TRY(saved_find_same(sql, job, err));
  if (!job->is_new) {
    return LT_OK;
  }
  LT_TRY(saved_count(sql, job, &others, err));
  if (others >= LT_SAVED_PROGRAMS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "there are %d saved programs, and no more can be: lathe programs delete NAME",
                   LT_SAVED_PROGRAMS_MAX);
  }
  LT_TRY(saved_insert(sql, job, err));
  return saved_forget(sql, job, err);
}

static lt_status saved_check(const lt_saved_program *program, lt_err *err) {
  LT_TRY(lt_store_program_check_name(program->name, err));
  if (program->code.n > LT_SAVED_CODE_BYTES || program->schema.n > LT_SAVED_SCHEMA_BYTES ||
      program->description.n > LT_SAVED_DESCRIPTION_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "a saved program has at most %lu KiB, its schema %lu KiB, its description %lu KiB",
                   LT_SAVED_CODE_BYTES / LT_KIB, LT_SAVED_SCHEMA_BYTES / LT_KIB, LT_SAVED_DESCRIPTION_BYTES / LT_KIB);
  }
  return LT_OK;
}

lt_status lt_store_program_save(lt_store *store, const lt_saved_program *program, int64_t *ret_version,
                                bool *ret_is_new, lt_err *err) {
  LT_TRY(saved_check(program, err));
  saved_job job = {.program = *program, .hash = (int64_t)lt_str_hash(program->code)};
  lt_saved_program *p = &job.program;
  lt_str *texts[] = {&p->user, &p->name, &p->language, &p->description, &p->schema, &p->code};
  lt_clock_stamp(job.now);
  LT_TRY(lt_db_job_run(store, LT_DB_DURABLE, saved_save, &job, texts, sizeof texts / sizeof texts[0], err));
  *ret_version = job.version;
  *ret_is_new = job.is_new;
  return saved_put_mark(store, err);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
static void saved_put_row(lt_json_writer *w, const lt_query *query, bool has_code) {
  static const char *const keys[] = {"name", "version", "savedAt", "language", "description", "schema", "code"};
  lt_json_begin_object(w);
  for (int i = 0; i < (int)(sizeof keys / sizeof keys[0]) - !has_code; i++) {
    lt_json_key(w, keys[i]);
    if (i == 1) {
      lt_json_put_int(w, lt_query_get_int(query, i));
    } else if (i == 5) {
      lt_json_put_raw(w, lt_query_get(query, i));
    } else {
      lt_json_put_str(w, lt_query_get(query, i));
    }
  }
  lt_json_end_object(w);
}

static lt_status saved_list(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(
      sql,
      "SELECT name, version, saved_at, language, description, schema, code FROM saved_programs s WHERE"
      " user = ?1 AND deleted_at IS NULL AND (name = ?2 OR (?2 = '' AND version = (SELECT max(version) FROM"
      " saved_programs WHERE user = ?1 AND name = s.name))) ORDER BY name, version DESC");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->id.n > 0 ? job->id : LT_STR(""));
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_array(&w);
  while (lt_query_row(&query)) {
    saved_put_row(&w, &query, job->max > 0);
  }
  lt_json_end_array(&w);
  LT_TRY(lt_query_end(&query, err));
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_programs_list(lt_store *store, lt_str user, lt_str name, bool has_code, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.user = user, .id = name, .max = has_code, .out = out};
  return lt_db_job_read(store, saved_list, &job, err);
}

typedef struct saved_code_job {
  lt_db_read_job base; /* first; `max` is the hash */
  char language[LT_SAVED_LANGUAGE_BYTES];
} saved_code_job;

static lt_status saved_find_code(struct sqlite3 *sql, void *arg, lt_err *err) {
  saved_code_job *found = arg;
  const lt_db_read_job *job = &found->base;
  lt_db_job_rewind(job->out, job->start);
  lt_query query = lt_query_prepare(sql,
                                    "SELECT code, language FROM saved_programs WHERE user = ?1 AND name = ?2 AND (hash "
                                    "= ?3 OR (?3 = 0 AND deleted_at IS NULL))"
                                    " ORDER BY version DESC LIMIT 1");
  lt_query_text(&query, job->user);
  lt_query_text(&query, job->id);
  lt_query_int(&query, (int64_t)job->max);
  bool is_found = lt_query_row(&query);
  if (is_found) {
    lt_buf_add(job->out, lt_query_get(&query, 0));
    snprintf(found->language, sizeof found->language, "%.*s", LT_STR_ARG(lt_query_get(&query, 1)));
  }
  LT_TRY(lt_query_end(&query, err));
  return is_found       ? lt_db_job_check_out(job->out, err)
         : job->max > 0 ? lt_fail(err, LT_E_NOTFOUND, "the version of programs.%.*s that was called is no longer kept",
                                  LT_STR_ARG(job->id))
                        : lt_fail(err, LT_E_NOTFOUND, "there is no saved program \"%.*s\"", LT_STR_ARG(job->id));
}

lt_status lt_store_program_code(lt_store *store, lt_str user, lt_str name, uint64_t hash, lt_buf *out,
                                char ret_language[LT_SAVED_LANGUAGE_BYTES], lt_err *err) {
  saved_code_job job = {.base = {.user = user, .id = name, .max = hash, .out = out}};
  LT_TRY(lt_db_job_read(store, saved_find_code, &job.base, err));
  memcpy(ret_language, job.language, sizeof job.language);
  return LT_OK;
}

/* --- Deleting ----------------------------------------------------------------------------------------------------- */
static lt_status saved_delete(struct sqlite3 *sql, void *arg, lt_err *err) {
  const saved_job *job = arg;
  lt_query query = lt_query_prepare(
      sql, "UPDATE saved_programs SET deleted_at = ? WHERE user = ? AND name = ? AND deleted_at IS NULL");
  lt_query_text(&query, lt_str_of(job->now));
  lt_query_text(&query, job->program.user);
  lt_query_text(&query, job->program.name);
  LT_TRY(lt_query_run(&query, err));
  return lt_sqlite.changes(sql) > 0 ? LT_OK
                                    : lt_fail(err, LT_E_NOTFOUND, "there is no program \"%.*s\": lathe programs list",
                                              LT_STR_ARG(lt_str_sub(job->program.name, 0, 2 * LT_SAVED_NAME_BYTES)));
}

lt_status lt_store_program_delete(lt_store *store, lt_str user, lt_str name, lt_err *err) {
  saved_job job = {.program = {.user = user, .name = name}};
  lt_str *texts[] = {&job.program.user, &job.program.name};
  lt_clock_stamp(job.now);
  return lt_db_job_run(store, LT_DB_DURABLE, saved_delete, &job, texts, 2, err);
}
