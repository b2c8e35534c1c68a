/* The owners of prompts: which process has a prompt, and who takes it after that process has gone. */
#include "unit/prompt_fix.h"

#include <signal.h>

#include "base/clock.h"
#include "store/store_upkeep.h"

static const char *orphans(db_fix *fix) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_prompt_orphans(fix->db, &out, &fix->err));
  return text_of(&out);
}

/* --- Whose it is -------------------------------------------------------------------------------------------------- */

static lt_status claim(db_fix *fix, unsigned number) {
  fix->err = LT_ERR_INIT;
  return lt_store_prompt_claim(fix->db, prompt(number), &fix->err);
}

static void own_and_give_back(db_fix *fix) {
  DB_OK(create(fix, 1, 1));
  DB_OK(create(fix, 2, 2));
  assert_string_equal(orphans(fix), "[]"); /* ours from the beginning */
  DB_OK(claim(fix, 1));
  DB_OK(claim(fix, 1));
  DB_OK(lt_store_prompt_release(fix->db, prompt(2), &fix->err));
  DB_OK(lt_store_prompt_release(fix->db, prompt(1), &fix->err));
  DB_OK(lt_store_prompt_release(fix->db, prompt(1), &fix->err));
  assert_string_equal(numbers_in(orphans(fix), "\"b"), " 1 2");
  DB_OK(claim(fix, 2));
  DB_OK(set(fix, 1, LT_PROMPT_WAITING));
  assert_string_equal(numbers_in(orphans(fix), "\"b"), " 1"); /* what waits has not ended */
  DB_OK(set(fix, 1, LT_PROMPT_COMPLETED));
  assert_string_equal(orphans(fix), "[]");
  expect(claim(fix, 1), LT_E_INVALID, fix, "has ended (completed)");
  expect(claim(fix, 9), LT_E_NOTFOUND, fix, "there is no prompt");
  expect(lt_store_prompt_release(fix->db, prompt(9), &fix->err), LT_E_NOTFOUND, fix, "there is no prompt");
}

static const char *orphans_of(db_fix *fix, const char *user, lt_str of) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_prompt_orphans_of(fix->db, lt_str_of(user), of, &out, &fix->err));
  return text_of(&out);
}

static void ask_whose(db_fix *fix) {
  for (unsigned i = 1; i <= 5; i++) {
    lt_prompt_row row = row_of(i, i);
    row.user = i == 3 ? LT_STR("bob") : row.user;
    DB_OK(lt_store_prompt_create(fix->db, &row, &fix->err));
  }
  assert_string_equal(orphans_of(fix, "ann", LT_STR_NULL), "[]");
  DB_OK(set(fix, 2, LT_PROMPT_WAITING));
  for (unsigned i = 1; i <= 4; i++) {
    DB_OK(lt_store_prompt_release(fix->db, prompt(i), &fix->err));
  }
  DB_OK(set(fix, 4, LT_PROMPT_COMPLETED));
  assert_string_equal(orphans_of(fix, "ann", LT_STR_NULL),
                      "[{\"id\":\"b0000000000000000000000000000001\",\"conversationId\":"
                      "\"a0000000000000000000000000000001\",\"userId\":\"ann\",\"state\":\"running\"},"
                      "{\"id\":\"b0000000000000000000000000000002\",\"conversationId\":"
                      "\"a0000000000000000000000000000002\",\"userId\":\"ann\",\"state\":\"waiting_for_approval\"}]");
  assert_string_equal(numbers_in(orphans_of(fix, "ann", conversation(2)), "{\"id\":\"b"), " 2");
  assert_string_equal(numbers_in(orphans_of(fix, "bob", LT_STR_NULL), "{\"id\":\"b"), " 3");
  assert_string_equal(numbers_in(orphans_of(fix, "", LT_STR_NULL), "{\"id\":\"b"), " 1 2 3");
  assert_string_equal(orphans_of(fix, "ann", conversation(3)), "[]");
  assert_string_equal(orphans_of(fix, "ann", conversation(5)), "[]");
}

static void orphans_are_found_by_their_user(void **state) {
  db_fix_run(*state, ask_whose);
}

static void a_prompt_is_taken_and_given_back(void **state) {
  db_fix_run(*state, own_and_give_back);
}

static void set_owner(db_fix *fix, const char *owner) {
  char text[1024];
  snprintf(text, sizeof text, "UPDATE prompts SET owner = '%s'", owner);
  db_fix_ask(fix, text);
}

