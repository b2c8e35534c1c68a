/* The struct of an authorization. Private to mcp_auth.c (tokens for requests) and mcp_login.c (how a person gives
 * them).
 */
#ifndef LT_MCP_MCP_AUTH_IMPL_H
#define LT_MCP_MCP_AUTH_IMPL_H

#include "io/http.h"
#include "mcp/mcp_auth.h"
#include "mcp/mcp_auth_metadata.h"
#include "mcp/mcp_token_store.h"

struct lt_mcp_auth {
  lt_loop *loop;
  lt_arena arena; /* copies of the options */
  lt_mcp_auth_options o;
  lt_mcp_token_place place;
  lt_http *http;
  lt_mcp_tokens tokens; /* the last that were read or given */
  lt_buf earlier;       /* the access token before that: requests that have it may still be open */
  lt_secrets *secrets;  /* of `tokens` and `earlier`; NULL: none */
  lt_buf document;      /* resource_metadata of the last challenge */
  lt_buf wanted;        /* its scopes */
  bool is_read;         /* the file was read */
  bool is_anonymous;
  bool is_challenged;
};

/* Errors: LT_E_CONFIG, where the client's secret is missing. */
lt_status lt_mcp_auth_check_client(const lt_mcp_auth *auth, lt_err *err);
/* What is masked in texts about these tokens. NULL: no memory. Owns: the caller. */
lt_secrets *lt_mcp_auth_secrets_of(const lt_mcp_auth *auth, const lt_mcp_tokens *tokens);
/* Takes the tokens over and empties `from`. */
void lt_mcp_auth_take(lt_mcp_auth *auth, lt_mcp_tokens *from);
/* Looks for who gives out tokens for the server. LT_YIELDS. Owns: the arena. */
lt_status lt_mcp_auth_find_server(lt_mcp_auth *auth, lt_cancel *cancel, lt_arena *arena, lt_mcp_auth_metadata *ret,
                                  lt_err *err) LT_YIELDS;
/* Adds the scopes to ask for, by the order of the specification. */
void lt_mcp_auth_add_scopes(const lt_mcp_auth *auth, const lt_mcp_auth_metadata *m, lt_buf *out);
/* The client of the configuration, or none. `methods` is of its server. */
bool lt_mcp_auth_is_registered(const lt_mcp_auth *auth, unsigned methods, lt_mcp_tokens *ret_client);

/* Asks the token endpoint of `tokens`, whose client it is. `form` has the grant; resource and client are added. The
 * answer is put into `tokens`. LT_YIELDS. Errors: LT_E_DENIED (an error of OAuth: the grant is used up, or refused),
 * LT_E_PROTOCOL, LT_E_IO, those of lt_mcp_auth_fetch_run. */
lt_status lt_mcp_auth_ask_token(lt_mcp_auth *auth, lt_buf *form, lt_cancel *cancel, lt_mcp_tokens *tokens,
                                lt_err *err) LT_YIELDS;
/* The same for the revocation endpoint. LT_OK: revoked. */
lt_status lt_mcp_auth_ask_revoke(lt_mcp_auth *auth, lt_str token, const char *hint, const lt_mcp_tokens *tokens,
                                 lt_err *err) LT_YIELDS;

#endif
