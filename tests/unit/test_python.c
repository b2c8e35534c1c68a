/* The Python runner: what programs may be, what comes out of them, and where their errors are said to be. */
#include "python_fix.h"

/* --- Values ------------------------------------------------------------------------------------------------------- */
IN_PYTHON(test_values) {
  (void)w;
  py_expect("set_result(1+2)", "json 3");
  py_expect("set_result('abc')", "string abc");
  py_expect("set_result('')", "string ");
  py_expect("1+2", "json 3");
  py_expect("", "undefined");
  py_expect("# nothing\n", "undefined");
  py_expect("set_result(None)", "json null");
  py_expect("set_result(0)", "json 0");
  py_expect("set_result({'a': [1, 2.5, True, None]})", "json {\"a\":[1,2.5,true,null]}");
  py_expect("set_result(1)\nset_result(2)", "json 2");
  py_expect("set_result('\\u00e9\\U0001f600')", "string \xc3\xa9\xf0\x9f\x98\x80");
  py_expect("set_result(2**70)", "json 1180591620717411303424");
  py_expect("set_result(len(str(10**5000)))\nset_result(10**5000)\nset_result(1)", "json 1");
}

IN_PYTHON(test_values_that_json_has_no_word_for) {
  (void)w;
  py_expect("set_result({1, 2})", "json [1,2]");
  py_expect("set_result(float('nan'))", "json \"NaN\"");
  py_expect("set_result([float('-inf')])", "json [\"-Infinity\"]");
  py_expect("import datetime\nset_result({'d': datetime.date(2026, 1, 2)})", "json {\"d\":\"2026-01-02\"}");
  py_expect("set_result(b'abc')", "json \"abc\"");
  py_expect("set_result(b'\\xff\\x00')", "json \"/wA=\"");
  py_expect("a = []\na.append(a)\nset_result(a)", "json [\"[Circular]\"]");
  py_expect("import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\n    y: set\nset_result([P(1, {2})])",
            "json [{\"x\":1,\"y\":[2]}]");
  py_expect("set_result({(1, 2): 'pair', None: 0, 3: 'n'})", "json {\"(1, 2)\":\"pair\",\"null\":0,\"3\":\"n\"}");
  py_expect("class A:\n    def tolist(self):\n        return [1, 2]\nset_result({'v': A()})", "json {\"v\":[1,2]}");
  py_expect(
      "import decimal, pathlib, enum\nclass E(enum.Enum):\n    A = 'a'\n"
      "set_result([decimal.Decimal('1.5'), pathlib.Path('/x'), E.A, ValueError('why')])",
      "json [\"1.5\",\"/x\",\"a\",{\"name\":\"ValueError\",\"message\":\"why\"}]");
  py_expect("set_result(x * 2 for x in range(3))", "json [0,2,4]");
  py_expect("set_result({'a': 1}.keys())", "json [\"a\"]");
  py_expect("set_result('\\ud800')", "string \\ud800");
  py_expect("set_result(['\\ud800'])", "json [\"\\ud800\"]");
  py_expect_part("set_result(len)", "built-in function len");
  py_expect_part("set_result(object())", "<object object at");
  py_expect("class B:\n    def __repr__(self):\n        raise ValueError\nset_result(B())", "json \"<B>\"");
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */
IN_PYTHON(test_what_programs_may_be) {
  (void)w;
  py_expect("from __future__ import annotations\nset_result(1)", "json 1");
  py_expect("if __name__ == '__main__':\n    set_result('main')", "string main");
  py_expect("```python\nset_result(5)\n```", "json 5");
  py_expect("    set_result(6)\n    x = 7\n", "json 6");
  py_expect("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 8\nset_result(asyncio.run(f()))",
            "json 8");
  py_expect("import asyncio\nawait asyncio.sleep(0)\nset_result(9)", "json 9");
  py_expect("def f():\n    global g\n    g = 3\nf()\nset_result(g)", "json 3");
  py_expect("import pickle\nclass C:\n    pass\nset_result(type(pickle.loads(pickle.dumps(C()))).__name__)",
            "string C");
  py_expect("from lathe import set_result as s\ns(1)", "json 1");
  py_expect(
      "import os, tempfile\nopen('a.txt', 'w').write('x')\n"
      "set_result([os.listdir('.'), tempfile.gettempdir() == os.getcwd() == os.environ['HOME']])",
      "json [[\"a.txt\"],true]");
  py_expect("import random\nset_result(random.random() != random.random())", "json true");
}

IN_PYTHON(test_what_is_no_text) {
  (void)w;
  py_expect("set_result('\xff')", "E_INVALID the program is not valid UTF-8: save it as UTF-8 text");
  lt_run_request request = {.code = LT_STR("a\0b"), .lang = LT_LANG_PYTHON};
  py_expect_run(&request, TELL_END, "E_INVALID the program contains a NUL byte: save it as UTF-8 text");
  request = (lt_run_request){.code = LT_STR("1"), .lang = LT_LANG_PYTHON, .input = LT_STR("{")};
  lt_run_result result;
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  assert_int_equal(result.status, LT_E_INVALID);
  lt_run_result_release(&result);
  py_expect("\xef\xbb\xbfset_result(1)\r\nset_result(2)\r\n", "json 2");
}

IN_PYTHON(test_what_it_is_told) {
  (void)w;
  lt_run_request request = {
      .code = LT_STR("set_result(input_data['a'])"), .lang = LT_LANG_PYTHON, .input = LT_STR("{\"a\": [1, \"x\"]}")};
  py_expect_run(&request, TELL_END, "json [1,\"x\"]");
  py_expect("set_result(input_data)", "json null");
  py_expect("input('name? ')",
            "E_PROGRAM 1:1 EOFError: input() has no answer: a program has no standard input; use input_data, or call a "
            "tool [input('name? ')]");
  py_expect("import sys\nset_result(sys.stdin.read())", "string ");
}

IN_PYTHON(test_logs) {
  (void)w;
  py_expect_all("print('a')\nprint('b', 'c')\nimport sys\nprint('err', file=sys.stderr)\nprint('no end', end='')",
                "undefined l(a) l(b c) l(err) l(no end)");
  py_expect_all("print('x\\ny')\nprint()", "undefined l(x) l(y) l()");
  py_expect_all("print('before')\nraise ValueError('x')",
                "E_PROGRAM 2:1 ValueError: x [raise ValueError('x')] l(before)");
  py_expect_all("import os\nos.write(1, b'raw\\n')\nprint('\\u00e9')", "undefined l(raw) l(\xc3\xa9)");
}

IN_PYTHON(test_how_much_is_logged) {
  (void)w;
  lt_run_request request = {.code = LT_STR("print('12345')\nprint('6789')\nprint('x')\nset_result(1)"),
                            .lang = LT_LANG_PYTHON,
                            .max_output_bytes = 7};
  py_expect_run(&request, TELL_ALL, "json 1 l(12345) l(67) log-cut");
  request.code = LT_STR("print('1234567')");
  py_expect_run(&request, TELL_ALL, "undefined l(1234567)");
  request.code = LT_STR("print('1234567\\u00e9' * 1000)");
  py_expect_run(&request, TELL_ALL, "undefined l(1234567) log-cut");
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */
IN_PYTHON(test_errors_are_where_they_were_written) {
  (void)w;
  py_expect("x = 1\n\n1/0", "E_PROGRAM 3:1 ZeroDivisionError: division by zero [1/0]");
  py_expect("def f():\n    return [][1]\n\nprint(f())",
            "E_PROGRAM 2:12 IndexError: list index out of range [return [][1]]");
  py_expect("if True:\nx = 1",
            "E_PROGRAM 2:1 IndentationError: expected an indented block after 'if' statement on line "
            "1 [x = 1]");
  py_expect("```python\n1/0\n```", "E_PROGRAM 2:1 ZeroDivisionError: division by zero [1/0]");
  py_expect("x = (1,\n  2", "E_PROGRAM 1:5 SyntaxError: '(' was never closed [x = (1,]");
  py_expect("from __future__ import annotations\nboom", "E_PROGRAM 2:1 NameError: name 'boom' is not defined [boom]");
  py_expect(
      "s = '\xc3\xa9\xc3\xa9'; s.nothing",
      "E_PROGRAM 1:11 AttributeError: 'str' object has no attribute 'nothing' [s = '\xc3\xa9\xc3\xa9'; s.nothing]");
  py_expect("class E(Exception):\n    def __str__(self):\n        raise ValueError\nraise E()",
            "E_PROGRAM 4:1 E: an error without a readable text [raise E()]");
  py_expect("def f(n):\n    return f(n + 1)\nf(0)",
            "E_PROGRAM 2:12 RecursionError: maximum recursion depth exceeded [return f(n + 1)]");
  py_expect("raise ExceptionGroup('two', [ValueError('a'), TypeError('b')])",
            "E_PROGRAM 1:1 ExceptionGroup: two (2 sub-exceptions); ValueError: a; TypeError: b [raise "
            "ExceptionGroup('two', [ValueError('a'), TypeError('b')])]");
  py_expect("async def f():\n    1/0\nimport asyncio\nasyncio.run(f())",
            "E_PROGRAM 2:5 ZeroDivisionError: division by zero [1/0]");
}

IN_PYTHON(test_stack) {
  (void)w;
  lt_run_request request = {.code = LT_STR("def f():\n    1/0\n\nf()"), .lang = LT_LANG_PYTHON};
  lt_run_result result;
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  assert_string_equal(result.stack.p, "at f (2:5)\nat <program> (4:1)");
  lt_run_result_release(&result);
}

IN_PYTHON(test_exits) {
  (void)w;
  py_expect("import sys\nset_result(1)\nsys.exit()", "json 1");
  py_expect("import sys\nsys.exit(0)", "undefined");
  py_expect(
      "import sys, threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), set_result('late'))).start()\n"
      "sys.exit()",
      "string late");
  py_expect("import atexit\natexit.register(set_result, 'at exit')", "string at exit");
  py_expect("import atexit\natexit.register(lambda: 1/0)\nset_result(1)", "json 1");
  py_expect("import sys\nsys.exit(3)", "E_PROGRAM 2:1 the program exited with code 3 [sys.exit(3)]");
  py_expect("raise SystemExit('no way')",
            "E_PROGRAM 1:1 the program exited with code 1: no way [raise SystemExit('no way')]");
  py_expect("exit(2)", "E_PROGRAM 1:1 the program exited with code 2 [exit(2)]");
  py_expect("import os\nset_result(7)\nos._exit(0)", "json 7");
  py_expect("import os\nos._exit(5)", "E_PROGRAM the program exited with code 5");
}

/* What was set before the failure is in the result beside it. */
IN_PYTHON(test_a_result_is_kept) {
  (void)w;
  lt_run_request request = {.code = LT_STR("set_result([1])\n1/0"), .lang = LT_LANG_PYTHON};
  lt_run_result result;
  lt_buf json;
  lt_buf_init(&json, LT_MIB);
  assert_int_equal(py_run(&request, &result, NULL), LT_OK);
  assert_int_equal(result.status, LT_E_PROGRAM);
  assert_int_equal(result.kind, LT_VALUE_JSON);
  assert_string_equal(result.value.p, "[1]");
  lt_run_result_json(&result, NULL, &json);
  assert_non_null(strstr(json.p, "\"result\":[1]"));
  lt_buf_release(&json);
  lt_run_result_release(&result);
}

IN_PYTHON(test_processes_are_refused_beforehand) {
  (void)w;
  py_expect_all(
      "print('not run')\nimport os\nos.system('ls')",
      "E_PROGRAM 3:1 os.system() is blocked: a program cannot start processes; use call_tool() to reach what is "
      "outside [os.system('ls')]");
  py_expect(
      "import subprocess\nsubprocess.run(['ls'])",
      "E_PROGRAM 2:1 subprocess.run() is blocked: a program cannot start processes; use call_tool() to reach what "
      "is outside [subprocess.run(['ls'])]");
  py_expect("s = 'os.system(1)' # subprocess.run()\nset_result(s)", "string os.system(1)");
  py_expect_part("import importlib\nm = importlib.import_module('sub' + 'process')\nm.run(['/bin/ls'])",
                 "E_PROGRAM 3:1 ");
  static const char *const others[] = {"from os import system\nsystem('ls')",
                                       "import os as o\no.system('ls')",
                                       "import os as o\no.popen('ls')",
                                       "import os\nos.execvp('ls', ['ls'])",
                                       "import os\nos.spawnlp(os.P_WAIT, 'ls', 'ls')",
                                       "import os\nos.posix_spawn('/bin/ls', ['ls'], {})",
                                       "import os\nos.fork()",
                                       "from subprocess import run\nrun(['ls'])",
                                       "from subprocess import Popen\nPopen('ls', shell=True)",
                                       "import multiprocessing\nmultiprocessing.Process(target=print).start()"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    py_expect_part(others[i], " is blocked: a program cannot start processes; use call_tool()");
  }
  py_expect(
      "import os as o\ntry:\n    o.system('ls')\nexcept OSError as e:\n    set_result(str(e))",
      "string os.system() is blocked: a program cannot start processes; use call_tool() to reach what is outside");
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
IN_PYTHON(test_calls) {
  (void)w;
  py_expect_all("set_result(call_tool('t.echo', {'a': 1}))", "json {\"a\":1} t.echo{\"a\":1}={\"a\":1}");
  py_expect_all("set_result(call_tool('t_echo'))", "json {} t.echo{}={}");
  py_expect_all("set_result(t_echo(a=1, b=[2]))",
                "json {\"a\":1,\"b\":[2]} t.echo{\"a\":1,\"b\":[2]}={\"a\":1,\"b\":[2]}");
  py_expect_all("set_result(t_echo({'from': 1}))", "json {\"from\":1} t.echo{\"from\":1}={\"from\":1}");
  py_expect_all("set_result(t_slow(3))", "json {\"ms\":3} t.slow{\"ms\":3}={\"ms\":3}");
  py_expect_all("set_result(tools['t.echo'](x=2))", "json {\"x\":2} t.echo{\"x\":2}={\"x\":2}");
  py_expect("t_fail_long; pass", "undefined");
  py_expect("set_result(call_tool('t.echo', {'s': {1}, 'f': float('nan')}))", "json {\"s\":[1],\"f\":\"NaN\"}");
  py_expect(
      "import asyncio\nasync def f():\n"
      "    return await asyncio.gather(*[asyncio.to_thread(t_slow, ms=i) for i in range(5)])\n"
      "set_result([x['ms'] for x in asyncio.run(f())])",
      "json [0,1,2,3,4]");
  py_expect("x = null", "E_PROGRAM 1:5 NameError: name 'null' is not defined: Python's word is None [x = null]");
  py_expect_part("import no_such_module", "No module named 'no_such_module' (there is Python's own library");
  py_expect("t_ecko()", "E_PROGRAM 1:1 NameError: name 't_ecko' is not defined. Did you mean: t_echo? [t_ecko()]");
}

IN_PYTHON(test_failed_calls) {
  (void)w;
  py_expect("call_tool('t.fail')",
            "E_PROGRAM 1:1 ToolError: Tool 't.fail' failed: it went wrong [call_tool('t.fail')]");
  py_expect("try:\n    t_fail()\nexcept RuntimeError as e:\n    set_result(str(e))",
            "string Tool 't.fail' failed: it went wrong");
  py_expect("try:\n    t_broken()\nexcept ToolError as e:\n    set_result(str(e))",
            "string Tool 't.broken' failed: the line is dead");
  py_expect_part("call_tool('t.ecko')", "t.echo");
  py_expect_part("call_tool('t.strict', {'n': 'x'})", "ToolError");
  py_expect("call_tool('execute_code', {'code': '1'})",
            "E_PROGRAM 1:1 ToolError: Tool 'execute_code' failed: it cannot be called from within a program (no "
            "recursion) [call_tool('execute_code', {'code': '1'})]");
  py_expect("call_tool(5)", "E_PROGRAM 1:1 TypeError: a tool's name is a string, not int [call_tool(5)]");
}

IN_PYTHON(test_parallel_calls) {
  py_expect("set_result([x['ms'] for x in call_tools_parallel([('t.slow', {'ms': m}) for m in (20, 1, 10)])])",
            "json [20,1,10]");
  w->tools.most_open = 0;
  py_expect("set_result(len(call_tools_parallel([('t.slow', {'ms': 20})] * 100)))", "json 100");
  assert_int_equal(w->tools.most_open, 100);
  py_expect_all(
      "try:\n    call_tools_parallel(['t.fail', ('t.count', {}), ['t.count']])\n"
      "except ToolError as e:\n    set_result(str(e))",
      "string Tool 't.fail' failed: it went wrong t.fail{}!it went wrong t.count{}=1 t.count{}=2");
  py_expect(
      "r = call_tools_parallel([{'name': 't.echo', 'args': {'a': 1}}, 't.fail'], return_exceptions=True)\n"
      "set_result([r[0], str(r[1]), isinstance(r[1], RuntimeError)])",
      "json [{\"a\":1},\"Tool 't.fail' failed: it went wrong\",true]");
  py_expect("set_result(call_tools_parallel([]))", "json []");
  py_expect("set_result(len(call_tools_parallel(['t.echo'] * 1000)))", "json 1000");
}

IN_PYTHON(test_threads) {
  (void)w;
  py_expect(
      "import threading\nout = {}\ndef f(i):\n    for j in range(20):\n        assert t_echo(i=i, j=j) == {'i': i, "
      "'j': j}\n"
      "    out[i] = t_slow(ms=i)['ms']\n"
      "ts = [threading.Thread(target=f, args=(i,)) for i in range(10)]\n[t.start() for t in ts]\n[t.join() for t in "
      "ts]\nset_result(sorted(out.values()))",
      "json [0,1,2,3,4,5,6,7,8,9]");
  py_expect(
      "import threading, time\ndef f():\n    time.sleep(0.05)\n    "
      "set_result('late')\nthreading.Thread(target=f).start()",
      "string late");
  py_expect(
      "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as e:\n"
      "    set_result([r['i'] for r in e.map(lambda i: t_echo(i=i), range(8))])",
      "json [0,1,2,3,4,5,6,7]");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_values_that_json_has_no_word_for),
      cmocka_unit_test(test_what_programs_may_be),
      cmocka_unit_test(test_what_is_no_text),
      cmocka_unit_test(test_what_it_is_told),
      cmocka_unit_test(test_logs),
      cmocka_unit_test(test_how_much_is_logged),
      cmocka_unit_test(test_errors_are_where_they_were_written),
      cmocka_unit_test(test_stack),
      cmocka_unit_test(test_exits),
      cmocka_unit_test(test_a_result_is_kept),
      cmocka_unit_test(test_processes_are_refused_beforehand),
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_failed_calls),
      cmocka_unit_test(test_parallel_calls),
      cmocka_unit_test(test_threads),
  };
  return py_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
