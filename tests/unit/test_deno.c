/* The Deno runner, with a real Deno behind real walls: values, types, calls, failures, and what is left afterwards.
 * Skipped where Deno is not installed. */
#include "deno_fix.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- Output and values -------------------------------------------------------------------------------------------- */
IN_DENO_AND_AHEAD(test_output) {
  ts(w, "console.log(1 + 2)", TELL_END | TELL_SAID, "undefined o(3\n)");
  ts(w, "console.log('a', { b: [1, 'x'] }); console.error('no'); console.warn('hm')", TELL_SAID,
     " o(a { b: [ 1, 'x' ] }\n) e(no) w(hm)");
  ts(w, "output({ a: 1 }); log('x', 2); done()", TELL_SAID, " o({\"a\":1}) l(x 2) done");
  js(w, "console.log('a log line'); output('out')", TELL_SAID, " l(a log line) o(out)");
  ts(w, "", TELL_END | TELL_SAID, "undefined");
}

IN_DENO_AND_AHEAD(test_values) {
  ts(w, "export default 1 + 2", TELL_END, "json 3");
  ts(w, "export default 'text'", TELL_END, "string text");
  ts(w, "async () => { return { a: [1, null] } }", TELL_END, "json {\"a\":[1,null]}");
  ts(w, "export default async function main() { return new Map([['a', 10n]]) }", TELL_END, "json {\"a\":\"10\"}");
  ts(w, "const a: any = {}; a.self = a; export default a", TELL_END, "json {\"self\":\"[Circular]\"}");
  lt_run_request request = {
      .code = LT_STR("(i: any) => i.n + input.n"), .lang = LT_LANG_TYPESCRIPT, .input = LT_STR("{\"n\": 21}")};
  expect_run(w, &request, TELL_END, "json 42");
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
IN_DENO_AND_AHEAD(test_calls) {
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

/* --- Failures ----------------------------------------------------------------------------------------------------- */
IN_DENO_AND_AHEAD(test_failures) {
  ts(w, "const a: number = 1;\nfunction foo() {\n  throw new TypeError('boom');\n}\nfoo();", TELL_END,
     "E_PROGRAM 3:9 TypeError: boom [throw new TypeError('boom');]");
  ts(w, "throw 'text'", TELL_END, "E_PROGRAM text");
  ts(w, "console.log('before'); throw { a: 1 }", TELL_ALL, "E_PROGRAM {\"a\":1} o(before\n)");
  ts(w, "await new Promise(() => {})", TELL_END,
     "E_PROGRAM the program waits for a promise that nothing will ever settle");
  ts(w, "Deno.exit(3)", TELL_END, "E_PROGRAM the program's process exited with code 3");
  ts(w, "console.log('x'); Deno.exit(0)", TELL_ALL, "undefined o(x\n)");
}

IN_DENO_AND_AHEAD(test_types) {
  ts(w, "console.log('never');\nconst n: number = 'x';", TELL_END | TELL_SAID,
     "E_PROGRAM 2:7 TS2322: Type 'string' is not assignable to type 'number'. [const n: number = 'x';]");
  ts(w, "const r = await strict({ n: 'x' });", TELL_END,
     "E_PROGRAM 1:26 TS2322: Type 'string' is not assignable to type 'number'. "
     "[const r = await strict({ n: 'x' });]");
}

/* --- The world ---------------------------------------------------------------------------------------------------- */
IN_DENO(test_its_own_names) {
  /* What the program declares itself is its own. */
  ts(w,
     "const echo = (n: number) => n + 1;\nconst Result = 5, lathe = 1, post = 2;\nconsole.log(echo(Result) + lathe + "
     "post)",
     TELL_ALL, "undefined o(9\n)");
  ts(w, "interface EchoInput { mine: string }\nconst x: EchoInput = { mine: 'yes' };\nconsole.log(x.mine)", TELL_SAID,
     " o(yes\n)");
  ts(w, "console.log(typeof echo, typeof slow, 'fail' in globalThis)", TELL_SAID, " o(function function true\n)");
}

IN_DENO_AND_AHEAD(test_the_rest_of_the_world) {
  ts(w, "store('k', { n: 1 }); console.log(recall('k').n, recall('none'))", TELL_SAID, " o(1 undefined\n)");
  ts(w, "console.log((await parallel([{ tool: 't.echo', input: { a: 1 } }, { tool: 't.fail' }])).length)", TELL_SAID,
     " o(2\n)");
  ts(w, "console.log((await discoverTools('echo'))[0].id, Object.keys(await toolSchema('t.strict')).join())", TELL_SAID,
     " o(t.echo type,required,properties\n)");
  ts(w, "await sleep(5); setTimeout(() => console.log('late'), 5); console.log('first')", TELL_SAID,
     " o(first\n) o(late\n)");
  ts(w, "complete({ response: 'all', data: [1] }); console.log(recall('_lastData'))", TELL_SAID,
     " o(all) o([ 1 ]\n) done");
}

IN_DENO(test_values_go_on) {
  lt_stored_values *values = lt_stored_values_new();
  lt_run_request request = {.code = LT_STR("store('n', (recall('n') ?? 0) + 1); console.log(recall('n'))"),
                            .lang = LT_LANG_TYPESCRIPT};
  request.values = values;
  expect_run(w, &request, TELL_SAID, " o(1\n)");
  expect_run(w, &request, TELL_ALL, "undefined o(2\n)");
  lt_stored_values_free(values);
}

static lt_status double_it(void *arg, lt_str args, const lt_invoke_options *options, lt_buf *out, lt_err *err) {
  (void)arg, (void)options;
  if (lt_str_eqc(args, "[]")) {
    return lt_fail(err, LT_E_INVALID, "twice(n): n is missing");
  }
  lt_buf_addc(out, "{\"args\":");
  lt_buf_add(out, args);
  lt_buf_byte(out, '}');
  return LT_OK;
}

IN_DENO(test_functions_and_modules) {
  const lt_run_function functions[] = {{.name = LT_STR("twice"), .call = double_it}};
  const lt_run_module modules[] = {
      {LT_STR("greet"), LT_STR("export const hello = (n) => `hello ${n}`;")},
      {LT_STR("lib/deep.js"), LT_STR("import { hello } from 'greet';\nexport default hello('deep');")}};
  lt_run_request request = {.code = LT_STR("import deep from 'lib/deep.js';\nconsole.log(deep, await twice(1, 'x'));\n"
                                           "try { await twice() } catch (e) { console.log(e.message) }"),
                            .lang = LT_LANG_TYPESCRIPT,
                            .functions = functions,
                            .function_count = 1,
                            .modules = modules,
                            .module_count = 2};
  expect_run(w, &request, TELL_ALL, "undefined o(hello deep { args: [ 1, 'x' ] }\n) o(twice(n): n is missing\n)");
  request.code = LT_STR("import { x } from 'nowhere';");
  expect_run(w, &request, TELL_END,
             "E_PROGRAM 1:19 TS2307: Cannot find module 'nowhere' or its corresponding type declarations. "
             "[import { x } from 'nowhere';]");
}

/* --- What it may not ---------------------------------------------------------------------------------------------- */
IN_DENO_AND_AHEAD(test_nothing_but_tools) {
  static const char *const programs[] = {
      "Deno.readTextFileSync('/etc/passwd')",
      "Deno.writeTextFileSync('/tmp/lathe-was-here', 'x')",
      "Deno.env.get('HOME')",
      "await fetch('http://127.0.0.1:1/')",
      "await Deno.connect({ port: 1 })",
      "Deno.listen({ port: 0 })",
      "new Deno.Command('id').outputSync()",
      "Deno.kill(1, 'SIGTERM')",
      "Deno.dlopen('/lib/x86_64-linux-gnu/libc.so.6', {})",
      "Deno.hostname()",
      "await import('https://example.com/x.js')",
      "await import('npm:zod')",
      "await import('/etc/hostname')",
      "(await import('node:fs')).readFileSync('/etc/passwd')",
      "(await import('node:child_process')).execSync('id')",
      "(await import('node:net')).connect(1); await new Promise(() => {})",
      "await Deno.connect({ transport: 'unix', path: '/var/run/docker.sock' })",
      "Deno.symlinkSync('/etc', 'bridge2')",
  };
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    lt_run_request request = {.code = lt_str_of(programs[i]), .lang = LT_LANG_JAVASCRIPT};
    lt_run_result r;
    run(w, &request, &r);
    if (r.status != LT_E_PROGRAM) {
      fail_msg("%s: %s", programs[i], lt_status_name(r.status));
    }
    if (strstr(r.error.p, "--allow") != NULL) { /* advice for somebody else */
      fail_msg("%s: %s", programs[i], r.error.p);
    }
    lt_run_result_release(&r);
  }
  assert_int_not_equal(access("/tmp/lathe-was-here", F_OK), 0);
  js(w, "await fetch('http://example.com/')", TELL_END,
     "E_PROGRAM 1:7 NotCapable: Requires net access to \"example.com:80\": there is no network in a program, and no "
     "configured tool does this [await fetch('http://example.com/')]");
}

/* Whoever is on the bridge without the run's secret, or speaks otherwise than expected, gets no further. */
IN_DENO_AND_AHEAD(test_the_bridge_itself) {
  js(w,
     "const ask = async (head, body) => {\n"
     "  const c = await Deno.connect({ transport: 'unix', path: '/lathe-bridge' });\n"
     "  await c.write(new TextEncoder().encode(head + `\\r\\nHost: x\\r\\nConnection: close\\r\\n"
     "Content-Length: ${body.length}\\r\\n\\r\\n` + body));\n"
     "  const b = new Uint8Array(9999); output(new TextDecoder().decode(b.subarray(0, await c.read(b))).slice(9, "
     "12));\n"
     "};\n"
     "await ask('POST / HTTP/1.1', '{\"tool_name\":\"t.echo\",\"arguments\":{}}');\n"
     "await ask('POST / HTTP/1.1\\r\\nX-Lathe-Secret: 0123456789abcdef0123456789abcdef', "
     "'{\"tool_name\":\"t.echo\"}');\n"
     "await ask('GET / HTTP/1.1', '');\n",
     TELL_END | TELL_SAID | TELL_CALLS, "undefined o(403) o(403) o(403)");
}

/* --- Bad programs ------------------------------------------------------------------------------------------------- */
/* A connection takes the right to write to the socket's path: what stands there is out of its reach. */
IN_DENO_AND_AHEAD(test_it_makes_no_files) {
  js(w,
     "const done = [];\n"
     "for (const path of ['bridge', '/lathe-bridge', '../x', 'x']) {\n"
     "  for (const name of ['removeSync', 'mkdirSync', 'writeTextFileSync', 'truncateSync']) {\n"
     "    try { Deno[name](path, 'x'); done.push(name + path); } catch {}\n"
     "  }\n"
     "}\n"
     "try { localStorage.a = 1 } catch {}\n"
     "output(done.length)",
     TELL_END | TELL_SAID, "undefined o(0)");
}

IN_DENO(test_syntax) {
  js(w, "let a = 1;\nlet b = ;", TELL_END, "E_PROGRAM 2:9 SyntaxError: Expression expected [let b = ;]");
  ts(w, "let a = 1;\nlet b = ;", TELL_END, "E_PROGRAM 2:9 TS1109: Expression expected. [let b = ;]");
  js(w, "```js\nconst a = 1;\nnope(a)\n```", TELL_END, "E_PROGRAM 3:1 ReferenceError: nope is not defined [nope(a)]");
  js(w, "async () => { throw new Error('x') }", TELL_END, "E_PROGRAM 1:21 x [async () => { throw new Error('x') }]");
  js(w, "/* \xc3\xa9\xf0\x9f\x98\x80 */ nope()", TELL_END,
     "E_PROGRAM 1:10 ReferenceError: nope is not defined [/* \xc3\xa9\xf0\x9f\x98\x80 */ nope()]");
  js(w, "await tEch({})", TELL_END,
     "E_PROGRAM 1:1 ReferenceError: tEch is not defined. Did you mean: tEcho? [await tEch({})]");
  ts(w, "await ecko({})", TELL_END,
     "E_PROGRAM 1:7 TS2304: Cannot find name 'ecko'. Did you mean: echo? [await ecko({})]");
  lt_run_request request = {.code = LT_STR("a\xff"), .lang = LT_LANG_TYPESCRIPT};
  expect_run(w, &request, TELL_END,
             "E_INVALID 1:0 the program is not valid UTF-8 (line 1): save the program as UTF-8 text");
}

IN_DENO(test_floods) {
  lt_run_request request = {
      .code =
          LT_STR("for (let i = 0; i < 3000; i++) { console.log('x'.repeat(1000)); console.error('y'.repeat(1000)) }"),
      .lang = LT_LANG_TYPESCRIPT,
      .timeout_ms = 300000};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_OK);
  assert_true(r.output_cut && r.log_cut);
  size_t n = 0;
  for (const lt_run_text *t = r.texts; t != NULL; t = t->next) {
    n += t->text.n;
  }
  assert_true(n <= LT_RUN_OUTPUT_MAX_BYTES + LT_RUN_LOG_MAX_BYTES);
  lt_run_result_release(&r);
  request.code = LT_STR(
      "const m = new Uint8Array(4000000).fill(65); for (let i = 0; i < 60; i++) { Deno.stdout.writeSync(m); "
      "Deno.stderr.writeSync(m) } console.log('end')");
  run(w, &request, &r);
  assert_int_equal(r.status, LT_OK);
  assert_true(r.output_cut);
  lt_run_result_release(&r);
}

