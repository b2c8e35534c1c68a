/* Conversations and prompts: what is shown of them, to whom, in which order, how fast, and what an older file keeps. */
#include "unit/prompt_fix.h"

#include <time.h>

#include "fakes/sanitizer.h"
#include "store/sqlite/db_tables.h"

static const char *get_conversation(db_fix *fix, unsigned number) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_conversation_get(fix->db, LT_STR("ann"), conversation(number), &out, &fix->err));
  return text_of(&out);
}

static const char *list_numbers(db_fix *fix, const char *user, size_t max) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_conversation_list(fix->db, lt_str_of(user), max, &out, &fix->err));
  return numbers_in(text_of(&out), "{\"id\":\"a");
}

/* --- Conversations ------------------------------------------------------------------------------------------------ */

static void see_ids(db_fix *fix) {
  char a[LT_STORE_ID_BYTES + 1], b[LT_STORE_ID_BYTES + 1];
  DB_OK(lt_store_new_id(a, &fix->err));
  DB_OK(lt_store_new_id(b, &fix->err));
  assert_int_equal(strlen(a), LT_STORE_ID_BYTES);
  assert_int_equal(strspn(a, "0123456789abcdef"), LT_STORE_ID_BYTES);
  assert_string_not_equal(a, b);
}

static void see_conversations(db_fix *fix) {
  see_ids(fix);
  assert_string_equal(list_numbers(fix, "ann", 10), "");
  create_ended(fix, 1, 1);
  const char *text = get_conversation(fix, 1);
  expect_part(text, "{\"id\":\"a0000000000000000000000000000001\",\"title\":null,\"createdAt\":\"20");
  expect_part(text, "Z\",\"firstMessage\":\"hello\",\"updatedAt\":\"20");
  expect_part(text, "Z\",\"prompts\":1}");
  DB_OK(lt_store_conversation_set_title(fix->db, LT_STR("ann"), conversation(1), LT_STR("A \"title\""), &fix->err));
  expect_part(get_conversation(fix, 1), ",\"title\":\"A \\\"title\\\"\",");
  DB_OK(lt_store_conversation_set_title(fix->db, LT_STR("ann"), conversation(1), LT_STR_NULL, &fix->err));
  expect_part(get_conversation(fix, 1), ",\"title\":\"\",");
}

static void a_conversation_is_made_with_its_first_prompt(void **state) {
  db_fix_run(*state, see_conversations);
}

static void use_in_turn(db_fix *fix) {
  for (unsigned i = 1; i <= 3; i++) {
    create_ended(fix, i, i);
    lt_loop_sleep(fix->loop, 2); /* times have milliseconds */
  }
  assert_string_equal(list_numbers(fix, "ann", 10), " 3 2 1");
  DB_OK(create(fix, 4, 1));
  assert_string_equal(list_numbers(fix, "ann", 10), " 1 3 2");
  lt_loop_sleep(fix->loop, 2);
  DB_OK(create(fix, 5, 2));
  lt_loop_sleep(fix->loop, 2);
  DB_OK(set(fix, 4, LT_PROMPT_FAILED)); /* its end is a use, too */
  assert_string_equal(list_numbers(fix, "ann", 10), " 1 2 3");
  lt_loop_sleep(fix->loop, 2);
  DB_OK(lt_store_conversation_set_title(fix->db, LT_STR("ann"), conversation(3), LT_STR("t"), &fix->err));
  assert_string_equal(list_numbers(fix, "ann", 2), " 1 2");
  assert_string_equal(list_numbers(fix, "ann", 0), "");
  assert_string_equal(list_numbers(fix, "ann", SIZE_MAX), " 1 2 3");
  expect_part(get_conversation(fix, 1), "\"prompts\":2}");
}

static void lists_begin_with_what_was_used_last(void **state) {
  db_fix_run(*state, use_in_turn);
}

