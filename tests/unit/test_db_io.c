/* The store on a file system that counts and fails: what waits for the disk, and what becomes of a write that goes
 * wrong. The counting is a layer between SQLite and its own. */
#include "store/store_prompts.h"
#include "unit/db_fix.h"

#include "fakes/sanitizer.h"

/* --- The layer ---------------------------------------------------------------------------------------------------- */

enum { KINDS = 2 }; /* of files: the database itself, and its log */
static const sqlite3_io_methods *real[KINDS];
static sqlite3_io_methods ours[KINDS];
static sqlite3_vfs *real_vfs;
static int syncs, log_writes;
static long fail_at = -1; /* the write, sync or cut after so many fails, once */
static bool failed;

static bool is_due(void) {
  bool due = fail_at == 0;
  failed |= due;
  fail_at -= fail_at >= 0;
  return due;
}

static const sqlite3_io_methods *real_of(const sqlite3_file *file) {
  return real[file->pMethods - ours];
}

/* Nobody pulls the plug here: it need not be done. */
static int count_sync(sqlite3_file *file, int flags) {
  (void)file;
  (void)flags;
  syncs++;
  return is_due() ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int maybe_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at) {
  log_writes += file->pMethods == &ours[1];
  return is_due() ? SQLITE_IOERR_WRITE : real_of(file)->xWrite(file, p, n, at);
}

static int maybe_truncate(sqlite3_file *file, sqlite3_int64 size) {
  return is_due() ? SQLITE_IOERR_TRUNCATE : real_of(file)->xTruncate(file, size);
}

static int maybe_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret) {
  return is_due() ? SQLITE_IOERR_SHMSIZE : real_of(file)->xShmMap(file, page, size, extend, ret);
}

static void wrap(sqlite3_file *file, int kind) {
  if (real[kind] == NULL) {
    real[kind] = file->pMethods;
    ours[kind] = *file->pMethods;
    ours[kind].xSync = count_sync;
    ours[kind].xWrite = maybe_write;
    ours[kind].xTruncate = maybe_truncate;
    ours[kind].xShmMap = ours[kind].xShmMap != NULL ? maybe_map : NULL;
  }
  assert_ptr_equal(real[kind], file->pMethods);
  file->pMethods = &ours[kind];
}

static int open_counted(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags) {
  (void)vfs;
  int rc = real_vfs->xOpen(real_vfs, name, file, flags, ret_flags);
  if (rc == SQLITE_OK && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0) {
    wrap(file, (flags & SQLITE_OPEN_WAL) != 0);
  }
  return rc;
}

static int put_layer_in(void **state) {
  (void)state;
  static sqlite3_vfs layer;
  real_vfs = sqlite3_vfs_find(NULL);
  layer = *real_vfs;
  layer.zName = "counting";
  layer.xOpen = open_counted;
  return sqlite3_vfs_register(&layer, 1);
}

/* --- What waits for the disk -------------------------------------------------------------------------------------- */

static lt_status begin(db_fix *fix, bool repeatable, int64_t *ret_id) {
  lt_journal_call call = {
      .user = LT_STR("u"), .run = LT_STR("r"), .tool = LT_STR("t"), .input = LT_STR("{}"), .repeatable = repeatable};
  lt_journal *journal = lt_store_journal_new(fix->db);
  fix->err = LT_ERR_INIT;
  lt_status status = journal->begin(journal, &call, ret_id, &fix->err);
  lt_store_journal_free(journal);
  return status;
}

static void count_syncs(db_fix *fix) {
  int64_t id = 0;
  assert_int_equal(begin(fix, true, &id), LT_OK); /* makes the file */
  lt_journal *journal = lt_store_journal_new(fix->db);
  for (int i = 0; i < 3; i++) {
    syncs = log_writes = 0;
    assert_int_equal(begin(fix, true, &id), LT_OK);
    assert_int_equal(syncs, 0);      /* the kernel has it ... */
    assert_int_equal(log_writes, 1); /* ... and got all pages in one write */
    DB_OK(journal->finish(journal, id, LT_OK, LT_STR("1"), &fix->err));
    assert_int_equal(syncs, 0);
    assert_int_equal(begin(fix, false, &id), LT_OK);
    assert_true(syncs >= 1); /* the disk has it, and what was before it */
    syncs = 0;
    DB_OK(journal->finish(journal, id, LT_OK, LT_STR("1"), &fix->err));
    assert_int_equal(syncs, 0);
  }
  lt_store_journal_free(journal);
}

