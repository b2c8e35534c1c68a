/* A plugin's own tables: what its SQL can do, and what it cannot reach. */
#include "unit/db_fix.h"

/* Runs a statement of "todo"'s; what it answers stays until the next. */
static lt_status ask(db_fix *fix, const char *plugin, const char *text, const char *params, lt_buf *out) {
  fix->err = LT_ERR_INIT;
  lt_buf_clear(out);
  return lt_store_sql(fix->db, lt_str_of(plugin), lt_str_of(text), lt_str_of(params), out, &fix->err);
}

static void expect(db_fix *fix, const char *text, const char *params, const char *rows) {
  lt_buf out;
  lt_buf_init(&out, LT_SQL_ROWS_MAX_BYTES + LT_MIB);
  if (ask(fix, "todo", text, params, &out) != LT_OK) {
    fail_msg("%s: %s", text, lt_err_msg(&fix->err));
  }
  assert_string_equal(out.p, rows);
  lt_buf_release(&out);
}

static void expect_failure(db_fix *fix, const char *text, const char *params, lt_status status, const char *words) {
  lt_buf out;
  lt_buf_init(&out, LT_SQL_ROWS_MAX_BYTES + LT_MIB);
  lt_status got = ask(fix, "todo", text, params, &out);
  if (got != status || strstr(fix->err.msg, words) == NULL) {
    fail_msg("%s: %s: %s", text, lt_status_name(got), fix->err.msg);
  }
  assert_int_equal(out.n, 0);
  lt_buf_release(&out);
}

/* --- What works --------------------------------------------------------------------------------------------------- */

static void use_tables(db_fix *fix) {
  expect(fix, "CREATE TABLE todo__items(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT UNIQUE, done INTEGER)", "",
         "[]");
  expect(fix, "CREATE INDEX todo__open ON todo__items(done) WHERE done = 0", "", "[]");
  expect(fix, "INSERT INTO todo__items(text, done) VALUES(?, ?), (?, ?) RETURNING id", "[\"a\", false, \"b\", true]",
         "[{\"id\":1},{\"id\":2}]");
  expect(fix, "SELECT id, text, done FROM todo__items WHERE done = ?1 ORDER BY id -- all of them\n;", "[0]",
         "[{\"id\":1,\"text\":\"a\",\"done\":0}]");
  expect(fix, "UPDATE TODO__ITEMS SET done = 1 WHERE text = :text", "[\"a\"]", "[]");
  expect(fix, "INSERT INTO todo__items(text, done) VALUES('a', 7) ON CONFLICT(text) DO UPDATE SET done = 7", NULL,
         "[]");
  expect(fix, "WITH some AS (SELECT * FROM todo__items WHERE done > 0) SELECT count(*) AS n FROM some", "",
         "[{\"n\":2}]");
  expect(fix, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) s FROM n", "",
         "[{\"s\":6}]");
  expect(fix, "SELECT count(*) n FROM (SELECT 1 UNION SELECT 2)", "", "[{\"n\":2}]");
  expect(fix, "SELECT count(*) n FROM json_each(?)", "[[1,2,3]]", "[{\"n\":3}]");
  expect(fix, "SELECT value FROM json_each(?)", "[[7]]", "[{\"value\":7}]");
  expect(fix, "CREATE VIEW todo__done AS SELECT text FROM todo__items WHERE done", "", "[]");
  expect(fix, "SELECT count(*) n FROM todo__done", "", "[{\"n\":2}]");
  expect(fix,
         "CREATE TRIGGER todo__gone AFTER DELETE ON todo__items BEGIN INSERT INTO todo__items(text, done) "
         "VALUES('was ' || old.text, 0); END",
         "", "[]");
  expect(fix, "DELETE FROM todo__items WHERE text = 'b'", "", "[]");
  expect(fix, "SELECT text FROM todo__items WHERE id > 1", "", "[{\"text\":\"was b\"}]");
  expect(fix, "DROP TRIGGER todo__gone", "", "[]");
  expect(fix, "ALTER TABLE todo__items ADD COLUMN due TEXT NOT NULL DEFAULT '' CHECK(due <> 'x')", "", "[]");
  expect(fix, "ALTER TABLE todo__items RENAME COLUMN done TO finished", "", "[]");
  expect(fix, "SELECT text FROM todo__done", "", "[{\"text\":\"a\"}]");
  expect(fix, "DROP VIEW todo__done", "", "[]");
  expect(fix, "ALTER TABLE todo__items RENAME TO todo__entries", "", "[]");
  expect(fix, "ALTER TABLE todo__entries DROP COLUMN due", "", "[]");
  expect(fix, "CREATE TABLE todo__copy AS SELECT * FROM todo__entries", "", "[]");
  expect(fix, "SELECT text FROM todo__copy ORDER BY text", "", "[{\"text\":\"a\"},{\"text\":\"was b\"}]");
  expect(fix, "DROP INDEX todo__open", "", "[]");
  expect(fix, "DROP TABLE todo__entries", "", "[]");
  expect(fix, "DROP TABLE todo__copy", "", "[]");
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'todo%'"), "0");
}

