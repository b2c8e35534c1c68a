/* The values of a program's store(): the request's values, or the run's own. */
#ifndef LT_RUNNER_QUICKJS_RUN_VALUES_H
#define LT_RUNNER_QUICKJS_RUN_VALUES_H

#include "base/buf.h"
#include "runner/stored_values.h"

typedef struct lt_run lt_run;

typedef struct lt_run_values {
  lt_stored_values *current; /* NULL: none yet */
  lt_stored_values *own;     /* NULL when the request has values */
  lt_buf before; /* copy of the request's values at the run's begin, as JSON; only when programs are dropped */
} lt_run_values;

void lt_run_values_init(lt_run *run);
void lt_run_values_release(lt_run *run);
/* Before the program runs: keeps what is needed to rewind. Errors: LT_E_NOMEM. */
lt_status lt_run_values_begin(lt_run *run, lt_err *err);
/* On the worker: restores the values at the run's begin. */
void lt_run_values_rewind(lt_run *run);
/* On the worker. Errors: LT_E_NOMEM, and those of lt_stored_values_put. */
lt_status lt_run_values_put(lt_run *run, lt_str key, lt_str json, lt_err *err);
lt_str lt_run_values_find(const lt_run *run, lt_str key);

#endif
