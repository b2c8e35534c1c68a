/* The Deno runner, with a real Deno behind real walls: values, types, calls, failures, and what is left afterwards.
 * Skipped where Deno is not installed. */
#include "run_fix.h"

#include <dirent.h>
#include <unistd.h>

#include "jail/jail.h"
#include "runner/deno.h"

static lt_deno_options with(const world *w) {
  const char *npm = LT_TEST_NPM;
  static char deno[512], tsc[512];
  snprintf(deno, sizeof deno, "%s/deno", npm);
  snprintf(tsc, sizeof tsc, "%s/tsc", npm);
  return (lt_deno_options){.loop = w->loop, .door = w->door, .path = deno, .typescript_path = tsc};
}

static bool is_there(void) {
  return access(LT_TEST_NPM "/deno", X_OK) == 0 && access(LT_TEST_NPM "/tsc", X_OK) == 0;
}

/* Folders of runs that are there. */
static unsigned folders(void) {
  unsigned n = 0;
  DIR *dir = opendir("/tmp");
  for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    n += strncmp(e->d_name, "lathe-deno-", 11) == 0;
  }
  closedir(dir);
  return n;
}

static void (*deno_body)(world *w);
static lt_deno *deno;

static void open_runner(world *w, const lt_deno_options *options) {
  assert_int_equal(lt_deno_new(options, &deno, NULL), LT_OK);
  w->runner = lt_deno_runner(deno);
}

static void on_deno(world *w) {
  unsigned before = folders();
  lt_deno_options options = with(w);
  open_runner(w, &options);
  deno_body(w);
  lt_deno_free(deno);
  assert_int_equal(folders(), before); /* nothing is left */
}

static void in_deno(void (*body)(world *w)) {
  if (!is_there()) {
    skip();
  }
  deno_body = body;
  in_world(on_deno, 1);
}

#define IN_DENO(name)                \
  static void name##_body(world *w); \
  static void name(void **state) {   \
    (void)state;                     \
    in_deno(name##_body);            \
  }                                  \
  static void name##_body(world *w)

static void ts(world *w, const char *code, unsigned what, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_TYPESCRIPT};
  expect_run(w, &request, what, expected);
}

static void js(world *w, const char *code, unsigned what, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_JAVASCRIPT};
  expect_run(w, &request, what, expected);
}

/* --- Output and values ----------------------------------------------------------------------------------------------
 */
IN_DENO(test_output) {
  ts(w, "console.log(1 + 2)", TELL_END | TELL_SAID, "undefined o(3\n)");
  ts(w, "console.log('a', { b: [1, 'x'] }); console.error('no'); console.warn('hm')", TELL_SAID,
     " o(a { b: [ 1, \"x\" ] }\n) e(no) w(hm)");
  ts(w, "output({ a: 1 }); log('x', 2); done()", TELL_SAID, " o({\"a\":1}) l(x 2) done");
  js(w, "console.log('a log line'); output('out')", TELL_SAID, " l(a log line) o(out)");
  ts(w, "", TELL_END | TELL_SAID, "undefined");
}

IN_DENO(test_values) {
  ts(w, "export default 1 + 2", TELL_END, "json 3");
  ts(w, "export default 'text'", TELL_END, "string text");
  ts(w, "async () => { return { a: [1, null] } }", TELL_END, "json {\"a\":[1,null]}");
  ts(w, "export default async function main() { return new Map([['a', 10n]]) }", TELL_END, "json {\"a\":\"10\"}");
  ts(w, "const a: any = {}; a.self = a; export default a", TELL_END, "json {\"self\":\"[Circular]\"}");
  lt_run_request request = {
      .code = LT_STR("(i: any) => i.n + input.n"), .lang = LT_LANG_TYPESCRIPT, .input = LT_STR("{\"n\": 21}")};
  expect_run(w, &request, TELL_END, "json 42");
}

/* --- Calls ----------------------------------------------------------------------------------------------------------
 */
IN_DENO(test_calls) {
  ts(w, "const r = await echo({ a: 1 }); console.log(JSON.stringify(r))", TELL_SAID | TELL_CALLS,
     " o({\"success\":true,\"value\":{\"a\":1}}\n) t.echo{\"a\":1}={\"a\":1}");
  ts(w, "console.log(JSON.stringify(await fail()))", TELL_SAID,
     " o({\"success\":false,\"error\":\"Tool \\\"t.fail\\\" failed: it went wrong\"}\n)");
  ts(w, "const r = await tools['t.echo']({ b: 2 }); console.log(r.success && r.value.b)", TELL_SAID, " o(2\n)");
  ts(w, "const r = await strict({ n: 'x' } as any); if (!r.success) console.log(r.error)", TELL_SAID,
     " o(Tool \"t.strict\" failed: input.n: expected number, got string\n)");
  js(w, "const v = await tEcho({ a: 1 }); output(v.a)", TELL_SAID, " o(1)");
  js(w, "try { await tFail() } catch (e) { output(e.message) }", TELL_SAID,
     " o(Tool \"t.fail\" failed: it went wrong)");
}

IN_DENO(test_many_calls) {
  ts(w,
     "const rs = await Promise.all(Array.from({ length: 600 }, (_, i) => slow({ ms: i % 7 })));\n"
     "console.log(rs.filter((r) => r.success).length)",
     TELL_SAID, " o(600\n)");
  assert_true(w->tools.most_open > 10);
}

IN_DENO(test_large_values) {
  ts(w, "const r = await big({ bytes: 20000000 }); console.log(r.success && r.value.length)", TELL_SAID,
     " o(20000000\n)");
  ts(w, "const r = await echo({ s: 'x'.repeat(9000000) }); if (r.success) console.log(r.value.s.length)", TELL_SAID,
     " o(9000000\n)");
}

/* --- Failures -------------------------------------------------------------------------------------------------------
 */
IN_DENO(test_failures) {
  ts(w, "const a: number = 1;\nfunction foo() {\n  throw new TypeError('boom');\n}\nfoo();", TELL_END,
     "E_PROGRAM 3:9 TypeError: boom [throw new TypeError('boom');]");
  ts(w, "throw 'text'", TELL_END, "E_PROGRAM text");
  ts(w, "console.log('before'); throw { a: 1 }", TELL_ALL, "E_PROGRAM {\"a\":1} o(before\n)");
  ts(w, "await new Promise(() => {})", TELL_END,
     "E_PROGRAM the program waits for a promise that nothing will ever settle");
  ts(w, "Deno.exit(3)", TELL_END, "E_PROGRAM the program's process exited with code 3");
  ts(w, "console.log('x'); Deno.exit(0)", TELL_ALL, "undefined o(x\n)");
}

IN_DENO(test_types) {
  ts(w, "console.log('never');\nconst n: number = 'x';", TELL_END | TELL_SAID,
     "E_PROGRAM 2:7 TS2322: Type 'string' is not assignable to type 'number'. [const n: number = 'x';]");
  ts(w, "const r = await strict({ n: 'x' });", TELL_END,
     "E_PROGRAM 1:26 TS2322: Type 'string' is not assignable to type 'number'. "
     "[const r = await strict({ n: 'x' });]");
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "__jail") == 0) {
    return lt_jail_main(argc - 1, argv + 1);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_output),     cmocka_unit_test(test_values),       cmocka_unit_test(test_calls),
      cmocka_unit_test(test_many_calls), cmocka_unit_test(test_large_values), cmocka_unit_test(test_failures),
      cmocka_unit_test(test_types),
  };
  return run_all_tests(tests, sizeof tests / sizeof tests[0]);
}