/* Somebody was told that the prompt is taken; what it does can be done again from there. */
static void count_syncs_of_prompts(db_fix *fix) {
  char id[LT_STORE_ID_BYTES + 1];
  int64_t call = 0;
  assert_int_equal(begin(fix, true, &call), LT_OK); /* makes the file */
  DB_OK(lt_store_new_id(id, &fix->err));
  lt_prompt_row row = {.id = lt_str_of(id), .conversation = lt_str_of(id), .user = LT_STR("u")};
  syncs = 0;
  DB_OK(lt_store_prompt_create(fix->db, &row, &fix->err));
  assert_true(syncs >= 1);
  syncs = 0;
  DB_OK(lt_store_prompt_put_output(fix->db, row.id, 0, LT_STR("{}"), &fix->err));
  DB_OK(lt_store_prompt_claim(fix->db, row.id, &fix->err));
  DB_OK(lt_store_prompt_set_state(fix->db, row.id, LT_PROMPT_COMPLETED, LT_STR_NULL, LT_STR_NULL, &fix->err));
  assert_int_equal(syncs, 0);
}

static void a_prompt_waits_for_the_disk_once(void **state) {
  db_fix_run(*state, count_syncs_of_prompts);
}

static void only_what_must_not_be_repeated_waits_for_the_disk(void **state) {
  db_fix_run(*state, count_syncs);
}

/* --- Writes that go wrong ----------------------------------------------------------------------------------------- */

static size_t kept;

static lt_err first_err;

static void note(lt_status status, const lt_err *err) {
  if (status != LT_OK && first_err.status == LT_OK) {
    first_err = *err;
  }
}

/* Some calls, and artifacts that are longer than a page; those that were kept are counted. */
static lt_status write_some(db_fix *fix) {
  char data[10000];
  memset(data, 'x', sizeof data);
  lt_artifact artifact = {.user = LT_STR("u"), .mime_type = LT_STR("text/plain"), .data = {data, sizeof data}};
  lt_artifacts *artifacts = lt_store_artifacts_new(fix->db);
  first_err = LT_ERR_INIT;
  for (int i = 0; i < 3; i++) {
    int64_t call = 0;
    note(begin(fix, i == 1, &call), &fix->err);
    lt_buf id;
    lt_buf_init(&id, 100);
    lt_status status = artifacts->put(artifacts, &artifact, &id, &fix->err);
    note(status, &fix->err);
    kept += status == LT_OK;
    lt_buf_release(&id);
  }
  lt_store_artifacts_free(artifacts);
  return first_err.status;
}

static void fail_each_write(db_fix *fix) {
  size_t failures = 0;
  char wanted[64];
  for (long n = 0;; n += SANITIZED ? 3 : 1) {
    lt_store_close(fix->db);
    unlink(fix->path);
    assert_int_equal(lt_store_new(fix->loop, fix->path, &fix->db, NULL), LT_OK);
    kept = 0;
    failed = false;
    fail_at = n;
    lt_status status = write_some(fix);
    fail_at = -1;
    if (!failed) {
      assert_int_equal(status, LT_OK);
      break;
    }
    if (status != LT_OK && (status != LT_E_IO || strstr(first_err.msg, "see whether the disk is in order") == NULL)) {
      fail_msg("write %ld: %s: %s", n, lt_status_name(status), first_err.msg);
    }
    failures += status != LT_OK;
    if (write_some(fix) != LT_OK) {
      fail_msg("after write %ld: %s", n, first_err.msg);
    }
    snprintf(wanted, sizeof wanted, "%zu 0", kept);
    assert_string_equal(
        db_fix_ask(fix, "SELECT count(*) || ' ' || ifnull(sum(length(data) <> bytes), 0) FROM artifacts"), wanted);
    assert_string_equal(db_fix_ask(fix, "PRAGMA integrity_check"), "ok");
  }
  print_message("%zu failures\n", failures);
  assert_true(failures > 10);
}

static void a_write_may_fail_anywhere(void **state) {
  db_fix_run(*state, fail_each_write);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(only_what_must_not_be_repeated_waits_for_the_disk, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(a_prompt_waits_for_the_disk_once, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(a_write_may_fail_anywhere, db_fix_setup, db_fix_teardown),
  };
  return cmocka_run_group_tests_name("db_io", tests, put_layer_in, NULL);
}
