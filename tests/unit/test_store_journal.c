/* The journal, artifacts and plugins' state, as those who use them see them, and what is in the file afterwards. */
#include "unit/db_fix.h"

#include <time.h>

#include "fakes/sanitizer.h"
#include "store/sqlite/db_tables.h"

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

/* --- Runs that can be run again ----------------------------------------------------------------------------------- */

static lt_status begin_seq(db_fix *fix, lt_journal *journal, uint64_t seq, uint64_t hash, int64_t *ret_id) {
  lt_journal_call call = purchase;
  call.seq = seq;
  call.hash = hash;
  fix->err = LT_ERR_INIT;
  return journal->begin(journal, &call, ret_id, &fix->err);
}

static void make_again(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  int64_t first = 0, again = 0, other = 0;
  DB_OK(begin_seq(fix, journal, 1, UINT64_MAX, &first));
  DB_OK(begin_seq(fix, journal, 2, 7, &other));
  DB_OK(begin_seq(fix, journal, 1, UINT64_MAX, &again)); /* as if the process had ended in between */
  assert_int_equal(again, first);
  assert_int_not_equal(other, first);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) || ' ' || count(finished_at) FROM calls"), "2 0");
  int64_t id = -1;
  assert_int_equal(begin_seq(fix, journal, 1, 8, &id), LT_E_INTERNAL); /* another call */
  DB_OK(journal->finish(journal, first, LT_OK, LT_STR("1"), &fix->err));
  assert_int_equal(begin_seq(fix, journal, 1, UINT64_MAX, &id), LT_E_INTERNAL);
  assert_non_null(strstr(fix->err.msg, "call 1 of the run run-1 is on record"));
  assert_int_equal(id, -1);
  lt_journal_call elsewhere = purchase;
  elsewhere.run = LT_STR("run-2");
  elsewhere.seq = 1;
  DB_OK(journal->begin(journal, &elsewhere, &id, &fix->err));
  DB_OK(begin_seq(fix, journal, 0, 0, &id)); /* without a number: as many as one likes */
  DB_OK(begin_seq(fix, journal, 0, 0, &again));
  assert_int_not_equal(id, again);
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) || ' ' || count(finished_at) FROM calls"), "5 1");
  lt_store_journal_free(journal);
}

static void a_call_that_has_not_ended_is_made_again(void **state) {
  db_fix_run(*state, make_again);
}

static lt_record recall(db_fix *fix, lt_journal *journal, const char *run) {
  lt_record record;
  DB_OK(journal->recall(journal, lt_str_of(run), &record, &fix->err));
  return record;
}

static void note_text(lt_journal *journal, const char *run, uint64_t number, lt_str text) {
  const lt_note note = {.kind = UINT32_MAX, .number = number, .time_us = UINT64_MAX - number, .text = text};
  journal->note(journal, lt_str_of(run), &note, NULL, NULL);
}

static void recall_all(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  int64_t ids[4] = {0};
  lt_record record = recall(fix, journal, "run-1");
  assert_int_equal(record.note_count + record.call_count, 0);
  lt_record_release(&record);
  char text[] = "a\0b\xff";
  note_text(journal, "run-1", UINT64_MAX, lt_str_from(text, 4));
  memset(text, 'x', sizeof text); /* it was copied */
  note_text(journal, "run-2", 1, LT_STR("of the other"));
  note_text(journal, "run-1", 5, LT_STR_NULL);
  DB_OK(begin_seq(fix, journal, 3, UINT64_MAX - 1, &ids[0]));
  note_text(journal, "run-1", 4, LT_STR("third"));
  DB_OK(begin_seq(fix, journal, 1, 1, &ids[1]));
  DB_OK(begin_seq(fix, journal, 2, 2, &ids[2]));
  DB_OK(begin_seq(fix, journal, 0, 0, &ids[3]));
  DB_OK(journal->finish(journal, ids[0], LT_E_TIMEOUT, LT_STR("too slow"), &fix->err));
  DB_OK(journal->finish(journal, ids[2], LT_OK, LT_STR_NULL, &fix->err));
  note_text(journal, "run-1", 3, LT_STR("fourth")); /* not waited for: the reading is */
  record = recall(fix, journal, "run-1");
  assert_int_equal(record.note_count, 4);
  assert_true(record.notes[0].kind == UINT32_MAX && record.notes[0].number == UINT64_MAX);
  assert_true(record.notes[1].time_us == UINT64_MAX - 5 && record.notes[1].text.n == 0);
  assert_true(lt_str_eq(record.notes[0].text, lt_str_from("a\0b\xff", 4)));
  assert_true(lt_str_eqc(record.notes[2].text, "third") && lt_str_eqc(record.notes[3].text, "fourth"));
  assert_int_equal(record.call_count, 3);
  const lt_recorded_call *calls = record.calls;
  for (uint64_t i = 0; i < 3; i++) {
    assert_true(calls[i].seq == i + 1 && !calls[i].repeatable);
  }
  assert_true(!calls[0].finished && calls[0].id == ids[1] && calls[0].hash == 1 && calls[0].answer.n == 0);
  assert_true(calls[1].finished && calls[1].status == LT_OK && calls[1].answer.n == 0);
  assert_true(calls[2].finished && calls[2].status == LT_E_TIMEOUT && calls[2].hash == UINT64_MAX - 1);
  assert_true(lt_str_eqc(calls[2].answer, "too slow"));
  lt_record_release(&record);
  lt_store_journal_free(journal);
}

