/* Conversations and prompts: what is shown of them, to whom, in which order, how fast, and what is there after the
 * process that ran them has gone. */
#include "unit/db_fix.h"

#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "fakes/sanitizer.h"
#include "store/store_prompts.h"
#include "store/sqlite/db_tables.h"

/* --- Ids and rows ------------------------------------------------------------------------------------------------- */

/* The id of a kind ('a' for conversations, 'b' for prompts) and a number. */
static lt_str id_of(char kind, unsigned n) {
  static char ids[64][LT_STORE_ID_BYTES + 1];
  static size_t next;
  char *id = ids[next++ % 64];
  snprintf(id, sizeof ids[0], "%c%031u", kind, n);
  return lt_str_of(id);
}

static lt_str conversation(unsigned n) {
  return id_of('a', n);
}

static lt_str prompt(unsigned n) {
  return id_of('b', n);
}

static lt_prompt_row row_of(unsigned number, unsigned in_conversation) {
  return (lt_prompt_row){.id = prompt(number),
                         .user = LT_STR("ann"),
                         .conversation = conversation(in_conversation),
                         .model = LT_STR("normal"),
                         .mode = LT_STR("code"),
                         .input = LT_STR("hello"),
                         .visible = true};
}

static lt_status create(db_fix *fix, unsigned number, unsigned in_conversation) {
  lt_prompt_row row = row_of(number, in_conversation);
  fix->err = LT_ERR_INIT;
  return lt_store_prompt_create(fix->db, &row, &fix->err);
}

static lt_status set(db_fix *fix, unsigned number, lt_prompt_state state) {
  fix->err = LT_ERR_INIT;
  return lt_store_prompt_set_state(fix->db, prompt(number), state, LT_STR_NULL, LT_STR_NULL, &fix->err);
}

static void create_ended(db_fix *fix, unsigned number, unsigned in_conversation) {
  DB_OK(create(fix, number, in_conversation));
  DB_OK(set(fix, number, LT_PROMPT_COMPLETED));
}

/* What was appended to the buffer, which is empty afterwards; checked to be JSON. */
static const char *text_of(lt_buf *out) {
  static char text[1 << 16];
  lt_err err = LT_ERR_INIT;
  if (lt_json_check(lt_buf_view(out), &err) != LT_OK) {
    fail_msg("%s: %.*s", lt_err_msg(&err), LT_STR_ARG(lt_buf_view(out)));
  }
  snprintf(text, sizeof text, "%s", out->p);
  lt_buf_release(out);
  return text;
}

static const char *get(db_fix *fix, unsigned number) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_prompt_get(fix->db, LT_STR("ann"), prompt(number), &out, &fix->err));
  return text_of(&out);
}

static const char *get_conversation(db_fix *fix, unsigned number) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_conversation_get(fix->db, LT_STR("ann"), conversation(number), &out, &fix->err));
  return text_of(&out);
}

static const char *orphans(db_fix *fix) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_prompt_orphans(fix->db, &out, &fix->err));
  return text_of(&out);
}

/* The numbers of the ids ("...id":"b000...42") in a text, as " 1 2 3". */
static const char *numbers_in(const char *text, const char *before) {
  static char numbers[4096];
  size_t n = 0;
  numbers[0] = '\0';
  for (const char *at = strstr(text, before); at != NULL; at = strstr(at, before)) {
    at += strlen(before);
    n += (size_t)snprintf(numbers + n, sizeof numbers - n, " %lu", strtoul(at, NULL, 10));
  }
  return numbers;
}

static const char *history(db_fix *fix, lt_str user, unsigned of, size_t max) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_history(fix->db, user, conversation(of), max, &out, &fix->err));
  return text_of(&out);
}

static const char *history_numbers(db_fix *fix, const char *user, unsigned of, size_t max) {
  return numbers_in(history(fix, lt_str_of(user), of, max), "{\"id\":\"b");
}

static const char *list_numbers(db_fix *fix, const char *user, size_t max) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_conversation_list(fix->db, lt_str_of(user), max, &out, &fix->err));
  return numbers_in(text_of(&out), "{\"id\":\"a");
}

static void expect(lt_status status, lt_status wanted, const db_fix *fix, const char *words) {
  if (status != wanted || strstr(fix->err.msg, words) == NULL) {
    fail_msg("%s: %s", lt_status_name(status), fix->err.msg);
  }
}

static void expect_part(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    fail_msg("no %s in %s", part, text);
  }
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

/* While its process lives, the prompt is nobody else's. */
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
      TEST(a_killed_process_leaves_an_orphan),
      TEST(two_processes_resume_one_conversation),
      TEST(two_processes_prompt_one_conversation),
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
      TEST(a_prompt_is_taken_and_given_back),
      TEST(orphans_are_found_by_their_user),
      TEST(a_pid_alone_is_no_owner),
      TEST(an_older_releases_owner_counts),
      TEST(a_known_prompt_may_be_taken_over),
      TEST(another_namespace_is_known_by_its_heartbeat),
  };
  return cmocka_run_group_tests_name("store_prompts", tests, NULL, NULL);
}