/* A stranger learns nothing, not even whether it exists: the words are the same. */
static void look_as_a_stranger(db_fix *fix) {
  lt_str bob = LT_STR("bob");
  lt_buf out;
  char words[LT_ERR_MSG_MAX];
  lt_buf_init(&out, LT_MIB);
  lt_buf_addc(&out, "before");
  create_ended(fix, 1, 1);
  expect(lt_store_conversation_get(fix->db, bob, conversation(1), &out, &fix->err), LT_E_NOTFOUND, fix,
         "there is no conversation \"a0000000000000000000000000000001\"");
  strcpy(words, fix->err.msg);
  expect(lt_store_conversation_get(fix->db, LT_STR("ann"), conversation(9), &out, &fix->err), LT_E_NOTFOUND, fix, "");
  assert_int_equal(strlen(words), strlen(fix->err.msg));
  expect(lt_store_conversation_set_title(fix->db, bob, conversation(1), LT_STR("x"), &fix->err), LT_E_NOTFOUND, fix,
         words);
  expect(lt_store_prompt_get(fix->db, bob, prompt(1), &out, &fix->err), LT_E_NOTFOUND, fix,
         "there is no prompt \"b0000000000000000000000000000001\"");
  expect(lt_store_prompt_get(fix->db, LT_STR("ann"), prompt(9), &out, &fix->err), LT_E_NOTFOUND, fix, "");
  assert_string_equal(out.p, "before");
  lt_buf_release(&out);
  assert_string_equal(history_numbers(fix, "bob", 1, 10), "");
  assert_string_equal(list_numbers(fix, "bob", 10), "");
  expect_part(get_conversation(fix, 1), "\"title\":null");
}

static void others_see_nothing(void **state) {
  db_fix_run(*state, look_as_a_stranger);
}

/* --- Prompts ------------------------------------------------------------------------------------------------------ */

static void refuse_some(db_fix *fix) {
  DB_OK(create(fix, 1, 1));
  expect(create(fix, 2, 1), LT_E_INVALID, fix, "is busy: its prompt b0000000000000000000000000000001 has not ended");
  DB_OK(set(fix, 1, LT_PROMPT_WAITING));
  expect(create(fix, 2, 1), LT_E_INVALID, fix, "has not ended (waiting_for_approval)");
  lt_prompt_row row = row_of(2, 1);
  row.user = LT_STR("bob");
  expect(lt_store_prompt_create(fix->db, &row, &fix->err), LT_E_DENIED, fix, "belongs to somebody else");
  assert_null(strstr(fix->err.msg, "busy"));
  DB_OK(set(fix, 1, LT_PROMPT_CANCELLED));
  create_ended(fix, 2, 1);
  expect(create(fix, 2, 3), LT_E_INVALID, fix, "is taken");
  assert_string_equal(list_numbers(fix, "ann", 10), " 1"); /* and no conversation was made for it */
  row = row_of(4, 1);
  row.id = LT_STR("4");
  expect(lt_store_prompt_create(fix->db, &row, &fix->err), LT_E_INVALID, fix, "a prompt's id has 32 hexadecimal");
  row = row_of(4, 1);
  row.conversation = LT_STR("A000000000000000000000000000000'");
  expect(lt_store_prompt_create(fix->db, &row, &fix->err), LT_E_INVALID, fix, "a conversation's id has 32");
  expect(set(fix, 9, LT_PROMPT_COMPLETED), LT_E_NOTFOUND, fix, "there is no prompt");
  expect(lt_store_prompt_put_output(fix->db, prompt(9), 0, LT_STR("{}"), &fix->err), LT_E_NOTFOUND, fix, "no prompt");
  assert_string_equal(history_numbers(fix, "ann", 1, 10), " 1 2");
}

static void what_does_not_fit_is_refused(void **state) {
  db_fix_run(*state, refuse_some);
}

