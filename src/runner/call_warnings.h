/* Warnings about arguments that a tool does not declare, near ones that it does: `encodng` beside `encoding`.
 *
 * A schema that allows other arguments accepts a misspelt one, and the tool ignores it. The program's log says so, once
 * for each argument of a tool. What the door refuses is not warned about. The warnings depend on the program alone, so
 * a run that is repeated says the same.
 */
#ifndef LT_RUNNER_CALL_WARNINGS_H
#define LT_RUNNER_CALL_WARNINGS_H

#include "base/buf.h"
#include "base/limits.h"
#include "tool/catalog.h"

typedef struct lt_call_warnings {
  uint64_t said[LT_CALL_WARNINGS_MAX]; /* hashes of tools and arguments */
  size_t count;
} lt_call_warnings;

/* Appends a line about the input of a call, or nothing. `tool` NULL: unknown, nothing is said. Cheap where all
 * arguments are declared. */
void lt_call_warnings_put(lt_call_warnings *warnings, const lt_tool *tool, lt_str input, lt_buf *out);

#endif
