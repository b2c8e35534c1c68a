/* The span of a client's request. Internal to gateway/. */
#ifndef LT_GATEWAY_GATEWAY_TRACE_H
#define LT_GATEWAY_GATEWAY_TRACE_H

#include "gateway/gateway_request.h"

/* Begins it: below the span that the client names in _meta, else below the request over HTTP. */
void lt_gateway_trace_begin(lt_gateway_request *request);
/* Ends it, before the answer is sent. `code`: of the answer that is an error, or 0. */
void lt_gateway_trace_end(lt_gateway_request *request, int code);

#endif
