/* The database, asked by a fiber of a lane whose thread does something else meanwhile. */
#include "unit/db_fix.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "io/lane.h"

enum { PATIENCE_S = 60 };

typedef struct lane_case {
  db_fix *fix;
  sem_t can_begin;     /* posted when the table has been made */
  sem_t has_asked;     /* the lane's fiber has a job in the queue, and nobody turns its lane */
  sem_t is_home_done;  /* a job of the loop's own thread has ended */
  bool was_home_first; /* before the lane was turned again */
  atomic_bool is_over; /* the lane is closed */
  lt_status lane_status;
  bool is_lane_done;
} lane_case;

static lt_status insert(struct sqlite3 *sql, void *arg, lt_err *err) {
  int rc = sqlite3_exec(sql, arg, NULL, NULL, NULL);
  return rc == SQLITE_OK ? LT_OK : lt_fail(err, LT_E_INVALID, "%s", sqlite3_errmsg(sql));
}

static void ask_from_lane(void *arg) {
  lane_case *c = arg;
  c->lane_status = lt_db_run(c->fix->db, LT_DB_LAZY, insert, "INSERT INTO x__t VALUES('lane')", NULL);
  c->is_lane_done = true;
}

static bool wait_for(sem_t *what) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += PATIENCE_S;
  return sem_timedwait(what, &until) == 0;
}

/* Its fiber asks first. Then the thread is busy with something else. */
static void *ask_and_be_busy(void *arg) {
  lane_case *c = arg;
  lt_lane lane;
  if (!wait_for(&c->can_begin)) {
    return NULL; /* the test has failed */
  }
  lt_lane_open(&lane, c->fix->loop);
  lt_status status = lt_lane_spawn(&lane, ask_from_lane, c, NULL);
  (void)lt_lane_turn(&lane);
  lt_lane_leave(&lane);
  sem_post(&c->has_asked);
  c->was_home_first = wait_for(&c->is_home_done);
  lt_lane_enter(&lane);
  while (status == LT_OK && !c->is_lane_done) {
    if (!lt_lane_turn(&lane)) {
      lt_lane_sleep(&lane);
    }
  }
  atomic_store(&c->is_over, true);
  lt_lane_close(&lane);
  return NULL;
}

static lane_case the_case;

static void ask_from_home(db_fix *fix) {
  lane_case *c = &the_case;
  assert_int_equal(lt_db_run(fix->db, LT_DB_LAZY, insert, "CREATE TABLE x__t(a)", NULL), LT_OK);
  sem_post(&c->can_begin);
  while (sem_trywait(&c->has_asked) != 0) {
    lt_loop_sleep(fix->loop, 1);
  }
  assert_int_equal(lt_db_run(fix->db, LT_DB_LAZY, insert, "INSERT INTO x__t VALUES('home')", NULL), LT_OK);
  sem_post(&c->is_home_done);
  while (!atomic_load(&c->is_over)) {
    lt_loop_sleep(fix->loop, 1);
  }
}

static void a_lane_that_is_not_turned_holds_nobody_up(void **state) {
  db_fix *fix = *state;
  the_case = (lane_case){.fix = fix};
  pthread_t thread;
  sem_init(&the_case.can_begin, 0, 0);
  sem_init(&the_case.has_asked, 0, 0);
  sem_init(&the_case.is_home_done, 0, 0);
  lt_lane_share(fix->loop);
  assert_int_equal(pthread_create(&thread, NULL, ask_and_be_busy, &the_case), 0);
  db_fix_run(fix, ask_from_home);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(the_case.was_home_first);
  assert_true(the_case.is_lane_done);
  assert_int_equal(the_case.lane_status, LT_OK);
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(a, ' ') FROM (SELECT a FROM x__t ORDER BY a)"), "home lane");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, db_fix_setup, db_fix_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_lane_that_is_not_turned_holds_nobody_up),
  };
  return cmocka_run_group_tests_name("db_lanes", tests, NULL, NULL);
}
