/* Prompts of servers, passed through. Internal to gateway/. */
#ifndef LT_GATEWAY_GATEWAY_PROMPTS_H
#define LT_GATEWAY_GATEWAY_PROMPTS_H

#include "gateway/gateway_upstream.h"

/* The methods prompts/list and prompts/get. LT_YIELDS. */
lt_status lt_gateway_prompts_list(lt_gateway_request *request) LT_YIELDS;
lt_status lt_gateway_prompts_get(lt_gateway_request *request) LT_YIELDS;

/* The server of a prompt, by the name that clients use, and its name there. Owns: the request's arena. LT_YIELDS.
 * Errors: LT_E_INVALID: there is none; those of lt_gateway_upstreams_read. */
lt_status lt_gateway_prompts_find(lt_gateway_request *request, lt_json wire, const lt_gateway_upstream **ret_server,
                                  lt_str *ret_name) LT_YIELDS;

#endif
