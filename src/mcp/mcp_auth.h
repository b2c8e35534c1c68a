/* Authorization for one MCP server over HTTP (OAuth 2.1, as MCP's specification has it): tokens for its requests.
 *
 * Nothing is asked of anybody here. A token is kept (mcp_token_store.h) and renewed; where a person has to agree,
 * requests fail with what to run, and mcp_login.h does it. A client that acts for itself (client_credentials) gets its
 * tokens without a person. Loop thread only.
 */
#ifndef LT_MCP_MCP_AUTH_H
#define LT_MCP_MCP_AUTH_H

#include "base/buf.h"
#include "io/loop.h"
#include "text/secrets.h"

typedef struct lt_mcp_auth lt_mcp_auth;

typedef struct lt_mcp_auth_options {
  lt_str server;                   /* its name in the configuration */
  const char *url;                 /* of the MCP server */
  const char *client_id;           /* of a client that is registered there already; NULL: none */
  const char *client_secret;       /* NULL: none */
  const char *missing_variable;    /* that should have the secret, and is not set; NULL: none is missing */
  const char *client_metadata_url; /* the address of a client ID metadata document; NULL: none */
  const char *const *scopes;       /* NULL last; NULL, or none: what the server says */
  const char *token_file;          /* NULL: tokens are not kept */
  const char *token_key;           /* $LATHE_TOKEN_KEY; NULL: tokens are kept as they are */
  unsigned callback_port;          /* where a login is answered; 0: any that is free */
  bool is_own_client;              /* client_credentials */
} lt_mcp_auth_options;

/* Copies the options. Owns: the caller, lt_mcp_auth_free, after all requests have ended. Errors: LT_E_NOMEM. */
lt_status lt_mcp_auth_new(lt_loop *loop, const lt_mcp_auth_options *options, lt_mcp_auth **ret_auth, lt_err *err);
void lt_mcp_auth_free(lt_mcp_auth *auth); /* NULL is allowed */

/* From now on no token is sent: to hear what the server asks for. */
void lt_mcp_auth_set_anonymous(lt_mcp_auth *auth, bool is_anonymous);

/* Appends the value of the header Authorization; nothing where there is no token. A token that is about to expire is
 * renewed first. LT_YIELDS. Errors: the kept tokens cannot be read, with advice. */
lt_status lt_mcp_auth_header(lt_mcp_auth *auth, lt_buf *out, lt_err *err) LT_YIELDS;

/* Takes an answer with status 401 or 403 to a request that had the header value `used`; `challenge` is the
 * answer's WWW-Authenticate. LT_OK: the request may be made again, with another token. LT_YIELDS. Errors: LT_E_DENIED,
 * and the message says what to do; LT_E_NOTFOUND: it is no matter of tokens. */
lt_status lt_mcp_auth_renew(lt_mcp_auth *auth, int status, lt_str challenge, lt_str used, lt_err *err) LT_YIELDS;

/* The failure of a request that was refused with the token of lt_mcp_auth_renew, too. Returns LT_E_DENIED. */
lt_status lt_mcp_auth_give_up(const lt_mcp_auth *auth, lt_err *err);

/* Whether the server has asked for a token since lt_mcp_auth_set_anonymous. */
bool lt_mcp_auth_is_challenged(const lt_mcp_auth *auth);
/* The tokens, to be masked in what the server says. NULL: none. Borrows: until the next turn of the loop. */
const lt_secrets *lt_mcp_auth_secrets(const lt_mcp_auth *auth);

/* Revokes the kept tokens where the authorization server can (RFC 7009), and deletes them in any case. `ret_is_revoked`
 * may be NULL. LT_YIELDS. Errors: LT_E_NOTFOUND (nothing was kept), LT_E_IO. */
lt_status lt_mcp_auth_forget(lt_mcp_auth *auth, bool *ret_is_revoked, lt_err *err) LT_YIELDS;

#endif
