/* What programs ask of the world: tools in their three styles, parallel, timers, output, store, discovery. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fakes/engine_fix.h"

static const fake_tool tools[] = {
    {.id = "bad", .text = "Tool \"bad\" failed: no", .fails = true},
    {.id = "refused", .text = "Tool \"refused\" cannot start", .refused = true},
    {.id = "late", .text = "[1,2,3]", .ms = 100},
    {.id = "later", .text = "\"later\"", .ms = 200},
    {.id = "lateBad", .text = "Tool \"lateBad\" failed: too late", .fails = true, .ms = 150},
    {.id = "slow", .text = "\"slow\"", .yields = 3},
    {.id = "num", .text = "42"},
    {.id = "str", .text = "\"abc\""},
    {.id = "arr", .text = "[3,1,2]"},
    {.id = "obj", .text = "{\"a\":1,\"b\":[1,2]}"},
    {.id = "nil", .text = "null"},
    {.id = "junk", .text = "{nope"},
    {.id = "nul", .bytes = {"\"a\\u0000b\"", 10}},
    {.id = "lone", .text = "[\"\\ud800\",\"\\udc00\\ud800\",\"\\ud83d\\ude00\"]"},
    {.id = NULL},
};

#define BINDINGS                                                                                                \
  LT_STR(                                                                                                       \
      "{\"bad\":\"bad\",\"refused\":\"refused\",\"late\":\"late\",\"later\":\"later\",\"lateBad\":\"lateBad\"," \
      "\"slow\":\"slow\",\"num\":\"num\",\"str\":\"str\",\"arr\":\"arr\",\"obj\":\"obj\",\"nil\":\"nil\","      \
      "\"junk\":\"junk\",\"nul\":\"nul\",\"lone\":\"lone\",\"echo\":\"srv.echo\"}")

#define PLAIN   .bindings = BINDINGS
#define PROMISE .bindings = BINDINGS, .calls = LT_CALLS_PROMISE
#define RESULT  .bindings = BINDINGS, .calls = LT_CALLS_RESULT

static void plain_calls_return_the_value(void **state) {
  static const engine_case cases[] = {
      {"echo({ a: 1 }).input.a", "1"},
      {"(await echo(1)).input", "1"},
      {"async function f() { return (await echo(2)).input } await f()", "2"},
      {"num() + 1", "43"},
      {"arr().sort()", "[1,2,3]"},
      {"Array.isArray(arr())", "true"},
      {"const { a, b: [, last] } = obj(); [a, last]", "[1,2]"},
      {"nil()", "null"},
      {"slow()", "'slow'"},
      {"[1, 2].map(n => echo(n).input)", "[1,2]"},
      {"[1, 2].map(echo).length", "2"},
      {"echo.name", "'echo'"},
      {"echo.call(null, 3).input", "3"},
      {"new Function('return echo(4).input')()", "4"},
      {"eval('echo(5).input')", "5"},
      {"bad()", "Error: Tool \"bad\" failed: no"},
      {"refused()", "Error: Tool \"refused\" cannot start"},
      {"try { bad() } catch (e) { [e instanceof Error, e.message] }", "[true,\"Tool \\\"bad\\\" failed: no\"]"},
      {"new echo(1)", "TypeError: not a constructor"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases, PLAIN);
  ENGINE_EXPECT("slow()", "'slow'", PLAIN);
  assert_int_equal(engine_host.suspended, 3);
}

static void inputs_are_the_json_of_what_was_written(void **state) {
  (void)state;
  ENGINE_EXPECT(
      "echo(); echo(undefined); echo(null); echo({}); echo('s'); echo([1, , NaN]); echo({ a: undefined });"
      "echo(new Date(0)); echo({ toJSON: () => 7 }); echo(() => 1); echo(1, 2); 0",
      "0", PLAIN);
  engine_asked(&engine_host.calls,
               "srv.echo \nsrv.echo \nsrv.echo null\nsrv.echo {}\nsrv.echo \"s\"\nsrv.echo [1,null,null]\nsrv.echo {}\n"
               "srv.echo \"1970-01-01T00:00:00.000Z\"\nsrv.echo 7\nsrv.echo \nsrv.echo 1\n");
  static const engine_case cases[] = {
      {"echo(10n)", "TypeError: *"},
      {"const c = {}; c.c = c; echo(c)", "TypeError: circular reference"},
      {"echo({ get a() { throw new Error('mine') } })", "Error: mine"},
      {NULL, NULL},
  };
  ENGINE_EXPECT_ALL(cases, PLAIN);
  ENGINE_EXPECT_ALL(cases, PROMISE);
  engine_asked(&engine_host.calls, "");
}

/* Plain objects are read property by property, all others go to JSON.stringify. The text is the same. */
static void plain_objects_are_as_json_has_them(void **state) {
  (void)state;
  ENGINE_EXPECT(
      "echo({ b: 1, a: -2, 2: true, 1: false, n: null }); echo({ t: 'x', w: '\\xfc\\u20ac\\u{1f600}\\x7f', e: '' });"
      "echo({ q: '\"' }); echo({ q: 'a\\\\b\\n\\x01' }); echo({ s: '\\ud800', t: '\\ud7ff\\ue000' }); echo({ 'k\"\\n': "
      "1 });"
      "echo({ f: 1.5, z: -0, e: 1e21, n: NaN, i: 2147483648 }); echo({ u: undefined, f() {}, s: Symbol(), b: 1 });"
      "echo({ [Symbol('s')]: 1, a: 'r' + 'o'.repeat(9000).slice(0, 3) }); echo({ a: [1, { b: 2 }] }); 0",
      "0", PLAIN);
  engine_asked(&engine_host.calls,
               "srv.echo {\"1\":false,\"2\":true,\"b\":1,\"a\":-2,\"n\":null}\n"
               "srv.echo {\"t\":\"x\",\"w\":\"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\x7f\",\"e\":\"\"}\n"
               "srv.echo {\"q\":\"\\\"\"}\nsrv.echo {\"q\":\"a\\\\b\\n\\u0001\"}\n"
               "srv.echo {\"s\":\"\\ud800\",\"t\":\"\xed\x9f\xbf\xee\x80\x80\"}\nsrv.echo {\"k\\\"\\n\":1}\n"
               "srv.echo {\"f\":1.5,\"z\":0,\"e\":1e+21,\"n\":null,\"i\":2147483648}\nsrv.echo {\"b\":1}\n"
               "srv.echo {\"a\":\"rooo\"}\nsrv.echo {\"a\":[1,{\"b\":2}]}\n");
  ENGINE_EXPECT(
      "let read = 0; echo({ get a() { return ++read } }); echo(Object.defineProperty({ b: 2 }, 'a', { value: 1 }));"
      "echo(Object.assign(Object.create({ far: 1 }), { near: 1 })); echo(Object.assign(Object.create(null), { a: 1 }));"
      "echo(new (class { a = 1; #b = 2; get c() { return 3 } })()); echo(Object.freeze({ a: 1 }));"
      "echo(new Proxy({ a: 1 }, { get: () => 9 })); echo({ __proto__: { toJSON() { return 'p' } }, a: 1 });"
      "echo({ toJSON: 5, a: 1 }); echo(new Map([[1, 2]])); read",
      "1", PLAIN);
  engine_asked(&engine_host.calls,
               "srv.echo {\"a\":1}\nsrv.echo {\"b\":2}\nsrv.echo {\"near\":1}\nsrv.echo {\"a\":1}\n"
               "srv.echo {\"a\":1}\nsrv.echo {\"a\":1}\nsrv.echo {\"a\":9}\nsrv.echo \"p\"\n"
               "srv.echo {\"toJSON\":5,\"a\":1}\nsrv.echo {}\n");
  ENGINE_EXPECT(
      "Object.prototype.toJSON = function () { return 'mine' }; echo({ a: 1 }); delete Object.prototype.toJSON;"
      "Object.defineProperty(Object.prototype, 'toJSON', { get() { throw new Error('no') }, configurable: true });"
      "try { echo({ a: 1 }) } catch (e) { e.message }",
      "'no'", PLAIN);
  engine_asked(&engine_host.calls, "srv.echo \"mine\"\n");
}

