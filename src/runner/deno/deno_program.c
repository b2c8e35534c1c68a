/* Signals to a run's processes: the program may begin, or everything ends. */
#include <signal.h>

#include "runner/deno/deno_program.h"
#include "runner/deno/deno_run.h"

/* A process that has ended does not read the byte. Its reader notices the end. */
void lt_deno_program_begin(lt_deno_run *run) {
  if (lt_process_write(run->instance.process, LT_STR("\n"), NULL) == LT_E_NOMEM) {
    lt_deno_program_stop(run, LT_E_NOMEM);
  }
  lt_process_end_input(run->instance.process);
}

void lt_deno_program_stop(lt_deno_run *run, lt_status reason) {
  if (run->stop_reason == LT_OK) {
    run->stop_reason = reason;
  }
  lt_cancel_fire(&run->cancel, reason == LT_E_TIMEOUT ? LT_E_TIMEOUT : LT_E_CANCELLED);
  if (run->instance.process != NULL) {
    lt_process_signal(run->instance.process, SIGKILL);
  }
  if (run->checker.process != NULL) {
    lt_process_signal(run->checker.process, SIGKILL);
  }
}
