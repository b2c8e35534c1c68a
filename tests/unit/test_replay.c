/* Programs that are killed at every place and run again: as if nothing had happened, and nothing is done twice. */
#include "replay_fix.h"

#include <time.h>

#include "store/store.h"

/* --- Killed everywhere -------------------------------------------------------------------------------------------- */
typedef struct trial {
  const char *code;
  lt_lang lang;
  bool varies; /* what it says depends on chance and time */
  int person;
} trial;

static void scene_for(scene *s, world *w, const trial *t) {
  scene_open(s, w, t->code);
  s->request.lang = t->lang;
  s->person = t->person == DENIES ? DENIES : APPROVES;
}

static char *text_of(const lt_buf *buf) {
  return strndup(buf->n > 0 ? buf->p : "", buf->n);
}

/* Nothing twice, unless twice does no harm: those have n from 32 on. */
static void check_effects(const scene *s) {
  for (unsigned n = 1; n < 32; n++) {
    if (s->done[n] > 1) {
      fail_msg("call %u was made %u times by %.*s", n, s->done[n], LT_STR_ARG(s->request.code));
    }
  }
}

/* Run by run: killed after `at` records, then after `then`, then never. */
static void check_killed(world *w, const trial *t, unsigned at, unsigned then, bool prompt, const char *reference) {
  scene s;
  scene_for(&s, w, t);
  s.prompt = prompt;
  assert_int_equal(play(&s, false, at), LT_OK);
  char *told = text_of(&s.told);
  if (t->varies) {
    wait_a_little(&s);
  }
  assert_int_equal(play(&s, true, then), LT_OK);
  char *told_again = text_of(&s.told);
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  check_effects(&s);
  char *said = text_of(&s.said), *end = text_of(&s.end);
  bool interrupted = strstr(end, "interrupted") != NULL;
  if (strncmp(said, told, strlen(told)) != 0 || strncmp(said, told_again, strlen(told_again)) != 0 ||
      (!t->varies && !interrupted && strcmp(end, reference) != 0)) {
    fail_msg("killed after %u and %u records:\n%s\ntold: %s\ntold again: %s\nsaid: %s\nended: %s\ninstead of: %s", at,
             then, t->code, told, told_again, said, end, reference);
  }
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK); /* its end is on record */
  assert_int_equal(s.invoked, 0);
  assert_string_equal(s.end.p, end);
  play_strictly(&s);
  assert_string_equal(s.end.p, end);
  free(told);
  free(told_again);
  free(said);
  free(end);
  scene_close(&s);
}

static void kill_everywhere(world *w, const trial *t) {
  scene s;
  scene_for(&s, w, t);
  assert_int_equal(play(&s, false, FOR_EVER), LT_OK);
  unsigned records = s.taken;
  char *reference = text_of(&s.end);
  scene_close(&s);
  for (unsigned at = 0; at <= records; at++) {
    check_killed(w, t, at, at % 3 == 0 ? FOR_EVER : at % 5, at % 2 == 0, reference);
  }
  free(reference);
}

