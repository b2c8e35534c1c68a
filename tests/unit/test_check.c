/* Recorded programs checked: run again with nothing behind them, and compared. The embedded engine's, and those of a
 * runner that knows its calls by tool and input, as those with processes do. */
#include "replay_fix.h"
#include "replay/replay_check.h"
#include "replay/call_matching.h"

/* --- A runner like Python's --------------------------------------------------------------------------------------- */
/* Its programs are lists: "act 1;read 33"; they come to the answers, one after the other. */
typedef struct process {
  lt_runner base; /* first */
  world *w;
  const char *instead; /* what it does now, whatever the program says; NULL: the program */
  const char *clock;   /* the end of its result */
  bool missing, shares;
  unsigned runs;
} process;

static void one_call(process *p, lt_call_matching *m, const lt_run_request *request, const char *name, int n,
                     lt_buf *all) {
  char tool[32], input[32];
  lt_buf out;
  uint64_t seq;
  lt_status status;
  snprintf(tool, sizeof tool, "e.%s", name);
  snprintf(input, sizeof input, "{\"n\":%d}", n);
  lt_buf_init(&out, LT_MIB);
  if (!lt_call_matching_answer(m, lt_str_of(tool), lt_str_of(input), &seq, &status, &out)) {
    const lt_invoke_options options = {.caller = request->caller, .seq = seq};
    status = lt_door_call(p->w->door, lt_str_of(tool), lt_str_of(input), &options, &out, NULL);
    lt_call_matching_note_failure(m, seq, status, lt_buf_view(&out));
  }
  lt_buf_addc(all, status == LT_OK ? "+" : "-");
  lt_buf_add(all, lt_buf_view(&out));
  lt_buf_release(&out);
}

static void do_calls(process *p, lt_call_matching *m, const lt_run_request *request, lt_buf *all) {
  char name[16];
  int n, read;
  for (const char *at = p->instead != NULL ? p->instead : request->code.p;
       sscanf(at, "%15[a-z] %d%n", name, &n, &read) == 2; at += at[read] == ';' ? read + 1 : read) {
    one_call(p, m, request, name, n, all);
  }
  lt_buf_addc(all, p->clock);
}

static lt_status process_run(lt_runner *self, const lt_run_request *request, lt_run_result *result, lt_err *err) {
  process *p = (process *)(void *)self;
  lt_call_matching m;
  bool ended = false;
  p->runs++;
  lt_status status = lt_call_matching_begin(&m, request, "python", p->w->door, result, &ended, err);
  if (status == LT_OK && !ended && p->missing) {
    status = lt_fail(err, LT_E_NOTFOUND, "there is no snake here");
  } else if (status == LT_OK && !ended) {
    if (!p->shares) {
      lt_call_matching_note_folder(&m, LT_STR("/tmp/its-own"));
    }
    do_calls(p, &m, request, &result->value);
    result->kind = LT_VALUE_STRING;
    lt_call_matching_end(&m, result);
  }
  lt_call_matching_release(&m);
  return status;
}

/* --- What is checked ---------------------------------------------------------------------------------------------- */
typedef struct stage {
  scene s;
  process p;
  lt_replay_check *check;
  lt_status ended; /* the program's status */
  char *value;
  lt_err err;
} stage;

static lt_runner *runner_of(void *arg, const char *id, lt_lang lang, lt_err *err) {
  stage *st = arg;
  (void)lang;
  (void)err;
  return strcmp(id, "python") == 0 ? &st->p.base : lt_quickjs_runner(st->s.w->quickjs);
}

static bool only_calls(void *arg, lt_str tool) {
  (void)arg;
  return lt_str_eqc(tool, "e.often");
}

