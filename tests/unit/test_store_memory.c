/* Memory that runs out, ours and SQLite's: whatever the store is doing, a clean error, nothing by halves, and it works
 * again afterwards. */
#include "fakes/sanitizer.h"
#include "store/store_prompts.h"
#include "store/store_upkeep.h"
#include "unit/db_fix.h"

/* SQLite asks for memory some ten thousand times, and each try does everything twice: some hundred places are tried, in
 * sanitized builds fewer. The numbers are primes, so that calls that repeat are hit at different places. */
enum { STRIDE = SANITIZED ? 211 : 53, STRIDE_AMONG_OTHERS = SANITIZED ? 149 : 17 };

/* --- SQLite on base/mem.h, so that its allocations can fail, too -------------------------------------------------- */

typedef struct header {
  _Alignas(16) size_t size;
} header;

static void *sq_malloc(int n) {
  header *h = lt_mem_alloc(sizeof *h + (size_t)n);
  if (h == NULL) {
    return NULL;
  }
  h->size = (size_t)n;
  return h + 1;
}

static void sq_free(void *p) {
  lt_mem_free((header *)p - 1);
}

static void *sq_realloc(void *p, int n) {
  header *h = lt_mem_realloc((header *)p - 1, sizeof *h + (size_t)n);
  if (h == NULL) {
    return NULL;
  }
  h->size = (size_t)n;
  return h + 1;
}

static int sq_size(void *p) {
  return p != NULL ? (int)((header *)p - 1)->size : 0;
}

static int sq_roundup(int n) {
  return (n + 7) & ~7;
}

static int sq_init(void *arg) {
  (void)arg;
  return SQLITE_OK;
}

static void sq_shutdown(void *arg) {
  (void)arg;
}

static int use_our_memory(void **state) {
  (void)state;
  static const sqlite3_mem_methods methods = {sq_malloc,  sq_free, sq_realloc,  sq_size,
                                              sq_roundup, sq_init, sq_shutdown, NULL};
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK ? sqlite3_initialize() : -1;
}

/* --- What is done while memory runs out --------------------------------------------------------------------------- */

typedef struct buffers {
  lt_buf id, out;
} buffers;

static const char *const scripts[] = {"CREATE TABLE todo__t(a TEXT); INSERT INTO todo__t VALUES('x')"};

/* Ends at the first failure, which it returns; so does the next. */
static lt_status use_prompts(lt_store *db, lt_buf *out, lt_err *err) {
  char id[LT_STORE_ID_BYTES + 1], conversation[LT_STORE_ID_BYTES + 1];
  LT_TRY(lt_store_new_id(id, err));
  LT_TRY(lt_store_new_id(conversation, err));
  lt_prompt_row row = {.id = lt_str_of(id), .conversation = lt_str_of(conversation), .user = LT_STR("u")};
  LT_TRY(lt_store_prompt_create(db, &row, err));
  LT_TRY(lt_store_prompt_put_output(db, row.id, 0, LT_STR("{}"), err));
  const lt_prompt_output outputs[] = {{0, LT_STR("1"), 1}, {1, LT_STR("2"), 2}};
  const lt_prompt_change change = {.state = LT_PROMPT_WAITING};
  LT_TRY(lt_store_prompt_update(db, row.id, outputs, 2, &change, err));
  LT_TRY(lt_store_prompt_set_shown(db, row.id, 1, err));
  LT_TRY(lt_store_prompt_keep_shown(db, row.id, 2, err));
  LT_TRY(lt_store_prompt_unshown(db, row.id, out, err));
  LT_TRY(lt_store_prompt_orphans_of(db, row.user, row.conversation, out, err));
  LT_TRY(lt_store_prompt_release(db, row.id, err));
  LT_TRY(lt_store_prompt_orphans(db, out, err));
  LT_TRY(lt_store_prompt_claim(db, row.id, err));
  LT_TRY(lt_store_prompt_set_state(db, row.id, LT_PROMPT_FAILED, LT_STR("{}"), LT_STR("why"), err));
  LT_TRY(lt_store_prompt_get(db, row.user, row.id, out, err));
  LT_TRY(lt_store_history(db, row.user, row.conversation, 5, out, err));
  LT_TRY(lt_store_conversation_set_title(db, row.user, row.conversation, LT_STR("t"), err));
  LT_TRY(lt_store_conversation_get(db, row.user, row.conversation, out, err));
  LT_TRY(lt_store_conversation_list(db, row.user, 5, out, err));
  const lt_store_ages ages = {.days = {0, 0, 0}};
  lt_store_trimmed trimmed;
  bool done;
  LT_TRY(lt_store_conversation_remove(db, row.user, row.conversation, 2, &done, err));
  LT_TRY(lt_store_trim_count(db, &ages, &trimmed, err));
  LT_TRY(lt_store_trim(db, &ages, 10, true, &trimmed, err));
  return lt_store_report(db, out, err);
}