static void a_plugin_uses_tables_of_its_own(void **state) {
  db_fix_run(*state, use_tables);
}

static void use_values(db_fix *fix) {
  expect(fix, "SELECT ? a, ? b, ? c, ? d, ? e, ? f",
         "[null, true, -9223372036854775808, 2.5, \"\\u00e9\\u0000x\", [1,{}]]",
         "[{\"a\":null,\"b\":1,\"c\":-9223372036854775808,\"d\":2.5,\"e\":\"\xc3\xa9\\u0000x\",\"f\":\"[1,{}]\"}]");
  expect(fix, "SELECT typeof(?) a, typeof(?) b, typeof(?) c", "[1.0, 9223372036854775808, \"\"]",
         "[{\"a\":\"integer\",\"b\":\"real\",\"c\":\"text\"}]");
  expect(fix, "SELECT x'00ff10' a, 1e999 b, CAST(x'ff' AS TEXT) c", "",
         "[{\"a\":\"AP8Q\",\"b\":null,\"c\":\"\xef\xbf\xbd\"}]");
  expect(fix, "SELECT ? a", "[\"\\ud83d\"]", "[{\"a\":\"\\ud83d\"}]"); /* half of a pair survives */
  expect_failure(fix, "SELECT ?, ?", "[1]", LT_E_INVALID, "2 parameters, but 1 is given");
  expect_failure(fix, "SELECT 1", "[1]", LT_E_INVALID, "0 parameters, but 1 is given");
  expect_failure(fix, "SELECT ?", "{\"a\":1}", LT_E_INVALID, "must be an array");
  expect_failure(fix, "SELECT ?", "[1", LT_E_INVALID, "the parameters");
}

static void values_go_in_and_come_out(void **state) {
  db_fix_run(*state, use_values);
}

static void use_wrongly(db_fix *fix) {
  expect(fix, "CREATE TABLE todo__t(a INTEGER NOT NULL)", "", "[]");
  expect_failure(fix, "SELEC 1", "", LT_E_INVALID, "syntax error");
  expect_failure(fix, "SELECT b FROM todo__t", "", LT_E_INVALID, "no such column: b");
  expect_failure(fix, "SELECT * FROM todo__u", "", LT_E_INVALID, "no such table: todo__u");
  expect_failure(fix, "INSERT INTO todo__t VALUES(NULL)", "", LT_E_INVALID, "NOT NULL constraint failed");
  expect_failure(fix, "", "", LT_E_INVALID, "no SQL statement");
  expect_failure(fix, " -- nothing\n", "", LT_E_INVALID, "no SQL statement");
  expect_failure(fix, "INSERT INTO todo__t VALUES(1); INSERT INTO todo__t VALUES(2)", "", LT_E_INVALID,
                 "more than one statement");
  expect_failure(fix, "INSERT INTO todo__t VALUES(1); ; nonsense", "", LT_E_INVALID, "more than one statement");
  expect(fix, "SELECT count(*) n FROM todo__t; ; -- end", "", "[{\"n\":0}]"); /* nothing of them was kept */
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  fix->err = LT_ERR_INIT;
  assert_int_equal(lt_store_sql(fix->db, LT_STR("todo"), LT_STR("SELECT 1\0 SELECT 2"), LT_STR_NULL, &out, &fix->err),
                   LT_E_INVALID);
  const char *const ids[] = {"", "-a", "a-", "a--b", "a_b", "A", "a.b", "a b", "\"", "\xc3\xa9"};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
    assert_int_equal(ask(fix, ids[i], "SELECT 1", "", &out), LT_E_INVALID);
    assert_non_null(strstr(fix->err.msg, "cannot have tables"));
  }
  lt_buf_release(&out);
}

