/* The argument "session" of execute_code. What a session keeps, and where: agent/program_session.h. Internal to
 * gateway/. */
#ifndef LT_GATEWAY_GATEWAY_SESSION_H
#define LT_GATEWAY_GATEWAY_SESSION_H

#include "json/json.h"

/* The schema of the argument, as a member of "properties". */
#define LT_GATEWAY_SESSION_SCHEMA                                                                                  \
  "\"session\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9._-]{1,64}$\",\"description\":\"A name: top-level "   \
  "variables and functions (JavaScript, TypeScript) and stored values (store, recall) are kept for the next call " \
  "with the same name\"}"

/* Reads the name; empty: there is none. Errors: LT_E_INVALID, also for a language whose programs keep nothing. */
lt_status lt_gateway_session_read(lt_json arguments, lt_arena *arena, lt_str language, lt_str *ret_name, lt_err *err);

#endif