IN_DENO_AND_AHEAD(test_its_pipes) {
  ts(w, "Deno.stdout.writeSync(new TextEncoder().encode('raw\\nand more')); console.log('; end')", TELL_SAID,
     " o(raw) o(\n) o(and more) o(; end\n)");
  ts(w,
     "Deno.stdout.writeSync(new TextEncoder().encode('\\x1e{\"t\":\"json\"\\n\\x1e{\"t\":\"nonsense\"}\\n')); "
     "output(1)",
     TELL_END, "undefined");
  ts(w, "Deno.stdout.close(); console.log('lost'); await echo({})", TELL_END | TELL_CALLS, "undefined t.echo{}={}");
  ts(w, "Deno.stderr.close(); Deno.stdin.close(); console.log('here')", TELL_SAID, " o(here\n)");
  ts(w, "Deno.stderr.writeSync(new TextEncoder().encode('raw words\\n'))", TELL_END | TELL_SAID,
     "undefined e(raw words)");
  ts(w, "console.log('a'); process.kill(process.pid, 'SIGKILL'); await sleep(9000)", TELL_END | TELL_SAID,
     "E_PROGRAM the program's process was killed by SIGKILL o(a\n)");
  ts(w, "process.abort()", TELL_END, "E_PROGRAM the program's process was killed by SIGABRT");
  ts(w, "process.exit(0)", TELL_END, "undefined");
}

