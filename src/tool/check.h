/* A tool's schemas, compiled when they are first needed; internal to tool/.
 *
 * A schema that cannot be used checks nothing and is told of once: it never takes its tool away. Belongs to the
 * catalog's tool; loop thread only, but for lt_check_value.
 */
#ifndef LT_TOOL_CHECK_H
#define LT_TOOL_CHECK_H

#include "json/schema.h"
#include "io/loop.h"

typedef struct lt_check {
  bool tried;
  bool told;         /* that an answer broke it: once is enough */
  lt_schema *schema; /* NULL: everything fits */
} lt_check;

typedef struct lt_checks {
  lt_check input;
  lt_check output;
} lt_checks;

void lt_checks_release(lt_checks *checks);

/* Compiles the schema unless that was tried; long ones on the pool, LT_YIELDS: the check and the text must stay.
 * Anything but LT_OK is told once, by whoever gets it: `err` says what is wrong with it. */
lt_status lt_check_compile(lt_check *check, lt_loop *loop, lt_str schema, lt_err *err) LT_YIELDS;

/* LT_OK, also when nobody can tell. LT_E_INVALID: `faults` holds what is wrong with the value, which is called `name`.
 * LT_E_NOMEM. Any thread. */
lt_status lt_check_value(const lt_check *check, lt_json value, lt_str name, lt_buf *faults);

#endif