static const trial trials[] = {
    {.code = "let s = 0; for (let n = 32; n < 37; n++) { s += eRead({n}).n; output(s) } s"},
    {.code = "let s = 0; for (let n = 1; n < 5; n++) { s += eAct({n}).n; output(s) } s"},
    {.code = "const a = await Promise.all([32, 33, 34].map((n) => eRead({n, ms: 36 - n}))); output(a.length); a[2].n"},
    {.code = "const a = await Promise.allSettled([1, 2, 3].map((n) => eAct({n, ms: 4 - n})));"
             "output(a.length); eRead({n: 40}).n"},
    {.code = "parallel([32, 33, 34].map((n) => ({tool: 'e.read', input: {n, ms: n % 3}}))).length"},
    {.code = "try { parallel([1, 2].map((n) => ({tool: 'e.act', input: {n}}))) } catch (e) { output(e.message) } 7"},
    {.code = "store('a', eRead({n: 32}).n); eRead({n: 33}); output(recall('a')); recall('a') + 1"},
    {.code = "setTimeout(() => output('late'), 6); eRead({n: 32}); sleep(1); output('first'); 'end'"},
    {.code = "const t = setTimeout(() => output('never'), 40); eRead({n: 32}); clearTimeout(t); eRead({n: 33}).n"},
    {.code = "for (const fail of [1, 0, 1]) try { output(eRead({n: 32, fail}).n) } catch (e) { output(e.message) }"},
    {.code = "eRead({n: 32}); eRead({n: 33, fail: 1})"},
    {.code =
         "const no = []; for (const f of [() => tools['e.nothing']({}), () => eRead({n: 'x'}), () => callTool('a.b')])"
         "try { f() } catch (e) { no.push(e.message) } output(eRead({n: 32}).n); no.length"},
    {.code = "try { eAsked({n: 1}) } catch (e) { output(e.message) } eRead({n: 32}).n", .person = DENIES},
    {.code = "output(eAsked({n: 1}).n); eRead({n: 32}).n"},
    {.code = "Promise; eRead({n: 32, ms: 2}); eRead({n: 33}); 'left open'"},
    {.code = "Promise; const one = await Promise.race([eRead({n: 32}), eRead({n: 33, ms: 5})]); output(one.n); one.n"},
    {.code = "eRead({n: 32, bytes: 1 << 20}).length + eRead({n: 33, bytes: 2 << 20}).length"},
    {.code = "let n = 0; for (;;) { n += await often(32 + n % 2)['n']; if (n > 150) break } once(1); n"},
    {.code = "try { once(1) } catch (e) { output(e.message) } often(32).n"},
    {.code = "const r: string[] = []; for (const n of [32, 33] as number[]) { const x = await read({n}); "
             "r.push(x.success ? 'y' : 'n') } const f = await read({n: 34, fail: 1}); console.log(r.join(), f.error)",
     .lang = LT_LANG_TYPESCRIPT},
    {.code = "complete('enough'); eRead({n: 32})"},
    {.code = "1 +"},
    {.code = "for (const x of [3, 1, 2]) await new Promise((go) => setTimeout(() => { output(x); go() }, x)); 'slept'"},
    {.code = "output(crypto.randomUUID()); eRead({n: 32}); output(String(crypto.getRandomValues(new Uint8Array(9))))",
     .varies = true},
    {.code = "output(Math.random()); output(Date.now()); eRead({n: 32}); output(Math.random()); output(Date.now());"
             "eRead({n: 33}); output(performance.now()); sleep(2); output(Date.now() + ' ' + new Date().getTime())",
     .varies = true},
    {.code =
         "const t = Date.now(); output(t); let n = 0; while (Date.now() < t + 25) n++; output(Date.now() - t >= 25);"
         "output(n); eRead({n: 32}); const u = performance.now(); while (performance.now() < u + 11);"
         "output(performance.now())",
     .varies = true},
    {.code =
         "const t = Date.now(); for (let i = 0; i < 150000; i++); output(Date.now() - t); eAct({n: 1, at: "
         "Date.now()}); for (let i = 0; i < 150000; i++); output(Date.now() - t); try { eAct({n: 2, at: Date.now()}) "
         "} catch {} for (let i = 0; i < 150000; i++); eRead({n: 32, at: performance.now()})",
     .varies = true},
    {.code = "const who = await Promise.race([eRead({n: 32, ms: 1}).then(() => 'tool'), new Promise((go) => "
             "setTimeout(go, 1, 'timer'))]); output(who); eRead({n: 33}); who",
     .varies = true},
    {.code =
         "const seen = []; await Promise.all([1, 2, 3, 4].map((n) => eAct({n, ms: 1}).then(() => seen.push(n), () => "
         "seen.push('-')))); output(seen.join()); eRead({n: 32}); sleep(1); seen.length",
     .varies = true},
};
#define TRIALS (sizeof trials / sizeof trials[0])

IN_WORLD(test_killed_everywhere_and_run_again, 2) {
  for (size_t i = 0; i < TRIALS; i++) {
    kill_everywhere(w, &trials[i]);
  }
}

static void kill_every_second(world *w) {
  for (size_t i = 1; i < TRIALS; i += 2) {
    kill_everywhere(w, &trials[i]);
  }
}