IN_DENO_AND_AHEAD(test_memory) {
  lt_run_request request = {
      .code = LT_STR("const all: any[] = []; for (;;) all.push(new Array(1000).fill({ a: all.length }))"),
      .lang = LT_LANG_TYPESCRIPT,
      .memory_bytes = 32 * LT_MIB};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_E_NOMEM);
  assert_non_null(strstr(r.error.p, "32 MiB"));
  lt_run_result_release(&r);
}

/* --- Time --------------------------------------------------------------------------------------------------------- */
IN_DENO(test_timeout) {
  static const char *const programs[] = {"for (;;) {}", "await sleep(60000)", "await hang({})",
                                         "console.log('kept'); await hang({})"};
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    lt_run_request request = {.code = lt_str_of(programs[i]), .lang = LT_LANG_TYPESCRIPT, .timeout_ms = 1500};
    lt_run_result r;
    run(w, &request, &r);
    assert_int_equal(r.status, LT_E_TIMEOUT);
    assert_string_equal(r.error.p, "Execution timed out after 1500ms");
    assert_true(r.duration_ms < 15000);
    assert_int_equal(r.texts != NULL, i == 3);
    assert_true(r.calls == NULL || !r.calls->finished);
    lt_run_result_release(&r);
  }
  assert_int_equal(w->tools.hangs, 2);
  assert_int_equal(w->tools.cancelled, 2);
}

