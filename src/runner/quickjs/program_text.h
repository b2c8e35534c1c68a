/* From what was written to what is run: fences off, modules and functions recognised, the named tools bound. */
#ifndef LT_RUNNER_QUICKJS_PROGRAM_TEXT_H
#define LT_RUNNER_QUICKJS_PROGRAM_TEXT_H

#include "base/buf.h"
#include "sandbox/engine.h"

typedef struct lt_run lt_run;

typedef struct lt_program_text {
  lt_program program;     /* as the engine gets it */
  lt_str source;          /* as it was written, without fences */
  unsigned line_offset;   /* lines dropped before it */
  unsigned column_offset; /* characters put before its first line */
  lt_buf code;            /* what is run, when it is not `source` itself */
  lt_buf bindings;
} lt_program_text;

void lt_program_text_init(lt_program_text *text);
void lt_program_text_release(lt_program_text *text);
/* Takes the fences off. False: the result says why the program cannot be run. */
bool lt_program_text_read(lt_run *run);
/* Fills `program` from the JavaScript, also from what came out of TypeScript. Errors: LT_E_NOMEM. */
lt_status lt_program_text_prepare(lt_run *run, lt_str code, lt_err *err);

#endif
