/* Converts the place of a failure to the written program. The engine counts bytes, in the converted program. */
#ifndef LT_RUNNER_QUICKJS_SOURCE_PLACE_H
#define LT_RUNNER_QUICKJS_SOURCE_PLACE_H

#include "runner/run_result.h"

typedef struct lt_run lt_run;

/* Converts the engine's line and column (in bytes) to those of the written program. */
void lt_source_place_map(const lt_run *run, lt_run_place *place);
/* These set line, column and context of the result. */
void lt_source_place_set(lt_run *run, const lt_run_place *place);
void lt_source_place_set_column(lt_run *run, uint32_t line, uint32_t column); /* of `source`, in characters */
void lt_source_place_set_byte(lt_run *run, size_t at);                        /* of `source` */
/* The byte of a line at which the character with this zero-based index begins. */
size_t lt_source_place_byte_of(lt_str line, uint32_t count);

#endif
