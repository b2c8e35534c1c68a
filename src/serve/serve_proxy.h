/* The proxy in front of the server (server.proxy): what it says about users and addresses counts, and nobody else's
 * word does. Internal to serve/.
 *
 * A header with a user's name from anybody but the proxy is refused, not ignored: it is an attack, or a proxy that is
 * not configured, and both want to be seen. The client's address is read from X-Forwarded-For alone: most proxies pass
 * a client's own `Forwarded` on.
 */
#ifndef LT_SERVE_SERVE_PROXY_H
#define LT_SERVE_SERVE_PROXY_H

#include "serve/serve_request.h"

/* Reads server.proxy. LT_E_CONFIG. Borrows: the configuration. */
lt_status lt_serve_proxy_read(const lt_config *config, lt_serve_proxy *ret_proxy, lt_err *err);
/* Whether a connection from this address may be the proxy's. */
bool lt_serve_proxy_is_from(const lt_serve_proxy *proxy, lt_str peer);
/* The numeric address of the client: the connection's, or what the proxy says. Borrows: from the call. */
lt_str lt_serve_proxy_client(const lt_serve_proxy *proxy, const lt_http_call *call);
/* The same for the value of one X-Forwarded-For that came from `peer`. Borrows: from both. */
lt_str lt_serve_proxy_client_of(const lt_serve_proxy *proxy, lt_str peer, lt_str forwarded);
/* The user that the proxy names; empty: it names none. False: the request is refused, and the answer says why. */
bool lt_serve_proxy_read_user(lt_serve_request *request, lt_str *ret_user);

#endif
