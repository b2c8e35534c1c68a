/* What a program of a session finds and leaves: the memory of its box (sandbox/box_memory.h). Does nothing for programs
 * without a session. */
#ifndef LT_RUNNER_QUICKJS_RUN_MEMORY_H
#define LT_RUNNER_QUICKJS_RUN_MEMORY_H

#include "base/buf.h"
#include "base/fiber.h"
#include "sandbox/box_memory.h"

typedef struct lt_run lt_run;

typedef struct lt_run_memory {
  lt_buf left;   /* by the program */
  bool has_left; /* the program has ended by itself */
} lt_run_memory;

void lt_run_memory_init(lt_run *run);
void lt_run_memory_release(lt_run *run);
/* On the loop, before the program runs. False: the memory is of another engine, and the result says so. */
bool lt_run_memory_check(lt_run *run, const lt_image *image);
/* On the worker, before the program: false: there is no memory, and the engine's result says so. */
bool lt_run_memory_load(lt_run *run);
/* On the worker, after the program. */
void lt_run_memory_save(lt_run *run);
/* On the loop, after the last step: hands the memory to the session. `status`: whether the run could begin. LT_YIELDS.
 */
void lt_run_memory_keep(lt_run *run, lt_status status) LT_YIELDS;

#endif
