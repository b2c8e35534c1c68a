/* Questions of a server of 2026-07-28 about what is passed on to it: a prompt, a resource. Internal to gateway/.
 *
 * Such a server keeps no state between its question and the answers, and neither does the gateway: a client of
 * 2026-07-28 gets the question, and its next request brings the answers and the server's own requestState. Calls of
 * tools are runs, whose questions are in gateway_asking.h.
 */
#ifndef LT_GATEWAY_GATEWAY_INPUT_H
#define LT_GATEWAY_GATEWAY_INPUT_H

#include "gateway/gateway_request.h"

/* Whether a server's result wants input first. */
bool lt_gateway_input_is_wanted(lt_json result);
/* Writes the members of an InputRequiredResult, and sets request->wants_input. Texts say which server asks; secrets are
 * masked. Errors: LT_E_UNSUPPORTED (the client has not declared it, or it is no known question), LT_E_NOMEM. */
lt_status lt_gateway_input_pass(lt_gateway_request *request, lt_str server, lt_json result);
/* Writes what the client has brought, as members of the server's params. */
void lt_gateway_input_put(const lt_gateway_request *request, lt_json_writer *w);

#endif