static void meet_other_owners(db_fix *fix) {
  long pid = 0;
  unsigned long long ticks = 0;
  char boot[64], own[300], text[300], longest[300];
  DB_OK(create(fix, 1, 1));
  snprintf(own, sizeof own, "%.200s", db_fix_ask(fix, "SELECT owner FROM prompts"));
  assert_int_equal(sscanf(own, "%ld %llu %63s", &pid, &ticks, boot), 3);
  assert_int_equal(pid, getpid());
  memset(longest, '7', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  const char *const gone[] = {"", "x", "1", "-1 1 b", "0 0 b", "99999999999999999999 1 b", longest};
  for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
    set_owner(fix, gone[i]);
    assert_string_equal(numbers_in(orphans(fix), "\"b"), " 1");
  }
  snprintf(text, sizeof text, "%ld %llu %s", pid, ticks + 1, boot); /* our pid, used before by another process */
  set_owner(fix, text);
  assert_string_equal(numbers_in(orphans(fix), "\"b"), " 1");
  snprintf(text, sizeof text, "%ld %llu 0%s", pid, ticks, boot + 1); /* before the machine was started again */
  set_owner(fix, boot[0] != '0' ? text : gone[0]);
  assert_string_equal(numbers_in(orphans(fix), "\"b"), " 1");
  DB_OK(claim(fix, 1));
  assert_string_equal(orphans(fix), "[]");
  assert_string_equal(db_fix_ask(fix, "SELECT owner FROM prompts"), own);
}

/* An older Lathe writes three parts, and reads three of five in a text of at most 127 bytes. */
static void meet_an_older_release(db_fix *fix) {
  char own[300], older[300];
  long pid = 0;
  unsigned long long ticks = 0, ns = 0;
  char boot[64], host[64];
  DB_OK(create(fix, 1, 1));
  snprintf(own, sizeof own, "%.200s", db_fix_ask(fix, "SELECT owner FROM prompts"));
  assert_true(strlen(own) < 128);
  assert_int_equal(sscanf(own, "%ld %llu %63s %llu %63s", &pid, &ticks, boot, &ns, host), 5);
  assert_true(ns > 0);
  snprintf(older, sizeof older, "%ld %llu %s", pid, ticks, boot); /* it lives: this process */
  set_owner(fix, older);
  assert_string_equal(orphans(fix), "[]");
  expect(claim(fix, 1), LT_E_INVALID, fix, "runs in another process, ");
  expect(set(fix, 1, LT_PROMPT_WAITING), LT_E_CLOSED, fix, "another process has taken the prompt");
  db_fix_ask(fix, "UPDATE prompts SET owner = NULL, completed_at = 'then', state = 'completed'"); /* as it ends one */
  expect(claim(fix, 1), LT_E_INVALID, fix, "has ended (completed)");
}

static void an_older_releases_owner_counts(void **state) {
  db_fix_run(*state, meet_an_older_release);
}

/* What is known of a prompt is known until another connection has changed something. */
static void lose_a_known_prompt(db_fix *fix) {
  char own[300];
  DB_OK(create(fix, 1, 1));
  DB_OK(set(fix, 1, LT_PROMPT_WAITING));
  snprintf(own, sizeof own, "%.200s", db_fix_ask(fix, "SELECT owner FROM prompts"));
  set_owner(fix, "1 1 another-boot 7 web-1");
  expect(set(fix, 1, LT_PROMPT_RUNNING), LT_E_CLOSED, fix, "another process has taken the prompt");
  expect(set(fix, 1, LT_PROMPT_COMPLETED), LT_E_CLOSED, fix, "another process has taken the prompt");
  assert_string_equal(db_fix_ask(fix, "SELECT state FROM prompts"), "waiting_for_approval");
  set_owner(fix, own);
  DB_OK(set(fix, 1, LT_PROMPT_RUNNING));
  DB_OK(set(fix, 1, LT_PROMPT_COMPLETED));
}

static void a_known_prompt_may_be_taken_over(void **state) {
  db_fix_run(*state, lose_a_known_prompt);
}

/* Also when this process itself removes the prompt: its numbers are nobody's then. */
static void remove_a_known_prompt(db_fix *fix) {
  bool is_done = false;
  create_ended(fix, 1, 1);
  DB_OK(lt_store_prompt_put_output(fix->db, prompt(1), 0, LT_STR("{}"), &fix->err));
  DB_OK(lt_store_conversation_remove(fix->db, LT_STR("ann"), conversation(1), 100, &is_done, &fix->err));
  assert_true(is_done);
  expect(lt_store_prompt_put_output(fix->db, prompt(1), 0, LT_STR("{}"), &fix->err), LT_E_NOTFOUND, fix,
         "there is no prompt");
  expect(set(fix, 1, LT_PROMPT_COMPLETED), LT_E_NOTFOUND, fix, "there is no prompt");
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM prompt_outputs"), "0");
}

static void a_known_prompt_may_be_removed(void **state) {
  db_fix_run(*state, remove_a_known_prompt);
}

