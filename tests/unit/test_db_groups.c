/* The database under the store: how jobs are put into groups, what happens when one of them fails, and jobs that nobody
 * waits for. */
#include <pthread.h>
#include <stdatomic.h>

#include "unit/db_task.h"

enum { MANY = 100 };

/* --- Groups ------------------------------------------------------------------------------------------------------- */

static task many[MANY];

static void start_many(db_fix *fix) {
  make_table(fix);
  uint64_t before = lt_db_commits(fix->db);
  for (size_t i = 0; i < MANY; i++) {
    many[i] = (task){.text = "INSERT INTO x__t VALUES(abs(random()))", .sync = i % 2 == 0 ? LT_DB_LAZY : LT_DB_DURABLE};
    start(fix, &many[i]);
  }
  lt_loop_sleep(fix->loop, 0);
  task last = {.text = "SELECT 1"}; /* comes behind all of them */
  run(fix, &last);
  for (size_t i = 0; i < MANY; i++) {
    assert_int_equal(many[i].status, LT_OK);
    assert_int_equal(many[i].runs, 1);
  }
  assert_in_range(lt_db_commits(fix->db) - before, 1, MANY / LT_DB_GROUP_MIN + 2);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM x__t"), "100");
}

static void a_hundred_jobs_take_few_transactions(void **state) {
  db_fix_run(*state, start_many);
}

static void start_more_than_a_group(db_fix *fix) {
  enum { MORE = 2 * LT_DB_GROUP_MAX + 10 };
  task *more = calloc(MORE, sizeof *more);
  make_table(fix);
  uint64_t before = lt_db_commits(fix->db);
  for (size_t i = 0; i < MORE; i++) {
    more[i] = (task){.text = "INSERT INTO x__t VALUES(abs(random()))"};
    start(fix, &more[i]);
  }
  for (size_t i = 0; i < MORE; i++) {
    while (!more[i].done) {
      lt_loop_sleep(fix->loop, 0);
    }
  }
  task last = {.text = "SELECT 1"};
  run(fix, &last);
  assert_in_range(lt_db_commits(fix->db) - before, 3, MORE / LT_DB_GROUP_MIN + 4);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) = 522 FROM x__t"), "1");
  free(more);
}

static void a_group_has_a_ceiling(void **state) {
  db_fix_run(*state, start_more_than_a_group);
}

/* Two whole groups, and some jobs more. */
enum { QUEUED = 2 * LT_DB_GROUP_MAX + 64 };

static task queue[QUEUED];
static size_t told_count, told_in_turn;

static void run_and_note(void *arg) {
  task *t = arg;
  run_task(t);
  told_in_turn += t == &queue[told_count];
  told_count++;
}

static void start_a_queue(db_fix *fix) {
  make_table(fix);
  told_count = told_in_turn = 0;
  for (size_t i = 0; i < QUEUED; i++) {
    queue[i] = (task){.fix = fix, .text = "INSERT INTO x__t VALUES(abs(random()))"};
    assert_int_equal(lt_loop_spawn(fix->loop, run_and_note, &queue[i], NULL), LT_OK);
  }
  while (told_count < QUEUED) {
    lt_loop_sleep(fix->loop, 0);
  }
  assert_int_equal(told_in_turn, QUEUED);
}

static void all_are_told_in_their_order(void **state) {
  db_fix_run(*state, start_a_queue);
}

enum { TWO_GROUPS = 2 * LT_DB_GROUP_MAX };

static atomic_bool has_second_begun;
static size_t ended;
static bool was_second_seen;

static lt_status note_beginning(struct sqlite3 *sql, void *arg, lt_err *err) {
  (void)sql, (void)err;
  if (arg == &queue[LT_DB_GROUP_MAX]) {
    atomic_store(&has_second_begun, true);
  }
  return LT_OK;
}

/* The first one holds the loop until the second group runs. */
static void run_and_hold(void *arg) {
  task *t = arg;
  assert_int_equal(lt_db_run(t->fix->db, LT_DB_LAZY, note_beginning, t, NULL), LT_OK);
  for (unsigned ms = 0; t == &queue[0] && !atomic_load(&has_second_begun) && ms < 20000; ms++) {
    usleep(1000);
  }
  was_second_seen = was_second_seen || (t == &queue[0] && atomic_load(&has_second_begun));
  ended++;
}

