/* Where a program failed, in terms of what was written: the engine counts bytes, and in what was made of it. */
#ifndef LT_RUNNER_QUICKJS_SOURCE_PLACE_H
#define LT_RUNNER_QUICKJS_SOURCE_PLACE_H

#include "runner/run_result.h"

typedef struct lt_run lt_run;

/* From the engine's line and column (which counts bytes) to those that were written. */
void lt_source_place_map(const lt_run *run, lt_run_place *place);
/* These set line, column and context of the result. */
void lt_source_place_set(lt_run *run, const lt_run_place *place);
void lt_source_place_set_column(lt_run *run, uint32_t line, uint32_t column); /* of `source`, in characters */
void lt_source_place_set_byte(lt_run *run, size_t at);                        /* of `source` */

#endif
