/* Resources of servers, passed through. Internal to gateway/.
 *
 * A resource keeps its address where no other server lists the same one, else the address has the server's name before
 * it: SERVER+ADDRESS. That form is always understood.
 */
#ifndef LT_GATEWAY_GATEWAY_RESOURCES_H
#define LT_GATEWAY_GATEWAY_RESOURCES_H

#include "gateway/gateway_upstream.h"

/* The methods of resources, and completion/complete. LT_YIELDS. */
lt_status lt_gateway_resources_list(lt_gateway_request *request) LT_YIELDS;
lt_status lt_gateway_resources_list_templates(lt_gateway_request *request) LT_YIELDS;
lt_status lt_gateway_resources_read(lt_gateway_request *request) LT_YIELDS;
lt_status lt_gateway_resources_subscribe(lt_gateway_request *request) LT_YIELDS;
lt_status lt_gateway_resources_unsubscribe(lt_gateway_request *request) LT_YIELDS;
lt_status lt_gateway_resources_complete(lt_gateway_request *request) LT_YIELDS;

/* A server says that a resource has changed: tells the clients that subscribed to it. */
void lt_gateway_resources_tell(lt_gateway *gateway, const lt_mcp *mcp, lt_json params);
/* The client is gone: forgets its subscriptions. */
void lt_gateway_resources_forget(lt_gateway *gateway, const lt_gateway_peer *peer);

#endif
