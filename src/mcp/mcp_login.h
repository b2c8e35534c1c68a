/* A login: a person agrees in a browser, and Lathe gets tokens for an MCP server (OAuth 2.1, authorization code with
 * PKCE). The browser is sent back to a port of this machine; where it runs on another one, the person pastes the
 * address that it was sent to.
 *
 *   lt_mcp_login_begin    finds the authorization server, registers, listens; the address to open is known then
 *   lt_mcp_login_offer    what the person pasted, at any time, from any fiber
 *   lt_mcp_login_finish   waits for the answer, gets the tokens and keeps them
 *   lt_mcp_login_end      in any case
 */
#ifndef LT_MCP_MCP_LOGIN_H
#define LT_MCP_MCP_LOGIN_H

#include "mcp/mcp_auth.h"

typedef struct lt_mcp_login lt_mcp_login;

typedef struct lt_mcp_login_options {
  lt_mcp_auth *auth;
  lt_cancel *cancel; /* may be NULL */
  /* A line for the person: what is being done, or why an answer does not count. Must not yield. */
  void (*on_step)(void *arg, lt_str line);
  void *arg;
} lt_mcp_login_options;

/* LT_YIELDS. Owns: the caller, lt_mcp_login_end. Errors: LT_E_NOTFOUND (the server wants no login), LT_E_CONFIG (Lathe
 * has to be registered by hand), LT_E_DENIED, LT_E_UNSUPPORTED, LT_E_IO, those of lt_mcp_auth_metadata_find. */
lt_status lt_mcp_login_begin(const lt_mcp_login_options *options, lt_mcp_login **ret_login, lt_err *err) LT_YIELDS;
/* Where the person agrees. Borrows: the login. */
lt_str lt_mcp_login_address(const lt_mcp_login *login);
/* Takes the address that the browser was sent to, or the code in it. False: it is neither, or of another login; on_step
 * has said why. Does not yield. */
bool lt_mcp_login_offer(lt_mcp_login *login, lt_str text);
/* LT_YIELDS for the answer, at most `timeout_ms`. Errors: LT_E_TIMEOUT, the cancel's reason, LT_E_DENIED (refused, or
 * the answer is of another issuer), those of the token endpoint and of the store. */
lt_status lt_mcp_login_finish(lt_mcp_login *login, uint64_t timeout_ms, lt_err *err) LT_YIELDS;
/* LT_YIELDS. NULL is allowed. */
void lt_mcp_login_end(lt_mcp_login *login) LT_YIELDS;

#endif