IN_DENO_AND_AHEAD(test_cancel) {
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  lt_run_request request = {.code = LT_STR("await hang({})"), .lang = LT_LANG_TYPESCRIPT, .cancel = &cancel};
  running r;
  start_run_until_hang(&r, w, &request);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  lt_wait_on(&r.done, UINT64_MAX);
  assert_int_equal(r.result.status, LT_E_CANCELLED);
  assert_int_equal(w->tools.cancelled, 1);
  lt_run_result_release(&r.result);
  request.code = LT_STR("console.log('never')"); /* fired before */
  expect_run(w, &request, TELL_ALL, "E_CANCELLED Execution was cancelled");
}

/* Two programs at once, each with a bridge of its own; one dies, the other does not notice. */
IN_DENO(test_others_are_unharmed) {
  lt_run_request bad = {.code = LT_STR("await hang({})"), .lang = LT_LANG_JAVASCRIPT, .timeout_ms = 20000};
  bad.code = LT_STR("await tHang({})");
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  bad.cancel = &cancel;
  running r;
  start_run_until_hang(&r, w, &bad);
  js(w, "for (const e of Deno.readDirSync('..')) output(e.name)", TELL_END,
     "E_PROGRAM 1:22 NotCapable: Requires read access to \"..\": there are no files in a program, and no "
     "configured tool does this [for (const e of Deno.readDirSync('..')) output(e.name)]");
  js(w, "process.abort()", TELL_END, "E_PROGRAM the program's process was killed by SIGABRT");
  js(w, "output((await tEcho({ a: 5 })).a)", TELL_SAID, " o(5)");
  assert_int_equal(w->tools.cancelled, 0);
  lt_cancel_fire(&cancel, LT_E_CANCELLED);
  lt_wait_on(&r.done, UINT64_MAX);
  lt_run_result_release(&r.result);
}

