/* Prompts that were taken back: which ones can be, what is without them then, and what still has them. */
#include "unit/db_fix.h"

#include "base/limits.h"
#include "store/store_prompts.h"
#include "store/store_summaries.h"

#define ANN          LT_STR("ann")
#define CONVERSATION LT_STR("a0000000000000000000000000000001")

/* "a" to "z" are the messages of the prompts "b...a" to "b...z", which are in that order. */
static lt_str id_of(char name) {
  static char ids[26][LT_STORE_ID_BYTES + 1];
  char *id = ids[name - 'a'];
  snprintf(id, sizeof ids[0], "b%031x", (unsigned)(name - 'a'));
  return lt_str_of(id);
}

static void begin(db_fix *fix, char name) {
  const lt_prompt_row row = {.id = id_of(name),
                             .user = ANN,
                             .conversation = CONVERSATION,
                             .model = LT_STR("normal"),
                             .mode = LT_STR("code"),
                             .input = lt_str_from(&name, 1),
                             .visible = true};
  DB_OK(lt_store_prompt_create(fix->db, &row, &fix->err));
  DB_OK(
      lt_store_prompt_put_output(fix->db, row.id, 0, LT_STR("{\"type\":\"text\",\"content\":\"answer\"}"), &fix->err));
}

static void end(db_fix *fix, char name) {
  DB_OK(lt_store_prompt_set_state(fix->db, id_of(name), LT_PROMPT_COMPLETED, LT_STR_NULL, LT_STR_NULL, &fix->err));
}

static void say(db_fix *fix, const char *names) {
  lt_loop_sleep(fix->loop, 2); /* times have milliseconds */
  for (; *names != '\0'; names++) {
    begin(fix, *names);
    end(fix, *names);
  }
}

static void undo(db_fix *fix, char name) {
  lt_loop_sleep(fix->loop, 2);
  DB_OK(lt_store_prompt_undo(fix->db, ANN, id_of(name), &fix->err));
}

static void expect_refusal(db_fix *fix, lt_str user, char name, lt_status wanted, const char *words) {
  fix->err = LT_ERR_INIT;
  lt_status status = lt_store_prompt_undo(fix->db, user, id_of(name), &fix->err);
  if (status != wanted || strstr(fix->err.msg, words) == NULL) {
    fail_msg("%s: %s", lt_status_name(status), fix->err.msg);
  }
}

/* The messages of a history, each of which must have its answer. */
static const char *messages_of(lt_store *db, lt_str before, size_t max) {
  static char names[27];
  lt_json_doc doc;
  size_t n = 0;
  LT_AUTO_ARENA(arena, LT_MIB);
  LT_AUTO_BUF(json, LT_MIB);
  assert_int_equal(lt_store_history_before(db, ANN, CONVERSATION, before, max, &json, NULL), LT_OK);
  assert_int_equal(lt_json_parse(&arena, lt_buf_view(&json), &doc, NULL), LT_OK);
  for (lt_json_iter it = lt_json_each(lt_json_root(&doc)); lt_json_next(&it);) {
    lt_str input;
    assert_int_equal(lt_json_count(lt_json_get(it.value, "output")), 1);
    assert_true(lt_json_str(lt_json_get(it.value, "input"), &arena, &input) && input.n == 1);
    names[n++] = input.p[0];
  }
  names[n] = '\0';
  return names;
}

static const char *messages(db_fix *fix) {
  return messages_of(fix->db, LT_STR(""), SIZE_MAX);
}

static void expect_listed(db_fix *fix, const char *text, const char *wanted) {
  const lt_conversation_page page = {.user = ANN, .text = lt_str_of(text), .max = 9};
  LT_AUTO_BUF(list, LT_MIB);
  DB_OK(lt_store_conversation_page(fix->db, &page, &list, &fix->err));
  if (strstr(list.p, wanted) == NULL) {
    fail_msg("no %s in %s", wanted, list.p);
  }
}

/* --- Which ones, and what is without them ------------------------------------------------------------------------- */
static void undo_some(db_fix *fix) {
  say(fix, "abc");
  undo(fix, 'c');
  assert_string_equal(messages(fix), "ab");
  assert_string_equal(messages_of(fix->db, LT_STR(""), 1), "b");
  assert_string_equal(messages_of(fix->db, id_of('c'), 1), "b");
  say(fix, "d");
  assert_string_equal(messages(fix), "abd");
  assert_string_equal(messages_of(fix->db, LT_STR(""), 2), "bd");
  db_fix_reopen(fix);
  assert_string_equal(messages(fix), "abd");
  undo(fix, 'd');
  undo(fix, 'b');
  assert_string_equal(messages(fix), "a");
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM prompt_outputs"), "4");
  LT_AUTO_BUF(one, LT_MIB);
  DB_OK(lt_store_prompt_get(fix->db, ANN, id_of('b'), &one, &fix->err));
  assert_non_null(strstr(one.p, "\"input\":\"b\",\"output\":[{\"type\":\"text\""));
}

