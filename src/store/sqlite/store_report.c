/* What the database has. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/sqlite/db_job.h"
#include "store/sqlite/query.h"
#include "store/store_upkeep.h"
#include "store/sqlite/sqlite_open.h"

static const struct {
  const char *count; /* and the oldest */
  const char *bytes;
} report_texts[] = {
    [LT_STORE_CONVERSATIONS] = {"SELECT count(*), min(updated_at) FROM conversations",
                                "'conversations', 'prompts', 'prompt_outputs', 'prompt_shown', 'decisions'"},
    [LT_STORE_CALLS] = {"SELECT count(*), min(started_at) FROM calls", "'calls', 'notes', 'blobs'"},
    [LT_STORE_ARTIFACTS] = {"SELECT count(*), min(created_at) FROM artifacts", "'artifacts', 'artifact_sums'"},
};

/* The pages of these tables and their indexes; -1: the library was built without dbstat. */
static lt_status report_read_bytes(struct sqlite3 *sql, const char *tables, int64_t *ret_bytes, lt_err *err) {
  LT_AUTO_BUF(text, LT_KIB);
  int64_t known = 0;
  *ret_bytes = -1;
  LT_TRY(lt_query_number(sql, "SELECT count(*) FROM pragma_module_list WHERE name = 'dbstat'", &known, err));
  if (known == 0) {
    return LT_OK;
  }
  lt_buf_printf(&text,
                "SELECT ifnull(sum(pgsize), 0) FROM dbstat WHERE aggregate = 1 AND name IN"
                " (SELECT name FROM sqlite_schema WHERE tbl_name IN (%s))",
                tables);
  LT_TRY(lt_buf_check(&text, err, "no memory for a query"));
  return lt_query_number(sql, text.p, ret_bytes, err);
}

static lt_status report_put_kind(struct sqlite3 *sql, lt_store_kind kind, lt_json_writer *w, lt_err *err) {
  int64_t bytes;
  lt_query query = lt_query_prepare(sql, report_texts[kind].count);
  lt_json_begin_object(w);
  lt_json_key(w, "kind");
  lt_json_put_cstr(w, lt_store_kind_name(kind));
  lt_json_key(w, "count");
  lt_json_put_int(w, lt_query_row(&query) ? lt_query_get_int(&query, 0) : 0);
  lt_str oldest = query.rc == SQLITE_ROW ? lt_query_get(&query, 1) : LT_STR_NULL;
  if (oldest.n > 0) {
    lt_json_key(w, "oldest");
    lt_json_put_str(w, oldest);
  }
  LT_TRY(lt_query_end(&query, err));
  LT_TRY(report_read_bytes(sql, report_texts[kind].bytes, &bytes, err));
  if (bytes >= 0) {
    lt_json_key(w, "bytes");
    lt_json_put_int(w, bytes);
  }
  lt_json_end_object(w);
  return LT_OK;
}

static lt_status report_put_pragma(struct sqlite3 *sql, const char *key, const char *text, lt_json_writer *w,
                                   lt_err *err) {
  int64_t n = 0;
  LT_TRY(lt_query_number(sql, text, &n, err));
  lt_json_key(w, key);
  lt_json_put_int(w, n);
  return LT_OK;
}

static lt_status report_select(struct sqlite3 *sql, void *arg, lt_err *err) {
  const lt_db_read_job *job = arg;
  const char *path = lt_sqlite.db_filename(sql, "main");
  lt_db_job_rewind(job->out, job->start);
  lt_json_writer w = lt_json_writer_on(job->out);
  lt_json_begin_object(&w);
  lt_json_key(&w, "path");
  lt_json_put_cstr(&w, path != NULL && path[0] != '\0' ? path : ":memory:");
  LT_TRY(report_put_pragma(sql, "bytes", "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", &w,
                           err));
  LT_TRY(report_put_pragma(sql, "freeBytes",
                           "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size", &w, err));
  lt_json_key(&w, "readOnly");
  lt_json_put_bool(&w, lt_sqlite.db_readonly(sql, "main") == 1);
  lt_json_key(&w, "kinds");
  lt_json_begin_array(&w);
  for (lt_store_kind kind = 0; kind < LT_STORE_KINDS; kind++) {
    LT_TRY(report_put_kind(sql, kind, &w, err));
  }
  lt_json_end_array(&w);
  lt_json_end_object(&w);
  return lt_db_job_check_out(job->out, err);
}

lt_status lt_store_report(lt_store *db, lt_buf *out, lt_err *err) {
  lt_db_read_job job = {.out = out};
  return lt_db_job_read(db, report_select, &job, err);
}

static uint64_t report_measure_file(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && facts.st_size > 0 ? (uint64_t)facts.st_size : 0;
}

void lt_store_measure(const lt_store *store, uint64_t *ret_bytes, uint64_t *ret_journal_bytes) {
  LT_AUTO_BUF(journal, LT_PROC_PATH_MAX_BYTES);
  lt_buf_printf(&journal, "%s-wal", lt_store_path(store));
  *ret_bytes = report_measure_file(lt_store_path(store));
  *ret_journal_bytes = journal.status == LT_OK ? report_measure_file(journal.p) : 0;
}

bool lt_store_is_writable(const lt_store *store) {
  struct statvfs facts;
  const char *path = lt_store_path(store);
  if (access(path, W_OK) != 0) {
    return errno == ENOENT; /* ":memory:", too */
  }
  return statvfs(path, &facts) != 0 || (uint64_t)facts.f_bavail * facts.f_frsize >= LT_STORE_ROOM_BYTES;
}