static void go_through_states(db_fix *fix) {
  lt_str none = LT_STR_NULL;
  lt_prompt_row row = row_of(1, 1);
  row.visible = false;
  DB_OK(lt_store_prompt_create(fix->db, &row, &fix->err));
  const char *text = get(fix, 1);
  expect_part(text,
              "{\"id\":\"b0000000000000000000000000000001\",\"userId\":\"ann\",\"conversationId\":"
              "\"a0000000000000000000000000000001\",\"model\":\"normal\",\"mode\":\"code\",\"visible\":false,"
              "\"state\":\"running\",\"input\":\"hello\",\"output\":[],\"createdAt\":\"20");
  assert_null(strstr(text, "completedAt"));
  assert_null(strstr(text, "usage"));
  assert_null(strstr(text, "error"));
  lt_str usage = LT_STR("{\"inputTokens\":7}");
  DB_OK(lt_store_prompt_set_state(fix->db, prompt(1), LT_PROMPT_WAITING, usage, none, &fix->err));
  text = get(fix, 1);
  expect_part(text, "\"state\":\"waiting_for_approval\"");
  assert_null(strstr(text, "completedAt"));
  DB_OK(set(fix, 1, LT_PROMPT_RUNNING));
  DB_OK(lt_store_prompt_set_state(fix->db, prompt(1), LT_PROMPT_FAILED, none, LT_STR("no \"model\""), &fix->err));
  text = get(fix, 1);
  expect_part(text, "\"state\":\"failed\"");
  expect_part(text, "\"usage\":{\"inputTokens\":7},\"error\":\"no \\\"model\\\"\",\"createdAt\":");
  char ended[64];
  snprintf(ended, sizeof ended, "%.40s", strstr(text, "\"completedAt\":\"20"));
  expect(set(fix, 1, LT_PROMPT_RUNNING), LT_E_INVALID, fix, "has ended (failed): it cannot be running again");
  lt_loop_sleep(fix->loop, 2);
  DB_OK(set(fix, 1, LT_PROMPT_CANCELLED));
  text = get(fix, 1);
  expect_part(text, "\"state\":\"cancelled\"");
  expect_part(text, ended); /* the time of the first end */
  expect(lt_store_prompt_set_state(fix->db, prompt(1), LT_PROMPT_FAILED, LT_STR("{"), none, &fix->err), LT_E_INVALID,
         fix, "a prompt's usage must be JSON");
}

static void a_prompt_goes_through_its_states(void **state) {
  db_fix_run(*state, go_through_states);
}

static void put_outputs(db_fix *fix) {
  static const struct {
    uint32_t number;
    const char *json;
  } outputs[] = {{0, "{\"a\":0}"},    {2, "[2]"}, {10, "\"ten\""}, {1, "1"}, {2, "{\"two\": \"\\u0000\"}"},
                 {UINT32_MAX, "null"}};
  DB_OK(create(fix, 1, 1));
  DB_OK(create(fix, 2, 2));
  for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
    DB_OK(lt_store_prompt_put_output(fix->db, prompt(1), outputs[i].number, lt_str_of(outputs[i].json), &fix->err));
  }
  DB_OK(lt_store_prompt_put_output(fix->db, prompt(2), 0, LT_STR("\"of 2\""), &fix->err));
  static const char *const bad[] = {"", "{", "1 2", "{\"a\":}", "undefined"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    expect(lt_store_prompt_put_output(fix->db, prompt(1), 0, lt_str_of(bad[i]), &fix->err), LT_E_INVALID, fix,
           "a prompt's output must be JSON");
  }
  db_fix_reopen(fix);
  expect_part(get(fix, 1), "\"output\":[{\"a\":0},1,{\"two\": \"\\u0000\"},\"ten\",null],");
  expect_part(get(fix, 2), "\"output\":[\"of 2\"],");
}

static void outputs_are_replaced_in_place(void **state) {
  db_fix_run(*state, put_outputs);
}

