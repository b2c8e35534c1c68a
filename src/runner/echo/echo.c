/* A runner that runs nothing: a program's result is its own text. */
#include "runner/echo/echo.h"

#include "base/mem.h"

static bool echo_speaks(lt_lang lang) {
  return lang == LT_LANG_JAVASCRIPT;
}

static lt_status echo_run(lt_runner *self, const lt_run_request *request, lt_run_result *result, lt_err *err) {
  (void)self;
  result->status = LT_OK;
  result->kind = LT_VALUE_STRING;
  lt_buf_add(&result->value, request->code);
  return lt_buf_check(&result->value, err, "no memory for the program's text");
}

static void echo_free(lt_runner *self) {
  lt_mem_free(self);
}

lt_status lt_echo_new(lt_runner **ret_runner, lt_err *err) {
  lt_runner *runner = lt_mem_zalloc(1, sizeof *runner);
  if (runner == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a runner");
  }
  *runner = (lt_runner){.id = "echo", .speaks = echo_speaks, .run = echo_run, .free = echo_free};
  *ret_runner = runner;
  return LT_OK;
}
