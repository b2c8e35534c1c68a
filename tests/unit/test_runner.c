/* The QuickJS runner: what programs may be, what comes out of them, and where their errors are said to be. */
#include "run_fix.h"

/* --- Values ------------------------------------------------------------------------------------------------------- */
IN_WORLD(test_values, 1) {
  expect(w, "1+2", "json 3");
  expect(w, "'abc'", "string abc");
  expect(w, "''", "string ");
  expect(w, "'42'", "string 42");
  expect(w, "undefined", "undefined");
  expect(w, "", "undefined");
  expect(w, "   \n// nothing\n", "undefined");
  expect(w, "null", "json null");
  expect(w, "true", "json true");
  expect(w, "0.1 + 0.2", "json 0.30000000000000004");
  expect(w, "({a: 1, b: [1, 'x', null, undefined], c: undefined})", "json {\"a\":1,\"b\":[1,\"x\",null,null]}");
  expect(w, "'\\u00e9\\u{1f600}'", "string \xc3\xa9\xf0\x9f\x98\x80");
  expect(w, "const x = 5;", "undefined");
  expect(w, "let x = 1; if (x) { 'yes' } else { 'no' }", "string yes");
  expect(w, "for (var i = 0; i < 3; i++) i * 2", "json 4");
}

IN_WORLD(test_values_that_json_has_no_word_for, 1) {
  expect(w, "new Map([['a', 1]])", "json {\"a\":1}");
  expect(w, "new Set([1, 2])", "json [1,2]");
  expect(w, "10n ** 20n", "json \"100000000000000000000\"");
  expect(w, "const a = {}; a.self = a; a", "json {\"self\":\"[Circular]\"}");
  expect(w, "(() => 5)()", "json 5");
  expect(w, "[function named() {}]", "json [\"[Function: named]\"]");
  expect(w, "new Date(0)", "json \"1970-01-01T00:00:00.000Z\"");
  expect(w, "Symbol('s')", "json \"Symbol(s)\"");
  expect(w, "new Error('x')", "json {\"name\":\"Error\",\"message\":\"x\"}");
}

IN_WORLD(test_promises_are_awaited, 1) {
  expect(w, "await 5", "json 5");
  expect(w, "Promise.resolve(6)", "json 6");
  expect(w, "(async () => 7)()", "json 7");
  expect(w, "const v = await (async () => 'x')(); v + 'y'", "string xy");
  expect(w, "Promise.resolve().then(() => ({a: 1}))", "json {\"a\":1}");
  expect(w, "await new Promise(() => {})", "E_PROGRAM the program waits for a promise that nothing will ever settle");
}

IN_WORLD(test_a_whole_program_that_is_a_function_is_called, 1) {
  expect(w, "async () => { return 1 }", "json 1");
  expect(w, "() => 2", "json 2");
  expect(w, "function main() { return 3 }", "json 3");
  expect(w, "async function main() { return 4 }", "json 4");
  expect(w, "(async function () { return 5 });", "json 5");
  expect(w, "async () => {}", "undefined");
  lt_run_request request = {.code = LT_STR("(input) => input.n + 1"), .input = LT_STR("{\"n\": 41}")};
  expect_run(w, &request, TELL_END, "json 42");
  /* A function that is only part of the program is not called. */
  expect(w, "const f = () => 1; f", "json \"[Function: f]\"");
}

IN_WORLD(test_fences_are_taken_off, 1) {
  expect(w, "```js\n1+1\n```", "json 2");
  expect(w, "```\n'a'\n```\n", "string a");
  expect(w, "Here you are:\n\n```javascript\n3\n```\nGood luck!", "json 3");
}

IN_WORLD(test_input, 1) {
  lt_run_request request = {.code = LT_STR("input.list.map((x) => x * 2)"), .input = LT_STR(" {\"list\":[1,2]} ")};
  expect_run(w, &request, TELL_END, "json [2,4]");
  request.input = LT_STR("{\"list\":");
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_E_INVALID);
  assert_true(lt_str_starts(lt_buf_view(&r.error), LT_STR("the input is not JSON: ")));
  lt_run_result_release(&r);
  expect(w, "input", "undefined");
}

