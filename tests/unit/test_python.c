/* The Python runner: what programs may be, what comes out of them, and where their errors are said to be. */
#include "python_fix.h"

/* --- Values ------------------------------------------------------------------------------------------------------- */
IN_PYTHON(test_values) {
  (void)w;
  py_expect("set_result(1+2)", "json 3");
  py_expect("set_result('abc')", "string abc");
  py_expect("set_result('')", "string ");
  py_expect("1+2", "undefined");
  py_expect("", "undefined");
  py_expect("set_result(None)", "json null");
  py_expect("set_result(0)", "json 0");
  py_expect("set_result({'a': [1, 2.5, True, None]})", "json {\"a\":[1,2.5,true,null]}");
  py_expect("set_result(1)\nset_result(2)", "json 2");
  py_expect("set_result('\\u00e9\\U0001f600')", "string \xc3\xa9\xf0\x9f\x98\x80");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
  };
  return py_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