static lt_err lost;

static void on_lost(void *arg, const lt_err *err) {
  (void)arg;
  lost = lost.status == LT_OK ? *err : lost; /* the second note only follows the first */
}

/* A run of its own each time: one that has lost a note is not recorded any more. */
static lt_status use_run(lt_loop *loop, lt_journal *journal, lt_err *err) {
  static uint64_t runs;
  char run[32];
  int64_t id = 0;
  lt_record record;
  lost = LT_ERR_INIT;
  snprintf(run, sizeof run, "run %llu", (unsigned long long)runs++);
  const lt_note note = {.text = LT_STR("a note")};
  journal->note(journal, lt_str_of(run), &note, on_lost, NULL);
  journal->note(journal, lt_str_of(run), &note, on_lost, NULL);
  lt_journal_call call = {.run = lt_str_of(run), .user = LT_STR("u"), .tool = LT_STR("t"), .seq = 1};
  call.read_only = true;
  lt_status status = journal->begin(journal, &call, &id, err); /* queued behind the notes */
  if (status == LT_E_IO && lost.status != LT_OK) {             /* a note was not even queued */
    return lt_fail(err, lost.status, "%s", lt_err_msg(&lost));
  }
  LT_TRY(status);
  LT_TRY(journal->finish(journal, id, LT_OK, LT_STR("0"), err));
  call.read_only = false;
  call.seq = 2;
  status = journal->begin(journal, &call, &id, err);
  while (status == LT_E_IO && lost.status == LT_OK) { /* whoever noted is told behind whoever waited */
    lt_loop_sleep(loop, 1);
  }
  if (lost.status != LT_OK) {
    assert_int_not_equal(status, LT_OK); /* no record with a gap */
    return lt_fail(err, lost.status, "%s", lt_err_msg(&lost));
  }
  LT_TRY(status);
  LT_TRY(journal->finish(journal, id, LT_OK, LT_STR("1"), err));
  LT_TRY(journal->recall(journal, lt_str_of(run), &record, err));
  assert_true(record.note_count == 2 && record.call_count == 2);
  assert_true(lt_str_eqc(record.notes[1].text, "a note") && lt_str_eqc(record.calls[0].answer, "0"));
  bool has_ended = record.calls[1].finished;
  assert_true(!has_ended || lt_str_eqc(record.calls[1].answer, "1"));
  lt_record_release(&record);
  call.seq = 3;
  status = journal->begin(journal, &call, &id, err);
  if (!has_ended) {
    assert_int_not_equal(status, LT_OK); /* no record with a gap */
    return lt_fail(err, LT_E_NOMEM, "the end of a call was lost");
  }
  LT_TRY(status);
  return journal->finish(journal, id, LT_OK, LT_STR("2"), err);
}

static lt_status use_blobs(lt_store *db, lt_buf *out, lt_err *err) {
  char hash[LT_BLOB_HASH_BYTES + 1];
  LT_TRY(lt_store_blob_put(db, LT_STR("a blob"), hash, err));
  LT_TRY(lt_store_blob_get(db, lt_str_of(hash), out, err));
  return lt_store_runs_below(db, LT_STR("r"), out, err);
}