/* The same where every program that waits is dropped and run again from its beginning. */
static void test_killed_everywhere_where_those_that_wait_are_dropped(void **state) {
  assert_int_equal(setenv("LATHE_DROP_WAITING", "1", 1), 0);
  (void)state;
  in_world(kill_every_second, 2);
  unsetenv("LATHE_DROP_WAITING");
}

/* Otherwise all of these tests would pass without anything being dropped: the beginning of a program that waits eight
 * times takes nine times the work. */
static clock_t worked;

static void work_and_wait(world *w) {
  scene s;
  scene_open(&s, w, "for (let i = 0; i < 1000000; i++); for (let n = 32; n < 40; n++) eRead({n, ms: 1}); 'end'");
  clock_t before = clock();
  assert_int_equal(play(&s, false, FOR_EVER), LT_OK);
  worked = clock() - before;
  assert_int_equal(s.invoked, 8);
  scene_close(&s);
}

static void test_those_that_wait_are_dropped(void **state) {
  (void)state;
  in_world(work_and_wait, 2);
  clock_t once = worked;
  assert_int_equal(setenv("LATHE_DROP_WAITING", "1", 1), 0);
  in_world(work_and_wait, 2);
  unsetenv("LATHE_DROP_WAITING");
  assert_true(worked > 3 * once);
}

/* --- Killed after each record --------------------------------------------------------------------------------------- */
/* Killed after `at` records of a program, what comes of it when it is run again. */
static void expect_again(world *w, const char *code, unsigned at, bool prompt, const char *expected, unsigned done) {
  scene s;
  scene_open(&s, w, code);
  s.prompt = prompt;
  assert_int_equal(play(&s, false, at), LT_OK);
  assert_true(s.dark);
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, expected);
  assert_int_equal(s.done[1], done);
  scene_close(&s);
}

#define INTERRUPTED "interrupted: Lathe ended while this call was being made; whether it took effect is not known"

/* Records: BEGIN, begin, finish, READY, END. */
IN_WORLD(test_a_call_in_flight_is_interrupted_or_made_again, 2) {
  expect_again(w, "eAct({n: 1}).n", 1, false, "json 1 e.act", 1);
  expect_again(w, "eAct({n: 1}).n", 2, false,
               "E_PROGRAM 1:1 Tool \"e.act\" failed: " INTERRUPTED " [eAct({n: 1}).n] e.act!" INTERRUPTED, 1);
  expect_again(w, "try { eAct({n: 1}) } catch (e) { e.message.slice(0, 32) }", 2, true,
               "string Tool \"e.act\" failed: interrupted e.act!" INTERRUPTED, 0);
  expect_again(w, "eAct({n: 1}).n", 3, false, "json 1 e.act", 1);
  expect_again(w, "eAct({n: 1}).n", 4, false, "json 1 e.act", 1);
  expect_again(w, "eRead({n: 1}).n", 2, false, "json 1 e.read", 2);
  expect_again(w, "eRead({n: 1}).n", 2, true, "json 1 e.read", 1);
  expect_again(w, "eRead({n: 1}).n", 3, false, "json 1 e.read", 1);
  expect_again(w, "often(1).n", 2, false, "json 1", 2);
  expect_again(w, "once(1).n", 2, false, "E_PROGRAM 1:1 " INTERRUPTED " [once(1).n]", 1);
  expect_again(w, "once(1).n", 3, false, "json 1", 1);
}

/* What is not asked about is not begun: whoever was asked is asked again. */
IN_WORLD(test_who_was_asked_is_asked_again, 2) {
  scene s;
  scene_open(&s, w, "eRead({n: 32}); output('now'); eAsked({n: 1}).n");
  s.person = KILLS;
  assert_int_equal(play(&s, false, FOR_EVER), LT_OK);
  assert_int_equal(s.asked, 1);
  assert_string_equal(s.told.p, "now\n");
  s.person = APPROVES;
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_int_equal(s.asked, 2);
  assert_string_equal(s.end.p, "json 1 o(now) e.read e.asked");
  assert_int_equal(s.done[32], 1);
  assert_int_equal(s.done[1], 1);
  scene_close(&s);
}