/* A call that the program does not wait for: it ends when that has its answer. Deno.exit does not wait. */
IN_DENO(test_open_calls) {
  ts(w, "echo({ a: 1 }); slow({ ms: 30 });", TELL_END | TELL_CALLS,
     "undefined t.echo{\"a\":1}={\"a\":1} t.slow{\"ms\":30}={\"ms\":30}");
  ts(w, "hang({}); await sleep(100); Deno.exit(0)", TELL_END | TELL_CALLS, "undefined t.hang{}?");
  assert_int_equal(w->tools.cancelled, 1);
}

/* --- Approvals
 * -------------------------------------------------------------------------------------------------------- */
typedef struct asker {
  lt_provider base;
  lt_loop *loop;
  unsigned stood;
  bool stands;
} asker;

static lt_status ask_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                            lt_err *err) {
  asker *a = (asker *)(void *)base;
  fake f = {.loop = a->loop};
  if (lt_str_eqc(name, "denied")) {
    return lt_fail(err, LT_E_DENIED, "Tool \"p.denied\" is not allowed: not today");
  }
  options->on_approval(options->arg, true);
  LT_TRY(fake_wait(&f, (uint64_t)number_in(input, "ask", 0), options, err));
  options->on_approval(options->arg, false);
  lt_buf_add(out, input);
  return LT_OK;
}

static void on_standing(void *arg, bool stands) {
  asker *a = arg;
  assert_true(a->stands != stands);
  a->stands = stands;
  a->stood += stands;
}

static const lt_tool_spec ask_specs[] = {{.name = TEXT("ask")}, {.name = TEXT("denied")}};