IN_WORLD(test_modules, 1) {
  const lt_run_module modules[] = {
      {LT_STR("greet"), LT_STR("export const hello = (n) => `hello ${n}`;\nexport default 'greet';")},
      {LT_STR("lib/deep.js"), LT_STR("import { hello } from 'greet';\nexport default hello('deep');")},
      {LT_STR("my-program.js"), LT_STR("\n\nexport function bad() {\n  return nothing.there;\n}")},
  };
  lt_run_request r = {.modules = modules, .module_count = 3};
  r.code = LT_STR("import { hello } from 'greet';\nexport default hello('you');");
  expect_run(w, &r, TELL_END, "string hello you");
  r.code = LT_STR("import g from 'greet';\nimport d from 'lib/deep.js';\nexport default [g, d];");
  expect_run(w, &r, TELL_END, "json [\"greet\",\"hello deep\"]");
  r.code = LT_STR("import { hello } from 'greet';\nlog(hello('x'));");
  expect_run(w, &r, TELL_END | TELL_SAID, "undefined l(hello x)");
  r.code = LT_STR("export default async () => (await import('greet')).default");
  expect_run(w, &r, TELL_END, "string greet");
  r.code = LT_STR("import x from 'greet';\n\nimport y from 'gret';\nx");
  expect_run(w, &r, TELL_END, "E_PROGRAM 3:16 Module not found: gret. Did you mean: greet? [import y from 'gret';]");
  /* The program's own place is what is said, not the place inside the module that it called. */
  r.code = LT_STR("import { bad } from 'my-program.js';\nconst a = 1;\nbad();");
  expect_run(w, &r, TELL_END, "E_PROGRAM 3:1 ReferenceError: nothing is not defined [bad();]");
}

/* A name that is put together finds only what stands in its place, and says so. */
IN_WORLD(test_names_choose_the_image, 1) {
  const lt_run_module modules[] = {
      {LT_STR("plain"), LT_STR("export default 1")},
      {LT_STR("urls"), LT_STR("export { default } from 'deep'")},
      {LT_STR("deep"), LT_STR("export default (u) => new URL(u).host")},
  };
  lt_run_request r = {.modules = modules, .module_count = 3};
  r.code = LT_STR("try { new globalThis['U' + 'RL']('http://a.example/').host } catch (e) { e.name } // URL, 'urls'");
  expect_run(w, &r, TELL_END, "string ReferenceError");
  r.code = LT_STR("'URL'; new globalThis['U' + 'RL']('http://a.example/').host");
  expect_run(w, &r, TELL_END, "string a.example");
  r.code = LT_STR("import n from 'plain'; export default Object.keys(globalThis).includes('U' + 'RL')");
  expect_run(w, &r, TELL_END, "json false");
  r.code = LT_STR("import host from 'urls'; export default host('http://b.example/')");
  expect_run(w, &r, TELL_END, "string b.example");
  r.code = LT_STR("export default (await import('urls')).default('http://b.example/')");
  expect_run(w, &r, TELL_END, "string b.example");
  r.code = LT_STR("globalThis['U' + 'RL'] = 7; globalThis['U' + 'RL']");
  expect_run(w, &r, TELL_END, "json 7");
}