static void set_elsewhere(db_fix *fix, const char *owner, uint64_t beat_ms) {
  char text[1024];
  set_owner(fix, owner);
  snprintf(text, sizeof text, "INSERT OR REPLACE INTO owner_beats VALUES('%s', %llu)", owner,
           (unsigned long long)beat_ms);
  db_fix_ask(fix, text);
}

static void meet_owners_elsewhere(db_fix *fix) {
  char boot[64] = "", text[300];
  DB_OK(create(fix, 1, 1));
  assert_int_equal(sscanf(db_fix_ask(fix, "SELECT owner FROM prompts"), "%*d %*u %63s", boot), 1);
  uint64_t now = lt_clock_wall_us() / 1000;
  const char *const boots[] = {boot, "another-boot"};
  for (size_t i = 0; i < 2; i++) {
    snprintf(text, sizeof text, "%d 1 %s 7 web-1", (int)getpid(),
             boots[i]); /* a pid of another namespace is no pid here */
    set_elsewhere(fix, text, now);
    assert_string_equal(orphans(fix), "[]");
    expect(claim(fix, 1), LT_E_INVALID, fix, " on web-1 (last sign of life ");
    set_elsewhere(fix, text, now - LT_LEASE_GONE_MS - 1000);
    assert_string_equal(numbers_in(orphans(fix), "\"b"), " 1");
  }
  uint64_t began = lt_clock_monotonic_ms();
  DB_OK(claim(fix, 1)); /* watched for a while first */
  assert_true(lt_clock_monotonic_ms() - began >= LT_LEASE_WATCH_MS - 100);
  assert_string_equal(orphans(fix), "[]");
  DB_OK(lt_store_beat(fix->db, &fix->err));
  assert_string_equal(db_fix_ask(fix,
                                 "SELECT count(*) FROM owner_beats WHERE beat_ms > 1 AND owner IN"
                                 " (SELECT owner FROM prompts)"),
                      "1");
}

static void another_namespace_is_known_by_its_heartbeat(void **state) {
  db_fix_run(*state, meet_owners_elsewhere);
}

static void a_pid_alone_is_no_owner(void **state) {
  db_fix_run(*state, meet_other_owners);
}

/* --- Processes ---------------------------------------------------------------------------------------------------- */

static int said[2], go[2][2]; /* what children say, and what they wait for at each of two points */

static void say(char c) {
  if (write(said[1], &c, 1) != 1) {
    _exit(7);
  }
}

static char heard(void) {
  char c = '-';
  assert_int_equal(read(said[0], &c, 1), 1);
  return c;
}

static void wait_to_go(int point) {
  char c;
  if (read(go[point][0], &c, 1) != 1) {
    _exit(0);
  }
}

static void let_go(int point, size_t count) {
  for (; count > 0; count--) {
    assert_int_equal(write(go[point][1], "x", 1), 1);
  }
}

static void open_pipes(void) {
  assert_int_equal(pipe(said), 0);
  assert_int_equal(pipe(go[0]), 0);
  assert_int_equal(pipe(go[1]), 0);
  alarm(60); /* should a child die without a word */
}

static void close_pipes(void) {
  for (int i = 0; i < 2; i++) {
    close(said[i]);
    close(go[0][i]);
    close(go[1][i]);
  }
  alarm(0);
}

static void create_and_stay(db_fix *fix) {
  DB_OK(create(fix, 1, 1));
  DB_OK(lt_store_prompt_put_output(fix->db, prompt(1), 0, LT_STR("\"kept\""), &fix->err));
  say('c');
  wait_to_go(1);
}

/* While its process lives, no other one can take the prompt. */
static void find_busy(db_fix *fix) {
  long owner = strtol(db_fix_ask(fix, "SELECT owner FROM prompts"), NULL, 10);
  char words[64];
  snprintf(words, sizeof words, "runs in another process, %ld:", owner);
  assert_string_equal(orphans(fix), "[]");
  expect(claim(fix, 1), LT_E_INVALID, fix, words);
  DB_OK(lt_store_prompt_release(fix->db, prompt(1), &fix->err)); /* not ours to give back */
  expect(claim(fix, 1), LT_E_INVALID, fix, words);
  expect(create(fix, 2, 1), LT_E_INVALID, fix, "busy");
}

static void find_orphan(db_fix *fix) {
  assert_string_equal(numbers_in(orphans(fix), "\"b"), " 1");
  expect_part(get(fix, 1), "\"state\":\"running\",\"input\":\"hello\",\"output\":[\"kept\"]");
  DB_OK(claim(fix, 1));
  assert_string_equal(orphans(fix), "[]");
  DB_OK(set(fix, 1, LT_PROMPT_COMPLETED));
  create_ended(fix, 2, 1);
  assert_string_equal(history_numbers(fix, "ann", 1, 10), " 1 2");
}

