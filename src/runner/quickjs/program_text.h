/* Converts the written program to the program that runs: removes fences, recognises modules and functions, and binds
 * the named tools. */
#ifndef LT_RUNNER_QUICKJS_PROGRAM_TEXT_H
#define LT_RUNNER_QUICKJS_PROGRAM_TEXT_H

#include "base/buf.h"
#include "sandbox/engine.h"

typedef struct lt_run lt_run;

typedef struct lt_program_text {
  lt_program program;     /* the program for the engine */
  char file[40];          /* its name in stack traces */
  lt_image_kind image;    /* the image that it needs */
  lt_str source;          /* the written program, without fences */
  unsigned line_offset;   /* lines dropped before it */
  unsigned column_offset; /* characters put before its first line */
  bool has_moved;         /* the type stripper has taken out types, and what follows on their lines moved up */
  lt_buf code;            /* the text that runs, when it is not `source` */
  lt_buf bindings;
  lt_buf joined; /* `source`, when it stood in several code blocks */
} lt_program_text;

void lt_program_text_init(lt_program_text *text);
void lt_program_text_release(lt_program_text *text);
/* Removes the fences. False: the result says why the program cannot run. */
bool lt_program_text_read(lt_run *run);
/* Fills `program` from JavaScript, which may be converted TypeScript. Errors: LT_E_NOMEM. */
lt_status lt_program_text_prepare(lt_run *run, lt_str code, lt_err *err);

#endif
