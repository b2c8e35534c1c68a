/* What ordinary programs do in Deno beside calling tools: errors that are looked at, streams of their own, types that
 * nobody wrote down. */
#include "deno_fix.h"

/* --- Errors ------------------------------------------------------------------------------------------------------- */
/* For the lines of an error Deno needs the map of what it has made of the program. */
IN_DENO_AND_AHEAD(test_the_stack_of_an_error) {
  ts(w, "const r = await fail({});\nif (!r.success) throw new Error(r.error)", TELL_END,
     "E_PROGRAM 2:23 Tool \"t.fail\" failed: it went wrong [if (!r.success) throw new Error(r.error)]");
  ts(w, "const x: number = 2;\nif (x === 2) { throw new Error('a') }", TELL_END,
     "E_PROGRAM 2:22 a [if (x === 2) { throw new Error('a') }]");
  ts(w,
     "interface P { n: number }\nconst x: P = { n: 2 };\n"
     "if (x.n === 2) { try { throw new Error('a') } catch (e) { console.log(e.stack.split('program.ts')[1]) } }",
     TELL_ALL, "undefined o(:3:30\n)");
  lt_run_request request = {.code = LT_STR("const n = 1; if (n) { try { null.x } catch (e) { console.error(e) } }"),
                            .lang = LT_LANG_JAVASCRIPT};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_OK);
  assert_int_equal(lt_str_find(r.texts->text, LT_STR("TypeError: Cannot read properties of null"), 0), 0);
  lt_run_result_release(&r);
}

/* --- Its own streams ---------------------------------------------------------------------------------------------- */
#define WRITE "const write = (s: string, to = Deno.stdout) => to.writeSync(new TextEncoder().encode(s));\n"

IN_DENO_AND_AHEAD(test_output_without_a_newline) {
  ts(w, WRITE "write('Progress... '); console.log('done')", TELL_ALL, "undefined o(Progress... ) o(done\n)");
  ts(w, WRITE "write('half'); throw new Error('x')", TELL_ALL,
     "E_PROGRAM 2:22 x [write('half'); throw new Error('x')] o(half)");
  ts(w, WRITE "write('half'); store('k', 1); write(' and half'); output('o'); export default 5", TELL_ALL,
     "json 5 o(half) o( and half) o(o)");
  /* Bytes that look like ours. */
  ts(w, WRITE "write('a\\x1eb\\x1e{\"t\":\"none\"}\\n'); write('\\x1e{'); console.log('c')", TELL_ALL,
     "undefined o(a\x1e"
     "b\x1e{\"t\":\"none\"}) o(\n) o(\x1e{) o(c\n)");
  js(w, "Deno.stdout.writeSync(new TextEncoder().encode('half')); output('o')", TELL_ALL, "undefined l(half) o(o)");
}

IN_DENO_AND_AHEAD(test_its_input_is_at_its_end) {
  ts(w, "console.log(await Deno.stdin.read(new Uint8Array(9)), Deno.stdin.readSync(new Uint8Array(9)))", TELL_ALL,
     "undefined o(null null\n)");
  ts(w, "console.log((await new Response(Deno.stdin.readable).text()).length, prompt('name'))", TELL_SAID,
     " o(0 null\n)");
}

IN_DENO_AND_AHEAD(test_what_a_failing_program_wrote) {
  ts(w, WRITE "write('my words\\n', Deno.stderr); throw new Error('x')", TELL_ALL,
     "E_PROGRAM 2:41 x [write('my words\\n', Deno.stderr); throw new Error('x')] e(my words)");
  ts(w, WRITE "write('my words\\n', Deno.stderr); await new Promise(() => {})", TELL_ALL,
     "E_PROGRAM the program waits for a promise that nothing will ever settle e(my words)");
  ts(w, WRITE "write('my words\\n', Deno.stderr); Deno.exit(3)", TELL_ALL,
     "E_PROGRAM the program's process exited with code 3 e(my words)");
  ts(w, WRITE "write('my words\\n', Deno.stderr)", TELL_ALL, "undefined e(my words)");
}

IN_DENO(test_what_a_program_wrote_whose_time_is_up) {
  lt_run_request request = {.code = LT_STR("Deno.stderr.writeSync(new TextEncoder().encode('my words')); for (;;) {}"),
                            .lang = LT_LANG_JAVASCRIPT,
                            .timeout_ms = 3000};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_E_TIMEOUT);
  assert_non_null(r.texts);
  assert_true(lt_str_eqc(r.texts->text, "my words"));
  lt_run_result_release(&r);
}

/* --- Its main ----------------------------------------------------------------------------------------------------- */
IN_DENO_AND_AHEAD(test_import_meta_main) {
  const char *body =
      "async function main() { console.log('ran'); throw new Error('x') }\n"
      "if (import.meta.main) await main();";
  ts(w, body, TELL_ALL,
     "E_PROGRAM 1:51 x [async function main() { console.log('ran'); throw new Error('x') }] o(ran\n)");
  js(w, "if (import.meta.main) { output('ran'); nope() }", TELL_ALL,
     "E_PROGRAM 1:40 ReferenceError: nope is not defined "
     "[if (import.meta.main) { output('ran'); nope() }] o(ran)");
  ts(w, "async () => { return import.meta.main }", TELL_END, "json true");
  ts(w, "#!/usr/bin/env -S deno run\nconst n: number = 1;\nif (import.meta.main) throw new Error(`${n}`)", TELL_END,
     "E_PROGRAM 3:29 1 [if (import.meta.main) throw new Error(`${n}`)]");
}