static void a_killed_process_leaves_an_orphan(void **state) {
  db_fix *fix = *state;
  open_pipes();
  pid_t pid = db_fix_child(fix, create_and_stay);
  assert_int_equal(heard(), 'c');
  assert_int_equal(db_fix_end_of(db_fix_child(fix, find_busy)), 0);
  assert_int_equal(kill(pid, SIGKILL), 0);
  siginfo_t info;
  assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0); /* a zombie: gone all the same */
  assert_int_equal(db_fix_end_of(db_fix_child(fix, find_orphan)), 0);
  int status = db_fix_end_of(pid);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  close_pipes();
}

static void create_and_end(db_fix *fix) {
  DB_OK(create(fix, 1, 1));
}

static void race_to_claim(db_fix *fix) {
  assert_string_equal(numbers_in(orphans(fix), "\"b"), " 1"); /* opens the file, too */
  say('r');
  wait_to_go(0);
  lt_status status = claim(fix, 1);
  if (status != LT_OK) {
    expect(status, LT_E_INVALID, fix, "runs in another process");
  }
  say(status == LT_OK ? 'w' : 'l');
  wait_to_go(1);
  if (status != LT_OK) {
    DB_OK(claim(fix, 1)); /* the winner has gone meanwhile */
    DB_OK(set(fix, 1, LT_PROMPT_COMPLETED));
  }
}

/* Both go on with the conversation after a crash. */
static void two_processes_resume_one_conversation(void **state) {
  db_fix *fix = *state;
  for (unsigned round = 0; round < 5; round++) {
    snprintf(fix->path, sizeof fix->path, "%s/%u.db", fix->folder, round);
    open_pipes();
    assert_int_equal(db_fix_end_of(db_fix_child(fix, create_and_end)), 0);
    pid_t pids[2] = {db_fix_child(fix, race_to_claim), db_fix_child(fix, race_to_claim)};
    assert_int_equal(heard() + heard(), 'r' + 'r');
    let_go(0, 2);
    assert_int_equal(heard() + heard(), 'w' + 'l');
    long winner = strtol(db_fix_ask(fix, "SELECT owner FROM prompts"), NULL, 10);
    size_t won = winner == pids[1];
    assert_int_equal(pids[won], winner);
    assert_int_equal(kill(pids[won], SIGKILL), 0);
    assert_true(WIFSIGNALED(db_fix_end_of(pids[won])));
    let_go(1, 1);
    assert_int_equal(db_fix_end_of(pids[1 - won]), 0);
    assert_string_equal(db_fix_ask(fix, "SELECT state || ' ' || ifnull(owner, 'nobody') FROM prompts"),
                        "completed nobody");
    close_pipes();
  }
}

static unsigned racer;

static void race_to_create(db_fix *fix) {
  assert_string_equal(orphans(fix), "[]");
  say('r');
  wait_to_go(0);
  lt_status status = create(fix, racer, 1);
  if (status != LT_OK) {
    expect(status, LT_E_INVALID, fix, "the conversation is busy");
  }
  say(status == LT_OK ? 'w' : 'l');
  wait_to_go(1);
}

static void two_processes_prompt_one_conversation(void **state) {
  db_fix *fix = *state;
  open_pipes();
  pid_t pids[2];
  for (racer = 0; racer < 2; racer++) {
    pids[racer] = db_fix_child(fix, race_to_create);
  }
  assert_int_equal(heard() + heard(), 'r' + 'r');
  let_go(0, 2);
  assert_int_equal(heard() + heard(), 'w' + 'l');
  let_go(1, 2);
  assert_int_equal(db_fix_end_of(pids[0]) | db_fix_end_of(pids[1]), 0);
  assert_string_equal(db_fix_ask(fix, "SELECT (SELECT count(*) FROM prompts) || ' ' || count(*) FROM conversations"),
                      "1 1");
  close_pipes();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, db_fix_setup, db_fix_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      /* These fork, and come before the first threads: ThreadSanitizer cannot follow otherwise. */
      TEST(a_killed_process_leaves_an_orphan),     TEST(two_processes_resume_one_conversation),
      TEST(two_processes_prompt_one_conversation), TEST(a_prompt_is_taken_and_given_back),
      TEST(orphans_are_found_by_their_user),       TEST(a_pid_alone_is_no_owner),
      TEST(an_older_releases_owner_counts),        TEST(a_known_prompt_may_be_taken_over),
      TEST(a_known_prompt_may_be_removed),         TEST(another_namespace_is_known_by_its_heartbeat),
  };
  return cmocka_run_group_tests_name("prompt_owner", tests, NULL, NULL);
}
