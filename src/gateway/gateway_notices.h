/* What servers say that no request asks for, passed to clients: log messages, and lists that have changed. Internal to
 * gateway/.
 */
#ifndef LT_GATEWAY_GATEWAY_NOTICES_H
#define LT_GATEWAY_GATEWAY_NOTICES_H

#include "gateway/gateway_request.h"

/* Listens to all servers, and asks those that run what they offer beside tools. */
void lt_gateway_notices_open(lt_gateway *gateway);
void lt_gateway_notices_close(lt_gateway *gateway);

/* The method logging/setLevel. LT_YIELDS. */
lt_status lt_gateway_notices_set_level(lt_gateway_request *request) LT_YIELDS;
/* A request that wants log messages has come: servers are asked for them. */
void lt_gateway_notices_follow_level(lt_gateway_request *request);

#endif
