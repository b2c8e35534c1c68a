/* The names under which things of servers are passed through: tools and prompts. Internal to gateway/.
 *
 * Clients take [A-Za-z0-9_-], up to 64 characters. A thing has its own name where no other thing and no tool of ours
 * has it, else SERVER_NAME; a name that is too long or still taken ends in a hash. SERVER_NAME always finds it. The
 * same things in the same order give the same names.
 */
#ifndef LT_GATEWAY_GATEWAY_NAMES_H
#define LT_GATEWAY_GATEWAY_NAMES_H

#include "base/arena.h"
#include "base/err.h"

typedef struct lt_gateway_named {
  lt_str server; /* may be empty */
  lt_str name;   /* as the server calls it */
  lt_str wire;   /* as clients do */
} lt_gateway_named;

/* Sets `wire` of all. Owns: the arena. Errors: LT_E_NOMEM. */
lt_status lt_gateway_names_make(lt_gateway_named *things, size_t count, lt_arena *arena, lt_err *err);
/* The index of the thing that a client means; SIZE_MAX: none. */
size_t lt_gateway_names_find(const lt_gateway_named *things, size_t count, lt_str wire);

#endif
