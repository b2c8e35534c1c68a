/* The tokens for one MCP server, in a file of their own, mode 0600.
 *
 * The file belongs to one address: its name is made of the server's name and url, and it holds both, so that a changed
 * url never gets the old token. With a key its content is encrypted (io/seal.h). It is replaced as a whole. A lock file
 * beside it is held by whoever renews the tokens: a refresh token is often good for one use.
 */
#ifndef LT_MCP_MCP_TOKEN_STORE_H
#define LT_MCP_MCP_TOKEN_STORE_H

#include "base/arena.h"
#include "base/buf.h"
#include "io/loop.h"

/* What is kept. Each text may be empty. */
typedef struct lt_mcp_tokens {
  lt_arena arena; /* owns the texts */
  lt_str issuer, resource;
  lt_str token_endpoint, revocation_endpoint;
  lt_str client_id, client_secret, client_method; /* who we are there; the secret only of a registration */
  lt_str redirect_uri;                            /* that the client was registered with */
  lt_str access_token, refresh_token;
  lt_str scope;       /* that was granted, or asked for */
  lt_str wanted;      /* that the server has asked for since */
  int64_t expires_at; /* of the access token, in seconds since 1970; 0: unknown */
} lt_mcp_tokens;

void lt_mcp_tokens_init(lt_mcp_tokens *tokens);
/* The texts are overwritten first. */
void lt_mcp_tokens_release(lt_mcp_tokens *tokens);

typedef struct lt_mcp_token_place {
  lt_loop *loop;
  lt_str server, url;
  const char *file; /* NULL: nothing is kept */
  const char *key;  /* $LATHE_TOKEN_KEY; NULL: not encrypted */
} lt_mcp_token_place;

/* LT_YIELDS. `tokens` is released and filled; without a file it is empty. Errors: LT_E_DENIED (others may read it, or
 * the key is missing or wrong), LT_E_CONFIG (the key is none), LT_E_IO, LT_E_NOMEM. A damaged file counts as none. */
lt_status lt_mcp_token_store_read(const lt_mcp_token_place *place, lt_mcp_tokens *tokens, lt_err *err) LT_YIELDS;
/* LT_YIELDS. Makes the folder, mode 0700. Errors: LT_E_CONFIG (the key is none), LT_E_IO, LT_E_UNSUPPORTED. */
lt_status lt_mcp_token_store_write(const lt_mcp_token_place *place, const lt_mcp_tokens *tokens, lt_err *err) LT_YIELDS;
/* LT_YIELDS. No file is no error. */
lt_status lt_mcp_token_store_delete(const lt_mcp_token_place *place, lt_err *err) LT_YIELDS;

/* Waits for the lock, at most LT_MCP_AUTH_LOCK_MS. LT_YIELDS. `ret_lock` is -1 where nothing is kept. Owns: the caller,
 * lt_mcp_token_store_unlock. Errors: LT_E_TIMEOUT, LT_E_IO. */
lt_status lt_mcp_token_store_lock(const lt_mcp_token_place *place, int *ret_lock, lt_err *err) LT_YIELDS;
void lt_mcp_token_store_unlock(int lock);

#endif
