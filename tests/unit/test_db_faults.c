/* Files that cannot be used: one clear error each, and the same database works again when the cause is gone. */
#include "unit/db_fix.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

#include "store/sqlite/db_tables.h"

static const lt_journal_call call = {.user = {"u", 1}, .run = {"r", 1}, .tool = {"t", 1}, .input = {"{}", 2}};

static lt_status begin(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  int64_t id = 0;
  fix->err = LT_ERR_INIT;
  lt_status status = journal->begin(journal, &call, &id, &fix->err);
  lt_store_journal_free(journal);
  return status;
}

static size_t lost; /* notes that could not be kept */

static void on_lost(void *arg, const lt_err *err) {
  db_fix *fix = arg;
  fix->err = *err;
  lost++;
}

/* Has a note queued; nothing else is asked for before the journal goes. */
static void add_note(db_fix *fix) {
  const lt_note note = {.text = LT_STR("a note")};
  lt_journal *journal = lt_store_journal_new(fix->db);
  journal->note(journal, LT_STR("r"), &note, on_lost, fix);
  lt_store_journal_free(journal);
}

/* A call cannot be recorded, and the message says why, where, and what to do. */
static void expect_failure(db_fix *fix, lt_status status, const char *words) {
  lt_status got = begin(fix);
  if (got != status || strstr(fix->err.msg, words) == NULL || strstr(fix->err.msg, lt_store_path(fix->db)) == NULL) {
    fail_msg("%s, not %s with \"%s\": %s", lt_status_name(got), lt_status_name(status), words, fix->err.msg);
  }
}

static void write_file(const char *path, const void *bytes, size_t n) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
  close(fd);
}

static size_t read_file(const char *path, char *to, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = read(fd, to, room);
  assert_true(n >= 0);
  close(fd);
  return (size_t)n;
}

