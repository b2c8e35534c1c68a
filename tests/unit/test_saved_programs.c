#include "db_fix.h"

#include "store/store_programs.h"
#include "store/store_sessions.h"

#define ALL LT_STR(LT_SAVED_FOR_ALL)

static lt_saved_program with_code(const char *name, const char *code) {
  return (lt_saved_program){.user = LT_STR(LT_SAVED_FOR_ALL),
                            .name = lt_str_of(name),
                            .language = LT_STR("js"),
                            .description = LT_STR(""),
                            .schema = LT_STR("{\"type\":\"object\"}"),
                            .code = lt_str_of(code)};
}

static int64_t save(db_fix *fix, const char *name, const char *code) {
  int64_t version = 0;
  bool is_new = false;
  const lt_saved_program program = with_code(name, code);
  DB_OK(lt_store_program_save(fix->db, &program, &version, &is_new, &fix->err));
  return version;
}

/* How many programs, or with a name versions, there are. */
static size_t count(db_fix *fix, const char *name) {
  LT_AUTO_BUF(json, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, 2 * LT_JSON_MAX_BYTES);
  lt_json_doc doc;
  DB_OK(lt_store_programs_list(fix->db, ALL, lt_str_of(name), true, &json, &fix->err));
  assert_int_equal(lt_json_parse(&arena, lt_buf_view(&json), &doc, NULL), LT_OK);
  return lt_json_count(lt_json_root(&doc));
}

static void versions(db_fix *fix) {
  assert_false(lt_store_programs_may_exist(fix->db));
  assert_int_equal(save(fix, "a", "1"), 1);
  assert_true(lt_store_programs_may_exist(fix->db));
  assert_int_equal(save(fix, "a", "2"), 2);
  assert_int_equal(save(fix, "b", "1"), 1);
  assert_int_equal(count(fix, ""), 2);
  assert_int_equal(count(fix, "a"), 2);
  for (int i = 0; i < LT_SAVED_VERSIONS_MAX; i++) {
    save(fix, "a", i % 2 == 0 ? "3" : "4");
  }
  assert_int_equal(count(fix, "a"), LT_SAVED_VERSIONS_MAX);
  assert_string_equal(db_fix_ask(fix, "SELECT min(version) FROM saved_programs WHERE name = 'a'"), "3");
}

static void test_versions(void **state) {
  db_fix_run(*state, versions);
}

/* The text of a deleted program is there for prompts that had begun with it, and its numbers are not used again. */
static void deleted(db_fix *fix) {
  LT_AUTO_BUF(code, LT_KIB);
  char language[LT_SAVED_LANGUAGE_BYTES];
  save(fix, "a", "1 + 1");
  DB_OK(lt_store_program_delete(fix->db, ALL, LT_STR("a"), &fix->err));
  assert_int_equal(count(fix, ""), 0);
  assert_int_equal(lt_store_program_delete(fix->db, ALL, LT_STR("a"), NULL), LT_E_NOTFOUND);
  DB_OK(lt_store_program_code(fix->db, ALL, LT_STR("a"), lt_str_hash(LT_STR("1 + 1")), &code, language, &fix->err));
  assert_int_equal(code.n, 5);
  assert_int_equal(lt_store_program_code(fix->db, ALL, LT_STR("a"), 7, &code, language, NULL), LT_E_NOTFOUND);
  assert_int_equal(save(fix, "a", "2"), 2);
  assert_int_equal(count(fix, "a"), 1);
}

static void test_deleted(void **state) {
  db_fix_run(*state, deleted);
}

/* The same again is no version; the same after another is one. Users have programs and numbers of their own. */
static void same_and_users(db_fix *fix) {
  int64_t version = 0;
  bool is_new = false;
  LT_AUTO_BUF(code, LT_KIB);
  char language[LT_SAVED_LANGUAGE_BYTES];
  assert_int_equal(save(fix, "a", "1"), 1);
  assert_int_equal(save(fix, "a", "1"), 1);
  assert_int_equal(save(fix, "a", "2"), 2);
  assert_int_equal(save(fix, "a", "1"), 3);
  lt_saved_program program = with_code("a", "1");
  DB_OK(lt_store_program_save(fix->db, &program, &version, &is_new, &fix->err));
  assert_false(is_new);
  program.description = LT_STR("Other.");
  DB_OK(lt_store_program_save(fix->db, &program, &version, &is_new, &fix->err));
  assert_true(is_new);
  program.user = LT_STR("ann");
  program.language = LT_STR("ts");
  DB_OK(lt_store_program_save(fix->db, &program, &version, &is_new, &fix->err));
  assert_int_equal(version, 1);
  DB_OK(lt_store_program_code(fix->db, program.user, program.name, 0, &code, language, &fix->err));
  assert_string_equal(language, "ts");
  assert_int_equal(lt_store_program_delete(fix->db, LT_STR("bob"), program.name, NULL), LT_E_NOTFOUND);
  DB_OK(lt_store_program_delete(fix->db, program.user, program.name, &fix->err));
  assert_int_equal(lt_store_program_code(fix->db, program.user, program.name, 0, &code, language, NULL), LT_E_NOTFOUND);
  assert_int_equal(count(fix, "a"), 4);
  DB_OK(lt_store_program_delete(fix->db, ALL, program.name, &fix->err));
  assert_int_equal(save(fix, "a", "1"), 5); /* what is deleted is not there to be the same */
}