/* --- Where it went wrong ------------------------------------------------------------------------------------------ */
IN_WORLD(test_an_error_is_where_it_was_written, 1) {
  expect(w, "const a = 1;\nconst b = ;",
         "E_PROGRAM 2:11 SyntaxError: unexpected token in expression: ';' [const b = ;]");
  expect(w, "const a = {};\n\n  a.b.c", "E_PROGRAM 3:3 TypeError: cannot read property 'c' of undefined [a.b.c]");
  expect(w, "const a = {};\r\na.b.c", "E_PROGRAM 2:1 TypeError: cannot read property 'c' of undefined [a.b.c]");
  expect(w, "[1].map((x) => {\n  return x.y.z;\n})",
         "E_PROGRAM 2:10 TypeError: cannot read property 'z' of undefined [return x.y.z;]");
  expect(w, "async () => {\n  throw new RangeError('no')\n}",
         "E_PROGRAM 2:13 RangeError: no [throw new RangeError('no')]");
  expect(w, "export const a = 1;\nthrow new Error('in a module');",
         "E_PROGRAM 2:11 in a module [throw new Error('in a module');]");
  expect(w, "await Promise.all([1, (async () => {\n  await 1;\n  null.x;\n})()])",
         "E_PROGRAM 3:3 TypeError: cannot read property 'x' of null [null.x;]");
  expect(w, "Promise.reject(\n  new TypeError('nobody cares'));\n5",
         "E_PROGRAM 2:7 TypeError: nobody cares [new TypeError('nobody cares'));]");
  expect(w, "setTimeout(() => {\n  throw new Error('late') }, 1)",
         "E_PROGRAM 2:13 late [throw new Error('late') }, 1)]");
  expect(w, "try { null.x } catch (e) {\n  throw new Error('second', {cause: e}) }",
         "E_PROGRAM 2:37 second [throw new Error('second', {cause: e}) }]");
}

IN_WORLD(test_an_error_is_where_it_was_written_also_when_more_is_run, 1) {
  /* With something put before the first line, and lines cut off before that. */
  expect(w, "async function main() { return nope; }",
         "E_PROGRAM 1:32 ReferenceError: nope is not defined [async function main() { return nope; }]");
  expect(w, "function main() {\n  return nope; }",
         "E_PROGRAM 2:10 ReferenceError: nope is not defined [return nope; }]");
  expect(w, "Sure:\n\n```js\nlet a;\na.b\n```", "E_PROGRAM 5:1 TypeError: cannot read property 'b' of undefined [a.b]");
  expect(w, "```js\nasync function main() { nope() }\n```",
         "E_PROGRAM 2:25 ReferenceError: nope is not defined [async function main() { nope() }]");
  expect(
      w, "```js\nimport x from 'nope'\n```",
      "E_PROGRAM 2:16 Module not found: nope: only registered modules can be imported, and none of Node or npm: write "
      "it out, or call a tool [import x from 'nope']");
  expect(w, "function main() {", "E_PROGRAM 1:18 SyntaxError: unexpected token in expression: '' [function main() {]");
}

IN_WORLD(test_columns_and_long_lines, 1) {
  /* Columns count characters, not bytes. */
  expect(w, "const \xc3\xa9 = '\xf0\x9f\x98\x80\xe2\x82\xac'; \xc3\xa9.y.z",
         "E_PROGRAM 1:17 TypeError: cannot read property 'z' of undefined [const \xc3\xa9 = "
         "'\xf0\x9f\x98\x80\xe2\x82\xac'; "
         "\xc3\xa9.y.z]");
  /* A line of megabytes is not quoted whole. */
  lt_buf code;
  lt_buf_init(&code, LT_MIB);
  lt_buf_addc(&code, "let a = '");
  for (int i = 0; i < 20000; i++) {
    lt_buf_addc(&code, "\xc3\xa9");
  }
  lt_buf_addc(&code, "'; nope(); let b = '");
  for (int i = 0; i < 20000; i++) {
    lt_buf_addc(&code, "\xc3\xa9");
  }
  lt_buf_addc(&code, "'");
  lt_run_request request = {.code = lt_buf_view(&code)};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.line, 1);
  assert_int_equal(r.column, 20013);
  assert_in_range(r.context.n, 100, 256);
  assert_non_null(strstr(r.context.p, "\xc3\xa9'; nope(); let b = '\xc3\xa9"));
  lt_run_result_release(&r);
  lt_buf_release(&code);
}

