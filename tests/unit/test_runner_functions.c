/* What a run brings along beside the tools: functions of the host, and a caller with tools of its own. */
#include "run_fix.h"

/* --- Functions ---------------------------------------------------------------------------------------------------- */
typedef struct functions {
  world *w;
  unsigned calls;
  unsigned open;
  const lt_caller *caller; /* as last told */
} functions;

static lt_status give_args(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) {
  functions *f = arg;
  (void)err;
  f->calls++;
  f->caller = options->caller;
  lt_buf_add(out, args);
  return LT_OK;
}

/* Waits [ms], then gives nothing. */
static lt_status take_time(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) {
  functions *f = arg;
  (void)out;
  f->open++;
  lt_str ms = lt_str_sub(args, 1, args.n - 1);
  lt_status status = fake_wait(&f->w->tools, ms.n > 0 ? strtoul(ms.p, NULL, 10) : UINT64_MAX, options, err);
  f->open--;
  return status;
}

static lt_status be_asked(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) {
  options->on_approval(options->arg, true);
  lt_status status = take_time(arg, args, options, out, err);
  options->on_approval(options->arg, false);
  return status;
}

/* fail("long"): more than fits into an error; fail("mute"): not a word. */
static lt_status fail_so(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) {
  (void)arg;
  (void)options;
  if (lt_str_eqc(args, "[\"mute\"]")) {
    return LT_E_IO;
  }
  if (lt_str_eqc(args, "[\"long\"]")) {
    put_filler(out, 5000);
    return LT_E_INVALID;
  }
  return lt_fail(err, LT_E_NOTFOUND, "artifact 7 does not exist");
}

static lt_status give_garbage(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) {
  (void)arg;
  (void)options;
  (void)err;
  lt_buf_addc(out, "{nothing of it");
  if (lt_str_eqc(args, "[\"long\"]")) {
    put_filler(out, 2 << 20);
  }
  return LT_OK;
}

static lt_status give_much(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) {
  (void)arg;
  (void)args;
  (void)options;
  (void)err;
  put_filler(out, 3 << 20);
  return LT_OK;
}

enum { FUNCTIONS = 8 };

static void make_functions(functions *f, world *w, lt_run_function list[FUNCTIONS]) {
  *f = (functions){.w = w};
  const lt_run_function all[FUNCTIONS] = {
      {.name = LT_STR("keep"), .call = give_args, .arg = f},
      {.name = LT_STR("idle"), .call = take_time, .arg = f},
      {.name = LT_STR("fails"), .call = fail_so, .arg = f},
      {.name = LT_STR("garbage"), .call = give_garbage, .arg = f},
      {.name = LT_STR("much"), .call = give_much, .arg = f},
      {.name = LT_STR("asks"), .call = be_asked, .arg = f},
      {.name = LT_STR("tEcho"), .call = give_args, .arg = f},
      {.name = LT_STR("count"), .call = give_args, .arg = f},
  };
  memcpy(list, all, sizeof all);
}

static void expect_with(world *w, lt_run_request request, unsigned what, const char *expected) {
  functions f;
  lt_run_function list[FUNCTIONS];
  make_functions(&f, w, list);
  request.functions = list;
  request.function_count = FUNCTIONS;
  expect_run(w, &request, what, expected);
  assert_int_equal(f.open, 0);
}

static void expect_js(world *w, const char *code, const char *expected) {
  expect_with(w, (lt_run_request){.code = lt_str_of(code)}, TELL_END, expected);
}

static void expect_typed(world *w, const char *code, const char *expected) {
  expect_with(w, (lt_run_request){.code = lt_str_of(code), .lang = LT_LANG_TYPESCRIPT}, TELL_END, expected);
}