static void start_two_groups(db_fix *fix) {
  was_second_seen = false;
  atomic_store(&has_second_begun, false);
  ended = 0;
  for (size_t i = 0; i < TWO_GROUPS; i++) {
    queue[i] = (task){.fix = fix};
    assert_int_equal(lt_loop_spawn(fix->loop, run_and_hold, &queue[i], NULL), LT_OK);
  }
  while (ended < TWO_GROUPS) {
    lt_loop_sleep(fix->loop, 0);
  }
  assert_true(was_second_seen);
}

static void a_whole_group_waits_for_nobody(void **state) {
  db_fix_run(*state, start_two_groups);
}

static pthread_t loop_thread;
static bool was_on_loop_thread;

/* Longer than the loop waits before another thread turns it. */
static lt_status work_long(struct sqlite3 *sql, void *arg, lt_err *err) {
  was_on_loop_thread = pthread_equal(loop_thread, pthread_self()) != 0;
  usleep(100 * LT_WORKER_LATE_MS * 1000);
  return work(sql, arg, err);
}

static void run_long(void *arg) {
  task *t = arg;
  t->status = lt_db_run(t->fix->db, LT_DB_LAZY, work_long, t, &t->err);
  t->done = true;
}

static void run_meanwhile(db_fix *fix) {
  task first = {.fix = fix, .text = "INSERT INTO x__t VALUES('first')"};
  task second = {.text = "INSERT INTO x__t VALUES('second')"};
  make_table(fix);
  do {
    loop_thread = pthread_self();
    first = (task){.fix = fix, .text = "INSERT OR IGNORE INTO x__t VALUES('first')"};
    assert_int_equal(lt_loop_spawn(fix->loop, run_long, &first, NULL), LT_OK);
    lt_loop_sleep(fix->loop, 20 * LT_WORKER_LATE_MS);
    assert_false(first.done);
    run(fix, &second);
    assert_true(first.done);
    assert_int_equal(first.status, LT_OK);
    second.text = "INSERT OR IGNORE INTO x__t VALUES('second')";
  } while (!was_on_loop_thread); /* the first groups are not */
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(a) FROM (SELECT a FROM x__t ORDER BY rowid)"),
                      "first,second");
}

static void a_job_may_come_while_the_loops_own_thread_runs_one(void **state) {
  db_fix_run(*state, run_meanwhile);
}

static void fail_some(db_fix *fix) {
  make_table(fix);
  char texts[MANY][64];
  for (int i = 0; i < MANY; i++) {
    snprintf(texts[i], sizeof texts[i], "INSERT INTO x__t VALUES(%d)", i % 10 == 7 ? 0 : i);
    many[i] = (task){.text = texts[i], .fails = i % 10 == 3};
    start(fix, &many[i]);
  }
  lt_loop_sleep(fix->loop, 0);
  task last = {.text = "SELECT 1"};
  run(fix, &last);
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(many[i].status, i % 10 == 3 ? LT_E_TOOL : i % 10 == 7 ? LT_E_INVALID : LT_OK);
  }
  assert_string_equal(many[7].err.msg, "UNIQUE constraint failed: x__t.a");
  assert_string_equal(many[13].err.msg, "as it was told");
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) || ' ' || sum(a % 10 IN (3, 7)) FROM x__t"), "80 0");
}

/* The first job fails, the second one does not. The loop has so much to do that both have ended before it tells
 * anybody: the first one's fiber must still go on before the second one's. */
enum { BUSY_FIBERS = 2 * LT_LOOP_TURN_RESUMES };

static char went_on[8];

static lt_status work_slowly(struct sqlite3 *sql, void *arg, lt_err *err) {
  (void)sql, (void)err;
  atomic_store((atomic_bool *)arg, true);
  usleep(20000);
  return LT_OK;
}

static void run_slowly(void *arg) {
  db_fix *fix = arg;
  static atomic_bool has_begun;
  assert_int_equal(lt_db_run(fix->db, LT_DB_LAZY, work_slowly, &has_begun, NULL), LT_OK);
}