/* --- Types -------------------------------------------------------------------------------------------------------- */
IN_DENO_AND_AHEAD(test_what_is_of_no_known_type) {
  ts(w,
     "const r = await echo({ items: [{ name: 'n', size: 2 }] });\n"
     "if (r.success) console.log(r.value.items.map((x) => x.name).join(), r.value.items.map(({ size }) => size)[0]);\n"
     "const out = []; out.push(1); const n: number = out[0]; const counts = {}; counts['a'] = n; console.log(counts)",
     TELL_END | TELL_SAID, "undefined o(n 2\n) o({ a: 1 }\n)");
  /* What is wrong beside it is told, alone. */
  ts(w, "const f = (x) => x;\nconst n: number = 'x';", TELL_END,
     "E_PROGRAM 2:7 TS2322: Type 'string' is not assignable to type 'number'. [const n: number = 'x';]");
  ts(w, "new Respones()", TELL_END,
     "E_PROGRAM 1:5 TS2552: Cannot find name 'Respones'. Did you mean 'Response'? [new Respones()]");
}

IN_DENO(test_what_deno_has) {
  ts(w,
     "import type { Buffer as Bytes } from 'node:buffer';\nimport { EventEmitter } from 'node:events';\n"
     "const r: Response = new Response('x'); for (const [k, v] of r.headers) console.log(k, v);\n"
     "const b: Buffer = Buffer.from('x'), same: Bytes = b, plain: Uint8Array = b;\n"
     "const dirs: Deno.DirEntry[] = [], t: NodeJS.Timeout = setTimeout(() => {}, 1); clearTimeout(t);\n"
     "class Bus extends EventTarget { hits = 0; hit() { this.dispatchEvent(new CustomEvent<number>('hit', { detail: "
     "++this.hits })) } }\n"
     "const bus = new Bus(); bus.addEventListener('hit', (e: CustomEvent<number>) => console.log(e.detail + 1)); "
     "bus.hit();\n"
     "const s = new ReadableStream<string>({ start(c) { c.enqueue('chunk'); c.close() } }); for await (const c of s) "
     "console.log(c);\n"
     "class Loud extends TransformStream<string, string> { constructor() { super({ transform: (x, c) => c.enqueue(x + "
     "'!') }) } }\n"
     "for await (const c of new Blob(['x']).stream().pipeThrough(new TextDecoderStream()).pipeThrough(new Loud())) "
     "console.log(c);\n"
     "const u: unknown = r; if (u instanceof Response) console.log(u.status);\n"
     "const em: EventEmitter = new EventEmitter(); em.on('x', (n: number) => console.log(n)); em.emit('x', 3);\n"
     "const say = (e: MessageEvent<string>, h: HeadersInit) => e.data.length; Error.captureStackTrace({});",
     TELL_ALL, "undefined o(content-type text/plain;charset=UTF-8\n) o(2\n) o(chunk\n) o(x!\n) o(200\n) o(3\n)");
  ts(w,
     "const at = URL.createObjectURL(new Blob(['export const n: number = 4'], { type: 'application/typescript' }));\n"
     "console.log((await import(at)).n); URL.revokeObjectURL(at);\n"
     "const bytes: Uint8Array<ArrayBuffer> = new TextEncoder().encode('x'); new TextEncoder().encodeInto('y', bytes)",
     TELL_ALL, "undefined o(4\n)");
  /* Whatever Deno has can be named. */
  lt_run_request request = {.code = LT_STR("export default Object.getOwnPropertyNames(globalThis)"
                                           ".filter((n) => /^[A-Za-z]\\w+$/.test(n)).join(';')"),
                            .lang = LT_LANG_TYPESCRIPT};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_OK);
  assert_true(r.value.n > 1000);
  ts(w, r.value.p, TELL_END, "undefined");
  lt_run_result_release(&r);
}

/* --- Workers ------------------------------------------------------------------------------------------------------ */
IN_DENO(test_workers) {
  const char *body =
      "const at = 'data:application/javascript,' + encodeURIComponent('self.onmessage = (e) => postMessage(e.data + "
      "1)');\n"
      "const ask = (n) => new Promise((r) => { const w = new Worker(at, { type: 'module' }); w.postMessage(n);\n"
      "  w.onmessage = (e) => { r(e.data); w.terminate() } });\n";
  char code[1000];
  snprintf(code, sizeof code, "%soutput(await ask(1))", body);
  js(w, code, TELL_SAID, " o(2)");
  snprintf(code, sizeof code, "%sawait Promise.all(Array.from({ length: 12 }, (_, i) => ask(i)))", body);
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_JAVASCRIPT};
  lt_run_result r;
  run(w, &request, &r);
  assert_int_equal(r.status, LT_E_NOMEM);
  assert_non_null(strstr(r.error.p, "no room for another Worker"));
  assert_null(r.texts);
  lt_run_result_release(&r);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_stack_of_an_error),
      cmocka_unit_test(test_the_stack_of_an_error_ahead),
      cmocka_unit_test(test_output_without_a_newline),
      cmocka_unit_test(test_output_without_a_newline_ahead),
      cmocka_unit_test(test_its_input_is_at_its_end),
      cmocka_unit_test(test_its_input_is_at_its_end_ahead),
      cmocka_unit_test(test_what_a_failing_program_wrote),
      cmocka_unit_test(test_what_a_failing_program_wrote_ahead),
      cmocka_unit_test(test_what_a_program_wrote_whose_time_is_up),
      cmocka_unit_test(test_import_meta_main),
      cmocka_unit_test(test_import_meta_main_ahead),
      cmocka_unit_test(test_what_is_of_no_known_type),
      cmocka_unit_test(test_what_is_of_no_known_type_ahead),
      cmocka_unit_test(test_what_deno_has),
      cmocka_unit_test(test_workers),
  };
  return run_deno_tests(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