IN_WORLD(test_a_function_takes_what_it_is_given, 2) {
  expect_js(w, "keep(1, 'a', {b: [2]})", "json [1,\"a\",{\"b\":[2]}]");
  expect_js(w, "keep()", "json []");
  expect_js(w, "keep(undefined, 1, undefined, undefined)", "json [null,1]");
  expect_js(w, "keep(undefined)", "json []");
  expect_js(w, "keep(null, NaN, 12n, new Map([['a', 1]]), () => 1, Symbol())",
            "json [null,null,\"12\",{\"a\":1},\"[Function: anonymous]\",null]");
  expect_js(w, "const a = []; a.push(a); keep(a)", "json [[\"[Circular]\"]]");
  expect_js(w, "keep('x'.repeat(2 << 20))[0].length", "json 2097152");
  expect_js(w, "idle(1) === undefined", "json true");
  expect_js(w, "much().length", "json 3145728");
  expect_js(w, "keep.name + typeof keep + keep.length", "string keepfunction0");
  /* Whoever changes what arrays say of themselves only spoils it for himself. */
  expect_js(w, "Array.prototype.toJSON = () => 5; try { keep(1) } catch (e) { e.message }",
            "string a function of the host takes arguments that JSON can hold");
}

IN_WORLD(test_functions_in_plain_programs_give_values, 2) {
  expect_js(w, "const [a] = keep(20); const b = await keep(a + 1); b[0]", "json 21");
  expect_js(w, "[1, 2].map((n) => keep(n)[0] * 2)", "json [2,4]");
  expect_js(w, "async () => { const f = keep; return (() => f(keep(1)[0] + 1))() }", "json [2]");
  expect_js(w, "function outer() { return (() => keep('inner'))() } outer()", "json [\"inner\"]");
  expect_with(w, (lt_run_request){.code = LT_STR("setTimeout(() => log(keep(3)[0]), 1); 'end'")}, TELL_END | TELL_SAID,
              "string end l(3)");
}

IN_WORLD(test_functions_in_programs_with_promises_give_promises, 2) {
  expect_js(w, "await Promise.all([keep(1), idle(20), keep(2), tSlow({ms: 5})])", "json [[1],null,[2],{\"ms\":5}]");
  expect_js(w, "Promise; keep(5)[0] + 1", "json 6");
  expect_js(w, "keep(1).then((a) => keep(a[0] + 1)).then((b) => b[0])", "json 2");
  expect_js(w, "Promise; keep(keep(1), keep(2))", "json [[1],[2]]");
  expect_js(w, "await Promise.allSettled([fails(), keep(1)]).then((all) => all.map((one) => one.status))",
            "json [\"rejected\",\"fulfilled\"]");
  expect_js(w, "Promise; const p = [1, 2, 3].map((n) => idle(30)); await Promise.all(p); 'side by side'",
            "string side by side");
}

IN_WORLD(test_functions_in_typescript_give_promises, 2) {
  expect_typed(w, "const a: any = await keep(1 as number); a[0]", "json 1");
  expect_typed(w, "keep(1) instanceof Promise", "json true");
  expect_typed(w, "await Promise.all([keep(1), idle(5), keep(2)])", "json [[1],null,[2]]");
  expect_typed(w, "try { await fails() } catch (e: any) { [e instanceof Error, e.message] }",
               "json [true,\"artifact 7 does not exist\"]");
  expect_typed(w, "const e = await fails().catch((e: Error) => e.message); e", "string artifact 7 does not exist");
  expect_typed(w, "const n = 1;\nawait fails()", "E_PROGRAM 2:7 artifact 7 does not exist [await fails()]");
  expect_typed(w, "fails(); 1", "E_PROGRAM 1:1 artifact 7 does not exist [fails(); 1]");
}