static lt_status run_with(stage *st, lt_runner *runner, lt_journal *journal, bool again) {
  lt_run_result result;
  scene *s = &st->s;
  s->caller = (lt_caller){.user = LT_STR("u"),
                          .run = LT_STR("p/call-0"),
                          .approver = &s->approver,
                          .journal = journal,
                          .noted = true,
                          .recalled = again};
  s->request.on_text = NULL;
  s->request.lang = st->p.w != NULL ? LT_LANG_PYTHON : LT_LANG_JAVASCRIPT;
  s->invoked = 0;
  lt_run_result_init(&result);
  lt_status status = runner->run(runner, &s->request, &result, &st->err);
  st->ended = result.status;
  free(st->value);
  st->value = strndup(result.value.n > 0 ? result.value.p : "", result.value.n);
  lt_run_result_release(&result);
  return status;
}

static void stage_open(stage *st, world *w, const char *code, bool in_process) {
  *st = (stage){.err = LT_ERR_INIT};
  scene_open(&st->s, w, code);
  if (in_process) {
    st->p = (process){.base = {.id = "python", .run = process_run}, .w = w, .clock = ""};
  }
}

static void record(stage *st) {
  lt_runner *runner = st->p.w != NULL ? &st->p.base : lt_quickjs_runner(st->s.w->quickjs);
  assert_int_equal(run_with(st, runner, &st->s.fake->base, false), LT_OK);
  st->p.runs = 0;
}

/* Nothing is done by it, whatever comes of it. */
static lt_status check(stage *st) {
  const lt_replay_check_options options = {
      .records = &st->s.fake->base, .only_calls = only_calls, .runner = runner_of, .arg = st};
  size_t notes = count_notes(st->s.fake, LT_NOTE_END);
  lt_replay_check_free(st->check);
  st->s.invoked = 0;
  st->check = lt_replay_check_new(&options);
  lt_status status = st->check != NULL
                         ? run_with(st, lt_replay_check_runner(st->check), lt_replay_check_journal(st->check), true)
                         : LT_E_NOMEM;
  assert_int_equal(st->s.invoked, 0);
  assert_int_equal(count_notes(st->s.fake, LT_NOTE_END), notes);
  return status;
}

static void assert_same(stage *st, unsigned programs, unsigned skipped) {
  assert_int_equal(check(st), LT_OK);
  assert_string_equal(lt_replay_check_fault(st->check).n > 0 ? lt_replay_check_fault(st->check).p : "", "");
  assert_int_equal(lt_replay_check_count(st->check).programs, programs);
  assert_int_equal(lt_replay_check_count(st->check).skipped, skipped);
}

static void assert_text_has(lt_str text, const char *part) {
  if (lt_str_find(text, lt_str_of(part), 0) == SIZE_MAX) {
    fail_msg("no \"%s\" in \"%.*s\"", part, LT_STR_ARG(text));
  }
}

static void stage_close(stage *st) {
  lt_replay_check_free(st->check);
  free(st->value);
  scene_close(&st->s);
}

static fake_call *recorded(stage *st, uint64_t seq) {
  fake_call *one = st->s.fake->calls;
  while (one != NULL && one->call.seq != seq) {
    one = one->next;
  }
  assert_non_null(one);
  return one;
}

static void set_answer(stage *st, uint64_t seq, const char *answer) {
  fake_call *one = recorded(st, seq);
  fake_free_text(one->call.answer);
  one->call.answer = fake_copy(lt_str_of(answer));
}

/* --- The embedded engine's ---------------------------------------------------------------------------------------- */
IN_WORLD(test_a_program_runs_again_and_comes_to_the_same, 1) {
  stage st;
  stage_open(&st, w, "output(eAct({n: 1}).n); try { eAct({n: 2, fail: 1}) } catch (e) { } eRead({n: 33}).n", false);
  record(&st);
  assert_same(&st, 1, 0);
  assert_string_equal(st.value, "33");
  assert_int_equal(lt_replay_check_count(st.check).calls, 3);
  set_answer(&st, 3, "{\"n\":34}");
  assert_int_equal(check(&st), LT_OK);
  assert_text_has(lt_replay_check_fault(st.check), "program call-0: it ended otherwise: ");
  assert_text_has(lt_replay_check_fault(st.check), "\"34\"");
  stage_close(&st);
}

