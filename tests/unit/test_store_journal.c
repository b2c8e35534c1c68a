/* The journal, artifacts and plugins' state, as those who use them see them, and what is in the file afterwards. */
#include "unit/db_fix.h"

static const lt_journal_call purchase = {
    .user = {"local", 5}, .run = {"run-1", 5}, .tool = {"shop.buy", 8}, .input = {"{\"n\":1}", 7}};

static void record_one(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  int64_t id = 0;
  DB_OK(journal->begin(journal, &purchase, &id, &fix->err));
  assert_string_equal(db_fix_ask(fix,
                                 "SELECT run || ' ' || user || ' ' || tool || ' ' || input || ' ' || repeatable ||"
                                 " ' ' || ifnull(status, 'open') FROM calls"),
                      "run-1 local shop.buy {\"n\":1} 0 open");
  DB_OK(journal->finish(journal, id, LT_OK, LT_STR("{\"ok\":true}"), &fix->err));
  assert_string_equal(db_fix_ask(fix, "SELECT status || ' ' || answer FROM calls"), "OK {\"ok\":true}");
  assert_string_equal(db_fix_ask(fix,
                                 "SELECT started_at GLOB '20[0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5]"
                                 "[0-9]:[0-6][0-9].[0-9][0-9][0-9]Z' AND finished_at >= started_at FROM calls"),
                      "1");
  assert_int_equal(journal->finish(journal, id, LT_OK, LT_STR("2"), &fix->err),
                   LT_E_NOTFOUND); /* it has ended already */
  assert_int_equal(journal->finish(journal, 99, LT_E_TOOL, LT_STR("x"), &fix->err), LT_E_NOTFOUND);
  assert_string_equal(db_fix_ask(fix, "SELECT answer FROM calls"), "{\"ok\":true}");
  int64_t next = 0;
  DB_OK(journal->begin(journal, &purchase, &next, &fix->err));
  assert_true(next > id);
  DB_OK(journal->finish(journal, next, LT_E_TIMEOUT, LT_STR("too slow"), &fix->err));
  assert_string_equal(db_fix_ask(fix, "SELECT status || ' ' || answer FROM calls ORDER BY id DESC"),
                      "E_TIMEOUT too slow");
  lt_store_journal_free(journal);
}

static void a_call_is_recorded_before_and_after(void **state) {
  db_fix_run(*state, record_one);
}

static void keep_artifacts(db_fix *fix) {
  lt_artifacts *artifacts = lt_store_artifacts_new(fix->db);
  lt_buf id, out;
  lt_buf_init(&id, 1000);
  lt_buf_init(&out, 100000);
  lt_artifact json = {.user = LT_STR("ann"),
                      .type = LT_STR("tool-result"),
                      .description = LT_STR("a \"list\""),
                      .mime_type = LT_STR("application/json"),
                      .data = LT_STR("[1, 2]")};
  DB_OK(artifacts->put(artifacts, &json, &id, &fix->err));
  assert_int_equal(id.n, LT_ARTIFACT_ID_BYTES);
  DB_OK(lt_store_artifact_get(fix->db, LT_STR("ann"), lt_buf_view(&id), &out, &fix->err));
  assert_non_null(strstr(out.p, "\"description\":\"a \\\"list\\\"\",\"mimeType\":\"application/json\",\"bytes\":6"));
  assert_non_null(strstr(out.p, "\"data\":[1, 2]}"));

  lt_buf_clear(&out);
  lt_buf_addc(&out, "before");
  assert_int_equal(lt_store_artifact_get(fix->db, LT_STR("bob"), lt_buf_view(&id), &out, &fix->err), LT_E_NOTFOUND);
  assert_string_equal(out.p, "before"); /* another user's */
  assert_int_equal(lt_store_artifact_get(fix->db, LT_STR("ann"), LT_STR("nothing"), &out, &fix->err), LT_E_NOTFOUND);

  lt_artifact bytes = json;
  bytes.mime_type = LT_STR("image/png");
  bytes.data = lt_str_from("\x00\xff\x10\x80", 4);
  lt_buf_clear(&id);
  lt_buf_clear(&out);
  DB_OK(artifacts->put(artifacts, &bytes, &id, &fix->err));
  DB_OK(lt_store_artifact_get(fix->db, LT_STR("ann"), lt_buf_view(&id), &out, &fix->err));
  assert_non_null(strstr(out.p, "\"bytes\":4,"));
  assert_non_null(strstr(out.p, "\"data\":\"AP8QgA==\"}"));

  bytes.mime_type = LT_STR("text/plain; charset=utf-8");
  bytes.data = LT_STR("a\nb");
  lt_buf_clear(&id);
  lt_buf_clear(&out);
  DB_OK(artifacts->put(artifacts, &bytes, &id, &fix->err));
  DB_OK(lt_store_artifact_get(fix->db, LT_STR("ann"), lt_buf_view(&id), &out, &fix->err));
  assert_non_null(strstr(out.p, "\"data\":\"a\\nb\"}"));

  bytes.mime_type = LT_STR("application/json");
  bytes.data = LT_STR("{broken");
  lt_buf_clear(&id);
  lt_buf_clear(&out);
  DB_OK(artifacts->put(artifacts, &bytes, &id, &fix->err));
  DB_OK(lt_store_artifact_get(fix->db, LT_STR("ann"), lt_buf_view(&id), &out, &fix->err));
  assert_non_null(strstr(out.p, "\"data\":\"{broken\"}"));

  bytes.mime_type = LT_STR("text/plain");
  bytes.data = lt_str_from("a\0b\xed\xa0\xbd", 6); /* a NUL, and half of a pair */
  lt_buf_clear(&id);
  lt_buf_clear(&out);
  DB_OK(artifacts->put(artifacts, &bytes, &id, &fix->err));
  DB_OK(lt_store_artifact_get(fix->db, LT_STR("ann"), lt_buf_view(&id), &out, &fix->err));
  assert_non_null(strstr(out.p, "\"data\":\"a\\u0000b\\ud83d\"}"));

  bytes.user = LT_STR("bob");
  DB_OK(artifacts->put(artifacts, &bytes, &id, &fix->err));
  lt_buf_clear(&out);
  DB_OK(lt_store_artifact_list(fix->db, LT_STR("ann"), &out, &fix->err));
  const char *text = strstr(out.p, "text/plain"), *png = strstr(out.p, "image/png");
  assert_true(text != NULL && png != NULL && text < png); /* the newest first */
  assert_null(strstr(out.p, "\"data\""));
  lt_arena arena;
  lt_arena_init(&arena, 1 << 20);
  lt_json_doc doc;
  DB_OK(lt_json_parse(&arena, lt_buf_view(&out), &doc, &fix->err));
  assert_int_equal(lt_json_count(lt_json_root(&doc)), 5);
  lt_arena_release(&arena);
  lt_buf_clear(&out);
  DB_OK(lt_store_artifact_list(fix->db, LT_STR("nobody"), &out, &fix->err));
  assert_string_equal(out.p, "[]");
  lt_buf_release(&id);
  lt_buf_release(&out);
  lt_store_artifacts_free(artifacts);
}

