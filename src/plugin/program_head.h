/* What a program says of itself: a description, and the schema of its input.
 *
 * Both may be exported (`export const description = "..."`, `export const input = {...}`, written out, in JavaScript
 * and TypeScript). Without the export, the description is the comment at the program's beginning, and the input any
 * object.
 */
#ifndef LT_PLUGIN_PROGRAM_HEAD_H
#define LT_PLUGIN_PROGRAM_HEAD_H

#include "runner/lang.h"
#include "store/store_programs.h"

/* Checks a program that is to be saved, with `name` and `code`, and fills in the rest: the language, and description
 * and schema where they are {NULL, 0}. The new texts are in `arena`. Errors: LT_E_INVALID (a name, a text or a schema
 * that cannot be used), LT_E_SYNTAX (an export that is not written out), LT_E_LIMIT (too long), LT_E_NOMEM. */
lt_status lt_program_head_complete(lt_saved_program *program, lt_lang lang, lt_arena *arena, lt_err *err);

#endif