IN_WORLD(test_what_a_program_had_no_time_for_stays_so, 2) {
  scene s;
  scene_open(&s, w, "output(eRead({n: 32}).n); for (;;);");
  s.request.timeout_ms = 60;
  assert_int_equal(play(&s, false, FOR_EVER), LT_OK);
  const char expected[] = "E_TIMEOUT Execution timed out after 60ms o(32) e.read";
  assert_string_equal(s.end.p, expected);
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, expected);
  assert_int_equal(s.done[32], 1);
  scene_close(&s);
}

/* One that was killed in the middle has all of its time again, and all of its calls. */
IN_WORLD(test_a_cancelled_program_has_not_ended, 2) {
  scene s;
  scene_open(&s, w, "output(eRead({n: 32}).n); eRead({n: 33, ms: 20}).n");
  assert_int_equal(play(&s, false, 5), LT_OK);
  assert_int_equal(count_notes(s.fake, LT_NOTE_END), 0);
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, "json 33 o(32) e.read e.read");
  assert_int_equal(count_notes(s.fake, LT_NOTE_END), 1);
  scene_close(&s);
}

/* --- Timers ------------------------------------------------------------------------------------------------------- */
/* Killed while it waits, or right behind its `at`th record, and run again `later_ms` later. */
static void expect_later(world *w, const char *code, unsigned at, int64_t later_ms, const char *expected) {
  scene s;
  scene_open(&s, w, code);
  s.prompt = true;
  s.request.timeout_ms = 5000;
  assert_int_equal(play(&s, false, at), LT_OK);
  assert_true(s.dark);
  assert_int_equal(s.fake->notes->note.kind, LT_NOTE_BEGIN);
  s.fake->notes->note.time_us -= (uint64_t)(later_ms * 1000);
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, expected);
  play_strictly(&s);
  assert_string_equal(s.end.p, expected);
  scene_close(&s);
}

#define HOUR 3600000

IN_WORLD(test_a_timer_goes_off_after_what_remains_of_it, 2) {
  expect_later(w, "sleep(3000000); eRead({n: 32}).n", 1, HOUR, "json 32 e.read");
  expect_later(w, "eRead({n: 32}); await new Promise((go) => setTimeout(go, 3599900)); eRead({n: 33}).n", 4, HOUR,
               "json 33 e.read e.read");
  expect_later(w, "const t = Date.now(); sleep(100); output(Date.now() - t > 98); 'end'", 1, 0, "string end o(true)");
  expect_later(w, "const t = Date.now(); sleep(100); output(Date.now() - t > 98); 'end'", 1, 90, "string end o(true)");
  expect_later(w, "sleep(20); 'the clock was set back'", 1, -HOUR, "string the clock was set back");
}

IN_WORLD(test_overdue_timers_go_off_in_their_order, 2) {
  expect_later(w,
               "for (const [ms, name] of [[1000060, 'd'], [1000030, 'b'], [1000030, 'c'], [1000000, 'a']])"
               "  setTimeout(() => output(name), ms); 'end'",
               1, HOUR, "string end o(a) o(b) o(c) o(d)");
  expect_later(w,
               "const t = setTimeout(() => output('never'), 10); setTimeout(() => output('last'), 1000000);"
               "clearTimeout(t); 'end'",
               1, HOUR, "string end o(last)");
}

/* A call that is made again has as much time as it had. */
IN_WORLD(test_a_timer_beside_a_call_starts_anew, 2) {
  expect_later(w,
               "const who = await Promise.race([eRead({n: 32, ms: 30}).then(() => 'call'), new Promise((go) =>"
               "setTimeout(go, 1000000, 'timer'))]); output(who); sleep(1); who",
               2, HOUR, "string call o(call) e.read");
}

/* --- Values, modules ---------------------------------------------------------------------------------------------- */
IN_WORLD(test_what_was_stored_before_is_there_again, 2) {
  scene s;
  lt_stored_values *values = lt_stored_values_new();
  scene_open(&s, w, "store('k', (recall('k') ?? 0) + eRead({n: 32}).n); eRead({n: 33}); recall('k')");
  s.request.values = values;
  assert_int_equal(play(&s, false, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, "json 32 e.read e.read");
  lt_stored_values *later = lt_stored_values_new(); /* the next process: its end brings back what it had stored */
  s.request.values = later;
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, "json 32 e.read e.read");
  lt_str kept = lt_stored_values_find(later, LT_STR("k"));
  assert_true(lt_str_eqc(kept, "32"));
  lt_stored_values_free(values);
  lt_stored_values_free(later);
  scene_close(&s);
}