/* On the test's own connection. */
static void run_sql(db_fix *fix, const char *text) {
  sqlite3 *sql = NULL;
  assert_int_equal(sqlite3_open(fix->path, &sql), SQLITE_OK);
  assert_int_equal(sqlite3_exec(sql, text, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(sql);
}

/* --- Files of others ---------------------------------------------------------------------------------------------- */

static void open_text(db_fix *fix) {
  char text[4096];
  memset(text, 'x', sizeof text);
  write_file(fix->path, text, sizeof text);
  expect_failure(
      fix, LT_E_IO,
      "not a database of Lathe's, or it is damaged: move it away, or name another with `store: sqlite:PATH`");
  char after[8192];
  assert_int_equal(read_file(fix->path, after, sizeof after), sizeof text);
  assert_memory_equal(after, text, sizeof text);
  unlink(fix->path);
  assert_int_equal(begin(fix), LT_OK); /* moved away: all is well */
}

static void a_text_file_is_no_database(void **state) {
  db_fix_run(*state, open_text);
}

static void open_foreign(db_fix *fix) {
  run_sql(fix, "CREATE TABLE bookmarks(url)");
  char before[65536], after[65536];
  size_t n = read_file(fix->path, before, sizeof before);
  expect_failure(fix, LT_E_IO, "belongs to another program: name another with `store: sqlite:PATH`");
  assert_int_equal(read_file(fix->path, after, sizeof after), n);
  assert_memory_equal(before, after, n); /* nothing in it was touched */
  run_sql(fix, "DROP TABLE bookmarks; PRAGMA user_version = 3");
  expect_failure(fix, LT_E_IO, "belongs to another program");
  run_sql(fix, "PRAGMA user_version = 0; PRAGMA application_id = 77");
  expect_failure(fix, LT_E_IO, "belongs to another program");
}

static void a_database_of_another_program_is_left_alone(void **state) {
  db_fix_run(*state, open_foreign);
}

static void open_newer(db_fix *fix) {
  assert_int_equal(begin(fix), LT_OK);
  lt_store_close(fix->db);
  run_sql(fix, "PRAGMA user_version = 99");
  assert_int_equal(lt_store_new(fix->loop, fix->path, &fix->db, NULL), LT_OK);
  expect_failure(fix, LT_E_UNSUPPORTED, "made by a newer Lathe (version 99");
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM calls"), "1");
}

static void a_newer_database_is_left_alone(void **state) {
  db_fix_run(*state, open_newer);
}

static void open_damaged(db_fix *fix) {
  for (int i = 0; i < 200; i++) {
    assert_int_equal(begin(fix), LT_OK);
  }
  lt_store_close(fix->db);
  struct stat st;
  assert_int_equal(stat(fix->path, &st), 0);
  char garbage[4096];
  memset(garbage, 0x5a, sizeof garbage);
  int fd = open(fix->path, O_WRONLY | O_CLOEXEC);
  for (off_t at = 4096; at < st.st_size; at += 4096) { /* all but the first page, which has the schema */
    assert_int_equal(pwrite(fd, garbage, sizeof garbage, at), sizeof garbage);
  }
  close(fd);
  assert_int_equal(lt_store_new(fix->loop, fix->path, &fix->db, NULL), LT_OK);
  expect_failure(fix, LT_E_IO, "the file is damaged: move it away");
  lt_store_close(fix->db);
  assert_int_equal(truncate(fix->path, 50), 0);
  assert_int_equal(lt_store_new(fix->loop, fix->path, &fix->db, NULL), LT_OK);
  expect_failure(fix, LT_E_IO, "damaged");
}

static void a_damaged_file_is_said_to_be(void **state) {
  db_fix_run(*state, open_damaged);
}

/* --- Versions ----------------------------------------------------------------------------------------------------- */

/* The schema as one number: what was given to people must not change under them. */
static uint64_t dump(sqlite3 *sql) {
  sqlite3_stmt *stmt = NULL;
  uint64_t hash = 0;
  assert_int_equal(
      sqlite3_prepare_v2(sql, "SELECT ifnull(sql, name) FROM sqlite_schema ORDER BY name", -1, &stmt, NULL), SQLITE_OK);
  while (sqlite3_step(stmt) == SQLITE_ROW) {
    hash = hash * 31 + lt_str_hash(lt_str_of((const char *)sqlite3_column_text(stmt, 0)));
  }
  sqlite3_finalize(stmt);
  return hash;
}

static uint64_t upgraded(int from, int to) {
  sqlite3 *sql = NULL;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(sqlite3_open(":memory:", &sql), SQLITE_OK);
  assert_int_equal(lt_db_tables_upgrade(sql, from, &err), LT_OK);
  assert_int_equal(lt_db_tables_upgrade(sql, to, &err), LT_OK);
  int version = 0;
  assert_int_equal(lt_db_tables_check(sql, &version, &err), LT_OK);
  assert_int_equal(version, to);
  uint64_t hash = dump(sql);
  for (sqlite3_stmt *stmt; (stmt = sqlite3_next_stmt(sql, NULL)) != NULL;) {
    sqlite3_finalize(stmt);
  }
  sqlite3_close(sql);
  return hash;
}

static void every_version_leads_to_the_newest(void **state) {
  (void)state;
  /* add one with each new version, never change one */
  static const uint64_t published[] = {0x8b0ff6f0e151aec1, 0x368ebaa6be459f7f, 0xffe8a47fec8e82ee, 0x30964e8eea0f29cf,
                                       0x3dbdd4e290f6d928, 0x9123b24eab4b4fa4, 0xf83fcb57eb77bf3c, 0xf05010db88eb7301,
                                       0x7f5bbc71ead23346, 0xf5499a9b01ee088b, 0xfa242c4459161a02, 0x6802c491a920f3ff,
                                       0x8ec1928d9e01a665, 0xe693d288e96eb782, 0x8ef99f9885db6cbb, 0x7deb34726413fd4e,
                                       0x6d3a072d1ca0059a, 0x76e1465882d9bfb2, 0x5bf124fa18b22b39};
  int newest = lt_db_tables_version();
  assert_int_equal(newest, sizeof published / sizeof published[0]);
  for (int version = 1; version <= newest; version++) {
    uint64_t hash = upgraded(0, version);
    if (hash != published[version - 1]) {
      fail_msg("version %d of the tables is 0x%llx", version, (unsigned long long)hash);
    }
  }
  for (int version = 1; version <= newest; version++) {
    assert_true(upgraded(version, newest) == published[newest - 1]);
  }
}

static void open_empty(db_fix *fix) {
  write_file(fix->path, "", 0);
  assert_int_equal(begin(fix), LT_OK);
  assert_string_equal(db_fix_ask(fix, "PRAGMA user_version"), "3"); /* what a release before can read */
  assert_string_equal(db_fix_ask(fix, "PRAGMA application_id"), "1279349832");
}

static void an_empty_file_is_a_new_database(void **state) {
  db_fix_run(*state, open_empty);
}

/* --- Places ------------------------------------------------------------------------------------------------------- */

static void reopen_at(db_fix *fix, const char *name) {
  lt_store_close(fix->db);
  snprintf(fix->path, sizeof fix->path, "%s/%s", fix->folder, name);
  assert_int_equal(lt_store_new(fix->loop, fix->path, &fix->db, NULL), LT_OK);
}

static void open_nowhere(db_fix *fix) {
  reopen_at(fix, "missing/lathe.db");
  expect_failure(fix, LT_E_IO, "its folder must be there and writable (No such file or directory)");
  reopen_at(fix, "");
  expect_failure(fix, LT_E_IO, "is not a file");
  reopen_at(fix, "file");
  write_file(fix->path, "", 0);
  reopen_at(fix, "file/lathe.db");
  expect_failure(fix, LT_E_IO, "(Not a directory)");
}

static void a_place_that_is_none(void **state) {
  db_fix_run(*state, open_nowhere);
}

/* Runs `body` in a process of its own, and there on a fiber: what it does to its user and its mounts ends with it. */
static void in_child(db_fix *fix, bool (*prepare)(db_fix *fix), void (*body)(db_fix *fix)) {
  enum { SKIPPED = 77 };
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    db_fix child = *fix;
    child.db = NULL;
    if (!prepare(&child)) {
      _exit(SKIPPED);
    }
    if (lt_loop_new(&child.loop, NULL) != LT_OK || lt_store_new(child.loop, child.path, &child.db, NULL) != LT_OK) {
      _exit(9);
    }
    db_fix_run(&child, body);
    fflush(NULL);
    _exit(0);
  }
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
    print_message("not permitted here: skipped\n");
    skip();
  }
  assert_int_equal(status, 0);
}