IN_WORLD(test_a_function_that_fails_throws_where_it_was_called, 2) {
  expect_js(w, "const x = 1;\n  fails()", "E_PROGRAM 2:3 artifact 7 does not exist [fails()]");
  expect_js(w, "try { fails() } catch (e) { [e instanceof Error, e.name, e.message] }",
            "json [true,\"Error\",\"artifact 7 does not exist\"]");
  expect_js(w, "try { fails('mute') } catch (e) { e.message.length > 0 }", "json true");
  expect_js(w, "try { fails('long') } catch (e) { e.message.length }", "json 5002");
  expect_js(w, "Promise;\n  await fails()", "E_PROGRAM 2:9 artifact 7 does not exist [await fails()]");
  expect_js(w, "try { garbage() } catch (e) { e.message }", "string garbage(): the answer is not JSON");
  expect_js(w, "try { garbage('long') } catch (e) { e.message }", "string garbage(): the answer is not JSON");
  expect_js(w, "await garbage().then(null, (e) => e.message)", "string garbage(): the answer is not JSON");
}

IN_WORLD(test_who_has_the_name, 2) {
  /* The program, then the host, then the tool. */
  expect_js(w, "function keep(n) { return 'mine ' + n } keep(1)", "string mine 1");
  expect_js(w, "const keep = (n) => 'mine ' + n; keep(1)", "string mine 1");
  expect_js(w, "const f = (keep) => keep; f(2)", "json 2");
  expect_js(w, "tEcho({a: 1})", "json [{\"a\":1}]");
  expect_js(w, "tools['t.echo']({a: 1})", "json {\"a\":1}");
  expect_js(w, "discoverTools('echo gives back').map((t) => t.name)", "json [\"t.echo\"]");
  expect_js(w, "parallel([{tool: 't.echo', input: {a: 1}}])", "json [{\"a\":1}]");
  expect_typed(w, "await count(1)", "json [1]");
  expect_typed(w, "await tools['t.count']({})", "json {\"success\":true,\"value\":1}");
  expect_js(w, "typeof keep + typeof globalThis['ke' + 'ep']", "string functionfunction");
  expect_js(w, "typeof globalThis['ke' + 'ep']", "string undefined");
  expect_js(w, "garbbage()",
            "E_PROGRAM 1:1 ReferenceError: garbbage is not defined. Did you mean: garbage? [garbbage()]");
  expect(w, "keep(1)", "E_PROGRAM 1:1 ReferenceError: keep is not defined [keep(1)]");
}

IN_WORLD(test_functions_are_no_tool_calls_but_count_as_such, 2) {
  expect_with(w, (lt_run_request){.code = LT_STR("keep(1); tools['t.echo']({a: 1}); idle(1); tCount(); keep(2)[0]")},
              TELL_END | TELL_CALLS, "json 2 t.echo{\"a\":1}={\"a\":1} t.count=1");
  expect_with(w, (lt_run_request){.code = LT_STR("keep(1)[0]")}, TELL_END | TELL_CALLS, "json 1");
  if (!UNDER_TSAN) {
    expect_js(w, "let n = 0; try { for (;;) { keep(); n++ } } catch (e) { n + ': ' + e.message }",
              "string 100000: too many tool calls: a program may make 100000 of them");
  }
}

IN_WORLD(test_functions_end_with_the_program, 2) {
  lt_run_request request = {.code = LT_STR("idle()"), .timeout_ms = 60};
  expect_with(w, request, TELL_END, "E_TIMEOUT Execution timed out after 60ms");
  request.code = LT_STR("Promise; idle(); throw new Error('x')");
  expect_with(w, request, TELL_END, "E_PROGRAM 1:28 x [Promise; idle(); throw new Error('x')]");
  request.code = LT_STR("Promise; idle(20); 'waited for'");
  request.timeout_ms = 0;
  expect_with(w, request, TELL_END, "string waited for");
  request.code = LT_STR("asks(400); 'fine'");
  request.timeout_ms = 150;
  expect_with(w, request, TELL_END, "string fine");
}

/* --- The caller --------------------------------------------------------------------------------------------------- */
IN_WORLD(test_functions_and_tools_know_who_calls, 2) {
  functions f;
  lt_run_function list[FUNCTIONS];
  lt_caller caller = {.user = LT_STR("local")};
  make_functions(&f, w, list);
  lt_run_request request = {
      .code = LT_STR("keep()"), .functions = list, .function_count = FUNCTIONS, .caller = &caller};
  expect_run(w, &request, TELL_END, "json []");
  assert_ptr_equal(f.caller, &caller);
}

