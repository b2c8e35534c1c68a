/* From a server of the configuration to its authorization (mcp/mcp_auth.h): whether it has one, and where its tokens
 * are kept. Nothing here suspends. */
#ifndef LT_SOURCE_MCP_AUTHORIZATION_H
#define LT_SOURCE_MCP_AUTHORIZATION_H

#include "config/config.h"
#include "io/loop.h"
#include "mcp/mcp_auth.h"

/* Whether a login is possible: a server with an address, and no key of its own in "headers". */
bool lt_mcp_authorization_is_possible(const lt_config_server *server);
/* `ret_auth` is NULL where it is not. Owns: the caller, lt_mcp_auth_free. A variable that is named and not set
 * fails requests and logins. Errors: LT_E_NOMEM. */
lt_status lt_mcp_authorization_open(lt_loop *loop, const lt_config_server *server, lt_mcp_auth **ret_auth, lt_err *err);
/* Whether a variable of the environment is for Lathe alone: the key of the tokens, and secrets of clients. */
bool lt_mcp_authorization_is_secret(const lt_config *config, lt_str variable);
/* Without TLS everybody on the way reads what is sent. Errors: LT_E_CONFIG (the url is none), LT_E_DENIED (http://). */
lt_status lt_mcp_authorization_check_url(const lt_config_server *server, lt_err *err);

#endif
