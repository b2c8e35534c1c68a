/* Tools that clients call without a program (`tools.expose`, `as: direct` or `both`). Internal to gateway/.
 *
 * A call is a run as a program's is: it goes through the same door, may wait for an approval, and is not lost.
 */
#ifndef LT_GATEWAY_GATEWAY_DIRECT_H
#define LT_GATEWAY_GATEWAY_DIRECT_H

#include "gateway/gateway_request.h"

/* Appends the tools to a list of tools, sorted by id, as their servers describe them. */
lt_status lt_gateway_direct_put_all(lt_gateway *gateway, lt_json_writer *w, lt_err *err);
/* Whether there are any. */
bool lt_gateway_direct_has_any(lt_gateway *gateway);
/* Whether a client's name for a tool is one of these; appends the tool's id. */
bool lt_gateway_direct_find(lt_gateway *gateway, lt_str wire, lt_buf *ret_id);
/* Calls the tool with that id. `arguments` is an object or NONE. LT_YIELDS. Errors: those of lt_agent_start. */
lt_status lt_gateway_direct_call(lt_gateway_request *request, lt_str id, lt_json arguments,
                                 lt_gateway_answer *ret_answer, lt_err *err) LT_YIELDS;

/* "If processing a request requires a capability the client did not include [...], the server MUST return a
 * MissingRequiredClientCapabilityError" (2026-07-28, Lifecycle). LT_OK: the answer stands. LT_E_UNSUPPORTED, with the
 * request's code and data: the tool has failed after its server asked for what the client has not declared. */
lt_status lt_gateway_direct_check(lt_gateway_request *request, const lt_gateway_answer *answer);

#endif