static void a_run_is_recalled_as_it_was(void **state) {
  db_fix_run(*state, recall_all);
}

static void recall_large(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  char *large = malloc(LT_JSON_MAX_BYTES);
  memset(large, 'x', LT_JSON_MAX_BYTES);
  int64_t id = 0;
  DB_OK(begin_seq(fix, journal, 1, 1, &id));
  DB_OK(journal->finish(journal, id, LT_OK, lt_str_from(large, LT_JSON_MAX_BYTES), &fix->err));
  note_text(journal, "run-1", 1, lt_str_from(large, LT_JSON_MAX_BYTES));
  lt_record record = recall(fix, journal, "run-1");
  assert_true(lt_str_eq(record.calls[0].answer, lt_str_from(large, LT_JSON_MAX_BYTES)));
  assert_true(lt_str_eq(record.notes[0].text, lt_str_from(large, LT_JSON_MAX_BYTES)));
  lt_record_release(&record);
  free(large);
  lt_store_journal_free(journal);
}

static void the_largest_answers_are_recalled(void **state) {
  db_fix_run(*state, recall_large);
}

static void name_runs(db_fix *fix) {
  static const char *const names[] = {"p1", "p1/1", "p1/1/2", "p1/\"2\"", "p10", "p2/1", "p0/9", "q"};
  lt_journal *journal = lt_store_journal_new(fix->db);
  lt_buf out;
  int64_t id = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    lt_journal_call call = purchase;
    call.run = lt_str_of(names[i]);
    if (i % 3 != 1) {
      DB_OK(journal->begin(journal, &call, &id, &fix->err));
    }
    if (i % 3 != 2) {
      note_text(journal, names[i], 1, LT_STR_NULL);
      note_text(journal, names[i], 2, LT_STR_NULL);
    }
  }
  lt_buf_init(&out, LT_MIB);
  DB_OK(lt_store_runs_below(fix->db, LT_STR("p1/"), &out, &fix->err));
  DB_OK(lt_store_runs_below(fix->db, LT_STR("p1"), &out, &fix->err));
  DB_OK(lt_store_runs_below(fix->db, LT_STR("r"), &out, &fix->err));
  DB_OK(lt_store_runs_below(fix->db, LT_STR("q"), &out, &fix->err));
  assert_string_equal(out.p,
                      "[\"p1/\\\"2\\\"\",\"p1/1\",\"p1/1/2\"][\"p1\",\"p1/\\\"2\\\"\",\"p1/1\",\"p1/1/2\",\"p10\"][]"
                      "[\"q\"]");
  lt_buf_release(&out);
  lt_store_journal_free(journal);
}

static void runs_are_found_by_the_beginning_of_their_names(void **state) {
  db_fix_run(*state, name_runs);
}

/* --- Older files -------------------------------------------------------------------------------------------------- */