static void test_same_and_users(void **state) {
  db_fix_run(*state, same_and_users);
}

static void limits(db_fix *fix) {
  int64_t version = 0;
  bool is_new = false;
  char name[16];
  lt_saved_program long_one = with_code("long", "");
  char *code = calloc(1, LT_SAVED_CODE_BYTES + 1);
  assert_non_null(code);
  memset(code, ' ', LT_SAVED_CODE_BYTES + 1);
  long_one.code = lt_str_from(code, LT_SAVED_CODE_BYTES + 1);
  assert_int_equal(lt_store_program_save(fix->db, &long_one, &version, &is_new, NULL), LT_E_LIMIT);
  free(code);
  for (int i = 0; i < LT_SAVED_PROGRAMS_MAX; i++) {
    snprintf(name, sizeof name, "p%d", i);
    save(fix, name, "1");
  }
  const lt_saved_program more = with_code("more", "1");
  assert_int_equal(lt_store_program_save(fix->db, &more, &version, &is_new, NULL), LT_E_LIMIT);
  assert_int_equal(save(fix, "p7", "2"), 2); /* a further version is no further program */
}

static void test_limits(void **state) {
  db_fix_run(*state, limits);
}

static void test_names(void **state) {
  (void)state;
  static const char *const good[] = {"a", "A", "report", "daily-report_2"};
  static const char *const bad[] = {"", "1", "-a", "_a", "a b", "a.b", "a/b", "\xc3\xa4", "a\n"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_int_equal(lt_store_program_check_name(lt_str_of(good[i]), NULL), LT_OK);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(lt_store_program_check_name(lt_str_of(bad[i]), NULL), LT_E_INVALID);
  }
}

/* The last session whose name begins so, and what it keeps. */
static void sessions(db_fix *fix) {
  char run[LT_STORE_ID_BYTES + 1];
  lt_session_found found;
  lt_session_used used;
  LT_AUTO_BUF(out, LT_KIB);
  const lt_session_key first = {.user = LT_STR("u"), .name = LT_STR("repl-1"), .run = LT_STR("r1")};
  const lt_session_key last = {.user = LT_STR("u"), .name = LT_STR("repl-2"), .run = LT_STR("r2")};
  assert_int_equal(lt_store_session_find(fix->db, LT_STR("u"), LT_STR("repl-"), true, &used, NULL), LT_E_NOTFOUND);
  DB_OK(lt_store_session_take(fix->db, &first, false, &found, run, &out, &fix->err));
  usleep(2000); /* another millisecond */
  DB_OK(lt_store_session_take(fix->db, &last, false, &found, run, &out, &fix->err));
  DB_OK(lt_store_session_find(fix->db, LT_STR("u"), LT_STR("repl-"), true, &used, &fix->err));
  assert_string_equal(used.name, "repl-2");
  assert_string_equal(used.run, "r2");
  assert_int_equal(lt_store_session_find(fix->db, LT_STR("u"), LT_STR("repl-"), false, &used, NULL), LT_E_NOTFOUND);
  assert_int_equal(lt_store_session_find(fix->db, LT_STR("v"), LT_STR("repl-2"), false, &used, NULL), LT_E_NOTFOUND);
  DB_OK(lt_store_session_keep(fix->db, &last, LT_STR("kept"), &fix->err));
  DB_OK(lt_store_session_view(fix->db, LT_STR("u"), LT_STR("repl-2"), &out, &fix->err));
  assert_int_equal(out.n, 4);
}

static void test_sessions(void **state) {
  db_fix_run(*state, sessions);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_versions, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(test_deleted, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(test_same_and_users, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(test_limits, db_fix_setup, db_fix_teardown),
      cmocka_unit_test(test_names),
      cmocka_unit_test_setup_teardown(test_sessions, db_fix_setup, db_fix_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
