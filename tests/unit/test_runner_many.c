/* Many programs at once, and programs without memory: nothing is mixed up, nothing crashes, nothing hangs. */
#include "run_fix.h"

/* --- Many at once ------------------------------------------------------------------------------------------------- */
/* ThreadSanitizer leaves 1.5 TB of address space to us; a box takes 8 GiB of it. */
enum { MANY = UNDER_TSAN ? 60 : 200 };

typedef struct one {
  running r;
  lt_run_request request;
  char code[512];
  char input[32];
  unsigned heard;
  unsigned number;
} one;

static void on_text(void *arg, lt_said said, lt_str text) {
  one *o = arg;
  char expected[64];
  (void)said;
  snprintf(expected, sizeof expected, "%u:%u", o->number, o->heard++);
  assert_true(lt_str_eqc(text, expected));
}

static const char plain[] =
    "const me = input; let sum = 0;\n"
    "for (let i = 0; i < 10; i++) { output(me + ':' + i); sum += tSlow({ms: (me + i) % 3, v: me * 1000 + i}).v; }\n"
    "sum";
static const char promised[] =
    "const me = input;\n"
    "for (let i = 0; i < 10; i++) output(me + ':' + i);\n"
    "const all = await Promise.all(Array.from({length: 10}, (_, i) => tSlow({ms: (me * i) % 4, v: me * 1000 + i})));\n"
    "all.reduce((s, x) => s + x.v, 0)";
static const char parallels[] =
    "const me = input; for (let i = 0; i < 10; i++) output(me + ':' + i);\n"
    "let x = 0; for (let i = 0; i < 20000; i++) x += i;\n"
    "parallel(Array.from({length: 10}, (_, i) => ({tool: 't.echo', input: {v: me * 1000 + i}}))).reduce((s, x) => s + "
    "x.v, 0)";
static const char typed[] =
    "const me: number = input as number; let sum: number = 0;\n"
    "for (let i = 0; i < 10; i++) { output(me + ':' + i);\n"
    "  const r = await echo({v: me * 1000 + i}); sum += r.success ? r.value.v : 0; }\n"
    "sum";

static void start_one(world *w, one *o, unsigned number) {
  static const char *const codes[] = {plain, promised, parallels, typed};
  unsigned kind = number % 20 == 3 ? 3 : number % 3; /* taking types off is slow */
  o->number = number;
  o->heard = 0;
  snprintf(o->input, sizeof o->input, "%u", number);
  o->request = (lt_run_request){.code = lt_str_of(codes[kind]),
                                .lang = kind == 3 ? LT_LANG_TYPESCRIPT : LT_LANG_JAVASCRIPT,
                                .input = lt_str_of(o->input),
                                .timeout_ms = 300000,
                                .on_text = on_text,
                                .arg = o};
  start_run(&o->r, w, &o->request);
}

static void check_one(one *o) {
  char expected[32];
  assert_int_equal(lt_wait_on(&o->r.done, 300000), LT_OK);
  if (o->r.result.status != LT_OK) {
    fail_msg("program %u: %.*s", o->number, LT_STR_ARG(lt_buf_view(&o->r.result.error)));
  }
  snprintf(expected, sizeof expected, "%u", o->number * 10000 + 45);
  assert_string_equal(o->r.result.value.p, expected);
  assert_int_equal(o->heard, 10);
  unsigned i = 0;
  for (const lt_run_call *c = o->r.result.calls; c != NULL; c = c->next, i++) {
    assert_true(c->finished && c->error.n == 0);
    assert_int_equal(number_in(c->input, "v", -1), o->number * 1000 + i);
    assert_int_equal(number_in(c->result, "v", -1), o->number * 1000 + i);
  }
  assert_int_equal(i, 10);
  lt_run_result_release(&o->r.result);
}

IN_WORLD(test_many_programs_do_not_mix_up_answers_or_texts, 2) {
  one *all = lt_mem_zalloc(MANY, sizeof *all);
  for (int round = 0; round < 2; round++) {
    for (unsigned i = 0; i < MANY; i++) {
      start_one(w, &all[i], i + 1);
    }
    for (unsigned i = 0; i < MANY; i++) {
      check_one(&all[i]);
    }
  }
  lt_mem_free(all);
}

/* Programs that end in every way, side by side. */
IN_WORLD(test_many_programs_end_in_many_ways, 2) {
  static const struct {
    const char *code;
    uint64_t timeout_ms;
    lt_status status;
  } ways[] = {{"1", 0, LT_OK},
              {"null.x", 0, LT_E_PROGRAM},
              {"for (;;);", 150, LT_E_TIMEOUT},
              {"tHang()", 40, LT_E_TIMEOUT},
              {"Promise; tHang(); throw 1", 0, LT_E_PROGRAM},
              {"'a'.repeat(30).match(/(a+)+b/)", 100, LT_E_TIMEOUT},
              {"Promise; for (let i = 0; i < 30; i++) tHang(); tSlow({ms: 3}).then(() => { throw 1 }); "
               "sleep(5).then(() => null.x)",
               300, LT_E_PROGRAM},
              {"for (let i = 0; i < 50; i++) setTimeout(() => {}, 60000); null.x", 0, LT_E_PROGRAM},
              {"const h = []; for (let i = 0; i < 50; i++) h.push(setTimeout(() => {}, i % 3)); sleep(1); "
               "h.forEach(clearTimeout)",
               0, LT_OK}};
  enum { KINDS = sizeof ways / sizeof ways[0], RUNS = UNDER_TSAN ? 54 : 108 };
  running *all = lt_mem_zalloc(RUNS, sizeof *all);
  lt_run_request *requests = lt_mem_zalloc(RUNS, sizeof *requests);
  for (unsigned i = 0; i < RUNS; i++) {
    requests[i] = (lt_run_request){.code = lt_str_of(ways[i % KINDS].code), .timeout_ms = ways[i % KINDS].timeout_ms};
    start_run(&all[i], w, &requests[i]);
  }
  for (unsigned i = 0; i < RUNS; i++) {
    assert_int_equal(lt_wait_on(&all[i].done, 300000), LT_OK);
    bool may_time_out = ways[i % KINDS].timeout_ms != 0 && all[i].result.status == LT_E_TIMEOUT;
    if (!may_time_out) {
      assert_int_equal(all[i].result.status, ways[i % KINDS].status);
    }
    lt_run_result_release(&all[i].result);
  }
  lt_mem_free(requests);
  lt_mem_free(all);
}

