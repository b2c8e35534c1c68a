/* Status codes: every way a function can fail, in one table.
 *
 * The columns: the name in C, the text for a person when there is no better message, the HTTP status, the JSON-RPC
 * code, and whether a retry can help.
 */
#ifndef LT_BASE_STATUS_H
#define LT_BASE_STATUS_H

#include <stdbool.h>

/*        name          text                                http  json-rpc  retryable */
#define LT_STATUS_MAP(X)                                                 \
  X(OK, "ok", 200, 0, false)                                             \
  X(E_NOMEM, "out of memory", 503, -32603, true)                         \
  X(E_LIMIT, "a limit was reached", 413, -32600, false)                  \
  X(E_INVALID, "invalid input", 400, -32602, false)                      \
  X(E_SYNTAX, "syntax error", 400, -32700, false)                        \
  X(E_NOTFOUND, "not found", 404, -32601, false)                         \
  X(E_CONFIG, "invalid configuration", 500, -32603, false)               \
  X(E_IO, "input/output error", 502, -32603, true)                       \
  X(E_CLOSED, "closed by the other side", 502, -32603, true)             \
  X(E_PROTOCOL, "the other side broke the protocol", 502, -32603, false) \
  X(E_TIMEOUT, "timed out", 504, -32603, true)                           \
  X(E_CANCELLED, "cancelled", 499, -32800, false)                        \
  X(E_DENIED, "not allowed", 403, -32603, false)                         \
  X(E_TOOL, "the tool reported an error", 422, -32603, false)            \
  X(E_PROGRAM, "the program failed", 422, -32603, false)                 \
  X(E_TRAP, "the sandbox stopped the program", 422, -32603, false)       \
  X(E_INTERRUPTED, "interrupted", 502, -32603, false)                    \
  X(E_DIVERGED, "diverged from the record", 409, -32603, false)          \
  X(E_UNSUPPORTED, "not supported", 501, -32601, false)                  \
  X(E_INTERNAL, "internal error: please report it", 500, -32603, false)

typedef enum lt_status {
#define LT_STATUS_ENUM(name, text, http, rpc, retry) LT_##name,
  LT_STATUS_MAP(LT_STATUS_ENUM)
#undef LT_STATUS_ENUM
} lt_status;

/* The table's text for `status`; never NULL. */
const char *lt_status_text(lt_status status);
/* The name without its prefix, such as "E_TIMEOUT"; never NULL. */
const char *lt_status_name(lt_status status);
/* The HTTP status code to answer with. */
int lt_status_http(lt_status status);
/* The JSON-RPC 2.0 error code to answer with (JSON-RPC 2.0, section 5.1; -32800 is LSP's "request cancelled"). */
int lt_status_rpc(lt_status status);
/* The first failure of two steps that were both carried out. */
static inline lt_status lt_status_first(lt_status first, lt_status second) {
  return first != LT_OK ? first : second;
}
/* Whether the same request may succeed when it is made again. */
bool lt_status_retryable(lt_status status);

#endif