static void open_version_2(db_fix *fix) {
  sqlite3 *sql = NULL;
  assert_int_equal(sqlite3_open(fix->path, &sql), SQLITE_OK);
  DB_OK(lt_db_tables_upgrade(sql, 2, &fix->err));
  for (sqlite3_stmt *stmt; (stmt = sqlite3_next_stmt(sql, NULL)) != NULL;) {
    sqlite3_finalize(stmt);
  }
  assert_int_equal(sqlite3_exec(sql,
                                "INSERT INTO calls(run, user, tool, repeatable, started_at, input, status, answer)"
                                " VALUES('run-1', 'ann', 't', 0, '2026', '{}', 'OK', 'old'),"
                                " ('run-1', 'ann', 't', 0, '2026', '{}', NULL, NULL)",
                                NULL, NULL, NULL),
                   SQLITE_OK);
  sqlite3_close(sql);
  lt_journal *journal = lt_store_journal_new(fix->db);
  lt_record record = recall(fix, journal, "run-1");
  assert_int_equal(record.note_count + record.call_count, 0); /* calls without a number are nobody's to repeat */
  lt_record_release(&record);
  int64_t id = 0;
  DB_OK(begin_seq(fix, journal, 1, 1, &id));
  assert_int_equal(id, 3);
  DB_OK(journal->finish(journal, 2, LT_OK, LT_STR("new"), &fix->err));
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(seq || hash || ifnull(answer, '-')) FROM calls"),
                      "00old,00new,11-");
  lt_store_journal_free(journal);
}

static void an_older_journal_goes_on(void **state) {
  db_fix_run(*state, open_version_2);
}

/* --- How fast ----------------------------------------------------------------------------------------------------- */

enum { MANY = 1000 };

/* The time that we have worked, on all threads: a busy machine is not our fault. */
static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const char a_run[] = "0123456789abcdef0123456789abcdef/run-1";

static double time_notes(db_fix *fix, lt_journal *journal, double *ret_posting_ms) {
  double best = 1e9;
  lt_record record;
  *ret_posting_ms = 1e9;
  for (int round = 0; round < 10; round++) {
    uint64_t before = lt_db_commits(fix->db);
    double start = now_ms();
    for (uint64_t i = 0; i < MANY; i++) {
      note_text(journal, a_run, i, LT_STR("{\"some\":\"thing that came\"}"));
    }
    double posted = now_ms() - start;
    DB_OK(journal->recall(journal, LT_STR("nothing"), &record, &fix->err)); /* behind all of them */
    double ms = now_ms() - start;
    lt_record_release(&record);
    assert_in_range(lt_db_commits(fix->db) - before, 1, 2);
    best = ms < best ? ms : best;
    *ret_posting_ms = posted < *ret_posting_ms ? posted : *ret_posting_ms;
  }
  return best;
}

static double time_recall(db_fix *fix, lt_journal *journal, const char *run, size_t calls) {
  double best = 1e9;
  for (int round = 0; round < 10; round++) {
    double start = now_ms();
    lt_record record = recall(fix, journal, run);
    double ms = now_ms() - start;
    assert_int_equal(record.call_count, calls);
    lt_record_release(&record);
    best = ms < best ? ms : best;
  }
  return best;
}

