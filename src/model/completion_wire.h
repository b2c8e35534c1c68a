/* A wire: how one API for completions is spoken. Private to model/.
 *
 * A wire is one file, which ends in `const lt_completion_wire lt_NAME_wire`, and one row in LT_COMPLETION_WIRES. A
 * model is asked over the wire in whose path its base URL ends, else over the first one. Requests (messages, tools)
 * are always in the form of chat completions: a wire translates them. Retries, streams, errors, usage that is not told,
 * and thoughts in the text are the same for all wires (completion.c, assembly.h, provider_error.h).
 */
#ifndef LT_MODEL_COMPLETION_WIRE_H
#define LT_MODEL_COMPLETION_WIRE_H

#include "model/assembly.h"

/* One row for each wire. */
#define LT_COMPLETION_WIRES(ROW) ROW(chat_completions)

struct lt_completion_wire {
  const char *path;       /* what its URLs end in, before the query */
  const char *key_header; /* where the API key goes ... */
  const char *key_prefix; /* ... and what stands before the key */
  /* Writes the body of a request. `quirks`: what this server does not take (dialect.h). */
  void (*write_request)(const lt_completion_request *request, unsigned quirks, lt_buf *out);
  /* Takes in one event of a stream, or a whole answer. `name`: the event's, perhaps empty. Errors: LT_E_PROTOCOL; those
   * of lt_assembly_check and lt_assembly_take_error. */
  lt_status (*read)(lt_assembly *a, lt_str name, lt_json json, bool is_whole, lt_err *err);
};

#define LT_COMPLETION_WIRE_DECLARE(name) extern const lt_completion_wire lt_##name##_wire;
LT_COMPLETION_WIRES(LT_COMPLETION_WIRE_DECLARE)

/* The wire that a base URL stands for. */
const lt_completion_wire *lt_completion_wire_of(lt_str base_url);
/* Appends where requests are sent to: the base URL with the wire's path, once. */
void lt_completion_wire_put_url(const lt_completion_wire *wire, lt_str base_url, lt_buf *out);

#endif