static void what_was_taken_back_is_in_no_history(void **state) {
  db_fix_run(*state, undo_some);
}

static void undo_in_vain(db_fix *fix) {
  say(fix, "ab");
  begin(fix, 'c');
  expect_refusal(fix, ANN, 'c', LT_E_INVALID, "it has not ended");
  expect_refusal(fix, ANN, 'b', LT_E_INVALID, "the conversation has gone on");
  end(fix, 'c');
  expect_refusal(fix, LT_STR("bob"), 'c', LT_E_NOTFOUND, "there is no prompt");
  expect_refusal(fix, ANN, 'x', LT_E_NOTFOUND, "there is no prompt");
  assert_string_equal(messages(fix), "abc");
  undo(fix, 'c');
  expect_refusal(fix, ANN, 'c', LT_E_INVALID, "it has been already");
  expect_refusal(fix, ANN, 'a', LT_E_INVALID, "the conversation has gone on");
}

static void only_the_last_one_is_taken_back_and_only_once(void **state) {
  db_fix_run(*state, undo_in_vain);
}

static void list_after_undo(db_fix *fix) {
  say(fix, "pq");
  DB_OK(lt_store_conversation_set_title(fix->db, ANN, CONVERSATION, LT_STR("Title"), &fix->err));
  undo(fix, 'q');
  expect_listed(fix, "", "\"title\":\"Title\"");
  expect_listed(fix, "", "\"prompts\":1}");
  expect_listed(fix, "q", "[]");
  undo(fix, 'p');
  expect_listed(fix, "", "\"title\":null");
  expect_listed(fix, "", "\"firstMessage\":\"\"");
  expect_listed(fix, "", "\"prompts\":0}");
  say(fix, "r");
  expect_listed(fix, "", "\"firstMessage\":\"r\"");
}

static void lists_and_searches_are_without_it(void **state) {
  db_fix_run(*state, list_after_undo);
}

/* --- Summaries ---------------------------------------------------------------------------------------------------- */
static void put_summary(db_fix *fix, char up_to) {
  char json[128];
  snprintf(json, sizeof json, "{\"upTo\":\"%s\",\"text\":\"it\"}", id_of(up_to).p);
  DB_OK(lt_store_summary_put(fix->db, ANN, CONVERSATION, lt_str_of(json), &fix->err));
}

static bool has_summary(db_fix *fix) {
  LT_AUTO_BUF(json, LT_MIB);
  DB_OK(lt_store_summary_get(fix->db, ANN, CONVERSATION, &json, &fix->err));
  return json.n > 0;
}

static void undo_what_is_summarised(db_fix *fix) {
  say(fix, "abc");
  put_summary(fix, 'b');
  undo(fix, 'c');
  assert_true(has_summary(fix));
  undo(fix, 'b');
  assert_false(has_summary(fix));
  put_summary(fix, 'b'); /* it was in the making meanwhile */
  assert_false(has_summary(fix));
  say(fix, "d");
  put_summary(fix, 'd');
  assert_true(has_summary(fix));
}

static void a_summary_that_covers_it_counts_no_more(void **state) {
  db_fix_run(*state, undo_what_is_summarised);
}

/* --- Replay ------------------------------------------------------------------------------------------------------- */
/* A replay is told of what the prompt's model was told of. */
static void expect_copied(db_fix *fix, char name, const char *wanted) {
  lt_store *copy = NULL;
  DB_OK(lt_store_new(fix->loop, ":memory:", &copy, &fix->err));
  DB_OK(lt_store_prompt_copy(copy, fix->db, id_of(name), &fix->err));
  assert_string_equal(messages_of(copy, LT_STR(""), SIZE_MAX), wanted);
  lt_store_close(copy);
}

static void copy_after_undo(db_fix *fix) {
  say(fix, "abc");
  undo(fix, 'c');
  say(fix, "d");
  undo(fix, 'd');
  undo(fix, 'b');
  say(fix, "e");
  expect_copied(fix, 'e', "ae");
  expect_copied(fix, 'd', "abd");
  expect_copied(fix, 'c', "abc");
}

static void a_copy_has_what_had_not_been_taken_back_when_it_began(void **state) {
  db_fix_run(*state, copy_after_undo);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, db_fix_setup, db_fix_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_was_taken_back_is_in_no_history),
      TEST(only_the_last_one_is_taken_back_and_only_once),
      TEST(lists_and_searches_are_without_it),
      TEST(a_summary_that_covers_it_counts_no_more),
      TEST(a_copy_has_what_had_not_been_taken_back_when_it_began),
  };
  return cmocka_run_group_tests_name("prompt_undo", tests, NULL, NULL);
}