static void note_and_recall_much(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  double posting = 0, writing = time_notes(fix, journal, &posting);
  db_fix_ask(
      fix,
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO calls(run,"
      " user, tool, repeatable, started_at, finished_at, status, input, answer, seq, hash) SELECT 'run ' || (i % 4),"
      " 'u', 'crm.find_customer', 1, '2026', '2026', 'OK', printf('%.*c', 200, 'x'), printf('%.*c', 300, 'y'),"
      " i, i FROM n");
  double reading = time_recall(fix, journal, "run 1", MANY), notes = time_recall(fix, journal, a_run, 0);
  print_message("%d notes: %.2f ms on the loop, %.2f ms in all; recalling %d calls: %.2f ms, %d notes: %.2f ms\n", MANY,
                posting, writing, MANY, reading, 10 * MANY, notes);
  assert_true(SANITIZED || (writing < 20 && reading < 10));
  lt_store_journal_free(journal);
}

static void a_thousand_are_nothing(void **state) {
  db_fix_run(*state, note_and_recall_much);
}

/* --- Notes that cannot be kept ------------------------------------------------------------------------------------ */

static size_t told;
static lt_err told_err;

static void on_failure(void *arg, const lt_err *err) {
  assert_ptr_equal(arg, &told);
  told++;
  told_err = *err;
}

static void note_told(lt_journal *journal, const char *run, lt_str text) {
  const lt_note note = {.text = text};
  journal->note(journal, lt_str_of(run), &note, on_failure, &told);
}

/* What a run's record is good for ends where something is missing. */
static void lose_some(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  int64_t id = 0;
  told = 0;
  DB_OK(begin_seq(fix, journal, 1, 1, &id));
  db_fix_ask(fix,
             "CREATE TRIGGER x__t BEFORE INSERT ON notes WHEN NEW.text = 'bad' BEGIN SELECT raise(FAIL, 'no'); END");
  note_told(journal, "run-1", LT_STR("good"));
  DB_OK(begin_seq(fix, journal, 2, 2, &id));
  assert_int_equal(told, 0);
  note_told(journal, "run-1", LT_STR("bad"));
  assert_int_equal(told, 0);                                     /* not yet */
  assert_int_equal(begin_seq(fix, journal, 3, 3, &id), LT_E_IO); /* in the same group */
  assert_non_null(strstr(fix->err.msg, "could not be recorded"));
  assert_int_equal(told, 1);
  assert_non_null(strstr(told_err.msg, "no"));
  note_told(journal, "run-1", LT_STR("good"));
  assert_int_equal(told, 2);
  assert_int_equal(begin_seq(fix, journal, 4, 4, &id), LT_E_IO);
  DB_OK(begin_seq(fix, journal, 0, 0, &id)); /* nobody will run this one again */
  note_told(journal, "run-2", LT_STR("good"));
  lt_journal_call elsewhere = purchase;
  elsewhere.run = LT_STR("run-2");
  elsewhere.seq = 1;
  DB_OK(journal->begin(journal, &elsewhere, &id, &fix->err));
  assert_int_equal(told, 2);
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(run || text) FROM notes"), "run-1good,run-2good");
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(run || seq) FROM calls"), "run-11,run-12,run-10,run-21");
  lt_store_journal_free(journal);
}

static void after_a_lost_note_nothing_of_its_run_is_recorded(void **state) {
  db_fix_run(*state, lose_some);
}

static void note_too_much(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  char *large = calloc(1, LT_JSON_MAX_BYTES);
  told = 0;
  for (size_t queued = 0; queued + LT_JSON_MAX_BYTES < LT_NOTES_QUEUE_BYTES; queued += LT_JSON_MAX_BYTES) {
    note_told(journal, "run-1", lt_str_from(large, LT_JSON_MAX_BYTES));
  }
  assert_int_equal(told, 0);
  note_told(journal, "run-2", lt_str_from(large, LT_JSON_MAX_BYTES));
  assert_int_equal(told, 1);
  assert_int_equal(told_err.status, LT_E_LIMIT);
  int64_t id = 0;
  DB_OK(begin_seq(fix, journal, 1, 1, &id)); /* what was queued of the other run is there; and there is room again */
  note_told(journal, "run-3", lt_str_from(large, LT_JSON_MAX_BYTES));
  lt_record record = recall(fix, journal, "run-1");
  assert_int_equal(record.note_count, LT_NOTES_QUEUE_BYTES / LT_JSON_MAX_BYTES - 1);
  lt_record_release(&record);
  assert_int_equal(told, 1);
  free(large);
  lt_store_journal_free(journal);
}

static void what_waits_has_a_ceiling(void **state) {
  db_fix_run(*state, note_too_much);
}

static void free_before_written(db_fix *fix) {
  for (int i = 0; i < 3; i++) {
    lt_journal *journal = lt_store_journal_new(fix->db);
    note_text(journal, "run-1", 1, LT_STR("x"));
    lt_store_journal_free(journal);
  }
  db_fix_reopen(fix);
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(number) FROM notes"), "1,2,3");
}

/* What is known of a run is known until another connection has changed something. */
static void note_beside_another(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  lt_record record;
  for (int i = 0; i < 4; i++) {
    note_text(journal, "run-1", 1, LT_STR("x"));
    record = recall(fix, journal, "run-1"); /* waits until it is written */
    lt_record_release(&record);
    if (i == 1) {
      db_fix_ask(fix, "INSERT INTO notes VALUES('run-1', 3, 1, 1, 1, 'of another')");
    }
  }
  lt_store_journal_free(journal);
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(number) FROM notes"), "1,2,3,4,5");
}

static void another_may_note_in_the_same_run(void **state) {
  db_fix_run(*state, note_beside_another);
}

static void what_was_noted_is_written_after_all(void **state) {
  db_fix_run(*state, free_before_written);
}

/* --- Calls that only read ------------------------------------------------------------------------------------------ */
static lt_status begin_read(db_fix *fix, lt_journal *journal, uint64_t seq, int64_t *ret_id) {
  lt_journal_call call = purchase;
  call.read_only = call.repeatable = true;
  call.seq = call.hash = seq;
  fix->err = LT_ERR_INIT;
  return journal->begin(journal, &call, ret_id, &fix->err);
}

#define CALLS "SELECT group_concat(seq || ' ' || ifnull(status || ' ' || length(answer), 'open'), ', ') FROM calls"

static void read_in_between(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  int64_t first = 0, second = 0, third = 0, effect = 0;
  DB_OK(begin_seq(fix, journal, 1, 1, &effect));
  uint64_t before = lt_db_commits(fix->db);
  DB_OK(begin_read(fix, journal, 2, &first));
  DB_OK(begin_read(fix, journal, 3, &second));
  DB_OK(begin_read(fix, journal, 4, &third));
  DB_OK(journal->finish(journal, second, LT_E_TOOL, LT_STR("none"), &fix->err));
  note_text(journal, "run-1", 1, LT_STR("x"));
  DB_OK(journal->finish(journal, first, LT_OK, LT_STR("[2]"), &fix->err));
  assert_int_equal(lt_db_commits(fix->db), before); /* none has waited */
  DB_OK(begin_seq(fix, journal, 5, 5, &effect));
  assert_int_equal(lt_db_commits(fix->db), before + 1);
  assert_string_equal(db_fix_ask(fix, CALLS), "1 open, 2 OK 3, 3 E_TOOL 4, 4 open, 5 open");
  lt_record record = recall(fix, journal, "run-1");
  assert_true(record.note_count == 1 && record.call_count == 5);
  assert_true(lt_str_eqc(record.calls[1].answer, "[2]") && record.calls[1].repeatable && !record.calls[3].finished);
  DB_OK(journal->finish(journal, record.calls[3].id, LT_OK, LT_STR("4"), &fix->err)); /* as a resumed run does */
  lt_record_release(&record);
  assert_int_equal(journal->finish(journal, third, LT_OK, LT_STR("5"), &fix->err), LT_OK); /* it is only queued */
  assert_int_equal(begin_seq(fix, journal, 6, 6, &effect), LT_E_IO);                       /* and has ended already */
  assert_string_equal(db_fix_ask(fix, CALLS), "1 open, 2 OK 3, 3 E_TOOL 4, 4 OK 1, 5 open");
  lt_store_journal_free(journal);
}

static void a_call_that_only_reads_waits_for_nothing(void **state) {
  db_fix_run(*state, read_in_between);
}

/* Of calls that read, those of the same prompt wait for the end of an effect; no fiber waits only for that end. */
static void read_after_effect(db_fix *fix) {
  static const char other[] = "ffffffffffffffffffffffffffffffff";
  lt_journal *journal = lt_store_journal_new(fix->db);
  lt_journal_call theirs = {.run = lt_str_of(other), .seq = 1, .read_only = true, .tool = LT_STR("t")};
  int64_t effect = 0, id = 0;
  DB_OK(begin_seq(fix, journal, 1, 1, &effect));
  uint64_t before = lt_db_commits(fix->db);
  DB_OK(journal->finish(journal, effect, LT_OK, LT_STR("done"), &fix->err));
  DB_OK(journal->begin(journal, &theirs, &id, &fix->err));
  assert_int_equal(lt_db_commits(fix->db), before);
  DB_OK(begin_read(fix, journal, 2, &id));
  assert_int_equal(lt_db_commits(fix->db), before + 1);
  assert_string_equal(db_fix_ask(fix, CALLS), "1 OK 4, 1 open, 2 open");
  DB_OK(begin_read(fix, journal, 3, &id)); /* the effect is on record */
  assert_int_equal(lt_db_commits(fix->db), before + 1);
  lt_store_journal_free(journal);
}

static void what_follows_from_an_effect_comes_after_it(void **state) {
  db_fix_run(*state, read_after_effect);
}

static void read_much(db_fix *fix) {
  lt_journal *journal = lt_store_journal_new(fix->db);
  char *large = calloc(1, 2 * LT_MIB);
  int64_t first = 0, left = 0;
  DB_OK(begin_read(fix, journal, 1, &first));
  DB_OK(journal->finish(journal, first, LT_OK, lt_str_from(large, 2 * LT_MIB), &fix->err));
  assert_string_equal(db_fix_ask(fix, "SELECT length(CAST(answer AS BLOB)) FROM calls"), "2097152"); /* it has waited */
  DB_OK(begin_read(fix, journal, 2, &left));
  free(large);
  lt_store_journal_free(journal);
  db_fix_reopen(fix);
  assert_string_equal(db_fix_ask(fix, "SELECT group_concat(seq) FROM calls"), "1,2");
}

static void a_long_answer_waits_until_it_is_written(void **state) {
  db_fix_run(*state, read_much);
}

/* --- Blobs -------------------------------------------------------------------------------------------------------- */

static void keep_blobs(db_fix *fix) {
  static const lt_str texts[] = {{"", 0}, {"\0", 1}, {"\0\0", 2}, {"a tool list", 11}, {"a tool lisT", 11}};
  enum { TEXTS = sizeof texts / sizeof texts[0] };
  char hashes[TEXTS][LT_BLOB_HASH_BYTES + 1], again[LT_BLOB_HASH_BYTES + 1];
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  for (size_t i = 0; i < TEXTS; i++) {
    DB_OK(lt_store_blob_put(fix->db, texts[i], hashes[i], &fix->err));
    assert_int_equal(strlen(hashes[i]), LT_BLOB_HASH_BYTES);
  }
  db_fix_ask(fix, "UPDATE blobs SET used_at = '2020-01-01T00:00:00.000Z' WHERE rowid = 1");
  for (size_t i = 0; i < TEXTS; i++) {
    DB_OK(lt_store_blob_put(fix->db, texts[i], again, &fix->err));
    assert_string_equal(again, hashes[i]);
    lt_buf_clear(&out);
    DB_OK(lt_store_blob_get(fix->db, lt_str_of(hashes[i]), &out, &fix->err));
    assert_true(lt_str_eq(lt_buf_view(&out), texts[i]));
  }
  assert_string_equal(db_fix_ask(fix, "SELECT count(*) || ' ' || (min(used_at) > '2021') FROM blobs"), "5 1");
  lt_buf_addc(&out, "before");
  assert_int_equal(lt_store_blob_get(fix->db, LT_STR("none"), &out, &fix->err), LT_E_NOTFOUND);
  db_fix_ask(fix, "UPDATE blobs SET data = x'00' WHERE rowid = 4");
  assert_int_equal(lt_store_blob_put(fix->db, texts[3], again, &fix->err), LT_E_INVALID);
  lt_str large = {hashes[0], LT_BLOB_MAX_BYTES + 1}; /* not read */
  assert_int_equal(lt_store_blob_put(fix->db, large, again, &fix->err), LT_E_LIMIT);
  lt_buf_release(&out);
}

static void blobs_are_kept_once(void **state) {
  db_fix_run(*state, keep_blobs);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, db_fix_setup, db_fix_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_call_is_recorded_before_and_after, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(artifacts_belong_to_a_user, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(what_artifacts_say_of_themselves_is_short, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(state_is_kept_by_plugin_user_and_conversation, db_fix_setup, db_fix_teardown),
      TEST(a_call_that_has_not_ended_is_made_again),
      TEST(a_run_is_recalled_as_it_was),
      TEST(the_largest_answers_are_recalled),
      TEST(runs_are_found_by_the_beginning_of_their_names),
      TEST(after_a_lost_note_nothing_of_its_run_is_recorded),
      TEST(what_waits_has_a_ceiling),
      TEST(what_was_noted_is_written_after_all),
      TEST(another_may_note_in_the_same_run),
      TEST(a_call_that_only_reads_waits_for_nothing),
      TEST(what_follows_from_an_effect_comes_after_it),
      TEST(a_long_answer_waits_until_it_is_written),
      TEST(blobs_are_kept_once),
      TEST(an_older_journal_goes_on),
      TEST(a_thousand_are_nothing),
  };
  return cmocka_run_group_tests_name("store_journal", tests, NULL, NULL);
}
