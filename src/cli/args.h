/* Command line options, the same way for every command: --name VALUE, --name=VALUE, -x VALUE, flags, `--` ends them.
 *
 * Borrows argv. Messages go to stderr, one line, with what to do.
 */
#ifndef LT_CLI_ARGS_H
#define LT_CLI_ARGS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum lt_arg_kind { LT_ARG_FLAG, LT_ARG_TEXT, LT_ARG_NUMBER } lt_arg_kind;

typedef struct lt_arg {
  const char *name;  /* "--json" */
  const char *brief; /* "-e", or NULL */
  lt_arg_kind kind;
  void *value;   /* bool *, const char ** or int64_t * */
  int64_t least; /* numbers: bounds, both included */
  int64_t most;
} lt_arg;

/* Reads options into their places; what is left over (operands) is moved to the front of argv + 1, their number into
 * `ret_operands`. False: something was wrong and has been said. */
bool lt_args_read(const char *command, int argc, char **argv, const lt_arg *args, unsigned count, int *ret_operands);

#endif