/* Nobody may make the list so long that it cannot be had any more. */
static void keep_long_descriptions(db_fix *fix) {
  lt_buf about, id, list;
  lt_artifacts *artifacts = lt_store_artifacts_new(fix->db);
  lt_buf_init(&about, LT_MIB);
  lt_buf_init(&id, LT_ARTIFACT_ID_BYTES);
  lt_buf_init(&list, LT_MIB);
  for (size_t i = 0; i < LT_ARTIFACT_ABOUT_BYTES; i++) {
    lt_buf_byte(&about, 'x');
  }
  lt_artifact a = {.user = LT_STR("ann"), .type = LT_STR("t"), .mime_type = LT_STR("text/plain"), .data = LT_STR("1")};
  a.description = lt_buf_view(&about);
  DB_OK(artifacts->put(artifacts, &a, &id, &fix->err));
  lt_buf_byte(&about, 'x');
  lt_str *const fields[] = {&a.description, &a.type, &a.mime_type};
  for (size_t i = 0; i < 3; i++) {
    a.description = a.type = a.mime_type = LT_STR("short");
    *fields[i] = lt_buf_view(&about);
    lt_buf_clear(&id);
    assert_int_equal(artifacts->put(artifacts, &a, &id, &fix->err), LT_E_LIMIT);
    assert_int_equal(id.n, 0);
  }
  DB_OK(lt_store_artifact_list(fix->db, LT_STR("ann"), &list, &fix->err));
  lt_buf_release(&about);
  lt_buf_release(&id);
  lt_buf_release(&list);
  lt_store_artifacts_free(artifacts);
}

static void what_artifacts_say_of_themselves_is_short(void **state) {
  db_fix_run(*state, keep_long_descriptions);
}

static void artifacts_belong_to_a_user(void **state) {
  db_fix_run(*state, keep_artifacts);
}

static void keep_state(db_fix *fix) {
  lt_buf out;
  lt_buf_init(&out, 10000);
  lt_str todo = LT_STR("todo"), ann = LT_STR("ann"), none = LT_STR_NULL;
  DB_OK(lt_store_state_get(fix->db, todo, ann, none, &out, &fix->err));
  assert_int_equal(out.n, 0);
  DB_OK(lt_store_state_put(fix->db, todo, ann, none, LT_STR("{\"a\":1}"), &fix->err));
  DB_OK(lt_store_state_put(fix->db, todo, ann, LT_STR("c1"), LT_STR("{\"a\":2}"), &fix->err));
  DB_OK(lt_store_state_put(fix->db, todo, ann, LT_STR("c1"), LT_STR("{\"a\":3}"), &fix->err));
  db_fix_reopen(fix);
  DB_OK(lt_store_state_get(fix->db, todo, ann, none, &out, &fix->err));
  DB_OK(lt_store_state_get(fix->db, todo, ann, LT_STR("c1"), &out, &fix->err));
  assert_string_equal(out.p, "{\"a\":1}{\"a\":3}");
  lt_buf_clear(&out);
  DB_OK(lt_store_state_get(fix->db, LT_STR("other"), ann, none, &out, &fix->err));
  DB_OK(lt_store_state_get(fix->db, todo, LT_STR("bob"), none, &out, &fix->err));
  assert_int_equal(out.n, 0);
  DB_OK(lt_store_state_put(fix->db, todo, ann, none, none, &fix->err));
  DB_OK(lt_store_state_get(fix->db, todo, ann, none, &out, &fix->err));
  assert_int_equal(out.n, 0);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM plugin_state"), "1");
  char *large = calloc(1, LT_STATE_MAX_BYTES + 1);
  assert_int_equal(lt_store_state_put(fix->db, todo, ann, none, lt_str_from(large, LT_STATE_MAX_BYTES + 1), NULL),
                   LT_E_LIMIT);
  free(large);
  lt_buf_release(&out);
}

static void state_is_kept_by_plugin_user_and_conversation(void **state) {
  db_fix_run(*state, keep_state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_call_is_recorded_before_and_after, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(artifacts_belong_to_a_user, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(what_artifacts_say_of_themselves_is_short, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(state_is_kept_by_plugin_user_and_conversation, db_fix_setup, db_fix_teardown),
  };
  return cmocka_run_group_tests_name("store_journal", tests, NULL, NULL);
}