IN_WORLD(test_a_program_that_was_stopped_is_answered_by_the_record, 1) {
  stage st;
  stage_open(&st, w, "for (;;) {}", false);
  st.s.request.timeout_ms = 30;
  record(&st);
  assert_int_equal(st.ended, LT_E_TIMEOUT);
  assert_same(&st, 0, 1);
  assert_int_equal(st.ended, LT_E_TIMEOUT);
  assert_text_has(lt_replay_check_reasons(st.check), "its time or its memory was used up");
  stage_close(&st);
}

/* --- In processes ------------------------------------------------------------------------------------------------- */
IN_WORLD(test_calls_are_found_in_any_order, 1) {
  stage st;
  stage_open(&st, w, "act 1;read 33;act 1;act 2;nothing 7", true);
  record(&st);
  assert_int_equal(st.s.done[1], 2);
  assert_same(&st, 1, 0);
  assert_int_equal(st.p.runs, 1);
  st.p.instead = "nothing 7;act 2;act 1;read 33;act 1";
  assert_int_equal(check(&st), LT_OK); /* all calls are there, but what comes of it is another order */
  assert_text_has(lt_replay_check_fault(st.check), "program call-0: it ended otherwise: ");
  assert_text_has(lt_replay_check_fault(st.check), "(its clock and its random numbers are not on record)");
  stage_close(&st);
}

IN_WORLD(test_what_was_denied_is_denied_without_anybody_being_asked, 1) {
  stage st;
  stage_open(&st, w, "asked 1;act 2", true);
  st.s.person = DENIES;
  record(&st);
  assert_text_has(lt_str_of(st.value), "-Tool \"e.asked\" was not approved: not today+");
  st.s.person = APPROVES;
  st.s.asked = 0;
  assert_same(&st, 1, 0);
  assert_int_equal(st.s.asked, 0);
  stage_close(&st);
}

static void assert_diverged(stage *st, const char *instead, const char *why) {
  lt_run_result result;
  st->p.instead = instead;
  assert_int_equal(check(st), LT_OK);
  assert_int_equal(st->ended, LT_E_DIVERGED);
  lt_run_result_init(&result);
  assert_int_equal(
      lt_replay_check_runner(st->check)->run(lt_replay_check_runner(st->check), &st->s.request, &result, NULL), LT_OK);
  assert_text_has(lt_buf_view(&result.error), why);
  lt_run_result_release(&result);
}

IN_WORLD(test_a_call_more_or_less_is_found_out, 1) {
  stage st;
  stage_open(&st, w, "act 1;act 2", true);
  record(&st);
  assert_diverged(&st, "act 1;act 3;act 2", "the record ends here: call 3 of call-0, e.act {\"n\":3}, is not on it");
  assert_true(lt_replay_check_is_beyond(st.check));
  assert_diverged(&st, "act 1;act 2;act 2", "call 3 of call-0, e.act {\"n\":2}, is not on it");
  assert_diverged(&st, "act 2", "it ended without a call that is on record: call 1, e.act {\"n\":1}");
  assert_diverged(&st, "nothing 1;act 1;act 2", "call 3 of call-0, e.nothing {\"n\":1}, is not on it");
  stage_close(&st);
}

IN_WORLD(test_a_program_that_cannot_be_run_here_is_answered_by_the_record, 1) {
  stage st;
  stage_open(&st, w, "act 1;act 2", true);
  record(&st);
  char *value = strdup(st.value);
  st.p.missing = true;
  assert_same(&st, 0, 1);
  assert_string_equal(st.value, value);
  assert_text_has(lt_replay_check_reasons(st.check), "there is no snake here");
  free(value);
  stage_close(&st);
}

