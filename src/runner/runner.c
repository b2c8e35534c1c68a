#include "runner/runner.h"

#include "base/clock.h"

/* The monitor may have got its functions while the program ran: then it is told of the end alone. */
static void runner_tell(const lt_runner *runner, const lt_monitor_program *program) {
  if (runner->monitor != NULL && runner->monitor->on_program != NULL) {
    runner->monitor->on_program(runner->monitor->arg, program);
  }
}

lt_status lt_runner_run(lt_runner *runner, const lt_run_request *request, lt_run_result *result, lt_err *err) {
  lt_monitor_program told = {.runner = runner->id, .request = request};
  told.number = runner->monitor != NULL ? ++runner->monitor->numbered : 0;
  uint64_t began_us = lt_clock_monotonic_us();
  runner_tell(runner, &told);
  lt_status status = runner->run(runner, request, result, err);
  told.has_ended = true;
  told.result = status == LT_OK ? result : NULL;
  told.status = status == LT_OK ? result->status : status;
  told.took_us = lt_clock_monotonic_us() - began_us;
  runner_tell(runner, &told);
  return status;
}
