/* The servers behind the gateway, for what is passed through to them: resources, prompts, completions. Internal to
 * gateway/.
 *
 * What a server offers is known from the last time, like its tools; a server that was never asked is started when a
 * client lists. Policy and approvals are about calls of tools: they say nothing of reading a resource or a prompt.
 */
#ifndef LT_GATEWAY_GATEWAY_UPSTREAM_H
#define LT_GATEWAY_GATEWAY_UPSTREAM_H

#include "gateway/gateway_request.h"
#include "mcp/mcp_client.h"

typedef struct lt_gateway_upstream {
  lt_mcp *mcp; /* it may be CLOSED when its server has left the configuration meanwhile */
  lt_str name;
  lt_json extras; /* as lt_mcp_extras has them, secrets masked; NONE: nothing is known */
} lt_gateway_upstream;

typedef struct lt_gateway_upstreams {
  lt_gateway_upstream *all; /* in the configuration's order */
  size_t count;
} lt_gateway_upstreams;

/* Waits until it is known what each server offers, or that it is down. Owns: the request's arena. LT_YIELDS. Errors:
 * LT_E_NOMEM, the reason of the request's cancel. */
lt_status lt_gateway_upstreams_read(lt_gateway_request *request, lt_gateway_upstreams *ret, lt_err *err) LT_YIELDS;
/* Whether there is any server: only then resources and prompts are capabilities of ours. */
bool lt_gateway_upstreams_have_any(const lt_gateway *gateway);

/* Passes a request on, and writes the members of its result to request->w. `name`: the address or name that it is
 * about. `params`: JSON text of an object. An error of the server keeps its code. LT_YIELDS. */
lt_status lt_gateway_upstream_pass(lt_gateway_request *request, const lt_gateway_upstream *to, const char *method,
                                   lt_str name, lt_str params) LT_YIELDS;

/* Writes how long a client may keep what it got: clients of 2026-07-28 want to know. */
void lt_gateway_upstream_put_age(lt_gateway_request *request, int64_t ttl_ms);

#endif