IN_WORLD(test_a_module_stays_what_it_was, 2) {
  scene s;
  lt_run_module modules[] = {{.name = LT_STR("m"), .source = LT_STR("export const a = 'old'")}};
  scene_open(&s, w, "import { a } from 'm'; eRead({n: 32}); eRead({n: 33}); output(a)");
  s.request.modules = modules;
  s.request.module_count = 1;
  assert_int_equal(play(&s, false, 5), LT_OK);
  modules[0].source = LT_STR("export const a = 'new'");
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, "undefined o(old) e.read e.read");
  assert_int_equal(count_notes(s.fake, LT_NOTE_MODULE), 1);
  s.request.module_count = 0; /* it is not even there any more */
  play_strictly(&s);
  assert_string_equal(s.end.p, "undefined o(old) e.read e.read");
  scene_close(&s);
}

/* The recorded module names what the configured one does not: the run again has the first run's image. */
IN_WORLD(test_a_module_on_record_chooses_the_image, 2) {
  scene s;
  lt_run_module modules[] = {
      {.name = LT_STR("m"), .source = LT_STR("export const a = new URL('http://a.example/b').pathname")}};
  scene_open(&s, w, "import { a } from 'm'; eRead({n: 32}); eRead({n: 33}); output(a)");
  s.request.modules = modules;
  s.request.module_count = 1;
  assert_int_equal(play(&s, false, 5), LT_OK);
  modules[0].source = LT_STR("export const a = 'new'");
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, "undefined o(/b) e.read e.read");
  s.request.module_count = 0;
  play_strictly(&s);
  assert_string_equal(s.end.p, "undefined o(/b) e.read e.read");
  scene_close(&s);
}

/* The zone of the configuration has changed since. */
IN_WORLD(test_a_time_zone_stays_what_it_was, 2) {
  scene s;
  scene_open(&s, w,
             "const d = new Date(0); output(d.getHours()); eRead({n: 32}); eRead({n: 33}); output(d.getHours() + "
             "d.toLocaleTimeString('de'))");
  lt_quickjs_set_time_zone(w->quickjs, LT_STR("Asia/Tokyo"));
  assert_int_equal(play(&s, false, 5), LT_OK);
  lt_quickjs_set_time_zone(w->quickjs, LT_STR_NULL);
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, "undefined o(9) o(909:00:00) e.read e.read");
  play_strictly(&s);
  scene_close(&s);
}

IN_WORLD(test_a_loop_over_the_clock_ends_and_notes_little, 2) {
  scene s;
  scene_open(&s, w, "const t = Date.now(); while (Date.now() < t + 300); output(Date.now() - t); eRead({n: 32}).n");
  assert_int_equal(play(&s, false, 5), LT_OK);
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_true(count_notes(s.fake, LT_NOTE_TICK) <= 40);
  char *end = text_of(&s.end);
  play_strictly(&s);
  assert_string_equal(s.end.p, end);
  free(end);
  scene_close(&s);
}

/* --- Other ways --------------------------------------------------------------------------------------------------- */
/* The record of `code` played to another program that has the same text for the record. */
static void expect_diverged(world *w, scene *s, const char *expected) {
  (void)w;
  unsigned done[EFFECTS];
  memcpy(done, s->done, sizeof done);
  assert_int_equal(play(s, true, FOR_EVER), LT_OK);
  assert_string_equal(s->end.p, expected);
  assert_memory_equal(s->done, done, sizeof done);
  assert_int_equal(s->invoked, 0);
  assert_int_equal(s->told.n, 0);
}

static fake_call *call_at(const scene *s, uint64_t seq) {
  fake_call *one = s->fake->calls;
  while (one != NULL && one->call.seq != seq) {
    one = one->next;
  }
  assert_non_null(one);
  return one;
}

static void drop_end(const scene *s) {
  for (fake_note *one = s->fake->notes; one != NULL; one = one->next) {
    one->note.kind = one->note.kind == LT_NOTE_END ? 0 : one->note.kind;
  }
}

