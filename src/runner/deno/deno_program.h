/* Signals to a run's processes: the program may begin, or everything ends. */
#ifndef LT_RUNNER_DENO_DENO_PROGRAM_H
#define LT_RUNNER_DENO_DENO_PROGRAM_H

#include "runner/deno/deno_run.h"

/* Lets Deno begin the program, which is in its folder. The program's own input is empty. LT_YIELDS. */
void lt_deno_program_begin(lt_deno_run *run) LT_YIELDS;
/* Kills Deno and the compiler, and cancels the program's calls. The first reason counts. */
void lt_deno_program_stop(lt_deno_run *run, lt_status reason);

#endif