static lt_status update(db_fix *fix, unsigned number, const char *first, const char *second, lt_prompt_change *change) {
  const lt_prompt_output outputs[] = {{7, lt_str_of(first), 1}, {3, lt_str_of(second), 2}};
  fix->err = LT_ERR_INIT;
  return lt_store_prompt_update(fix->db, prompt(number), outputs, 2, change, &fix->err);
}

static void update_at_once(db_fix *fix) {
  lt_prompt_change waits = {.state = LT_PROMPT_WAITING, .usage = LT_STR("{\"u\":1}")};
  lt_prompt_change fails = {.state = LT_PROMPT_FAILED, .error = LT_STR("why")};
  lt_prompt_change runs = {.state = LT_PROMPT_RUNNING};
  DB_OK(create(fix, 1, 1));
  uint64_t before = lt_db_commits(fix->db);
  DB_OK(update(fix, 1, "7", "3", &waits));
  assert_int_equal(lt_db_commits(fix->db), before + 1);
  const char *text = get(fix, 1);
  expect_part(text, "\"output\":[3,7],\"usage\":{\"u\":1},");
  expect_part(text, "\"state\":\"waiting_for_approval\"");
  DB_OK(update(fix, 1, "8", "4", NULL));
  text = get(fix, 1);
  expect_part(text, "\"output\":[4,8],\"usage\":{\"u\":1},");
  expect_part(text, "\"state\":\"waiting_for_approval\"");
  expect(update(fix, 1, "9", "{", &fails), LT_E_INVALID, fix, "a prompt's output must be JSON"); /* nothing of it */
  text = get(fix, 1);
  expect_part(text, "\"output\":[4,8]");
  expect_part(text, "\"state\":\"waiting_for_approval\"");
  DB_OK(lt_store_prompt_update(fix->db, prompt(1), NULL, 0, &fails, &fix->err));
  text = get(fix, 1);
  expect_part(text, "\"state\":\"failed\"");
  expect_part(text, "\"error\":\"why\"");
  expect(update(fix, 1, "9", "9", &runs), LT_E_INVALID, fix, "has ended (failed)");
  expect_part(get(fix, 1), "\"output\":[4,8]");
  expect(update(fix, 2, "9", "9", NULL), LT_E_NOTFOUND, fix, "there is no prompt");
}

static void assert_unshown(db_fix *fix, const char *expected) {
  LT_AUTO_BUF(text, LT_MIB);
  DB_OK(lt_store_prompt_unshown(fix->db, prompt(1), &text, &fix->err));
  assert_string_equal(text.p, expected);
}

static void show_outputs(db_fix *fix) {
  DB_OK(create(fix, 1, 1));
  const lt_prompt_output outputs[] = {{.number = 0, .json = LT_STR("0"), .change = 3},
                                      {.number = 1, .json = LT_STR("1"), .change = 1},
                                      {.number = 2, .json = LT_STR("2")}}; /* an older Lathe's */
  DB_OK(lt_store_prompt_update(fix->db, prompt(1), outputs, 3, NULL, &fix->err));
  assert_unshown(fix, "{\"last\":3,\"outputs\":[{\"number\":1,\"change\":1},{\"number\":0,\"change\":3}]}");
  DB_OK(lt_store_prompt_set_shown(fix->db, prompt(1), 1, &fix->err));
  assert_unshown(fix, "{\"last\":3,\"outputs\":[{\"number\":0,\"change\":3}]}");
  DB_OK(lt_store_prompt_set_shown(fix->db, prompt(1), 3, &fix->err));
  DB_OK(lt_store_prompt_set_shown(fix->db, prompt(1), 2, &fix->err));
  DB_OK(lt_store_prompt_set_shown(fix->db, prompt(9), 2, &fix->err)); /* unknown: nothing happens */
  assert_unshown(fix, "{\"last\":3,\"outputs\":[]}");
}

static void what_is_shown_is_noted(void **state) {
  db_fix_run(*state, show_outputs);
}

static void outputs_and_a_state_go_together(void **state) {
  db_fix_run(*state, update_at_once);
}