static void run_and_go_on(void *arg) {
  task *t = arg;
  run_task(t);
  strcat(went_on, t->status == LT_OK ? "o" : "f");
}

static void be_busy(void *arg) {
  if (arg != NULL) {
    usleep(60000); /* both groups end meanwhile */
  }
}

static void fail_and_follow(db_fix *fix) {
  static task tasks[2];
  int dummy = 0;
  make_table(fix);
  went_on[0] = '\0';
  tasks[0] = (task){.fix = fix, .text = "INSERT INTO x__t VALUES(1)", .fails = true};
  tasks[1] = (task){.fix = fix, .text = "INSERT INTO x__t VALUES(2)"};
  assert_int_equal(lt_loop_spawn(fix->loop, run_slowly, fix, NULL), LT_OK);
  lt_loop_sleep(fix->loop, 1); /* that group runs */
  for (int i = 0; i < 2; i++) {
    lt_loop_sleep(fix->loop, 0);
    lt_loop_sleep(fix->loop, 0);
    assert_int_equal(lt_loop_spawn(fix->loop, run_and_go_on, &tasks[i], NULL), LT_OK);
  }
  for (int k = 0; k < BUSY_FIBERS; k++) {
    assert_int_equal(lt_loop_spawn(fix->loop, be_busy, k == 0 ? &dummy : NULL, NULL), LT_OK);
  }
  while (!tasks[0].done || !tasks[1].done) {
    lt_loop_sleep(fix->loop, 1);
  }
  assert_string_equal(went_on, "fo");
}

static void who_follows_a_failure_sees_it(void **state) {
  db_fix_run(*state, fail_and_follow);
}

static void a_job_that_fails_takes_only_its_own_with_it(void **state) {
  db_fix_run(*state, fail_some);
}

static void undo_some(db_fix *fix) {
  make_table(fix);
  char texts[MANY][64];
  for (int i = 0; i < MANY; i++) {
    snprintf(texts[i], sizeof texts[i], "INSERT INTO x__t VALUES(%d)", i);
    many[i] = (task){.text = texts[i], .undoes = i % 50 == 20, .fails = i % 50 == 30};
    start(fix, &many[i]);
  }
  lt_loop_sleep(fix->loop, 0);
  task last = {.text = "SELECT 1"};
  run(fix, &last);
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(many[i].status, i % 50 == 20 || i % 50 == 30 ? LT_E_TOOL : LT_OK);
  }
  assert_true(many[10].runs >= 2 && many[20].runs == 1);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) || ' ' || sum(a) FROM x__t"), "96 4750");
}

static void a_job_that_undoes_the_transaction_does_not_undo_the_others(void **state) {
  db_fix_run(*state, undo_some);
}

static void close_while_busy(db_fix *fix) {
  make_table(fix);
  for (int i = 0; i < MANY; i++) {
    many[i] = (task){.text = "INSERT INTO x__t VALUES(abs(random()))"};
    start(fix, &many[i]);
  }
  lt_loop_sleep(fix->loop, 0); /* all of them have asked, the first group is under way */
  db_fix_reopen(fix);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM x__t"), "100");
}

static void closing_waits_for_what_is_under_way(void **state) {
  db_fix_run(*state, close_while_busy);
}

/* --- Posted jobs -------------------------------------------------------------------------------------------------- */

enum { POSTED = 20 };

typedef struct posted {
  db_fix *fix;
  lt_db_post post;
  char text[100];
  int ended;
  lt_status status;
  struct posted *more; /* is posted when this one has ended */
} posted;

static char ends[1000]; /* a letter for each job in the order in which they ended */

static lt_status work_posted(struct sqlite3 *sql, void *arg, lt_err *err) {
  posted *p = arg;
  return sqlite3_exec(sql, p->text, NULL, NULL, NULL) == SQLITE_OK
             ? LT_OK
             : lt_fail(err, LT_E_INVALID, "%s", sqlite3_errmsg(sql));
}

static void end_posted(void *arg, lt_status status, const lt_err *err);

