/* The clock of a Python program: it stands still while nothing but somebody's approval keeps it from going on. */
#include "python_fix.h"

/* A provider "p" whose tool asks for {ask} ms and then works for {work} ms. */
typedef struct asker {
  lt_provider base;
  lt_loop *loop;
} asker;

static lt_status ask_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                            lt_err *err) {
  fake f = {.loop = ((asker *)(void *)base)->loop};
  (void)name;
  options->on_approval(options->arg, true);
  lt_status status = fake_wait(&f, (uint64_t)number_in(input, "ask", 0), options, err);
  options->on_approval(options->arg, false);
  LT_TRY(status);
  LT_TRY(fake_wait(&f, (uint64_t)number_in(input, "work", 0), options, err));
  lt_buf_addc(out, "\"agreed\"");
  return LT_OK;
}

static asker *add_asker(world *w) {
  static const lt_tool_spec specs[] = {{.name = TEXT("ask")}};
  static asker a;
  a = (asker){.base = {.name = LT_STR("p"), .invoke = ask_invoke}, .loop = w->loop};
  assert_int_equal(lt_door_set_tools(w->door, &a.base, specs, 1, NULL), LT_OK);
  return &a;
}

static unsigned stood, went_on;

static void on_standing(void *arg, bool stands) {
  (void)arg;
  *(stands ? &stood : &went_on) += 1;
}

static void expect_in_time(const char *code, const char *expected) {
  lt_run_request request = {
      .code = lt_str_of(code), .lang = LT_LANG_PYTHON, .timeout_ms = 400, .on_standing = on_standing};
  stood = went_on = 0;
  py_expect_run(&request, TELL_END, expected);
  assert_int_equal(stood, went_on);
}

IN_PYTHON(test_approvals_do_not_count) {
  asker *a = add_asker(w);
  expect_in_time("set_result(p_ask(ask=700))", "string agreed");
  assert_int_equal(stood, 1);
  expect_in_time("set_result(call_tools_parallel([('p.ask', {'ask': 700}), ('p.ask', {'ask': 500})]))",
                 "json [\"agreed\",\"agreed\"]");
  expect_in_time("p_ask(ask=100, work=2000)", "E_TIMEOUT Execution timed out after 400ms");
  expect_in_time("call_tools_parallel([('p.ask', {'ask': 2000}), ('t.slow', {'ms': 2000})])",
                 "E_TIMEOUT Execution timed out after 400ms");
  expect_in_time("p_ask(ask=500)\nwhile True: pass", "E_TIMEOUT Execution timed out after 400ms");
  lt_door_remove(w->door, &a->base);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_approvals_do_not_count)};
  return py_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
