/* Which image a program runs on: read from the words of the program and of the modules that it imports, so that a run
 * again, whose modules are on the tape, has the same image. */
#ifndef LT_RUNNER_QUICKJS_PROGRAM_IMAGE_H
#define LT_RUNNER_QUICKJS_PROGRAM_IMAGE_H

#include "js/jsscan.h"
#include "sandbox/image_choice.h"

typedef struct lt_run lt_run;

/* Scans the program (lt_jsscan_program) and chooses its image. `code` is JavaScript. */
lt_jsscan lt_program_image_scan(const lt_run *run, lt_str code, lt_image_kind *ret_kind);

/* The source of a module as the program will get it: of the tape, or else configured. False: there is none. */
bool lt_program_image_find_module(const lt_run *run, lt_str name, lt_str *ret_source);

#endif
