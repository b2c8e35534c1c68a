/* An instance of Deno: its start from a folder to a process that waits, and its end. */
#include <signal.h>

#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_instance.h"
#include "runner/deno/deno_source.h"
#include "runner/deno/deno_start.h"
#include "runner/deno/deno_state.h"

lt_status lt_deno_instance_start(lt_deno *deno, lt_deno_instance *instance, lt_err *err) {
  LT_TRY(lt_deno_source_make_secret(instance, err));
  LT_TRY(lt_deno_source_write_boot(deno, instance, err));
  return lt_deno_start(deno, instance, err);
}

void lt_deno_instance_release(lt_deno *deno, lt_deno_instance *instance) {
  if (instance->process != NULL) {
    lt_process_signal(instance->process, SIGKILL);
    lt_process_close(instance->process);
    instance->process = NULL;
  }
  lt_deno_folder_remove(deno->loop, instance);
}