IN_WORLD(test_a_hidden_tool_is_not_there, 2) {
  lt_caller caller = {.hidden = LT_STR("t.hang")};
  lt_run_request request = {.caller = &caller};
  request.code = LT_STR(
      "[typeof tHang, typeof tEcho, 't.hang' in tools, discoverTools().length, "
      "discoverTools('hang').length, toolSchema('t.hang'), toolSchema('tHang').error !== undefined, "
      "Object.keys(tools).includes('t.hang')]");
  expect_run(w, &request, TELL_END,
             "json [\"undefined\",\"function\",false,10,0,{\"error\":\"Tool \\\"t.hang\\\" not found; discoverTools() "
             "lists what there is\"},true,false]");
  request.code = LT_STR("tHang()");
  expect_run(w, &request, TELL_END, "E_PROGRAM 1:1 ReferenceError: tHang is not defined [tHang()]");
  request.code = LT_STR("parallel([{tool: 't.hang'}])[0].error.slice(0, 23)");
  expect_run(w, &request, TELL_END, "string Tool \"t.hang\" not found");
  request.lang = LT_LANG_TYPESCRIPT;
  request.code = LT_STR("typeof hang + typeof echo");
  expect_run(w, &request, TELL_END, "string undefinedfunction");
  assert_int_equal(w->tools.calls, 0);
}

IN_WORLD(test_a_caller_has_its_own_tools, 2) {
  static const lt_tool_spec only[] = {{.name = TEXT("echo")}, {.name = TEXT("mine")}};
  lt_catalog_source source = {.ns = LT_STR("t"), .provider = &w->tools.base, .tools = only, .count = 2};
  lt_caller caller = {0};
  assert_int_equal(lt_catalog_new(&source, 1, &caller.catalog, NULL), LT_OK);
  lt_run_request request = {.caller = &caller,
                            .code = LT_STR("[tEcho({a: 1}), typeof tMine, typeof tHang, discoverTools().length]")};
  expect_run(w, &request, TELL_END, "json [{\"a\":1},\"function\",\"undefined\",2]");
  lt_catalog_unref(caller.catalog);
}

/* --- Without output ----------------------------------------------------------------------------------------------- */
IN_WORLD(test_a_program_may_have_no_output, 2) {
  lt_run_request request = {.without_output = true};
  request.code = LT_STR(
      "log('a log line'); [typeof output, typeof done, typeof complete, typeof store, 'done' in "
      "globalThis]");
  expect_run(w, &request, TELL_END | TELL_SAID,
             "json [\"undefined\",\"undefined\",\"undefined\",\"function\",false] l(a log line)");
  request.code = LT_STR("const x = 1;\noutput(x)");
  expect_run(w, &request, TELL_END,
             "E_PROGRAM 2:1 ReferenceError: output is not defined here: the value of the last expression is the answer "
             "[output(x)]");
  request.code = LT_STR("const done = () => 'my own'; done()");
  expect_run(w, &request, TELL_END, "string my own");
  request.lang = LT_LANG_TYPESCRIPT;
  request.code = LT_STR("console.log('to the log'); await complete({response: 'x'})");
  expect_run(w, &request, TELL_END | TELL_SAID,
             "E_PROGRAM 1:34 ReferenceError: complete is not defined here: the value of the last expression is the "
             "answer [console.log('to the log'); await complete({response: 'x'})] l(to the log)");
  expect_typed(w, "console.log('as before'); typeof output", "string function");
}