static void mistakes_get_sqlites_words(void **state) {
  db_fix_run(*state, use_wrongly);
}

/* One group: a statement that never ends, which SQLite stops by undoing all of the transaction, and others' records. */
static struct neighbour {
  db_fix *fix;
  const char *name;
  lt_status status;
} neighbours[] = {{.name = "1"}, {.name = "2"}, {.name = "3"}};
enum { NEIGHBOURS = sizeof neighbours / sizeof neighbours[0] };

static void put_beside(void *arg) {
  struct neighbour *n = arg;
  n->status = lt_store_state_put(n->fix->db, LT_STR("p"), LT_STR("u"), lt_str_of(n->name), LT_STR("1"), NULL);
}

static void use_too_much(db_fix *fix) {
  expect_failure(
      fix, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(50000)) FROM n", "",
      LT_E_LIMIT, "ask for fewer");
  expect_failure(fix, "SELECT zeroblob(17000000)", "", LT_E_LIMIT, "too large");
  char *text = malloc(LT_SQL_TEXT_MAX_BYTES + 10);
  memset(text, ' ', LT_SQL_TEXT_MAX_BYTES + 9);
  text[LT_SQL_TEXT_MAX_BYTES + 9] = '\0';
  expect_failure(fix, text, "", LT_E_LIMIT, "SQL of more than 1 MiB");
  free(text);
  expect(fix, "CREATE TABLE todo__t(a)", "", "[]");
  for (size_t i = 0; i < NEIGHBOURS; i++) {
    neighbours[i].fix = fix;
    neighbours[i].status = LT_E_INTERNAL;
    lt_loop_spawn(fix->loop, put_beside, &neighbours[i], NULL);
  }
  lt_loop_sleep(fix->loop, 0); /* the first is under way, the others wait */
  expect_failure(fix,
                 "INSERT INTO todo__t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 1 FROM n "
                 "WHERE i < 100",
                 "", LT_E_TIMEOUT, "took longer than 5000 ms");
  for (size_t i = 0; i < NEIGHBOURS; i++) {
    assert_int_equal(neighbours[i].status, LT_OK);
  }
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) FROM plugin_state"), "3");
  expect(fix, "SELECT count(*) n FROM todo__t", "", "[{\"n\":0}]");
}

static void rows_values_and_time_have_ceilings(void **state) {
  db_fix_run(*state, use_too_much);
}

/* --- What it cannot reach ----------------------------------------------------------------------------------------- */