IN_WORLD(test_whatever_is_thrown_is_told, 1) {
  expect(w, "throw 'text'", "E_PROGRAM text");
  expect(w, "throw {a: 1}", "E_PROGRAM {\"a\":1}");
  expect(w, "throw undefined", "E_PROGRAM undefined");
  expect(w, "throw null", "E_PROGRAM null");
  expect(w, "throw new Error('')", "E_PROGRAM 1:11 the program threw an error without a message [throw new Error('')]");
  expect(w, "throw ''", "E_PROGRAM the program threw an error without a message");
  expect(w, "class MyError extends Error { name = 'MyError' }\nthrow new MyError('mine')",
         "E_PROGRAM 2:11 MyError: mine [throw new MyError('mine')]");
  /* A message of any length is told, cut. */
  lt_run_request request = {.code = LT_STR("throw new TypeError('\xc3\xa9'.repeat(1e6))")};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_E_PROGRAM);
  assert_true(lt_str_starts(lt_buf_view(&r.error), LT_STR("TypeError: \xc3\xa9\xc3\xa9")));
  assert_true(lt_str_ends(lt_buf_view(&r.error), LT_STR("\xc3\xa9... (2000000 bytes)")));
  assert_in_range(r.error.n, 30 * LT_KIB, 34 * LT_KIB);
  assert_int_equal(r.line, 1);
  lt_run_result_release(&r);
}

IN_WORLD(test_the_stack_is_of_the_program, 1) {
  lt_run_request request = {
      .code = LT_STR("function inner() {\n  null.x;\n}\nfunction outer() {\n  inner();\n}\nouter();")};
  lt_run_result r;
  run(w, &request, &r);
  assert_string_equal(r.stack.p, "at inner (2:3)\nat outer (5:3)\nat <program> (7:1)");
  lt_run_result_release(&r);
}

IN_WORLD(test_what_is_no_text_is_not_run, 1) {
  lt_run_request request = {.code = LT_STR("1\n\xc3\xa9\xc3(")};
  expect_run(w, &request, TELL_END,
             "E_INVALID 2:2 the program is not valid UTF-8 (line 2, column 2): save the program as UTF-8 text");
  request.code = lt_str_from("ab\0c", 4);
  expect_run(w, &request, TELL_END,
             "E_INVALID 1:3 the program contains a NUL byte (line 1, column 3): save the program as UTF-8 text");
  static const char *const bad[] = {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                    "\xf5", "a\xe2\x82"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    lt_run_result r;
    request.code = lt_str_of(bad[i]);
    run(w, &request, &r);
    assert_int_equal(r.status, LT_E_INVALID);
    lt_run_result_release(&r);
  }
  char *large = lt_mem_alloc(LT_RUN_CODE_MAX_BYTES + 1);
  memset(large, ' ', LT_RUN_CODE_MAX_BYTES + 1);
  request.code = lt_str_from(large, LT_RUN_CODE_MAX_BYTES);
  expect_run(w, &request, TELL_END, "undefined");
  request.code = lt_str_from(large, LT_RUN_CODE_MAX_BYTES + 1);
  expect_run(w, &request, TELL_END, "E_INVALID the program has 8388609 bytes; at most 8 MiB can be run");
  lt_mem_free(large);
}

IN_WORLD(test_unknown_names_get_advice, 1) {
  expect(w, "tEcko({})", "E_PROGRAM 1:1 ReferenceError: tEcko is not defined. Did you mean: tEcho? [tEcko({})]");
  expect(w, "1;\nt.echo({})", "E_PROGRAM 2:1 ReferenceError: t is not defined [t.echo({})]");
  expect(w, "tools['t.ecko']({})",
         "E_PROGRAM 1:1 ReferenceError: Tool \"t.ecko\" not found. Did you mean: t.echo? [tools['t.ecko']({})]");
  expect(w, "fetch('http://x')",
         "E_PROGRAM 1:1 ReferenceError: fetch is not defined: there is no network in a program, and no "
         "configured tool does this [fetch('http://x')]");
  expect(
      w, "require('fs')",
      "E_PROGRAM 1:1 ReferenceError: require is not defined: there are no Node modules: import a registered module or "
      "call a tool [require('fs')]");
  expect_ts(w, "ecoh({});\n", "E_PROGRAM 1:1 ReferenceError: ecoh is not defined. Did you mean: echo? [ecoh({});]");
}