IN_DENO(test_the_clock_stands_while_somebody_decides) {
  asker a = {.base = {.name = LT_STR("p"), .invoke = ask_invoke}, .loop = w->loop};
  assert_int_equal(lt_door_set_tools(w->door, &a.base, ask_specs, 2, NULL), LT_OK);
  lt_run_request request = {.code = LT_STR("const r = await ask({ ask: 4000 }); console.log(r.success)"),
                            .lang = LT_LANG_TYPESCRIPT,
                            .timeout_ms = 3000,
                            .on_standing = on_standing,
                            .arg = &a};
  expect_run(w, &request, TELL_END | TELL_SAID, "undefined o(true\n)");
  assert_int_equal(a.stood, 1);
  assert_false(a.stands);
  request.code = LT_STR("await Promise.all([ask({ ask: 60000 }), sleep(60000), hang({})])"); /* others work on */
  expect_run(w, &request, TELL_END, "E_TIMEOUT Execution timed out after 3000ms");
  ts(w, "const r = await denied({}); if (!r.success) console.log(r.error)", TELL_SAID,
     " o(Tool \"p.denied\" is not allowed: not today\n)");
  lt_door_remove(w->door, &a.base);
}

/* --- Interpreters and ways
 * --------------------------------------------------------------------------------------------- */
static void reopen(world *w, const lt_deno_options *options) {
  lt_deno_free(deno);
  open_runner(w, options);
}

IN_DENO(test_over_a_port) {
  lt_deno_options options = with(w);
  options.tcp = true;
  reopen(w, &options);
  ts(w, "const r = await echo({ a: 1 }); console.log(r)", TELL_SAID | TELL_CALLS,
     " o({ success: true, value: { a: 1 } }\n) t.echo{\"a\":1}={\"a\":1}");
  js(w, "await Deno.connect({ port: 1 })", TELL_END,
     "E_PROGRAM 1:12 NotCapable: Requires net access to \"127.0.0.1:1\": there is no network in a program, and no "
     "configured tool does this [await Deno.connect({ port: 1 })]");
}

static void expect_no_run(world *w, const lt_deno_options *options, lt_status status, const char *part) {
  lt_run_request request = {.code = LT_STR("const n: number = 1"), .lang = LT_LANG_TYPESCRIPT};
  lt_run_result r;
  lt_err err = LT_ERR_INIT;
  reopen(w, options);
  lt_run_result_init(&r);
  lt_status got = w->runner->run(w->runner, &request, &r, &err);
  if (got != status || strstr(lt_err_msg(&err), part) == NULL) {
    fail_msg("%s: %s", lt_status_name(got), lt_err_msg(&err));
  }
  lt_run_result_release(&r);
}

static void write_script(const char *path, const char *text) {
  FILE *file = fopen(path, "we");
  fputs(text, file);
  fclose(file);
  assert_int_equal(chmod(path, 0755), 0);
}

IN_DENO(test_interpreters_that_are_none) {
  lt_deno_options options = with(w);
  options.path = "/no/such/deno";
  expect_no_run(w, &options, LT_E_NOTFOUND, "--runner quickjs");
  options.path = "/bin/true";
  expect_no_run(w, &options, LT_E_NOTFOUND, "/bin/true is not Deno");
  options.path = "/bin/cat";
  expect_no_run(w, &options, LT_E_NOTFOUND, "is not Deno");
  char script[256];
  snprintf(script, sizeof script, "%s/old-deno", getenv("TMPDIR"));
  write_script(script, "#!/bin/sh\necho 'deno 1.46.3 (stable)'\n");
  options.path = script;
  expect_no_run(w, &options, LT_E_NOTFOUND, "was not found");
  unlink(script);
  options = with(w);
  options.typescript_path = "/no/such/tsc";
  expect_no_run(w, &options, LT_E_NOTFOUND, "typescript.check: false");
  options.typescript_path = "/bin/true"; /* says nothing, so that all is well */
  reopen(w, &options);
  ts(w, "console.log(1)", TELL_SAID, " o(1\n)");
  options.typescript_path = "/bin/false";
  reopen(w, &options);
  ts(w, "console.log(1)", TELL_END,
     "E_PROGRAM its types could not be checked: tsc exited with code 1:  (typescript.check: false does without)");
  options.check = LT_DENO_CHECK_NEVER;
  reopen(w, &options);
  ts(w, "const n: number = 'x'; console.log(n)", TELL_SAID, " o(x\n)");
  options = with(w);
  options.helper = "/bin/false";
  options.check = LT_DENO_CHECK_NEVER;
  expect_no_run(w, &options, LT_E_UNSUPPORTED, "did not begin");
}

