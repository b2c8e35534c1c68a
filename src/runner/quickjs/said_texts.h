/* Outputs and log lines of a program: applies the limits, adds each text to the result and reports it to the request's
 * on_text. On the worker. */
#ifndef LT_RUNNER_QUICKJS_SAID_TEXTS_H
#define LT_RUNNER_QUICKJS_SAID_TEXTS_H

#include "runner/run_result.h"
#include "sandbox/engine.h"

typedef struct lt_run lt_run;

typedef struct lt_said_texts {
  lt_run_text **last;
  size_t output_bytes;
  size_t log_bytes;
  size_t count;        /* texts in this pass ... */
  size_t count_before; /* ... and in all: texts from before the program was dropped are not repeated */
} lt_said_texts;

void lt_said_texts_init(lt_run *run);
void lt_said_texts_output(lt_run *run, lt_str text);
void lt_said_texts_log(lt_run *run, lt_log_level level, lt_str text);
/* The program begins, or begins again. */
void lt_said_texts_rewind(lt_run *run);

#endif
