/* What the store's tests share: a loop, a database in a folder of its own, test bodies on a fiber, and a second
 * connection to look at the file with. */
#ifndef LT_TEST_DB_FIX_H
#define LT_TEST_DB_FIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "json/json.h"
#include "store/sqlite/db.h"
#include "store/sqlite/sqlite_open.h"

typedef struct db_fix {
  lt_loop *loop;
  char folder[64];
  char path[128];
  lt_store *db;
  lt_err err;
  void (*body)(struct db_fix *fix);
  bool turning; /* still true after a test: it failed on a fiber, which will never end */
} db_fix;

static inline int db_fix_remove(const char *path, const struct stat *st, int type, struct FTW *at) {
  (void)st;
  (void)type;
  (void)at;
  return remove(path);
}

static inline int db_fix_setup(void **state) {
  db_fix *fix = calloc(1, sizeof *fix);
  assert_non_null(fix);
  assert_int_equal(lt_sqlite_open(NULL), LT_OK); /* tests open connections of their own */
  assert_int_equal(lt_loop_new(&fix->loop, NULL), LT_OK);
  strcpy(fix->folder, "/tmp/lathe-db-XXXXXX");
  assert_non_null(mkdtemp(fix->folder));
  snprintf(fix->path, sizeof fix->path, "%s/lathe.db", fix->folder);
  assert_int_equal(lt_store_new(fix->loop, fix->path, &fix->db, NULL), LT_OK);
  *state = fix;
  return 0;
}

static inline void db_fix_enter(void *arg) {
  db_fix *fix = arg;
  fix->body(fix);
}

/* Runs `body` on a fiber of the loop, and all that it starts there. */
static inline void db_fix_run(db_fix *fix, void (*body)(db_fix *fix)) {
  fix->body = body;
  lt_err err = LT_ERR_INIT;
  if (lt_loop_spawn(fix->loop, db_fix_enter, fix, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
  fix->turning = true;
  lt_loop_run(fix->loop);
  fix->turning = false;
}

static inline void db_fix_close(db_fix *fix) {
  lt_store_close(fix->db);
  fix->db = NULL;
}

static inline int db_fix_teardown(void **state) {
  db_fix *fix = *state;
  nftw(fix->folder, db_fix_remove, 8, FTW_DEPTH | FTW_PHYS);
  if (!fix->turning) {
    db_fix_run(fix, db_fix_close);
    lt_loop_free(fix->loop);
    free(fix);
  }
  return 0;
}

/* Closes the database and opens it again, on a fiber. */
static inline void db_fix_reopen(db_fix *fix) {
  lt_store_close(fix->db);
  assert_int_equal(lt_store_new(fix->loop, fix->path, &fix->db, NULL), LT_OK);
}

/* Runs `body` in a process of its own, with a loop of its own. A failed assertion in it ends with another code than 0,
 * and so does one that hangs. */
static inline pid_t db_fix_child(db_fix *fix, void (*body)(db_fix *fix)) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    db_fix child = *fix;
    child.db = NULL;
    alarm(60);
    if (lt_loop_new(&child.loop, NULL) != LT_OK || lt_store_new(child.loop, fix->path, &child.db, NULL) != LT_OK) {
      _exit(9);
    }
    db_fix_run(&child, body);
    _exit(0);
  }
  assert_true(pid > 0);
  return pid;
}

/* What waitpid() says of a child that has ended. */
static inline int db_fix_end_of(pid_t pid) {
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return status;
}

/* The first column of the first row, as text, of a statement run on a connection of the test's own. */
static inline const char *db_fix_ask(db_fix *fix, const char *text) {
  static char answer[4096];
  sqlite3 *sql = NULL;
  sqlite3_stmt *stmt = NULL;
  assert_int_equal(sqlite3_open(fix->path, &sql), SQLITE_OK);
  sqlite3_busy_timeout(sql, 5000);
  if (sqlite3_prepare_v2(sql, text, -1, &stmt, NULL) != SQLITE_OK) {
    fail_msg("%s: %s", text, sqlite3_errmsg(sql));
  }
  int rc = sqlite3_step(stmt);
  const unsigned char *column = rc == SQLITE_ROW ? sqlite3_column_text(stmt, 0) : NULL;
  snprintf(answer, sizeof answer, "%s", column != NULL ? (const char *)column : "(null)");
  sqlite3_finalize(stmt);
  sqlite3_close(sql);
  return answer;
}

/* The call, which is given &fix->err, must succeed. */
#define DB_OK(call)                                     \
  do {                                                  \
    fix->err = LT_ERR_INIT;                             \
    lt_status db_status = (call);                       \
    if (db_status != LT_OK) {                           \
      fail_msg("%s: %s", #call, lt_err_msg(&fix->err)); \
    }                                                   \
  } while (0)

#endif