static const char *const escapes[] = {
    "SELECT * FROM calls",
    "SELECT 1 FROM calls",
    "SELECT count(*) FROM calls",
    "SELECT count(*) FROM main.calls",
    "SELECT (SELECT max(id) FROM calls)",
    "SELECT EXISTS(SELECT 1 FROM artifacts)",
    "SELECT * FROM other__t",
    "SELECT a.x FROM todo__t a JOIN other__t b",
    "WITH todo__c AS (SELECT * FROM artifacts) SELECT * FROM todo__c",
    "WITH calls AS (SELECT 1) SELECT count(*) FROM calls, artifacts",
    "EXPLAIN SELECT * FROM calls",
    "INSERT INTO calls(run) VALUES('x')",
    "INSERT INTO todo__t SELECT data FROM artifacts",
    "INSERT INTO other__t VALUES(1)",
    "REPLACE INTO plugin_state VALUES('todo', 'u', 'c', 't', 'j')",
    "UPDATE calls SET answer = 'x'",
    "UPDATE plugin_migrations SET count = 0",
    "UPDATE todo__t SET x = (SELECT input FROM calls)",
    "DELETE FROM calls",
    "DELETE FROM todo__t WHERE x IN (SELECT id FROM calls)",
    "DELETE FROM todo__t RETURNING (SELECT id FROM calls)",
    "CREATE TABLE calls2(x)",
    "CREATE TABLE todo_t(x)",
    "CREATE TABLE other__u(x)",
    "CREATE TABLE todo__c AS SELECT * FROM calls",
    "CREATE TABLE todo__c AS SELECT * FROM sqlite_schema",
    "CREATE TEMP TABLE todo__t(x)",
    "CREATE TEMP TABLE calls(x)",
    "CREATE TABLE temp.todo__t2(x)",
    "CREATE TEMP VIEW calls AS SELECT 1",
    "CREATE TEMP TRIGGER todo__g AFTER INSERT ON calls BEGIN DELETE FROM calls; END",
    "CREATE TRIGGER todo__g AFTER INSERT ON calls BEGIN DELETE FROM calls; END",
    "CREATE TRIGGER other AFTER INSERT ON todo__t BEGIN DELETE FROM todo__t; END",
    "CREATE INDEX todo__i ON calls(user)",
    "CREATE INDEX i ON todo__t(x)",
    "CREATE VIEW calls_view AS SELECT 1",
    "CREATE VIRTUAL TABLE todo__f USING fts5(x)",
    "DROP TABLE calls",
    "DROP TABLE other__t",
    "DROP INDEX calls_by_run",
    "ALTER TABLE calls ADD COLUMN x",
    "ALTER TABLE todo__t RENAME TO calls2",
    "ALTER TABLE todo__t RENAME TO other__u",
    "SELECT * FROM sqlite_master",
    "SELECT count(*) FROM sqlite_schema",
    "SELECT * FROM sqlite_sequence",
    "DELETE FROM sqlite_sequence",
    "UPDATE sqlite_sequence SET seq = 0",
    "SELECT * FROM pragma_table_info('calls')",
    "SELECT count(*) FROM pragma_table_list",
    "SELECT * FROM pragma_journal_mode",
    "SELECT * FROM dbstat",
    "SELECT count(*) FROM dbstat",
    "PRAGMA writable_schema = ON",
    "PRAGMA user_version = 99",
    "PRAGMA table_info(calls)",
    "PRAGMA quick_check",
    "PRAGMA synchronous = OFF",
    "PRAGMA todo__t",
    "ATTACH ':memory:' AS todo__m",
    "DETACH main",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "END",
    "SAVEPOINT todo__s",
    "RELEASE job",
    "ROLLBACK TO job",
    "ANALYZE",
    "ANALYZE todo__t",
    "REINDEX",
    "SELECT load_extension('x')",
    "SELECT fts3_tokenizer('simple')",
};

static void try_to_escape(db_fix *fix) {
  expect(fix, "CREATE TABLE todo__t(x)", "", "[]");
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(ask(fix, "other", "CREATE TABLE other__t(x INTEGER PRIMARY KEY AUTOINCREMENT)", "", &out), LT_OK);
  const char *all = "SELECT group_concat(type || name || ifnull(sql, ''), x'0a') FROM sqlite_schema";
  char *before = strdup(db_fix_ask(fix, all));
  for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
    lt_status status = ask(fix, "todo", escapes[i], "", &out);
    if (status != LT_E_DENIED || strstr(fix->err.msg, "todo__") == NULL) {
      print_error("%s: %s: %s\n", escapes[i], lt_status_name(status), fix->err.msg);
      fail();
    }
    assert_int_equal(out.n, 0);
  }
  /* These are no more allowed; SQLite has words of its own for them. */
  static const char *const refused[] = {
      "UPDATE sqlite_master SET sql = ''", "INSERT INTO sqlite_schema VALUES(1, 2, 3, 4, 5)",
      "DELETE FROM sqlite_master",         "VACUUM",
      "VACUUM INTO '/tmp/lathe-stolen'",   "CREATE TABLE sqlite_x(x)",
      "SELECT * FROM temp.calls",
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    assert_int_not_equal(ask(fix, "todo", refused[i], "", &out), LT_OK);
  }
  assert_string_equal(db_fix_ask(fix, all), before);
  free(before);
  /* A view or a trigger on what is not its own can be made, but not used. */
  expect(fix, "CREATE VIEW todo__v AS SELECT * FROM calls", "", "[]");
  expect_failure(fix, "SELECT * FROM todo__v", "", LT_E_DENIED, "calls");
  expect_failure(fix, "SELECT count(*) FROM todo__v", "", LT_E_DENIED, "calls");
  expect(fix, "CREATE TRIGGER todo__g AFTER INSERT ON todo__t BEGIN DELETE FROM other__t; END", "", "[]");
  expect_failure(fix, "INSERT INTO todo__t VALUES(1)", "", LT_E_DENIED, "other__t");
  lt_buf_release(&out);
}