static lt_status use_all(db_fix *fix, buffers *b) {
  lt_store *db = fix->db;
  lt_err *err = &fix->err;
  static const lt_journal_call call = {.user = {"u", 1}, .run = {"r", 1}, .tool = {"t", 1}, .input = {"{}", 2}};
  lt_artifact artifact = {.user = LT_STR("u"), .mime_type = LT_STR("text/plain"), .data = LT_STR("data")};
  lt_str todo = LT_STR("todo"), user = LT_STR("u");
  int64_t id = 0;
  lt_journal *journal = lt_store_journal_new(db);
  lt_artifacts *artifacts = lt_store_artifacts_new(db);
  lt_status status = journal != NULL && artifacts != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "nothing");
#define STEP(call) status = status == LT_OK ? (call) : status
  STEP(journal->begin(journal, &call, &id, err));
  STEP(journal->finish(journal, id, LT_OK, LT_STR("1"), err));
  STEP(artifacts->put(artifacts, &artifact, &b->id, err));
  STEP(lt_store_artifact_get(db, user, lt_buf_view(&b->id), &b->out, err));
  STEP(lt_store_artifact_list(db, user, &b->out, err));
  STEP(lt_store_state_put(db, todo, user, LT_STR_NULL, LT_STR("{}"), err));
  STEP(lt_store_state_get(db, todo, user, LT_STR_NULL, &b->out, err));
  STEP(lt_store_migrate(db, todo, scripts, 1, err));
  STEP(lt_store_sql(db, todo, LT_STR("INSERT INTO todo__t VALUES(?)"), LT_STR("[\"\\u0041b\"]"), &b->out, err));
  STEP(lt_store_sql(db, todo, LT_STR("WITH c AS (SELECT 1) SELECT count(*) FROM c"), LT_STR_NULL, &b->out, err));
  STEP(lt_store_sql(db, todo, LT_STR("SELECT * FROM todo__t"), LT_STR_NULL, &b->out, err));
  STEP(use_prompts(db, &b->out, err));
  STEP(use_run(fix->loop, journal, err));
  STEP(use_blobs(db, &b->out, err));
#undef STEP
  lt_store_artifacts_free(artifacts);
  lt_store_journal_free(journal);
  return status;
}

static bool ran_out; /* in the last use_with */

static lt_status use_with(db_fix *fix, long n) {
  buffers b;
  lt_buf_init(&b.id, 1000);
  lt_buf_init(&b.out, 100000);
  fix->err = LT_ERR_INIT;
  lt_mem_fail_at(n);
  lt_status status = use_all(fix, &b);
  ran_out = lt_mem_failed() != 0;
  lt_mem_fail_at(-1);
  lt_buf_release(&b.id);
  lt_buf_release(&b.out);
  return status;
}

static lt_status open_memory(db_fix *fix, long n) {
  lt_store_close(fix->db);
  fix->db = NULL;
  lt_mem_fail_at(n);
  lt_status status = lt_store_new(fix->loop, ":memory:", &fix->db, &fix->err);
  lt_mem_fail_at(-1);
  return status;
}

static void run_out_at_each_place(db_fix *fix) {
  assert_int_equal(open_memory(fix, 0), LT_E_NOMEM);
  assert_int_equal(open_memory(fix, 1), LT_E_NOMEM);
  size_t failures = 0;
  for (long n = 0;; n += STRIDE) {
    assert_int_equal(open_memory(fix, -1), LT_OK);
    lt_status status = use_with(fix, n);
    if (!ran_out) { /* there are no more places */
      assert_int_equal(status, LT_OK);
      break;
    }
    /* SQLite can do without some of what it asks for. */
    if (status != LT_E_NOMEM && status != LT_OK) {
      fail_msg("allocation %ld: %s: %s", n, lt_status_name(status), fix->err.msg);
    }
    failures += status == LT_E_NOMEM;
    if (use_with(fix, -1) != LT_OK) {
      fail_msg("after allocation %ld: %s", n, fix->err.msg);
    }
  }
  print_message("%zu failures\n", failures);
  assert_true(failures > 10000 / STRIDE);
}

