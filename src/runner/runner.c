#include "runner/runner.h"

#include "base/clock.h"

/* What the program calls is below its span. `ret_caller` is for a copy of the request's caller. */
static lt_run_request runner_trace(const lt_run_request *request, lt_caller *ret_caller) {
  lt_run_request traced = *request;
  if (request->caller != NULL && lt_trace_context_is_set(&request->caller->trace)) {
    *ret_caller = *request->caller;
    ret_caller->trace = lt_trace_context_child(&request->caller->trace);
    traced.caller = ret_caller;
  }
  return traced;
}

/* The monitor may have got its functions while the program ran: then it is told of the end alone. */
lt_status lt_runner_run(lt_runner *runner, const lt_run_request *theirs, lt_run_result *result, lt_err *err) {
  lt_caller caller;
  const lt_run_request traced = runner_trace(theirs, &caller);
  const lt_run_request *request = &traced;
  lt_monitor_program told = {.runner = runner->id,
                             .request = request,
                             .trace = request->caller != NULL ? &request->caller->trace : NULL,
                             .parent = theirs->caller != NULL ? &theirs->caller->trace : NULL};
  told.number = runner->monitor != NULL ? ++runner->monitor->numbered : 0;
  told.began_us = lt_clock_monotonic_us();
  lt_monitor_tell_program(runner->monitor, &told);
  lt_status status = runner->run(runner, request, result, err);
  told.has_ended = true;
  told.result = status == LT_OK ? result : NULL;
  told.status = status == LT_OK ? result->status : status;
  told.took_us = lt_clock_monotonic_us() - told.began_us;
  lt_monitor_tell_program(runner->monitor, &told);
  return status;
}