static void everything_else_is_out_of_reach(void **state) {
  db_fix_run(*state, try_to_escape);
}

static void keep_apart(db_fix *fix) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(ask(fix, "a", "CREATE TABLE a__b(x)", "", &out), LT_OK);
  assert_int_equal(ask(fix, "a-b", "CREATE TABLE a_b__c(x)", "", &out), LT_OK);
  assert_int_equal(ask(fix, "a", "SELECT * FROM a_b__c", "", &out), LT_E_DENIED);
  assert_int_equal(ask(fix, "a-b", "SELECT * FROM a__b", "", &out), LT_E_DENIED);
  assert_int_equal(ask(fix, "a", "CREATE TABLE a_b__d(x)", "", &out), LT_E_DENIED);
  assert_int_equal(ask(fix, "a-b", "SELECT * FROM A_B__C", "", &out), LT_OK);
  /* The fence is down for our own statements afterwards. */
  lt_artifacts *artifacts = lt_store_artifacts_new(fix->db);
  lt_artifact artifact = {.user = LT_STR("u"), .mime_type = LT_STR("text/plain"), .data = LT_STR("x")};
  DB_OK(artifacts->put(artifacts, &artifact, &out, &fix->err));
  lt_store_artifacts_free(artifacts);
  lt_buf_release(&out);
}

static void plugins_do_not_reach_each_other(void **state) {
  db_fix_run(*state, keep_apart);
}

/* --- Migrations --------------------------------------------------------------------------------------------------- */

static void migrate_step_by_step(db_fix *fix) {
  static const char *const scripts[] = {
      "CREATE TABLE todo__a(x); -- first\nINSERT INTO todo__a VALUES(1); CREATE INDEX todo__i ON todo__a(x);",
      "ALTER TABLE todo__a ADD COLUMN y; UPDATE todo__a SET y = x + 1",
      "INSERT INTO todo__a VALUES(5, 6); SELECT * FROM todo__a; CREATE TABLE todo__b(x); nonsense;",
      "DROP TABLE calls",
  };
  lt_str todo = LT_STR("todo");
  DB_OK(lt_store_migrate(fix->db, todo, scripts, 0, &fix->err));
  DB_OK(lt_store_migrate(fix->db, todo, scripts, 1, &fix->err));
  DB_OK(lt_store_migrate(fix->db, todo, scripts, 1, &fix->err));
  expect(fix, "SELECT * FROM todo__a", "", "[{\"x\":1}]");
  db_fix_reopen(fix);
  DB_OK(lt_store_migrate(fix->db, todo, scripts, 2, &fix->err));
  expect(fix, "SELECT * FROM todo__a", "", "[{\"x\":1,\"y\":2}]");
  assert_int_equal(lt_store_migrate(fix->db, todo, scripts, 3, &fix->err), LT_E_INVALID);
  assert_non_null(strstr(fix->err.msg, "migration 3 of the plugin \"todo\": near \"nonsense\": syntax error"));
  expect(fix, "SELECT * FROM todo__a", "", "[{\"x\":1,\"y\":2}]"); /* nothing of it was kept */
  static const char *const drops[] = {"", "", "DROP TABLE calls"};
  assert_int_equal(lt_store_migrate(fix->db, todo, drops, 3, &fix->err), LT_E_DENIED);
  assert_int_equal(lt_store_migrate(fix->db, todo, scripts, 1, &fix->err), LT_E_UNSUPPORTED);
  assert_non_null(strstr(fix->err.msg, "newer version"));
  assert_string_equal(db_fix_ask(fix, "SELECT plugin || count FROM plugin_migrations"), "todo2");
}

static void migrations_run_once_and_whole(void **state) {
  db_fix_run(*state, migrate_step_by_step);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, db_fix_setup, db_fix_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_plugin_uses_tables_of_its_own), TEST(values_go_in_and_come_out),
      TEST(mistakes_get_sqlites_words),      TEST(rows_values_and_time_have_ceilings),
      TEST(everything_else_is_out_of_reach), TEST(plugins_do_not_reach_each_other),
      TEST(migrations_run_once_and_whole),
  };
  return cmocka_run_group_tests_name("store_sql", tests, NULL, NULL);
}