static void see_history(db_fix *fix) {
  assert_string_equal(history(fix, LT_STR("ann"), 1, 10), "[]");
  char json[32];
  for (unsigned i = 1; i <= 12; i++) { /* two conversations in turn; every third prompt has no outputs */
    DB_OK(create(fix, i, i % 2));
    for (unsigned k = 0; k < i % 3; k++) {
      snprintf(json, sizeof json, "\"%u of %u\"", k, i);
      DB_OK(lt_store_prompt_put_output(fix->db, prompt(i), k, lt_str_of(json), &fix->err));
    }
    DB_OK(set(fix, i, LT_PROMPT_COMPLETED));
  }
  assert_string_equal(history_numbers(fix, "ann", 0, 100), " 2 4 6 8 10 12");
  assert_string_equal(history_numbers(fix, "ann", 1, 6), " 1 3 5 7 9 11");
  assert_string_equal(history_numbers(fix, "ann", 1, 2), " 9 11");
  assert_string_equal(history_numbers(fix, "ann", 1, 1), " 11");
  assert_string_equal(history_numbers(fix, "ann", 1, SIZE_MAX), " 1 3 5 7 9 11");
  assert_string_equal(history(fix, LT_STR("ann"), 1, 0), "[]");
  const char *text = history(fix, LT_STR("ann"), 1, 3);
  expect_part(text, "[\"0 of 7\"]");
  expect_part(text, "\"output\":[]");
  expect_part(text, "[\"0 of 11\",\"1 of 11\"]");
}

static void history_is_the_newest_oldest_first(void **state) {
  db_fix_run(*state, see_history);
}

static void keep_odd_texts(db_fix *fix) {
  lt_prompt_row row = row_of(1, 1);
  row.input = lt_str_from("a\0b\xff\"\\\n\xe2\x82\xac", 10);
  row.model = LT_STR("mod'el; DROP TABLE prompts");
  row.mode = LT_STR("");
  row.user = LT_STR("");
  DB_OK(lt_store_prompt_create(fix->db, &row, &fix->err));
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_prompt_get(fix->db, LT_STR(""), prompt(1), &out, &fix->err));
  expect_part(text_of(&out), "\"input\":\"a\\u0000b\xef\xbf\xbd\\\"\\\\\\n\xe2\x82\xac\",\"output\":[]");
}

static void texts_stay_what_they_are(void **state) {
  db_fix_run(*state, keep_odd_texts);
}

static void read_into_little_room(db_fix *fix) {
  lt_buf out;
  create_ended(fix, 1, 1);
  for (size_t max = 6; max < 300; max += 7) {
    lt_buf_init(&out, max);
    lt_buf_addc(&out, "before");
    if (lt_store_history(fix->db, LT_STR("ann"), conversation(1), 1, &out, &fix->err) != LT_OK) {
      assert_int_equal(fix->err.status, LT_E_LIMIT);
      assert_string_equal(out.p, "before");
    } else {
      assert_true(max > 200);
    }
    lt_buf_release(&out);
  }
}

static void too_little_room_is_said(void **state) {
  db_fix_run(*state, read_into_little_room);
}

/* --- Older files -------------------------------------------------------------------------------------------------- */