/* What fails in a child must reach the parent: cmocka's own failures would go on in a copy of the whole test. */
#define CHILD_OK(cond)                                                                     \
  do {                                                                                     \
    if (!(cond)) {                                                                         \
      fprintf(stderr, "line %d: %s; the last error: %s\n", __LINE__, #cond, fix->err.msg); \
      _exit(8);                                                                            \
    }                                                                                      \
  } while (0)

static bool fails_with(db_fix *fix, const char *words) {
  return begin(fix) == LT_E_IO && strstr(fix->err.msg, words) != NULL && strstr(fix->err.msg, fix->path) != NULL;
}

static bool become_nobody(db_fix *fix) {
  (void)fix;
  return setgid(65534) == 0 && setuid(65534) == 0;
}

static void fail_without_permission(db_fix *fix) {
  CHILD_OK(fails_with(fix, "make the file and its folder"));
}

static void somebody_elses_file(void **state) {
  db_fix *fix = *state;
  if (geteuid() != 0) {
    skip();
  }
  assert_int_equal(chmod(fix->folder, 0755), 0);
  in_child(fix, become_nobody, fail_without_permission); /* to make the file */
  write_file(fix->path, "", 0);
  in_child(fix, become_nobody, fail_without_permission); /* to write it */
  assert_int_equal(chmod(fix->path, 0444), 0);
  in_child(fix, become_nobody, fail_without_permission);
  assert_int_equal(chmod(fix->path, 0666), 0);
  in_child(fix, become_nobody, fail_without_permission); /* to make the files beside it */
}

/* A small file system of the process's own over the test's folder. */
static bool mount_small(db_fix *fix) {
  return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("none", fix->folder, "tmpfs", 0, "size=1m") == 0;
}

static bool mount_read_only(db_fix *fix) {
  return mount_small(fix) && mount("none", fix->folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) == 0;
}

static bool mount_with_file_read_only(db_fix *fix) {
  if (!mount_small(fix)) {
    return false;
  }
  run_sql(fix, "PRAGMA application_id = 1279349832; PRAGMA journal_mode = WAL");
  return mount("none", fix->folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) == 0;
}

static void fail_read_only(db_fix *fix) {
  CHILD_OK(fails_with(fix, "it is read-only: make the file and its folder writable"));
  CHILD_OK(mount("none", fix->folder, "tmpfs", MS_REMOUNT, NULL) == 0);
  CHILD_OK(begin(fix) == LT_OK); /* writable again: the same database works */
}

static void a_read_only_place(void **state) {
  in_child(*state, mount_read_only, fail_read_only);
}

static void a_read_only_file(void **state) {
  in_child(*state, mount_with_file_read_only, fail_read_only);
}

/* Puts artifacts of 20 kB until it fails; how many went in. */
static int fill(db_fix *fix) {
  lt_artifacts *artifacts = lt_store_artifacts_new(fix->db);
  char data[20000];
  memset(data, 'x', sizeof data);
  lt_artifact artifact = {.user = LT_STR("u"), .mime_type = LT_STR("text/plain"), .data = {data, sizeof data}};
  int count = 0;
  lt_status status;
  do {
    lt_buf id;
    lt_buf_init(&id, 100);
    fix->err = LT_ERR_INIT;
    status = artifacts->put(artifacts, &artifact, &id, &fix->err);
    count += status == LT_OK;
    lt_buf_release(&id);
  } while (status == LT_OK);
  CHILD_OK(status == LT_E_IO && strstr(fix->err.msg, "the disk is full: nothing more is recorded until there is room"));
  lt_store_artifacts_free(artifacts);
  return count;
}

static void fill_up(db_fix *fix) {
  char ballast[160], path[160], counted[32];
  snprintf(ballast, sizeof ballast, "%s/ballast", fix->folder);
  snprintf(path, sizeof path, "%s-wal", fix->path);
  CHILD_OK(begin(fix) == LT_OK);
  char *bytes = calloc(1, 200000);
  int fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  CHILD_OK(write(fd, bytes, 200000) == 200000);
  close(fd);
  free(bytes);
  int count = fill(fix);
  CHILD_OK(count > 2);
  while (lost == 0) { /* what is left fits some */
    add_note(fix);
    lt_loop_sleep(fix->loop, 1);
  }
  CHILD_OK(fix->err.status == LT_E_IO && strstr(fix->err.msg, "the disk is full") != NULL);
  CHILD_OK(unlink(ballast) == 0);
  CHILD_OK(begin(fix) == LT_OK); /* there is room again */
  int more = fill(fix);
  CHILD_OK(more > 2);
  snprintf(counted, sizeof counted, "%d", count + more);
  CHILD_OK(strcmp(db_fix_ask(fix, "SELECT count(*) FROM artifacts"), counted) == 0);
  CHILD_OK(strcmp(db_fix_ask(fix, "SELECT count(*) FROM artifacts WHERE length(data) <> bytes"), "0") == 0);
  CHILD_OK(strcmp(db_fix_ask(fix, "PRAGMA integrity_check"), "ok") == 0);
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  CHILD_OK(lt_store_artifact_list(fix->db, LT_STR("u"), &out, NULL) == LT_OK); /* reading goes on */
  lt_buf_release(&out);
}

static void a_full_disk(void **state) {
  in_child(*state, mount_small, fill_up);
}

static bool mount_full(db_fix *fix) {
  if (!mount_small(fix)) {
    return false;
  }
  char ballast[160];
  snprintf(ballast, sizeof ballast, "%s/ballast", fix->folder);
  char page[4096] = {1};
  int fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  while (write(fd, page, sizeof page) > 0) {
  }
  close(fd);
  return true;
}

static void fail_to_begin(db_fix *fix) {
  char ballast[160];
  snprintf(ballast, sizeof ballast, "%s/ballast", fix->folder);
  CHILD_OK(fails_with(fix, "the disk is full"));
  CHILD_OK(unlink(ballast) == 0);
  CHILD_OK(begin(fix) == LT_OK);
}

static void a_disk_that_was_full_before(void **state) {
  in_child(*state, mount_full, fail_to_begin);
}

/* --- Locks -------------------------------------------------------------------------------------------------------- */

static sqlite3 *locker;

static void lock(db_fix *fix) {
  assert_int_equal(sqlite3_open(fix->path, &locker), SQLITE_OK);
  assert_int_equal(sqlite3_exec(locker, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
}

static void unlock(void) {
  assert_int_equal(sqlite3_close(locker), SQLITE_OK);
}

static void *unlock_soon(void *arg) {
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  unlock();
  return arg;
}

static void wait_for_lock(db_fix *fix) {
  assert_int_equal(begin(fix), LT_OK);
  lock(fix);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, unlock_soon, NULL), 0);
  assert_int_equal(begin(fix), LT_OK); /* as soon as it can be had */
  pthread_join(thread, NULL);
  lock(fix);
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_artifact_list(fix->db, LT_STR("u"), &out, &fix->err)); /* who only reads does not wait */
  lt_buf_release(&out);
  add_note(fix);
  expect_failure(fix, LT_E_IO, "another process keeps it locked");
  assert_int_equal(lost, 1);
  unlock();
  assert_int_equal(begin(fix), LT_OK);
  add_note(fix);
  assert_int_equal(begin(fix), LT_OK);
  assert_int_equal(lost, 1);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM notes"), "1");
}

static void another_process_that_does_not_let_go(void **state) {
  db_fix_run(*state, wait_for_lock);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, db_fix_setup, db_fix_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      /* These fork, and come before the first threads: ThreadSanitizer cannot follow otherwise. */
      TEST(somebody_elses_file),
      TEST(a_read_only_place),
      TEST(a_read_only_file),
      TEST(a_full_disk),
      TEST(a_disk_that_was_full_before),
      TEST(a_text_file_is_no_database),
      TEST(a_database_of_another_program_is_left_alone),
      TEST(a_newer_database_is_left_alone),
      TEST(a_damaged_file_is_said_to_be),
      TEST(every_version_leads_to_the_newest),
      TEST(an_empty_file_is_a_new_database),
      TEST(a_place_that_is_none),
      TEST(another_process_that_does_not_let_go),
  };
  return cmocka_run_group_tests_name("db_faults", tests, NULL, NULL);
}