static void record(scene *s, world *w, const char *code) {
  scene_open(s, w, code);
  assert_int_equal(play(s, false, FOR_EVER), LT_OK);
  drop_end(s);
}

IN_WORLD(test_another_program_is_not_run_and_another_engine_is_told, 2) {
  scene s;
  record(&s, w, "output('a'); eRead({n: 32})");
  s.request.code = LT_STR("output('b'); eAct({n: 1})");
  expect_diverged(w, &s, "E_DIVERGED diverged: another program is on record here");
  s.request.code = LT_STR("output('a'); eRead({n: 32})");
  lt_str *text = &s.fake->notes->note.text;
  char *changed = strndup(text->p, text->n);
  changed[0] = changed[0] == '0' ? '1' : '0';
  fake_free_text(*text);
  *text = lt_str_of(changed);
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_string_equal(s.end.p, "json {\"n\":32} o(a) e.read");
  drop_end(&s);
  call_at(&s, 1)->call.hash++;
  assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
  assert_int_equal(s.invoked, 0);
  assert_non_null(strstr(s.end.p,
                         "E_DIVERGED diverged: call 1 is e.read {\"n\":32}, and on record it is e.read {\"n\":32}"
                         " (another version of the engine began the program)"));
  scene_close(&s);
}

IN_WORLD(test_another_call_is_not_made, 2) {
  scene s;
  record(&s, w, "eRead({n: 32}); eAct({n: 1}); try { eAct({n: 2}) } catch { output('caught'); eAct({n: 3}) }");
  call_at(&s, 3)->call.hash++;
  expect_diverged(w, &s,
                  "E_DIVERGED diverged: call 3 is e.act {\"n\":2}, and on record it is e.act {\"n\":2} e.read e.act");
  scene_close(&s);
}

IN_WORLD(test_an_answer_that_differs_shows_at_the_next_call, 2) {
  scene s;
  record(&s, w, "const { n } = eRead({n: 1}); eAct({n: n + 1}); output('later')");
  fake_call *call = call_at(&s, 1);
  fake_free_text(call->call.answer);
  call->call.answer = fake_copy(LT_STR("{\"n\":7}"));
  expect_diverged(w, &s, "E_DIVERGED diverged: call 2 is e.act {\"n\":8}, and on record it is e.act {\"n\":2} e.read");
  scene_close(&s);
}

