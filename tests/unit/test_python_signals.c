/* The Python runner: what interrupts a program in the middle of a call, what is too much for the connection, and a
 * program that breaks what it stands on. */
#include "python_fix.h"

#define ALARM                                                                                               \
  "import signal\ndef late(*_):\n    raise TimeoutError('too late')\nsignal.signal(signal.SIGALRM, late)\n" \
  "def soon(s=0.02): signal.setitimer(signal.ITIMER_REAL, s)\n"

IN_PYTHON(test_what_a_signal_handler_raises_goes_its_way) {
  (void)w;
  py_expect(ALARM
            "soon()\ntry:\n    t_hang()\nexcept TimeoutError as e:\n    first = str(e)\n"
            "set_result([first, t_echo(a=1), call_tools_parallel([('t.echo', {'b': 2})])])",
            "json [\"too late\",{\"a\":1},[{\"b\":2}]]");
  py_expect(ALARM
            "soon()\ntry:\n    call_tools_parallel(['t.hang', 't.echo'], return_exceptions=True)\n"
            "except TimeoutError as e:\n    set_result(t_echo(a=str(e)))",
            "json {\"a\":\"too late\"}");
}

IN_PYTHON(test_a_signal_at_any_place) {
  (void)w;
  /* Answers of several lengths, and inputs that are sent in pieces. */
  py_expect(ALARM
            "import random\nlate_ones, n = 0, 0\nsizes = [1, 1000, 70_000, 3_000_000]\n"
            "while late_ones < 300:\n    n += 1\n    a = 'x' * random.choice(sizes)\n"
            "    try:\n        soon(random.random() * 0.004 + 1e-5)\n        r = t_echo(a=a, n=n)\n        soon(0)\n"
            "        assert r == {'a': a, 'n': n}\n"
            "    except TimeoutError: late_ones += 1\nset_result(t_echo(a=1))",
            "json {\"a\":1}");
}

IN_PYTHON(test_what_another_thread_raises_goes_its_way) {
  (void)w;
  py_expect(
      "import ctypes, threading, random, time\nclass Stop(Exception): pass\nwrong, n = [], [0] * 3\n"
      "def call(i):\n    n[i] += 1\n    r = t_echo(n=n[i])\n    if r != {'n': n[i]}: wrong.append(r)\n"
      "def work(i):\n    while True:\n        try:\n            try:\n                while True: call(i)\n"
      "            except ToolError as e: wrong.append(str(e))\n        except Stop: pass\n"
      "threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(3)]\n"
      "for t in threads: t.start()\n"
      "for i in range(300):\n    time.sleep(random.random() * 0.002)\n"
      "    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threads[i % 2].ident), ctypes.py_object(Stop))\n"
      "set_result([wrong, t_echo(a=1)])",
      "json [[],{\"a\":1}]");
}

IN_PYTHON(test_a_call_in_a_signal_handler_is_told) {
  (void)w;
  py_expect(
      "import signal\nsaid = []\ndef late(*_):\n    try:\n        said.append(t_echo(a=1))\n"
      "    except ToolError as e:\n        said.append(str(e))\nsignal.signal(signal.SIGALRM, late)\n"
      "signal.setitimer(signal.ITIMER_REAL, 0.02)\nt_slow(ms=200)\nset_result([said, t_echo(a=2)])",
      "json [[\"Tool 't.echo' failed: a signal handler (or a finalizer) that has interrupted a tool call cannot "
      "make another one\"],{\"a\":2}]");
}

IN_PYTHON(test_a_thread_that_is_left_behind_ends_with_its_call) {
  (void)w;
  py_expect(
      "import threading, time\nthreading.Thread(target=t_hang, daemon=True).start()\ntime.sleep(0.05)\nset_result(1)",
      "json 1");
}

IN_PYTHON(test_too_much_at_once_is_told) {
  (void)w;
  py_expect("try:\n    set_result('x' * 70_000_000)\nexcept ValueError as e:\n    set_result(str(e))",
            "string set_result: the result has 70000000 bytes; at most 64 MiB can be given back");
  py_expect("try:\n    call_tool('t.echo', {'a': 'x' * 70_000_000})\nexcept ToolError as e:\n    set_result(str(e))",
            "string Tool 't.echo' failed: its input has 70000008 bytes; at most 64 MiB can be sent at once");
  py_expect_part("raise ValueError('x' * 80_000_000)", "xxxxxxx... (80000012 bytes)");
}

IN_PYTHON(test_a_program_that_breaks_modules_is_told_the_right_cause) {
  (void)w;
  py_expect("import json\njson.dumps = json.loads = None\nset_result(t_echo(a=1))", "json {\"a\":1}");
  py_expect("import json\njson.dumps = None\n1/0", "E_PROGRAM 3:1 ZeroDivisionError: division by zero [1/0]");
  py_expect("import sys\ndel sys.stdout\nsys.stderr = None\n1/0",
            "E_PROGRAM 4:1 ZeroDivisionError: division by zero [1/0]");
}

IN_PYTHON(test_memory_is_what_was_allowed) {
  (void)w;
  lt_run_request request = {
      .code =
          LT_STR("try:\n    bytearray(70 << 20)\nexcept MemoryError:\n    set_result(len(bytearray(40 << 20)) >> 20)"),
      .lang = LT_LANG_PYTHON,
      .memory_bytes = 64 * LT_MIB};
  py_expect_run(&request, TELL_END, "json 40");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_a_signal_handler_raises_goes_its_way),
      cmocka_unit_test(test_a_signal_at_any_place),
      cmocka_unit_test(test_what_another_thread_raises_goes_its_way),
      cmocka_unit_test(test_a_call_in_a_signal_handler_is_told),
      cmocka_unit_test(test_a_thread_that_is_left_behind_ends_with_its_call),
      cmocka_unit_test(test_too_much_at_once_is_told),
      cmocka_unit_test(test_a_program_that_breaks_modules_is_told_the_right_cause),
      cmocka_unit_test(test_memory_is_what_was_allowed),
  };
  return py_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
