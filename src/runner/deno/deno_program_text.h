/* Prepares the program's text: checks it, and removes code fences. */
#ifndef LT_RUNNER_DENO_DENO_PROGRAM_TEXT_H
#define LT_RUNNER_DENO_DENO_PROGRAM_TEXT_H

#include "runner/deno/deno_run.h"

/* Sets run->source and run->line_offset. False: the result says why the program cannot be run. */
bool lt_deno_program_text_prepare(lt_deno_run *run);

#endif