/* --- TypeScript --------------------------------------------------------------------------------------------------- */
IN_WORLD(test_typescript, 2) {
  expect_ts(w, "const a: number = 1;\ninterface X { y: string }\nconst x: X = { y: 'z' };\nx.y as string", "string z");
  expect_ts(w, "enum E { A = 1, B }\nE.B", "json 2");
  expect_ts(w, "async function main(): Promise<number> { return 3 }", "json 3");
  expect_ts(w, "```ts\nconst a: string = 'q'; a\n```", "string q");
  expect_ts(w, "export default (1 as number) + 1", "json 2");
  expect_ts(w, "const x: number = ;", "E_PROGRAM 1:19 SyntaxError: Unexpected token [const x: number = ;]");
  expect_ts(w, "```ts\nlet a: string;\nlet \xc3\xa9 = a a;\n```",
            "E_PROGRAM 3:11 SyntaxError: Unexpected token, expected \";\" [let \xc3\xa9 = a a;]");
  expect_ts(w, "type T = {\n  a: string;\n};\nconst t = {} as T;\nt.a.length",
            "E_PROGRAM 5:1 TypeError: cannot read property 'length' of undefined [t.a.length]");
  lt_run_request request = {.code = LT_STR("const n: number = 1;\nconsole.log('n', n);\nconsole.error('e');"),
                            .lang = LT_LANG_TYPESCRIPT};
  expect_run(w, &request, TELL_END | TELL_SAID, "undefined o(n 1\n) e(e)");
}

/* --- Store -------------------------------------------------------------------------------------------------------- */
IN_WORLD(test_store_and_recall, 2) {
  expect(w, "store('a', {n: [1]}); store('', 2); [recall('a'), recall(''), recall('b') === undefined]",
         "json [{\"n\":[1]},2,true]");
  expect(w, "recall('a')", "undefined");
  lt_stored_values *values = lt_stored_values_new();
  lt_run_request request = {.values = values};
  request.code = LT_STR("store('a', {n: [1]}); store('gone', 1); store('gone', undefined)");
  expect_run(w, &request, TELL_END, "undefined");
  request.code = LT_STR("[recall('a'), recall('gone') === undefined]");
  expect_run(w, &request, TELL_END, "json [{\"n\":[1]},true]");
  request.lang = LT_LANG_TYPESCRIPT;
  request.code = LT_STR("const a: any = recall('a'); store('a', a.n); complete({response: 'r', data: {x: 1}}); 1");
  expect_run(w, &request, TELL_END | TELL_SAID, "json 1 o(r) done");
  /* What a failed run has stored stays. */
  request.lang = LT_LANG_JAVASCRIPT;
  request.code = LT_STR("store('late', 5); throw new Error('x')");
  expect_run(w, &request, TELL_SAID, "");
  request.code = LT_STR("[recall('a'), recall('late'), recall('_lastData')]");
  expect_run(w, &request, TELL_END, "json [[1],5,{\"x\":1}]");
  request.code = LT_STR("store('big', 'x'.repeat(17 << 20))");
  expect_run(
      w, &request, TELL_END,
      "E_PROGRAM 1:1 store(\"big\"): all stored values together may have 16 MiB [store('big', 'x'.repeat(17 << 20))]");
  assert_true(lt_str_eqc(lt_stored_values_find(values, LT_STR("late")), "5"));
  lt_stored_values_free(values);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_values_that_json_has_no_word_for),
      cmocka_unit_test(test_promises_are_awaited),
      cmocka_unit_test(test_a_whole_program_that_is_a_function_is_called),
      cmocka_unit_test(test_fences_are_taken_off),
      cmocka_unit_test(test_input),
      cmocka_unit_test(test_modules),
      cmocka_unit_test(test_names_choose_the_image),
      cmocka_unit_test(test_an_error_is_where_it_was_written),
      cmocka_unit_test(test_an_error_is_where_it_was_written_also_when_more_is_run),
      cmocka_unit_test(test_columns_and_long_lines),
      cmocka_unit_test(test_whatever_is_thrown_is_told),
      cmocka_unit_test(test_the_stack_is_of_the_program),
      cmocka_unit_test(test_what_is_no_text_is_not_run),
      cmocka_unit_test(test_unknown_names_get_advice),
      cmocka_unit_test(test_typescript),
      cmocka_unit_test(test_store_and_recall),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
