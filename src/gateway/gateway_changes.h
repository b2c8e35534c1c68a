/* subscriptions/listen (2026-07-28): a request that stays open, and gets the notifications that it asks for. Internal
 * to gateway/.
 */
#ifndef LT_GATEWAY_GATEWAY_CHANGES_H
#define LT_GATEWAY_GATEWAY_CHANGES_H

#include "gateway/gateway_request.h"

/* The method. Changes of lists are granted, subscriptions to single resources are not. LT_YIELDS until the client or
 * the gateway ends it. */
lt_status lt_gateway_changes_serve(lt_gateway_request *request) LT_YIELDS;
/* Sends a notification to the open ones that asked for it; others do not get it. */
void lt_gateway_changes_tell(const lt_gateway *gateway, const char *method);

#endif
