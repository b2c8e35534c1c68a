/* The files that are written into an instance's folder for a run. */
#ifndef LT_RUNNER_DENO_DENO_SOURCE_H
#define LT_RUNNER_DENO_DENO_SOURCE_H

#include "runner/deno/deno_run.h"

/* Makes the secret that every request to the bridge must show. Programs of other runs may be the same user's. */
lt_status lt_deno_source_make_secret(lt_deno_instance *instance, lt_err *err);
/* Writes lathe.js, which Deno runs first, whatever the program. */
lt_status lt_deno_source_write_boot(const lt_deno *deno, const lt_deno_instance *instance, lt_err *err);
/* Writes the request's modules, which must be there when Deno starts. */
lt_status lt_deno_source_write_modules(const lt_deno_run *run, lt_err *err);
/* Writes the program, world.json, and the declarations for the compiler. */
lt_status lt_deno_source_write_files(lt_deno_run *run, lt_err *err);
/* Borrows: the tool that a word of the program's text names; NULL: none that the program may see. */
const lt_tool *lt_deno_source_find_tool(const lt_deno_run *run, lt_str word);
/* Borrows: the name by which the program calls the tool; empty: it has none, or the program may not see the tool. */
lt_str lt_deno_source_name_of(const lt_deno_run *run, const lt_tool *tool);

#endif