static lt_status post_one(posted *p) {
  return lt_db_post_job(p->fix->db, &p->post, LT_DB_LAZY, work_posted, p, end_posted, NULL);
}

static void end_posted(void *arg, lt_status status, const lt_err *err) {
  posted *p = arg;
  p->ended++;
  p->status = status;
  assert_int_equal(err->status, status);
  strcat(ends, status == LT_OK ? "p" : "f");
  if (p->more != NULL) {
    assert_int_equal(post_one(p->more), LT_OK);
  }
}

static void prepare_posts(db_fix *fix, posted *posts, size_t count) {
  ends[0] = '\0';
  for (size_t i = 0; i < count; i++) {
    posts[i] = (posted){.fix = fix};
    snprintf(posts[i].text, sizeof posts[i].text, "INSERT INTO x__t VALUES('p%zu')", i);
  }
}

static bool is_last(lt_store *db, const lt_db_post *post) {
  bool is_held = lt_db_post_hold(db, post);
  if (is_held) {
    lt_db_post_let_go(db);
  }
  return is_held;
}

/* The order is the table's: a row each. */
static void post_among_others(db_fix *fix) {
  posted posts[POSTED];
  make_table(fix);
  prepare_posts(fix, posts, POSTED);
  strcpy(posts[3].text, "nonsense");
  assert_int_equal(post_one(&posts[0]), LT_OK); /* it rests */
  assert_true(is_last(fix->db, &posts[0].post));
  assert_int_equal(post_one(&posts[1]), LT_OK);
  assert_false(is_last(fix->db, &posts[0].post));
  assert_true(is_last(fix->db, &posts[1].post));
  task wait = {.text = "INSERT INTO x__t VALUES('w0')"};
  run(fix, &wait);
  assert_string_equal(ends, "pp");
  assert_false(is_last(fix->db, &posts[1].post));

  for (int i = 0; i < 3; i++) { /* while a group runs, and at the head of the next one */
    static const char *const texts[] = {"INSERT INTO x__t VALUES('w1')", "INSERT INTO x__t VALUES('w2')",
                                        "INSERT INTO x__t VALUES('w3')"};
    many[i] = (task){.text = texts[i]};
  }
  start(fix, &many[0]);
  lt_loop_sleep(fix->loop, 0);
  assert_int_equal(post_one(&posts[2]), LT_OK);
  start(fix, &many[1]);
  lt_loop_sleep(fix->loop, 0);
  assert_int_equal(post_one(&posts[3]), LT_OK);
  posts[3].more = &posts[4]; /* asked for when the others wait already */
  start(fix, &many[2]);
  task last = {.text = "SELECT 1"};
  lt_loop_sleep(fix->loop, 0);
  run(fix, &last);
  run(fix, &last);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(posts[i].ended, 1);
    assert_int_equal(posts[i].status, i == 3 ? LT_E_INVALID : LT_OK);
  }
  assert_non_null(strstr(posts[3].post.err.msg, "syntax error"));
  assert_string_equal(ends, "pppfp");
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(a) FROM (SELECT a FROM x__t ORDER BY rowid)"),
                      "p0,p1,w0,w1,p2,w2,w3,p4");
}

static void posted_jobs_keep_their_place(void **state) {
  db_fix_run(*state, post_among_others);
}

/* The loop decides what follows from a failure, when it tells of it. A job of a later group must not run before that.
 */
enum { FOLLOWERS = 3 * LT_DB_GROUP_MAX };

static atomic_bool is_failure_known;
static unsigned ignorant;

static lt_status work_after_failure(struct sqlite3 *sql, void *arg, lt_err *err) {
  (void)sql, (void)arg, (void)err;
  ignorant += !atomic_load(&is_failure_known);
  return LT_OK;
}

static void know_failure(void *arg, lt_status status, const lt_err *err) {
  (void)arg, (void)err;
  assert_int_equal(status, LT_E_INVALID);
  usleep(20000); /* the thread has time to go on */
  atomic_store(&is_failure_known, true);
}

static void end_follower(void *arg, lt_status status, const lt_err *err) {
  (void)err;
  assert_int_equal(status, LT_OK);
  ++*(unsigned *)arg;
}

