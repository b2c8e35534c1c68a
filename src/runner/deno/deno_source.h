/* What is written into the folder for a run. */
#ifndef LT_RUNNER_DENO_DENO_SOURCE_H
#define LT_RUNNER_DENO_DENO_SOURCE_H

#include "runner/deno/deno_run.h"

/* What every request has to show: another run's program, which may be the same user's, has another one. */
lt_status lt_deno_make_secret(lt_deno_room *room, lt_err *err);
/* What Deno runs first, whatever the program. */
lt_status lt_deno_write_boot(const lt_deno *deno, const lt_deno_room *room, lt_err *err);
/* The request's modules, which must be there when Deno starts. */
lt_status lt_deno_write_modules(const lt_deno_run *run, lt_err *err);
/* The program, and what is said of it. */
lt_status lt_deno_write_files(lt_deno_run *run, lt_err *err);
/* What the program's text may mean by a word; NULL: none that this run may see. */
const lt_tool *lt_deno_find_named(const lt_deno_run *run, lt_str word);
/* What a program calls the tool of this id, or of this name in any language; empty: nothing. */
lt_str lt_deno_name_of(const lt_deno_run *run, lt_str near);

#endif