/* What it would do there again others would see. */
IN_WORLD(test_a_program_in_the_users_folder_is_not_run, 1) {
  stage st;
  stage_open(&st, w, "act 1", true);
  st.p.shares = true;
  record(&st);
  assert_same(&st, 0, 1);
  assert_text_has(lt_replay_check_reasons(st.check), "it worked in python.workspace");
  stage_close(&st);
}

/* --- Calls that are made again ------------------------------------------------------------------------------------ */
static void begin_again(stage *st, lt_journal *journal, lt_record *ret_record, int64_t *ret_id) {
  const lt_journal_call call = {.user = LT_STR("u"),
                                .run = LT_STR("p/c1"),
                                .seq = 1,
                                .hash = 4711,
                                .tool = LT_STR("e.often"),
                                .input = LT_STR("{}"),
                                .repeatable = true};
  assert_int_equal(journal->recall(journal, LT_STR("p/c1"), ret_record, &st->err), LT_OK);
  assert_int_equal(journal->begin(journal, &call, ret_id, &st->err), LT_OK);
}

IN_WORLD(test_a_call_that_only_makes_calls_is_made_again, 1) {
  stage st;
  lt_record record;
  int64_t id = 0;
  stage_open(&st, w, "", false);
  lt_journal *records = &st.s.fake->base;
  begin_again(&st, records, &record, &id);
  lt_record_release(&record);
  assert_int_equal(records->finish(records, id, LT_OK, LT_STR("7"), NULL), LT_OK);
  for (int other = 0; other < 3; other++) {
    const lt_replay_check_options options = {.records = records, .only_calls = only_calls, .arg = &st};
    st.check = lt_replay_check_new(&options);
    lt_journal *journal = lt_replay_check_journal(st.check);
    begin_again(&st, journal, &record, &id);
    assert_false(record.calls[0].finished);
    lt_record_release(&record);
    lt_status status = other == 2 ? LT_E_TOOL : LT_OK;
    assert_int_equal(journal->finish(journal, id, status, other == 1 ? LT_STR("8") : LT_STR("7"), NULL), LT_OK);
    lt_str fault = lt_replay_check_fault(st.check);
    assert_int_equal(fault.n > 0, other > 0);
    if (other > 0) {
      assert_text_has(fault, other == 1 ? "call c1: its answer is another: ...8..., and on record it is ...7..."
                                        : "call c1: its answer is another: E_TOOL, and on record OK: ");
    }
    lt_replay_check_free(st.check);
    st.check = NULL;
  }
  stage_close(&st);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */
/* It may not come to an end, but never to another. */
static void without_memory(world *w, const char *code, bool in_process) {
  stage st;
  stage_open(&st, w, code, in_process);
  record(&st);
  char *value = strdup(st.value);
  for (long at = 0;; at++) {
    lt_mem_fail_at(at);
    lt_status status = check(&st);
    bool failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    if (status == LT_OK && st.ended == LT_OK && lt_replay_check_fault(st.check).n == 0) {
      assert_string_equal(st.value, value);
    }
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_int_equal(lt_replay_check_fault(st.check).n, 0);
      assert_string_equal(st.value, value);
      break;
    }
  }
  free(value);
  stage_close(&st);
}

IN_WORLD(test_without_memory, 1) {
  without_memory(w, "act 1;read 33;nothing 2", true);
  without_memory(w, "eAct({n: 1}); eRead({n: 33}).n", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_program_runs_again_and_comes_to_the_same),
      cmocka_unit_test(test_a_program_that_was_stopped_is_answered_by_the_record),
      cmocka_unit_test(test_calls_are_found_in_any_order),
      cmocka_unit_test(test_what_was_denied_is_denied_without_anybody_being_asked),
      cmocka_unit_test(test_a_call_more_or_less_is_found_out),
      cmocka_unit_test(test_a_program_that_cannot_be_run_here_is_answered_by_the_record),
      cmocka_unit_test(test_a_program_in_the_users_folder_is_not_run),
      cmocka_unit_test(test_a_call_that_only_makes_calls_is_made_again),
      cmocka_unit_test(test_without_memory),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