static void post_behind_a_failure(db_fix *fix) {
  static lt_db_post followers[FOLLOWERS];
  static posted first;
  unsigned told = 0;
  make_table(fix);
  ignorant = 0;
  atomic_store(&is_failure_known, false);
  first = (posted){.fix = fix, .text = "nonsense"};
  assert_int_equal(lt_db_post_job(fix->db, &first.post, LT_DB_LAZY, work_posted, &first, know_failure, NULL), LT_OK);
  for (size_t i = 0; i < FOLLOWERS; i++) {
    assert_int_equal(lt_db_post_job(fix->db, &followers[i], LT_DB_LAZY, work_after_failure, &told, end_follower, NULL),
                     LT_OK);
  }
  while (told < FOLLOWERS) {
    lt_loop_sleep(fix->loop, 1);
  }
  assert_in_range(ignorant, 0, LT_DB_GROUP_MAX - 1); /* those in the same group */
}

static void a_failure_is_told_before_the_next_group_begins(void **state) {
  db_fix_run(*state, post_behind_a_failure);
}

static void close_with_posts(db_fix *fix) {
  posted posts[POSTED];
  make_table(fix);
  prepare_posts(fix, posts, POSTED);
  uint64_t before = lt_db_commits(fix->db);
  for (size_t i = 0; i < POSTED; i++) {
    assert_int_equal(post_one(&posts[i]), LT_OK);
  }
  assert_int_equal(lt_db_commits(fix->db), before); /* nothing has happened yet */
  db_fix_reopen(fix);
  assert_int_equal(strlen(ends), POSTED);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM x__t"), "20");
}

static void closing_waits_for_what_is_posted(void **state) {
  db_fix_run(*state, close_with_posts);
}

static posted late;

static void post_when_closing(void *arg, lt_status status, const lt_err *err) {
  (void)arg;
  (void)err;
  assert_int_equal(status, LT_OK);
  assert_int_equal(post_one(&late), LT_E_CLOSED);
  strcat(ends, "c");
}

static void post_too_late(db_fix *fix) {
  posted first;
  make_table(fix);
  prepare_posts(fix, &late, 1);
  prepare_posts(fix, &first, 1);
  assert_int_equal(lt_db_post_job(fix->db, &first.post, LT_DB_LAZY, work_posted, &first, post_when_closing, &fix->err),
                   LT_OK);
  db_fix_reopen(fix);
  assert_string_equal(ends, "c");
  assert_int_equal(late.ended, 0);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM x__t"), "1");
}

static void nothing_is_posted_to_what_is_being_closed(void **state) {
  db_fix_run(*state, post_too_late);
}

/* The loop goes on until they are done, though no fiber of ours waits. */
static posted left[POSTED];

static void post_and_leave(db_fix *fix) {
  make_table(fix);
  prepare_posts(fix, left, POSTED);
  for (size_t i = 0; i < POSTED; i++) {
    assert_int_equal(post_one(&left[i]), LT_OK);
  }
}

static void posted_jobs_keep_the_loop(void **state) {
  db_fix_run(*state, post_and_leave);
  assert_int_equal(strlen(ends), POSTED);
  assert_string_equal(db_fix_ask(*state, "SELECT count(*) FROM x__t"), "20");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, db_fix_setup, db_fix_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_hundred_jobs_take_few_transactions),
      TEST(a_group_has_a_ceiling),
      TEST(all_are_told_in_their_order),
      TEST(a_whole_group_waits_for_nobody),
      TEST(a_job_may_come_while_the_loops_own_thread_runs_one),
      TEST(a_job_that_fails_takes_only_its_own_with_it),
      TEST(who_follows_a_failure_sees_it),
      TEST(a_job_that_undoes_the_transaction_does_not_undo_the_others),
      TEST(closing_waits_for_what_is_under_way),
      TEST(posted_jobs_keep_their_place),
      TEST(a_failure_is_told_before_the_next_group_begins),
      TEST(closing_waits_for_what_is_posted),
      TEST(nothing_is_posted_to_what_is_being_closed),
      TEST(posted_jobs_keep_the_loop),
  };
  return cmocka_run_group_tests_name("db_groups", tests, NULL, NULL);
}