/* --- Secrets ------------------------------------------------------------------------------------------------------ */
static void expect_told(world *w, const lt_secrets *secrets, const char *code, const char *has, const char *has_not) {
  lt_run_request request = {.code = lt_str_of(code)};
  lt_run_result r;
  lt_buf json;
  lt_buf_init(&json, LT_GIB);
  run(w, &request, &r);
  lt_run_result_json(&r, secrets, &json);
  assert_int_equal(lt_json_check(lt_buf_view(&json), NULL), LT_OK);
  if (strstr(json.p, has) == NULL || (has_not != NULL && strstr(json.p, has_not) != NULL)) {
    fail_msg("%s in %s", has, json.p);
  }
  lt_buf_release(&json);
  lt_run_result_release(&r);
}

IN_WORLD(test_secrets_are_not_told, 2) {
  lt_secrets *secrets = lt_secrets_new();
  assert_int_equal(lt_secrets_add(secrets, LT_STR("hush-hush")), LT_OK);
  assert_int_equal(lt_secrets_add(secrets, LT_STR("8675309")), LT_OK);
  expect_told(w, secrets, "tEcho({key: 'hush-hush', n: 1}); 0",
              "[{\"tool\":\"t.echo\",\"input\":{\"key\":\"***\",\"n\":1},\"result\":{\"key\":\"***\",\"n\":1}}]",
              "hush");
  expect_told(w, secrets, "tEcho({n: 8675309}); 0", "\"input\":\"{\\\"n\\\":***}\"", "8675309");
  expect_told(w, secrets, "log('it is hush-hush'); 0", "\"logs\":[\"it is ***\"]", "hush");
  expect_told(w, secrets, "throw new Error('not hush-hush')", "\"error\":\"not ***\"", "hush");
  expect_told(w, secrets, "tools['hush-hush.x']()", "***", "hush");
  /* The answer is what was asked for. */
  expect_told(w, secrets, "output('hush-hush'); 'hush-hush'", "{\"result\":\"hush-hush\",\"outputs\":[\"hush-hush\"]",
              "***");
  expect_told(w, NULL, "log('hush-hush'); 0", "\"logs\":[\"hush-hush\"]", "***");
  lt_secrets_free(secrets);
}

/* Rather nothing than a secret. */
IN_WORLD(test_secrets_are_not_told_for_want_of_memory, 1) {
  lt_secrets *secrets = lt_secrets_new();
  assert_int_equal(lt_secrets_add(secrets, LT_STR("hush-hush")), LT_OK);
  lt_run_request request = {.code = LT_STR("tEcho({key: 'hush-hush'}); log('hush-hush'); throw 'hush-hush'")};
  lt_run_result r;
  run(w, &request, &r);
  bool whole = false;
  for (long n = 0; !whole && n < 100; n++) {
    lt_buf json;
    lt_buf_init(&json, LT_GIB);
    lt_mem_fail_at(n);
    lt_run_result_json(&r, secrets, &json);
    lt_mem_fail_at(-1);
    whole = json.status == LT_OK;
    assert_true(json.n == 0 || lt_str_find(lt_buf_view(&json), LT_STR("hush"), 0) == SIZE_MAX);
    lt_buf_release(&json);
  }
  assert_true(whole);
  lt_run_result_release(&r);
  lt_secrets_free(secrets);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_function_takes_what_it_is_given),
      cmocka_unit_test(test_functions_in_plain_programs_give_values),
      cmocka_unit_test(test_functions_in_programs_with_promises_give_promises),
      cmocka_unit_test(test_functions_in_typescript_give_promises),
      cmocka_unit_test(test_a_function_that_fails_throws_where_it_was_called),
      cmocka_unit_test(test_who_has_the_name),
      cmocka_unit_test(test_functions_are_no_tool_calls_but_count_as_such),
      cmocka_unit_test(test_functions_end_with_the_program),
      cmocka_unit_test(test_functions_and_tools_know_who_calls),
      cmocka_unit_test(test_a_hidden_tool_is_not_there),
      cmocka_unit_test(test_a_caller_has_its_own_tools),
      cmocka_unit_test(test_a_program_may_have_no_output),
      cmocka_unit_test(test_secrets_are_not_told),
      cmocka_unit_test(test_secrets_are_not_told_for_want_of_memory),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