static void memory_may_run_out_anywhere(void **state) {
  db_fix_run(*state, run_out_at_each_place);
}

/* --- One failure among others, in the same group ------------------------------------------------------------------ */

enum { PUTTERS = 5 };
static size_t kept, ended, untold;

static void on_untold(void *arg, const lt_err *err) {
  (void)arg;
  untold -= err->status != LT_OK;
}

static void put_one(void *arg) {
  db_fix *fix = arg;
  lt_buf id;
  lt_buf_init(&id, 100);
  lt_artifacts *artifacts = lt_store_artifacts_new(fix->db);
  lt_artifact artifact = {.user = LT_STR("u"), .mime_type = LT_STR("text/plain"), .data = LT_STR("data")};
  lt_journal *journal = lt_store_journal_new(fix->db);
  const lt_note note = {.text = LT_STR("a note")};
  for (int i = 0; i < 3 && journal != NULL; i++) { /* among the others' artifacts */
    untold++;
    journal->note(journal, LT_STR("r"), &note, on_untold, NULL);
    lt_loop_sleep(fix->loop, 0);
  }
  kept += artifacts != NULL && artifacts->put(artifacts, &artifact, &id, NULL) == LT_OK;
  if (journal != NULL) {
    untold++;
    journal->note(journal, LT_STR("r"), &note, on_untold, NULL);
  }
  lt_store_journal_free(journal);
  lt_store_artifacts_free(artifacts);
  lt_buf_release(&id);
  ended++;
}

static size_t count_artifacts(db_fix *fix) {
  lt_buf out;
  lt_arena arena;
  lt_json_doc doc;
  lt_buf_init(&out, LT_MIB);
  lt_arena_init(&arena, LT_MIB);
  DB_OK(lt_store_artifact_list(fix->db, LT_STR("u"), &out, &fix->err));
  DB_OK(lt_json_parse(&arena, lt_buf_view(&out), &doc, &fix->err));
  size_t count = lt_json_count(lt_json_root(&doc));
  lt_arena_release(&arena);
  lt_buf_release(&out);
  return count;
}

static size_t count_notes(db_fix *fix) {
  lt_record record;
  lt_journal *journal = lt_store_journal_new(fix->db);
  DB_OK(journal->recall(journal, LT_STR("r"), &record, &fix->err));
  size_t count = record.note_count;
  lt_record_release(&record);
  lt_store_journal_free(journal);
  return count;
}

static void run_out_among_others(db_fix *fix) {
  size_t least = PUTTERS;
  bool failed = true;
  for (long n = 0; failed; n += STRIDE_AMONG_OTHERS) {
    assert_int_equal(open_memory(fix, -1), LT_OK);
    assert_int_equal(count_artifacts(fix), 0);
    kept = ended = untold = 0;
    for (int i = 0; i < PUTTERS; i++) {
      assert_int_equal(lt_loop_spawn(fix->loop, put_one, fix, NULL), LT_OK);
    }
    lt_mem_fail_at(n);
    while (ended < PUTTERS) {
      lt_loop_sleep(fix->loop, 0);
    }
    failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    assert_int_equal(count_artifacts(fix), kept); /* what was said to be kept, and nothing else */
    assert_int_equal(count_notes(fix), untold);
    least = kept < least ? kept : least;
  }
  assert_true(least < PUTTERS && kept == PUTTERS);
}

static void a_failure_among_others_leaves_no_doubt(void **state) {
  db_fix_run(*state, run_out_among_others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(memory_may_run_out_anywhere, db_fix_setup, db_fix_teardown),
      cmocka_unit_test_setup_teardown(a_failure_among_others_leaves_no_doubt, db_fix_setup, db_fix_teardown),
  };
  return cmocka_run_group_tests_name("store_memory", tests, use_our_memory, NULL);
}