/* A program that never asks whether others wait does not hold them up. */
IN_WORLD(test_a_program_that_never_gives_way_stops_nobody, 1) {
  running greedy, polite;
  lt_run_request endless = {.code = LT_STR("'a'.repeat(40).match(/(a+)+b/)"), .timeout_ms = 4000};
  lt_run_request quick = {.code = LT_STR("tEcho({n: 1}).n")};
  start_run(&greedy, w, &endless);
  start_run(&polite, w, &quick);
  assert_int_equal(lt_wait_on(&polite.done, 3500), LT_OK);
  assert_string_equal(polite.result.value.p, "1");
  assert_int_equal(lt_wait_on(&greedy.done, 20000), LT_OK);
  assert_int_equal(greedy.result.status, LT_E_TIMEOUT);
  lt_run_result_release(&polite.result);
  lt_run_result_release(&greedy.result);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */
/* Fails the n-th allocation of a whole run, n = 0, 1, 2, ... until there are no more. Whatever comes of it must be a
 * result, and soon. */
static void sweep(world *w, const lt_run_request *request, const char *expected) {
  lt_buf text;
  bool failed = true;
  lt_buf_init(&text, LT_MIB);
  for (long n = 0; failed; n++) {
    assert_true(n < 5000);
    lt_run_result r;
    lt_err err = LT_ERR_INIT;
    lt_run_result_init(&r);
    lt_mem_fail_at(n);
    lt_status status = lt_quickjs_run(w->quickjs, request, &r, &err);
    failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_true(status == LT_OK || (status == LT_E_NOMEM && failed));
    assert_true(r.duration_ms < 20000);
    if (status == LT_OK) {
      check_json(&r);
    } else {
      assert_true(lt_err_msg(&err)[0] != '\0');
    }
    tell(&r, TELL_END | TELL_SAID, &text);
    lt_run_result_release(&r);
    assert_int_equal(w->tools.open, 0);
  }
  assert_string_equal(text.p, expected);
  lt_buf_release(&text);
}

IN_WORLD(test_a_run_without_memory, 2) {
  lt_run_request request = {.input = LT_STR("{\"n\":1}"), .timeout_ms = 20000};
  request.code = LT_STR("output('o'); log('l'); store('k', 1); tEcho({n: input.n + recall('k')}).n");
  sweep(w, &request, "json 2 o(o) l(l)");
  request.code = LT_STR("function main() { return tFail({}) }");
  sweep(w, &request, "E_PROGRAM 1:25 Tool \"t.fail\" failed: it went wrong [function main() { return tFail({}) }]");
  request.code = LT_STR("(await Promise.all([tEcho({a: 1}), tSlow({ms: 1}), sleep(1), tCount({})])).length");
  sweep(w, &request, "json 4");
  request.code = LT_STR(
      "const h = setTimeout(() => {}, 60000); setTimeout(() => log(1), 1); clearTimeout(h); sleep(2); "
      "discoverTools('echo').length");
  sweep(w, &request, "json 1 l(1)");
  request.code = LT_STR("tHang({})");
  request.timeout_ms = 60;
  sweep(w, &request, "E_TIMEOUT Execution timed out after 60ms");
  request.timeout_ms = 20000;
  request.code = LT_STR("tEkho({})");
  sweep(w, &request, "E_PROGRAM 1:1 ReferenceError: tEkho is not defined. Did you mean: tEcho? [tEkho({})]");
  request.code = LT_STR("tools['t.ecko']");
  sweep(w, &request,
        "E_PROGRAM 1:1 ReferenceError: Tool \"t.ecko\" not found. Did you mean: t.echo? [tools['t.ecko']]");
  request.code = LT_STR("toolSchema('t.ecko').error");
  sweep(w, &request, "string Tool \"t.ecko\" not found. Did you mean: t.echo?");
}

IN_WORLD(test_a_typed_run_without_memory, 2) {
  lt_run_request request = {.code = LT_STR("const r: any = await echo({n: 1}); r.value.n as number"),
                            .lang = LT_LANG_TYPESCRIPT,
                            .timeout_ms = 20000};
  sweep(w, &request, "json 1");
  request.code = LT_STR("const x: = 1");
  sweep(w, &request, "E_PROGRAM 1:10 SyntaxError: Unexpected token [const x: = 1]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_programs_do_not_mix_up_answers_or_texts),
      cmocka_unit_test(test_many_programs_end_in_many_ways),
      cmocka_unit_test(test_a_program_that_never_gives_way_stops_nobody),
      cmocka_unit_test(test_a_run_without_memory),
      cmocka_unit_test(test_a_typed_run_without_memory),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
