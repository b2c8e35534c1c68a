/* The headers of a request of 2026-07-28, which repeat what its body says. Internal to gateway/. */
#ifndef LT_GATEWAY_GATEWAY_HTTP_HEADERS_H
#define LT_GATEWAY_GATEWAY_HTTP_HEADERS_H

#include "gateway/gateway_message.h"
#include "io/http_server.h"

/* Whether the request is of 2026-07-28 or later: it names its version in its body, or a version without sessions in its
 * header. Earlier ones name none before `initialize`. */
bool lt_gateway_http_headers_are_modern(const lt_http_call *call, const lt_gateway_message *message);
/* Checks such a request. Not LT_OK: `ret_code` is the error's code, the HTTP status is 400, and `data` has the error's
 * data, or nothing. */
lt_status lt_gateway_http_headers_check(const lt_http_call *call, const lt_gateway_message *message, int *ret_code,
                                        lt_buf *data, lt_err *err);

#endif