static void open_version_1(db_fix *fix) {
  sqlite3 *sql = NULL;
  assert_int_equal(sqlite3_open(fix->path, &sql), SQLITE_OK);
  DB_OK(lt_db_tables_upgrade(sql, 1, &fix->err));
  for (sqlite3_stmt *stmt; (stmt = sqlite3_next_stmt(sql, NULL)) != NULL;) {
    sqlite3_finalize(stmt);
  }
  assert_int_equal(sqlite3_exec(sql,
                                "INSERT INTO calls(run, user, tool, repeatable, started_at, input)"
                                " VALUES('r', 'ann', 't', 0, '2026-01-01T00:00:00.000Z', '{}');"
                                "INSERT INTO plugin_state VALUES('todo', 'ann', 'a1', '2026', '{\"k\":1}')",
                                NULL, NULL, NULL),
                   SQLITE_OK);
  sqlite3_close(sql);
  assert_string_equal(db_fix_ask(fix, "PRAGMA user_version"), "1");
  create_ended(fix, 1, 1);
  assert_string_equal(history_numbers(fix, "ann", 1, 10), " 1");
  assert_string_equal(db_fix_ask(fix, "PRAGMA user_version"), "3");
  assert_string_equal(db_fix_ask(fix, "SELECT run || tool || input FROM calls"), "rt{}");
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_state_get(fix->db, LT_STR("todo"), LT_STR("ann"), LT_STR("a1"), &out, &fix->err));
  assert_string_equal(text_of(&out), "{\"k\":1}");
}

static void an_older_file_keeps_what_it_has(void **state) {
  db_fix_run(*state, open_version_1);
}

/* --- How fast ----------------------------------------------------------------------------------------------------- */

enum { LONG = 1000 };

/* The time that we have worked: a busy machine is not our fault. */
static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Each with three outputs of 600 bytes, among as many of another conversation. By SQL: making them is not the point. */
static void fill(db_fix *fix) {
  create_ended(fix, 1, 1);
  create_ended(fix, 2, 2);
  db_fix_ask(fix, "DELETE FROM prompts");
  db_fix_ask(fix,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
             " INSERT INTO prompts(id, conversation, state, model, mode, visible, created_at, completed_at, input)"
             " SELECT printf('b%031d', i), 1 + i % 2, 'completed', 'normal', 'code', 1, '2026', '2026',"
             " printf('%.*c', 200, 'x') FROM n");
  db_fix_ask(fix,
             "INSERT INTO prompt_outputs(prompt, number, json) SELECT p.number, value, "
             "printf('{\"type\":\"text\",\"content\":\"%.*c\"}',"
             " 600, 'y') FROM prompts p, json_each('[0,1,2]')");
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM prompt_outputs"), "6000");
}

static double time_history(db_fix *fix, size_t max, size_t least_bytes) {
  double best = 1e9;
  lt_buf out;
  lt_buf_init(&out, 64 * LT_MIB);
  for (int i = 0; i < 10; i++) {
    lt_buf_clear(&out);
    double start = now_ms();
    DB_OK(lt_store_history(fix->db, LT_STR("ann"), conversation(1), max, &out, &fix->err));
    double ms = now_ms() - start;
    best = ms < best ? ms : best;
  }
  assert_true(out.n > least_bytes);
  lt_buf_release(&out);
  return best;
}

static void load_long(db_fix *fix) {
  fill(fix);
  db_fix_reopen(fix);
  double all = time_history(fix, SIZE_MAX, LONG * 2000), few = time_history(fix, 10, 10 * 2000);
  print_message("history of %d prompts: %.2f ms; the newest 10 of them: %.2f ms\n", LONG, all, few);
  assert_true(SANITIZED || all < 10);
  assert_true(SANITIZED || few < all / 4);
}

static void a_long_conversation_loads_at_once(void **state) {
  db_fix_run(*state, load_long);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, db_fix_setup, db_fix_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_conversation_is_made_with_its_first_prompt),
      TEST(lists_begin_with_what_was_used_last),
      TEST(others_see_nothing),
      TEST(what_does_not_fit_is_refused),
      TEST(a_prompt_goes_through_its_states),
      TEST(outputs_are_replaced_in_place),
      TEST(outputs_and_a_state_go_together),
      TEST(what_is_shown_is_noted),
      TEST(history_is_the_newest_oldest_first),
      TEST(texts_stay_what_they_are),
      TEST(too_little_room_is_said),
      TEST(an_older_file_keeps_what_it_has),
      TEST(a_long_conversation_loads_at_once),
  };
  return cmocka_run_group_tests_name("store_prompts", tests, NULL, NULL);
}