/* A call fewer: the one that it makes next has another number. */
IN_WORLD(test_a_call_that_is_not_made_any_more_is_missed, 2) {
  scene s;
  record(&s, w, "if (eRead({n: 1}).n == 1) eAct({n: 2}); 'end'");
  fake_call *call = call_at(&s, 1);
  fake_free_text(call->call.answer);
  call->call.answer = fake_copy(LT_STR("{\"n\":7}"));
  expect_diverged(w, &s,
                  "E_DIVERGED diverged: it ended without a call that is on record: call 2, e.act {\"n\":2} e.read");
  scene_close(&s);
  record(&s, w, "if (eRead({n: 1}).n == 1) eAct({n: 2}); else sleep(1); eAct({n: 3})");
  call = call_at(&s, 1);
  fake_free_text(call->call.answer);
  call->call.answer = fake_copy(LT_STR("{\"n\":7}"));
  expect_diverged(w, &s,
                  "E_DIVERGED diverged: it did not make a call that is on record: call 2, e.act {\"n\":2} e.read");
  scene_close(&s);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */
IN_WORLD(test_without_memory_nothing_is_done_twice_or_wrong, 1) {
  scene s;
  scene_open(&s, w,
             "store('a', [eAct({n: 1}).n]); output(recall('a')[0]); await Promise.all([eAct({n: 2}), eRead({n: "
             "32})]); setTimeout(() => {}, 1); eAct({n: 3}).n");
  assert_int_equal(play(&s, false, 9), LT_OK);
  fake_journal *cut = s.fake;
  unsigned done[EFFECTS];
  memcpy(done, s.done, sizeof done);
  for (size_t at = 0;; at++) {
    /* A copy of the record as it was when it was killed. */
    s.fake = fake_journal_new();
    s.records = &s.fake->base;
    memcpy(s.done, done, sizeof done);
    for (const fake_note *one = cut->notes; one != NULL; one = one->next) {
      fake_note_add(s.records, LT_STR(""), &one->note, NULL, NULL);
    }
    for (const fake_call *one = cut->calls; one != NULL; one = one->next) {
      fake_call **place = s.fake->last_call;
      *place = calloc(1, sizeof **place);
      (*place)->call = one->call;
      (*place)->call.answer = fake_copy(one->call.answer);
      (*place)->call.tool = fake_copy(one->call.tool);
      (*place)->call.input = fake_copy(one->call.input);
      s.fake->last_call = &(*place)->next;
      s.fake->last_id = one->call.id > s.fake->last_id ? one->call.id : s.fake->last_id;
    }
    lt_mem_fail_at((long)at);
    lt_status status = play(&s, true, FOR_EVER);
    bool failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    check_effects(&s);
    bool right = status == LT_OK && s.end.n > 0 && strncmp(s.end.p, "json ", 5) == 0;
    if (right && strstr(s.end.p, "output-cut") == NULL) {
      assert_string_equal(s.end.p, "json 3 o(1) e.act e.act e.read e.act");
    }
    fake_journal_free(s.fake);
    if (!failed) {
      assert_true(right);
      break;
    }
  }
  s.fake = cut;
  scene_close(&s);
}

/* --- The store's journal ------------------------------------------------------------------------------------------ */
IN_WORLD(test_the_store_keeps_what_is_needed, 2) {
  for (size_t i = 0; i < TRIALS; i += 3) {
    char *reference = NULL;
    unsigned records = 8;
    for (unsigned at = 0; at <= records; at++) {
      scene s;
      lt_store *db;
      scene_for(&s, w, &trials[i]);
      assert_int_equal(lt_store_new(w->loop, ":memory:", &db, NULL), LT_OK);
      s.records = lt_store_journal_new(db);
      assert_int_equal(play(&s, false, at == 0 ? FOR_EVER : at - 1), LT_OK);
      assert_int_equal(play(&s, true, FOR_EVER), LT_OK);
      check_effects(&s);
      char *end = text_of(&s.end);
      if (at == 0) {
        reference = strdup(end);
      } else if (!trials[i].varies && strstr(end, "interrupted") == NULL) {
        assert_string_equal(end, reference);
      }
      play_strictly(&s);
      assert_string_equal(s.end.p, end);
      free(end);
      lt_store_journal_free(s.records);
      lt_store_close(db);
      scene_close(&s);
    }
    free(reference);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_killed_everywhere_and_run_again),
      cmocka_unit_test(test_a_call_in_flight_is_interrupted_or_made_again),
      cmocka_unit_test(test_who_was_asked_is_asked_again),
      cmocka_unit_test(test_what_a_program_had_no_time_for_stays_so),
      cmocka_unit_test(test_a_cancelled_program_has_not_ended),
      cmocka_unit_test(test_a_timer_goes_off_after_what_remains_of_it),
      cmocka_unit_test(test_overdue_timers_go_off_in_their_order),
      cmocka_unit_test(test_a_timer_beside_a_call_starts_anew),
      cmocka_unit_test(test_what_was_stored_before_is_there_again),
      cmocka_unit_test(test_a_module_stays_what_it_was),
      cmocka_unit_test(test_a_module_on_record_chooses_the_image),
      cmocka_unit_test(test_a_time_zone_stays_what_it_was),
      cmocka_unit_test(test_a_loop_over_the_clock_ends_and_notes_little),
      cmocka_unit_test(test_another_program_is_not_run_and_another_engine_is_told),
      cmocka_unit_test(test_another_call_is_not_made),
      cmocka_unit_test(test_an_answer_that_differs_shows_at_the_next_call),
      cmocka_unit_test(test_a_call_that_is_not_made_any_more_is_missed),
      cmocka_unit_test(test_without_memory_nothing_is_done_twice_or_wrong),
      cmocka_unit_test(test_the_store_keeps_what_is_needed),
      cmocka_unit_test(test_killed_everywhere_where_those_that_wait_are_dropped),
      cmocka_unit_test(test_those_that_wait_are_dropped),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