/* 400 MB in all, of the 128 that a program may have. */
static void the_text_of_an_input_is_freed(void **state) {
  (void)state;
  ENGINE_EXPECT("const text = 'x'.repeat(1e6); for (let i = 0; i < 400; i++) num([text]); 'done'", "'done'", PLAIN);
}

/* Everything a model may do with what it takes for the value. */
static void promises_stand_for_their_value(void **state) {
  static const engine_case cases[] = {
      {"num() + 1", "43"},
      {"num() > 41 && num() == 42", "true"},
      {"let n = num(); n++; n", "43"},
      {"-num()", "-42"},
      {"num().toFixed(1)", "'42.0'"},
      {"obj().a", "1"},
      {"obj().b.map(x => x * 2)", "[2,4]"},
      {"obj().b?.[1]", "2"},
      {"obj().nothing", "undefined"},
      {"const { a, ...rest } = obj(); [a, rest]", "[1,{\"b\":[1,2]}]"},
      {"const [x, ...rest] = arr(); [x, rest]", "[3,[1,2]]"},
      {"[...arr()]", "[3,1,2]"},
      {"({ ...obj() })", "{\"a\":1,\"b\":[1,2]}"},
      {"let s = 0; for (const x of arr()) s += x; s", "6"},
      {"const k = []; for (const key in obj()) k.push(key); k", "[\"a\",\"b\"]"},
      {"`${str()} ${num()} ${obj()}`", "'abc 42 {\"a\":1,\"b\":[1,2]}'"},
      {"str().toUpperCase() + str().length + str()[0]", "'ABC3a'"},
      {"JSON.stringify(obj())", "'{\"a\":1,\"b\":[1,2]}'"},
      {"JSON.stringify({ x: arr() })", "'{\"x\":[3,1,2]}'"},
      {"Object.keys(obj())", "[\"a\",\"b\"]"},
      {"Object.entries(obj())", "[[\"a\",1],[\"b\",[1,2]]]"},
      {"Object.assign({}, obj())", "{\"a\":1,\"b\":[1,2]}"},
      {"'a' in obj()", "true"},
      {"'z' in obj()", "false"},
      {"const o = obj(); o.z = 5; delete o.a; o", "{\"b\":[1,2],\"z\":5}"},
      {"arr().length + arr()[1]", "4"},
      {"arr().sort().concat([9])", "[1,2,3,9]"},
      {"Math.max(...arr())", "3"},
      {"new Set(arr()).size", "3"},
      {"Array.from(arr())", "[3,1,2]"},
      {"echo({ v: num() }).input.v", "42"},
      {"store('k', obj()); recall('k').b", "[1,2]"},
      {"obj()", "{\"a\":1,\"b\":[1,2]}"},
      {"[num(), { s: str() }]", "[42,{\"s\":\"abc\"}]"},
      {"async function f() { return num() } await f()", "42"},
      {"nil()?.x", "undefined"},
      {"bad().x", "Error: Tool \"bad\" failed: no"},
      {"try { bad().x } catch (e) { e.message }", "'Tool \"bad\" failed: no'"},
      {"try { await bad() } catch (e) { e.message }", "'Tool \"bad\" failed: no'"},
      {"refused()", "Error: Tool \"refused\" cannot start"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases, PROMISE);
}

/* Where a promise cannot pass for its value: documented, so that a change is noticed. */
static void what_promises_cannot_pretend(void **state) {
  static const engine_case cases[] = {
      {"Array.isArray(arr())", "false"},    {"Array.isArray(await arr())", "true"},
      {"typeof num()", "'object'"},         {"str() === 'abc'", "false"},
      {"nil() == null", "false"},           {"nil().x", "undefined"}, /* so that nil()?.x is */
      {"num() instanceof Promise", "true"}, {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases, PROMISE);
}

static void promises_are_promises(void **state) {
  static const engine_case cases[] = {
      {"await Promise.all([num(), str()])", "[42,\"abc\"]"},
      {"Promise.all([num(), bad()])", "Error: Tool \"bad\" failed: no"},
      {"(await Promise.allSettled([bad(), num()])).map(r => r.status)", "[\"rejected\",\"fulfilled\"]"},
      {"Promise.race([late(), num()])", "42"},
      {"Promise.any([bad(), lateBad(), later()])", "'later'"},
      {"num().then(x => x + 1)", "43"},
      {"num().then(x => { throw new Error('in then') })", "Error: in then"},
      {"bad().catch(e => 'caught ' + e.message)", "'caught Tool \"bad\" failed: no'"},
      {"num().finally(() => 1).then(x => x)", "42"},
      {"const p = late(); p.length; await p", "[1,2,3]"},
      {"Promise.resolve(num())", "42"},
      {"bad(); 5", "Error: Tool \"bad\" failed: no"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases, PROMISE);
}

static void promise_all_is_concurrent(void **state) {
  (void)state;
  ENGINE_EXPECT("await Promise.all([later(), late(), num()])", "[\"later\",[1,2,3],42]", PROMISE);
  assert_int_equal(engine_host.most_open, 3);
  assert_int_equal(engine_host.now_ms, 200);
  ENGINE_EXPECT(
      "const order = []; await Promise.all([later().then(() => order.push('b')), late().then(() => "
      "order.push('a'))]); order",
      "[\"a\",\"b\"]", PROMISE);
  ENGINE_EXPECT("late().length; late().length", "3", PROMISE);
  assert_int_equal(engine_host.now_ms, 200);
}

static void many_calls_in_flight(void **state) {
  (void)state;
  ENGINE_EXPECT(
      "const all = await Promise.all(Array.from({ length: 300 }, (_, i) => echo(i))); all.map(a => a.input)"
      ".every((n, i) => n === i)",
      "true", PROMISE);
  assert_int_equal(engine_host.most_open, 300);
  engine_host.last_first = true;
  ENGINE_EXPECT(
      "const all = await Promise.all(Array.from({ length: 300 }, (_, i) => echo(i))); all.map(a => a.input)"
      ".every((n, i) => n === i)",
      "true", PROMISE);
  engine_host.last_first = false;
}

static void calls_open_at_the_end_are_waited_for(void **state) {
  (void)state;
  ENGINE_EXPECT("late().then(() => output('arrived')); 'ended'", "'ended'", PROMISE);
  engine_asked(&engine_host.outputs, "arrived\n");
  ENGINE_EXPECT("late(); later(); 1", "1", PROMISE);
  assert_int_equal(engine_host.open_count, 0);
  assert_int_equal(engine_host.now_ms, 200);
  ENGINE_EXPECT("lateBad(); 1", "Error: Tool \"lateBad\" failed: too late", PROMISE);
  ENGINE_EXPECT("lateBad(); 1", "1", RESULT);
}

static void results_do_not_throw(void **state) {
  static const engine_case cases[] = {
      {"await num()", "{\"success\":true,\"value\":42}"},
      {"await bad()", "{\"success\":false,\"error\":\"Tool \\\"bad\\\" failed: no\"}"},
      {"await refused()", "{\"success\":false,\"error\":\"Tool \\\"refused\\\" cannot start\"}"},
      {"const r = await obj(); r.success ? r.value.b[1] : r.error", "2"},
      {"(await Promise.all([num(), bad()])).map(r => r.success)", "[true,false]"},
      {"num() instanceof Promise", "true"},
      {"num().value", "undefined"},
      {"const c = {}; c.c = c; (await echo(c)).success", "false"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases, RESULT);
}

static void typescripts_console_log_is_output(void **state) {
  (void)state;
  ENGINE_EXPECT("console.log('a', { b: 1 }); console.error('e'); console.warn('w'); output('o'); log('l')", "undefined",
                RESULT);
  engine_asked(&engine_host.outputs, "a { b: 1 }\n\no\n");
  engine_asked(&engine_host.logs, "error e\nwarn w\nlog l\n");
}

static void parallel_in_order_with_failures_in_their_slots(void **state) {
  (void)state;
  const char *code =
      "parallel([{ tool: 'later', input: 1 }, { tool: 'bad' }, { tool: 'nope' }, { tool: 'aB', input: {} }"
      ", 5, null, { input: 1 }, { tool: 'refused' }])";
  const char *want =
      "[\"later\",{\"error\":\"Tool \\\"bad\\\" failed: no\"},"
      "{\"error\":\"Tool \\\"nope\\\" not found. Did you mean: a.b?\"},{\"tool\":\"a.b\",\"input\":{}},"
      "{\"error\":\"parallel()[4] is not a {tool, input} object\"},"
      "{\"error\":\"parallel()[5] is not a {tool, input} object\"},"
      "{\"error\":\"parallel()[6] is not a {tool, input} object\"},"
      "{\"error\":\"Tool \\\"refused\\\" cannot start\"}]";
  ENGINE_EXPECT(code, want, PLAIN);
  assert_int_equal(engine_host.most_open, 3);
  engine_asked(&engine_host.calls, "later 1\nbad \na.b {}\nrefused \n");
  ENGINE_EXPECT(code, want, PROMISE);
  ENGINE_EXPECT(code, want, RESULT);
  engine_host.last_first = true;
  ENGINE_EXPECT(code, want, PLAIN);
  engine_host.last_first = false;
}

static void parallel_follows_the_styles(void **state) {
  static const engine_case same[] = {
      {"parallel([])", "[]"},
      {"(await parallel([{ tool: 'num' }]))[0]", "42"},
      {"parallel(5)", "TypeError: parallel() expects an array of {tool, input} objects"},
      {"parallel()", "TypeError: parallel() expects an array of {tool, input} objects"},
      {NULL, NULL},
  };
  static const engine_case value[] = {
      {"parallel([{ tool: 'num' }])[0]", "42"},
      {"const [a, b] = parallel([{ tool: 'num' }, { tool: 'str' }]); [b, a]", "[\"abc\",42]"},
      {"parallel([{ tool: 'late' }]).length", "1"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(same, PLAIN);
  ENGINE_EXPECT_ALL(same, PROMISE);
  ENGINE_EXPECT_ALL(same, RESULT);
  ENGINE_EXPECT_ALL(value, PLAIN);
  ENGINE_EXPECT_ALL(value, PROMISE);
  ENGINE_EXPECT("parallel([{ tool: 'late' }]).then(r => r.length)", "1", PROMISE);
}

static void tools_by_their_id(void **state) {
  static const engine_case cases[] = {
      {"tools['a.b']({ x: 1 }).input.x", "1"},
      {"tools.aB().tool", "'a.b'"},
      {"const t = tools['a.b']; [t(1).input, t.name]", "[1,\"a.b\"]"},
      {"tools.nope", "ReferenceError: Tool \"nope\" not found. Did you mean: a.b?"},
      {"tools['nope.x'](1)", "ReferenceError: Tool \"nope\" not found. Did you mean: a.b?"},
      {"['a.b' in tools, 'nope' in tools, Symbol() in tools]", "[true,false,false]"},
      {"Object.keys(tools)", "[\"a.b\"]"},
      {"`${typeof tools.then} ${tools[Symbol.iterator]}`", "'undefined undefined'"},
      {"tools", "{\"a.b\":\"[Function: a.b]\"}"},
      {"tools.x = 1", "TypeError: tools cannot be changed"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases, PLAIN);
  ENGINE_EXPECT("(await tools['a.b'](2)).value.input", "2", RESULT);
}

static void outputs_and_logs_as_text(void **state) {
  (void)state;
  ENGINE_EXPECT(
      "output('s'); output({ a: 1 }); output([1]); output(undefined); output(null); output(NaN); output(12n);"
      "output(() => 1); output(new Date(0)); output(Symbol('y')); output(new Map([['k', 1]])); output(''); "
      "output('\"q\"'); output()",
      "undefined");
  engine_asked(&engine_host.outputs,
               "s\n{\"a\":1}\n[1]\nundefined\nnull\nNaN\n12\n[Function: anonymous]\n"
               "1970-01-01T00:00:00.000Z\nSymbol(y)\n{\"k\":1}\n\n\"q\"\nundefined\n");
  ENGINE_EXPECT(
      "log(); log('a', 1, { b: [2] }, undefined, null, new Error('e')); console.log('c'); console.info('i');"
      "console.debug('d'); console.warn('w'); console.error('e', [new Date(0)]);"
      "console.assert(1 == 1, 'no'); console.assert(1 == 2, 'yes'); console.count(); console.count();"
      "console.group('g'); console.log('in'); console.groupEnd(); console.table([1])",
      "undefined");
  engine_asked(&engine_host.logs,
               "log \nlog a 1 {\"b\":[2]} undefined null {\"name\":\"Error\",\"message\":\"e\"}\nlog c\nlog i\nlog d\n"
               "warn w\nerror e [ 1970-01-01T00:00:00.000Z ]\nerror Assertion failed: yes\n"
               "log default: 1\nlog default: 2\nlog g\nlog   in\n"
               "log ┌─────────┬────────┐\n│ (index) │ Values │\n├─────────┼────────┤\n│ 0       │ 1      │\n"
               "└─────────┴────────┘\n");
}

static void done_and_complete(void **state) {
  (void)state;
  ENGINE_EXPECT("done(); output('after'); 1", "1");
  assert_int_equal(engine_host.done, 1);
  engine_asked(&engine_host.outputs, "after\n");
  ENGINE_EXPECT("complete({ response: 'all good', followUp: 'more?', data: { n: 1 } })",
                "{\"stored\":true,\"followUp\":true}");
  assert_int_equal(engine_host.done, 1);
  engine_asked(&engine_host.outputs, "all good\n\n\nmore?\n");
  ENGINE_EXPECT("complete({ response: '', data: { n: 2 } }); recall('_lastData').n", "2");
  static const engine_case wrong[] = {
      {"complete()", "TypeError: complete() expects {response: *"},
      {"complete('text')", "TypeError: complete() expects {response: *"},
      {"complete({ response: 5 })", "TypeError: complete() expects {response: *"},
      {NULL, NULL},
  };
  ENGINE_EXPECT_ALL(wrong);
  assert_int_equal(engine_host.done, 0);
}

static void store_and_recall(void **state) {
  static const engine_case cases[] = {
      {"recall('nothing')", "undefined"},
      {"store('k', { a: [1] }); recall('k').a", "[1]"},
      {"store('k', 1); store('k', 'two'); recall('k')", "'two'"},
      {"store('k', null); recall('k')", "null"},
      {"store('k', 1); store('k', undefined); recall('k')", "undefined"},
      {"store('k', new Set([1])); recall('k')", "[1]"},
      {"store(5, 'number'); recall('5')", "'number'"},
      {"const o = { a: 1 }; store('k', o); o.a = 2; recall('k').a", "1"},
      {"[0, -1, 999999999, -999999999, 1000000000, 2147483648, -2147483648, 1.5, true, false, '1', ''].filter((v) => {"
       "  store('k', v);"
       "  return !Object.is(recall('k'), v);"
       "}).length",
       "0"},
      {"store('\xc3\xa9', 1); store('\xe4\xb8\x80', 2); [recall('\xc3\xa9'), recall('\xe4\xb8\x80')]", "[1,2]"},
      {"const long = '0123456789'.repeat(2000); store(long.slice(7, 40), 4); recall('789' + '0123456789'.repeat(3))",
       "4"},
      {"let built = ''; for (const c of 'in pieces') built += c; store('in pieces', 5); recall(built)", "5"},
      {"store(undefined, 6); [recall(), recall.name, typeof recall(1, 2, 3, 4, 5, 6, 7, 8, 9)]",
       "[6,\"recall\",\"undefined\"]"},
      {"[-1, -0, 0, 0.5, 1e21, NaN, 123456789, 1234567890].every((n) => { store('n', n);"
       "  return JSON.stringify(recall('n')) === (n === n ? JSON.stringify(n) : '\"NaN\"'); })",
       "true"},
      {"store({ toString: () => 'k' }, 3); recall({ toString: () => 'k' })", "3"},
      {"recall({ toString() { throw new RangeError('no name') } })", "RangeError: no name"},
      {"store('', 1)", "Error: store(): no room"},
      {"try { store('', 1) } catch (e) { e instanceof Error }", "true"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
}

static void discovery(void **state) {
  (void)state;
  ENGINE_EXPECT("[discoverTools('weather'), discoverTools(), toolSchema('a.b')]",
                "[[{\"id\":\"a.b\"}],[{\"id\":\"a.b\"}],{\"type\":\"object\"}]");
  engine_asked(&engine_host.asked, "discover weather\ndiscover \nschema a.b\n");
  ENGINE_EXPECT("toolSchema('nope')", "Error: Tool \"nope\" not found");
  ENGINE_EXPECT("await Promise.all([discoverTools('x')])", "[[{\"id\":\"a.b\"}]]", PROMISE);
}

static void timers(void **state) {
  static const engine_case cases[] = {
      {"sleep(100); 1", "1"},
      {"await sleep(100)", "undefined"},
      {"sleep(-1); sleep('x'); sleep(); sleep(NaN); sleep(0.5); 1", "1"},
      {"await new Promise(done => setTimeout(done, 50, 'value'))", "'value'"},
      {"const order = []; setTimeout(() => order.push(2), 20); setTimeout(() => order.push(1), 10); "
       "await new Promise(done => setTimeout(done, 30)); order",
       "[1,2]"},
      {"let n = 0; const t = setTimeout(() => n++, 10); clearTimeout(t); await new Promise(d => setTimeout(d, 20)); n",
       "0"},
      {"clearTimeout(); clearTimeout(99); clearTimeout('x'); 1", "1"},
      {"setTimeout('code', 1); 1", "TypeError: a timer expects a function"},
      {NULL, NULL},
  };
  (void)state;
  ENGINE_EXPECT_ALL(cases);
  ENGINE_EXPECT_ALL(cases, PROMISE);
  ENGINE_EXPECT("setTimeout(() => output('at the end'), 500); 'value'", "'value'");
  engine_asked(&engine_host.outputs, "at the end\n");
  assert_int_equal(engine_host.now_ms, 500);
  ENGINE_EXPECT("let n = 0; const tick = () => { if (++n < 5) setTimeout(tick, 10) }; tick(); await sleep(100); n", "5",
                PROMISE);
  ENGINE_EXPECT("await Promise.all([sleep(30), sleep(20), late()]); 1", "1", PROMISE);
  assert_int_equal(engine_host.now_ms, 100);
}

/* Strings are WTF-8 on the border: halves of a pair and NUL survive both ways. */
static void odd_characters(void **state) {
  (void)state;
  ENGINE_EXPECT("'\\ud800'", "'\xed\xa0\x80'");
  ENGINE_EXPECT("'a\\ud83d\\ude00b'",
                "'a\xf0\x9f\x98\x80"
                "b'");
  ENGINE_EXPECT("['\\ud800', '\\u0000']", "[\"\\ud800\",\"\\u0000\"]");
  ENGINE_EXPECT("'a\\0b'", "'a*");
  assert_int_equal(engine_result.text.n, 3);
  assert_memory_equal(engine_result.text.p, "a\0b", 3);
  ENGINE_EXPECT("lone().map(s => [...s].map(c => c.charCodeAt(0).toString(16) + '/' + c.length))",
                "[[\"d800/1\"],[\"dc00/1\",\"d800/1\"],[\"d83d/2\"]]", PLAIN);
  ENGINE_EXPECT("nul().length", "3", PLAIN);
  ENGINE_EXPECT("echo('\\ud800').input.charCodeAt(0).toString(16)", "'d800'", PLAIN);
  engine_asked(&engine_host.calls, "srv.echo \"\\ud800\"\n");
  ENGINE_EXPECT("output('\\ud800|\\udc00\\ud800|\\ud83d\\ude00')", "undefined");
  engine_asked(&engine_host.outputs, "\xed\xa0\x80|\xed\xb0\x80\xed\xa0\x80|\xf0\x9f\x98\x80\n");
  ENGINE_EXPECT("throw new Error('\\ud800')", "Error: \xed\xa0\x80");
  ENGINE_EXPECT("input.length", "2", .input = LT_STR("\"\xed\xa0\x80x\""));
}

/* The program's own text may hold anything, too. */
static void odd_source(void **state) {
  (void)state;
  engine_expect(&(lt_program){.code = LT_STR("'a\0b'.length"), .file = LT_STR("program.js")}, "3");
  engine_expect(&(lt_program){.code = LT_STR("1\0+1"), .file = LT_STR("program.js")}, "SyntaxError: *");
  ENGINE_EXPECT("'\xed\xa0\x80'.charCodeAt(0).toString(16)", "'d800'");
  ENGINE_EXPECT("'\xff\xfe'.length", "SyntaxError: invalid UTF-8 sequence");
  ENGINE_EXPECT(
      "\xef\xbb\xbf"
      "1",
      "1");
  ENGINE_EXPECT("#!/usr/bin/env lathe\n7", "7");
}

static void answers_that_are_no_json(void **state) {
  (void)state;
  ENGINE_EXPECT("try { junk(); 'no' } catch (e) { e instanceof Error && e.message.length > 0 }", "true", PLAIN);
  ENGINE_EXPECT("try { await junk(); 'no' } catch (e) { e instanceof Error }", "true", PROMISE);
  ENGINE_EXPECT("(await junk()).success", "false", RESULT);
}

/* A program that is stopped inside a call never sees its answer, whatever it catches. */
static void stopped_in_a_call(void **state) {
  static const engine_case cases[] = {
      {"try { await slow() } catch (e) { output('caught') } finally { output('finally') } output('on')", "stopped"},
      {"try { await late() } catch (e) { output('caught') } finally { output('finally') } output('on')", "stopped"},
      {"await parallel([{ tool: 'late' }]); output('on')", "stopped"},
      {"await new Promise(d => setTimeout(d, 10)); output('on')", "stopped"},
      {"await sleep(5); output('on')", "stopped"},
      {NULL, NULL},
  };
  (void)state;
  engine_host.stop_at_poll = 0;
  for (const engine_case *c = cases; c->code != NULL; c++) {
    ENGINE_EXPECT(c->code, c->want, PLAIN);
    engine_asked(&engine_host.outputs, "");
    ENGINE_EXPECT(c->code, c->want, PROMISE);
    engine_asked(&engine_host.outputs, "");
  }
  ENGINE_EXPECT("try { for (;;); } catch (e) { output('caught') } finally { output('finally') }", "stopped");
  engine_asked(&engine_host.outputs, "");
  engine_host.stop_at_poll = 3;
  ENGINE_EXPECT("function f() { try { f() } finally { for (;;); } } f()", "stopped");
  ENGINE_EXPECT("/(a+)+$/.test('a'.repeat(100) + 'b')", "stopped");
  engine_host.stop_at_poll = -1;
}

/* Each poll may suspend the program, also in the middle of the engine's own work. */
static void polls_that_suspend(void **state) {
  (void)state;
  engine_host.poll_yields = true;
  ENGINE_EXPECT("let n = 0; for (let i = 0; i < 300000; i++) n += i; n", "44999850000");
  assert_true(engine_host.suspended > 3);
  ENGINE_EXPECT("Array.from({ length: 30000 }, (_, i) => (i * 7919) % 30011).sort((a, b) => a - b)[7]", "7");
  assert_true(engine_host.suspended > 3);
  ENGINE_EXPECT("echo(num()).input + parallel([{ tool: 'num' }])[0]", "84", PLAIN);
  engine_host.poll_yields = false;
}

static int open_with_tools(void **state) {
  int failed = engine_open(state);
  engine_host.tools = tools;
  return failed;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_calls_return_the_value),
      cmocka_unit_test(inputs_are_the_json_of_what_was_written),
      cmocka_unit_test(plain_objects_are_as_json_has_them),
      cmocka_unit_test(the_text_of_an_input_is_freed),
      cmocka_unit_test(promises_stand_for_their_value),
      cmocka_unit_test(what_promises_cannot_pretend),
      cmocka_unit_test(promises_are_promises),
      cmocka_unit_test(promise_all_is_concurrent),
      cmocka_unit_test(many_calls_in_flight),
      cmocka_unit_test(calls_open_at_the_end_are_waited_for),
      cmocka_unit_test(results_do_not_throw),
      cmocka_unit_test(typescripts_console_log_is_output),
      cmocka_unit_test(parallel_in_order_with_failures_in_their_slots),
      cmocka_unit_test(parallel_follows_the_styles),
      cmocka_unit_test(tools_by_their_id),
      cmocka_unit_test(outputs_and_logs_as_text),
      cmocka_unit_test(done_and_complete),
      cmocka_unit_test(store_and_recall),
      cmocka_unit_test(discovery),
      cmocka_unit_test(timers),
      cmocka_unit_test(odd_characters),
      cmocka_unit_test(odd_source),
      cmocka_unit_test(answers_that_are_no_json),
      cmocka_unit_test(stopped_in_a_call),
      cmocka_unit_test(polls_that_suspend),
  };
  return cmocka_run_group_tests(tests, open_with_tools, engine_close);
}
