/* A wire: the protocol of one API for completions. Private to model/.
 *
 * A wire is one file, which ends in `const lt_completion_wire lt_NAME_wire`, and one row in LT_COMPLETION_WIRES. A
 * model uses the wire that it names. A model that names none uses the wire whose path is the end of its base URL, then
 * the wire whose host is in it, then the first wire. Requests (messages, tools) are always in the form of chat
 * completions: a wire translates them. Retries, streams, errors, missing usage, and thoughts in the text are handled in
 * the same way for all wires (completion.c, assembly.h, provider_error.h).
 */
#ifndef LT_MODEL_COMPLETION_WIRE_H
#define LT_MODEL_COMPLETION_WIRE_H

#include "model/assembly.h"

/* One row for each wire. */
#define LT_COMPLETION_WIRES(ROW) ROW(chat_completions) ROW(openai_responses) ROW(anthropic_messages)

struct lt_completion_wire {
  const char *name;       /* what models[].api calls it */
  const char *path;       /* the end of its URLs, before the query */
  const char *version;    /* goes before the path where the base URL does not end in it; NULL: nothing does */
  const char *host;       /* where this wire is the one to use; NULL: nowhere */
  const char *key_header; /* the header of the API key */
  const char *key_prefix; /* the text before the key */
  lt_http_header header;  /* another header of its requests; without a name: none */
  /* Writes the body of a request. `quirks`: parameters that this server refuses (dialect.h). */
  void (*write_request)(const lt_completion_request *request, unsigned quirks, lt_buf *out);
  /* Reads one event of a stream, or a whole answer. `name`: the event's name, may be empty. Errors: LT_E_PROTOCOL;
   * those of lt_assembly_check and lt_assembly_take_error. */
  lt_status (*read)(lt_assembly *a, lt_str name, lt_json json, bool is_whole, lt_err *err);
};

#define LT_COMPLETION_WIRE_DECLARE(name) extern const lt_completion_wire lt_##name##_wire;
LT_COMPLETION_WIRES(LT_COMPLETION_WIRE_DECLARE)

const lt_completion_wire *lt_completion_wire_of(const lt_model *model);
/* Appends the URL for requests: the base URL, and of the wire's version and path what the base URL does not have. */
void lt_completion_wire_put_url(const lt_completion_wire *wire, lt_str base_url, lt_buf *out);

/* A string of a request, decoded; anything else: empty. Owns: the arena. Without memory `out`, which the request is
 * written to, fails. */
lt_str lt_completion_wire_str(lt_json value, lt_arena *arena, lt_buf *out);
/* How many tokens an answer may have: the answer's own, and room for as much reasoning as the model is told to do. */
int64_t lt_completion_wire_token_limit(const lt_completion_request *request);
/* The tokens that an effort may take (lt_model.effort); 0: none is given, or it is "none". */
int64_t lt_completion_wire_reasoning_tokens(lt_str effort);

#endif
