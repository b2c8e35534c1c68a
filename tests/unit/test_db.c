/* The database under the store: its file, other processes, and the process's end. */
#include <pthread.h>
#include <signal.h>

#include "unit/db_task.h"

/* --- The file ----------------------------------------------------------------------------------------------------- */

static unsigned mode_of(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 ? (unsigned)st.st_mode & 0777 : 0;
}

static void look_at_modes(db_fix *fix) {
  struct stat st;
  assert_int_not_equal(stat(fix->path, &st), 0); /* nothing is made before it is needed */
  make_table(fix);
  assert_int_equal(mode_of(fix->path), 0600);
  char wal[200];
  snprintf(wal, sizeof wal, "%s-wal", fix->path);
  assert_int_equal(mode_of(wal), 0600);
  assert_string_equal(db_fix_ask(fix, "PRAGMA journal_mode"), "wal");
  lt_store_close(fix->db);
  assert_int_not_equal(stat(wal, &st), 0); /* the last one out tidies up */

  char state_home[200], path[256];
  snprintf(state_home, sizeof state_home, "%s/a/b", fix->folder);
  snprintf(path, sizeof path, "%s/lathe/lathe.db", state_home);
  setenv("XDG_STATE_HOME", state_home, 1);
  assert_int_equal(lt_store_new(fix->loop, NULL, &fix->db, NULL), LT_OK);
  assert_string_equal(lt_store_path(fix->db), path);
  make_table(fix);
  assert_int_equal(mode_of(path), 0600);
  path[strlen(path) - strlen("/lathe.db")] = '\0';
  assert_int_equal(mode_of(path), 0700);
  assert_int_equal(mode_of(state_home), 0700);
}

static void files_are_the_users_own(void **state) {
  mode_t before = umask(022);
  db_fix_run(*state, look_at_modes);
  umask(before);
}

static void the_default_is_in_the_state_home(void **state) {
  db_fix *fix = *state;
  lt_store *db = NULL;
  setenv("XDG_STATE_HOME", "relative", 1);
  setenv("HOME", "/nowhere/ann", 1);
  assert_int_equal(lt_store_new(fix->loop, NULL, &db, NULL), LT_OK);
  assert_string_equal(lt_store_path(db), "/nowhere/ann/.local/state/lathe/lathe.db");
  lt_store_close(db);
  unsetenv("HOME");
  unsetenv("XDG_STATE_HOME");
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_store_new(fix->loop, NULL, &db, &err), LT_E_CONFIG);
  assert_non_null(strstr(err.msg, "set $HOME"));
  assert_int_equal(lt_store_new(fix->loop, "", &db, &err), LT_E_CONFIG);
}

static void use_memory(db_fix *fix) {
  lt_store_close(fix->db);
  assert_int_equal(lt_store_new(fix->loop, ":memory:", &fix->db, NULL), LT_OK);
  make_table(fix);
  task insert = {.text = "INSERT INTO x__t VALUES(1)", .sync = LT_DB_DURABLE};
  run(fix, &insert);
  assert_int_equal(insert.status, LT_OK);
  task again = insert;
  run(fix, &again);
  assert_string_equal(again.err.msg, "UNIQUE constraint failed: x__t.a");
  assert_int_not_equal(access(":memory:", F_OK), 0);
}

static void memory_is_a_database_too(void **state) {
  db_fix_run(*state, use_memory);
}

/* --- The thread --------------------------------------------------------------------------------------------------- */
/* Further threads would need more than a process's address space for their stacks. */
static void forbid_threads(pthread_attr_t *ret_usual) {
  pthread_attr_t huge;
  assert_int_equal(pthread_getattr_default_np(ret_usual), 0);
  pthread_attr_init(&huge);
  pthread_attr_setstacksize(&huge, (size_t)1 << 48);
  assert_int_equal(pthread_setattr_default_np(&huge), 0);
  pthread_attr_destroy(&huge);
}

static void work_without_a_thread(db_fix *fix) {
  pthread_attr_t usual;
  task create = {.text = "CREATE TABLE x__early(a)"};
  forbid_threads(&usual);
  run(fix, &create);
  assert_int_equal(pthread_setattr_default_np(&usual), 0);
  assert_int_equal(create.status, LT_E_NOMEM);
  assert_non_null(strstr(create.err.msg, "no thread could be started for the database"));
  assert_int_equal(create.runs, 0);
  make_table(fix);
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(name) FROM sqlite_schema WHERE name LIKE 'x__%'"), "x__t");
}