/* --- What is left
 * ------------------------------------------------------------------------------------------------------- */
static void make_folder(const char *name, time_t age_s) {
  char path[256], file[300];
  snprintf(path, sizeof path, "%s/%s", getenv("TMPDIR"), name);
  snprintf(file, sizeof file, "%s/program.ts", path);
  assert_int_equal(mkdir(path, 0700), 0);
  write_script(file, "1");
  struct timespec times[2] = {{.tv_sec = time(NULL) - age_s}, {.tv_sec = time(NULL) - age_s}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A Lathe that was killed could not remove its folder: the next one does, but not what another one is about to use. */
IN_DENO(test_folders_that_were_left) {
  make_folder("lathe-deno-killed", 3600);
  make_folder("lathe-deno-young", 1);
  assert_int_equal(folders(), 2);
  js(w, "output(1)", TELL_SAID, " o(1)");
  assert_int_equal(folders(), 1);
  char command[300];
  snprintf(command, sizeof command, "%s/lathe-deno-young/program.ts", getenv("TMPDIR"));
  assert_int_equal(unlink(command), 0);
  *strrchr(command, '/') = '\0';
  assert_int_equal(rmdir(command), 0);
}

/* Real processes take their time: of the places where memory can be missing, a sample. */
IN_DENO(test_without_memory) {
  bool failed = true;
  unsigned refused = 0;
  for (long n = 0; failed; n += n < 12 ? 1 : 9) {
    lt_run_request request = {.code = LT_STR("const r = await echo({}); console.log(r)"),
                              .lang = LT_LANG_TYPESCRIPT,
                              .input = LT_STR("{\"a\":[1,2]}"),
                              .timeout_ms = 20000};
    lt_run_result r;
    lt_err err = LT_ERR_INIT;
    lt_run_result_init(&r);
    lt_mem_fail_at(n);
    lt_status status = w->runner->run(w->runner, &request, &r, &err);
    failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    refused += status != LT_OK || r.status != LT_OK;
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_int_equal(r.status, LT_OK);
    } else if (status == LT_OK && r.status != LT_OK) {
      assert_true(r.error.n > 0);
    } else if (status != LT_OK) {
      assert_true(lt_err_msg(&err)[0] != '\0');
    }
    lt_run_result_release(&r);
    assert_int_equal(folders(), 0);
  }
  assert_true(refused > 5);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_output),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_many_calls),
      cmocka_unit_test(test_large_values),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_its_own_names),
      cmocka_unit_test(test_the_rest_of_the_world),
      cmocka_unit_test(test_values_go_on),
      cmocka_unit_test(test_functions_and_modules),
      cmocka_unit_test(test_nothing_but_tools),
      cmocka_unit_test(test_the_bridge_itself),
      cmocka_unit_test(test_it_makes_no_files),
      cmocka_unit_test(test_syntax),
      cmocka_unit_test(test_floods),
      cmocka_unit_test(test_its_pipes),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_timeout),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_others_are_unharmed),
      cmocka_unit_test(test_open_calls),
      cmocka_unit_test(test_the_clock_stands_while_somebody_decides),
      cmocka_unit_test(test_over_a_port),
      cmocka_unit_test(test_interpreters_that_are_none),
      cmocka_unit_test(test_folders_that_were_left),
      cmocka_unit_test(test_without_memory),
      cmocka_unit_test(test_output_ahead),
      cmocka_unit_test(test_values_ahead),
      cmocka_unit_test(test_calls_ahead),
      cmocka_unit_test(test_failures_ahead),
      cmocka_unit_test(test_types_ahead),
      cmocka_unit_test(test_the_rest_of_the_world_ahead),
      cmocka_unit_test(test_nothing_but_tools_ahead),
      cmocka_unit_test(test_the_bridge_itself_ahead),
      cmocka_unit_test(test_it_makes_no_files_ahead),
      cmocka_unit_test(test_its_pipes_ahead),
      cmocka_unit_test(test_memory_ahead),
      cmocka_unit_test(test_cancel_ahead),
  };
  return run_deno_tests(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
