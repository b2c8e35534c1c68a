/* What a program's store() keeps: in the request's values, or in the run's own. */
#ifndef LT_RUNNER_QUICKJS_RUN_VALUES_H
#define LT_RUNNER_QUICKJS_RUN_VALUES_H

#include "base/buf.h"
#include "runner/stored_values.h"

typedef struct lt_run lt_run;

typedef struct lt_run_values {
  lt_stored_values *current; /* NULL: none yet */
  lt_stored_values *own;     /* NULL when the request brought some */
  lt_buf before;             /* what the request's had when the run began, as JSON; of programs that are dropped */
} lt_run_values;

void lt_run_values_init(lt_run *run);
void lt_run_values_release(lt_run *run);
/* Before the program runs: keeps what is needed to rewind. Errors: LT_E_NOMEM. */
lt_status lt_run_values_begin(lt_run *run, lt_err *err);
/* On the worker: as they were when the run began. */
void lt_run_values_rewind(lt_run *run);
/* On the worker. Errors: LT_E_NOMEM, and those of lt_stored_values_put. */
lt_status lt_run_values_put(lt_run *run, lt_str key, lt_str json, lt_err *err);
lt_str lt_run_values_find(const lt_run *run, lt_str key);

#endif