static void without_a_thread_jobs_fail(void **state) {
  db_fix_run(*state, work_without_a_thread);
}

/* --- Processes ---------------------------------------------------------------------------------------------------- */

static const lt_journal_call read_only = {
    .user = {"u", 1}, .run = {"r", 1}, .tool = {"t", 1}, .input = {"{}", 2}, .repeatable = true};

/* The ids that a child has been told are recorded. */
static int told[2];

static void begin_for_ever(void *arg) {
  db_fix *fix = arg;
  lt_journal *journal = lt_store_journal_new(fix->db);
  for (;;) {
    int64_t id = 0;
    if (journal->begin(journal, &read_only, &id, NULL) != LT_OK || write(told[1], &id, sizeof id) != sizeof id) {
      _exit(8);
    }
  }
}

static void begin_much(db_fix *fix) {
  for (int i = 0; i < 10; i++) {
    lt_loop_spawn(fix->loop, begin_for_ever, fix, NULL);
  }
}

static void what_was_begun_survives_kill(void **state) {
  db_fix *fix = *state;
  for (int round = 0; round < 5; round++) {
    assert_int_equal(pipe(told), 0);
    pid_t pid = db_fix_child(fix, begin_much);
    int64_t id = 0, last = 0;
    close(told[1]);
    for (int i = 0; i < 100 + round * 33; i++) {
      assert_int_equal(read(told[0], &id, sizeof id), sizeof id);
    }
    kill(pid, SIGKILL); /* in the middle of whatever it is doing */
    while (read(told[0], &id, sizeof id) == sizeof id) {
      last = id > last ? id : last;
    }
    close(told[0]);
    int status = db_fix_end_of(pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    char text[100];
    snprintf(text, sizeof text, "SELECT max(id) >= %lld AND max(id) = count(*) FROM calls", (long long)last);
    assert_string_equal(db_fix_ask(fix, text), "1"); /* all that it was told of, and none twice */
    assert_string_equal(db_fix_ask(fix, "PRAGMA integrity_check"), "ok");
  }
}

/* Three notes before each call. Every other call waits for the disk; of the others, every other one is only queued. */
static void run_for_ever(void *arg) {
  db_fix *fix = arg;
  static int runs;
  char run[16];
  snprintf(run, sizeof run, "r%d", runs++);
  lt_journal *journal = lt_store_journal_new(fix->db);
  for (uint64_t seq = 1;; seq++) {
    for (uint64_t i = 0; i < 3; i++) {
      const lt_note note = {.number = seq, .text = LT_STR("something that came")};
      journal->note(journal, lt_str_of(run), &note, NULL, NULL);
    }
    lt_journal_call call = read_only;
    call.run = lt_str_of(run);
    call.repeatable = seq % 2 == 0;
    call.read_only = seq % 4 == 0;
    call.seq = seq;
    int64_t id = 0;
    if (journal->begin(journal, &call, &id, NULL) != LT_OK || write(told[1], &id, sizeof id) != sizeof id ||
        journal->finish(journal, id, LT_OK, LT_STR("{}"), NULL) != LT_OK) {
      _exit(8);
    }
  }
}

static void run_many_for_ever(db_fix *fix) {
  for (int i = 0; i < 5; i++) {
    lt_loop_spawn(fix->loop, run_for_ever, fix, NULL);
  }
}

static void what_was_noted_before_a_call_survives_with_it(void **state) {
  db_fix *fix = *state;
  for (int round = 0; round < 4; round++) {
    snprintf(fix->path, sizeof fix->path, "%s/%d.db", fix->folder, round);
    assert_int_equal(pipe(told), 0);
    pid_t pid = db_fix_child(fix, run_many_for_ever);
    int64_t id = 0;
    close(told[1]);
    for (int i = 0; i < 50 + round * 33; i++) {
      assert_int_equal(read(told[0], &id, sizeof id), sizeof id);
    }
    kill(pid, SIGKILL);
    close(told[0]);
    int status = db_fix_end_of(pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_string_equal(db_fix_ask(fix, "SELECT count(*) >= 50 FROM calls"), "1");
    assert_string_equal(db_fix_ask(fix,
                                   "SELECT count(*) FROM calls c WHERE (SELECT count(*) FROM notes n WHERE"
                                   " n.run = c.run AND n.what <= c.seq) <> 3 * c.seq"),
                        "0"); /* none without what came before it */
    assert_string_equal(db_fix_ask(fix,
                                   "SELECT count(*) FROM calls c WHERE c.finished_at IS NULL AND"
                                   " c.seq < (SELECT max(seq) FROM calls o WHERE o.run = c.run)"),
                        "0"); /* each call's end is before the next call */
    assert_string_equal(db_fix_ask(fix,
                                   "SELECT count(*) FROM notes n WHERE n.what > 1 + (SELECT ifnull(max(seq), 0) FROM"
                                   " calls c WHERE c.run = n.run)"),
                        "0"); /* nor the other way round */
    assert_string_equal(db_fix_ask(fix, "PRAGMA integrity_check"), "ok");
  }
}

static void begin_one(void *arg) {
  db_fix *fix = arg;
  lt_journal *journal = lt_store_journal_new(fix->db);
  int64_t id = 0;
  for (int i = 0; i < 20; i++) {
    lt_err err = LT_ERR_INIT;
    if (journal->begin(journal, &read_only, &id, &err) != LT_OK ||
        journal->finish(journal, id, LT_OK, LT_STR("1"), &err) != LT_OK) {
      fprintf(stderr, "%s\n", lt_err_msg(&err));
      _exit(8);
    }
  }
  lt_store_journal_free(journal);
}

static void write_much(db_fix *fix) {
  for (int i = 0; i < 10; i++) {
    lt_loop_spawn(fix->loop, begin_one, fix, NULL);
  }
}

static void processes_write_to_the_same_file(void **state) {
  db_fix *fix = *state;
  pid_t pids[3];
  for (int i = 0; i < 3; i++) {
    pids[i] = db_fix_child(fix, write_much); /* at once, to a file that none of them has made yet */
  }
  for (int i = 0; i < 3; i++) {
    assert_int_equal(db_fix_end_of(pids[i]), 0);
  }
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) || ' ' || count(finished_at) FROM calls"), "600 600");
  assert_string_equal(db_fix_ask(fix, "PRAGMA integrity_check"), "ok");
}

static int gate[2];

/* As short commands do, one after the other: the last one out takes the log away, perhaps under the next one's feet. */
static void come_and_go(db_fix *fix) {
  char nothing;
  close(gate[1]);
  if (read(gate[0], &nothing, 1) != 0) { /* until the parent closes its end */
    _exit(7);
  }
  for (int i = 0; i < 10; i++) {
    int64_t id = 0;
    lt_err err = LT_ERR_INIT;
    lt_journal *journal = lt_store_journal_new(fix->db);
    if (journal->begin(journal, &read_only, &id, &err) != LT_OK) {
      fprintf(stderr, "%s\n", lt_err_msg(&err));
      _exit(8);
    }
    lt_store_journal_free(journal);
    db_fix_reopen(fix);
  }
}

static void processes_come_and_go(void **state) {
  enum { ROUNDS = 20, PROCESSES = 6 };
  db_fix *fix = *state;
  for (int round = 0; round < ROUNDS; round++) {
    pid_t pids[PROCESSES];
    snprintf(fix->path, sizeof fix->path, "%s/%d.db", fix->folder, round);
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < PROCESSES; i++) {
      pids[i] = db_fix_child(fix, come_and_go);
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < PROCESSES; i++) {
      assert_int_equal(db_fix_end_of(pids[i]), 0);
    }
    assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM calls"), "60");
    assert_string_equal(db_fix_ask(fix, "PRAGMA integrity_check"), "ok");
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, db_fix_setup, db_fix_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      /* These fork, and come before the first threads: ThreadSanitizer cannot follow otherwise. */
      TEST(what_was_begun_survives_kill),     TEST(what_was_noted_before_a_call_survives_with_it),
      TEST(processes_write_to_the_same_file), TEST(processes_come_and_go),
      TEST(files_are_the_users_own),          TEST(the_default_is_in_the_state_home),
      TEST(memory_is_a_database_too),         TEST(without_a_thread_jobs_fail),
  };
  return cmocka_run_group_tests_name("db", tests, NULL, NULL);
}
