/* What is asked of an authorization server's token endpoint, and how we say who we are there. */
#include <time.h>

#include "base/limits.h"
#include "mcp/mcp_auth_impl.h"
#include "mcp/mcp_auth_text.h"
#include "mcp/mcp_peer_text.h"
#include "mcp/mcp_url.h"
#include "text/base64.h"

/* --- Who we are --------------------------------------------------------------------------------------------------- */

static lt_str mcp_auth_secret_of(const lt_mcp_auth *auth, const lt_mcp_tokens *tokens) {
  bool is_ours = auth->o.client_id != NULL && lt_str_eqc(tokens->client_id, auth->o.client_id);
  return is_ours ? lt_str_of(auth->o.client_secret) : tokens->client_secret;
}

/* "The client identifier is encoded using the "application/x-www-form-urlencoded" encoding algorithm" (OAuth 2.1,
 * section 2.4.1) */
static void mcp_auth_put_client(const lt_mcp_auth *auth, const lt_mcp_tokens *tokens, lt_buf *form, lt_buf *header) {
  lt_mcp_auth_method method = LT_MCP_AUTH_NONE;
  lt_str secret = mcp_auth_secret_of(auth, tokens);
  (void)lt_mcp_auth_method_find(tokens->client_method, &method);
  if (method == LT_MCP_AUTH_BASIC) {
    LT_AUTO_BUF(pair, LT_HTTP_URL_MAX_BYTES);
    lt_mcp_auth_text_escape(tokens->client_id, &pair);
    lt_buf_byte(&pair, ':');
    lt_mcp_auth_text_escape(secret, &pair);
    lt_buf_addc(header, "Basic ");
    lt_base64_encode(lt_buf_view(&pair), header);
    return;
  }
  lt_mcp_auth_text_field(form, "client_id", tokens->client_id);
  if (method == LT_MCP_AUTH_POST) {
    lt_mcp_auth_text_field(form, "client_secret", secret);
  }
}

static lt_status mcp_auth_send(lt_mcp_auth *auth, lt_str endpoint, lt_buf *form, lt_cancel *cancel,
                               const lt_mcp_tokens *tokens, lt_arena *arena, lt_mcp_auth_reply *reply,
                               lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(header, LT_HTTP_HEADERS_MAX_BYTES);
  mcp_auth_put_client(auth, tokens, form, &header);
  LT_TRY(lt_buf_check(form, err, "the request for a token is too long"));
  LT_TRY(lt_buf_check(&header, err, "the name of the client is too long"));
  const lt_mcp_auth_fetch fetch = {
      .http = auth->http,
      .url = endpoint,
      .may_be_local = lt_mcp_url_is_loopback(lt_str_of(auth->o.url)),
      .form = lt_buf_view(form),
      .authorization = lt_buf_view(&header),
      .cancel = cancel,
  };
  return lt_mcp_auth_fetch_run(&fetch, arena, reply, err);
}

/* --- What it answers ---------------------------------------------------------------------------------------------- */

/* It may repeat what it was sent. */
static void mcp_auth_put_reason(const lt_mcp_auth *auth, const lt_mcp_tokens *tokens, lt_str error, lt_str description,
                                lt_buf *out) {
  lt_secrets *secrets = lt_mcp_auth_secrets_of(auth, tokens);
  if (secrets != NULL) {
    lt_mcp_peer_text_add(out, error, LT_MCP_HEAD, 80, secrets);
    lt_buf_addc(out, description.n > 0 ? ": " : "");
    lt_mcp_peer_text_add(out, description, LT_MCP_HEAD, LT_MCP_WORDS_MAX_BYTES / 2, secrets);
  }
  lt_secrets_free(secrets);
}

static lt_status mcp_auth_explain(const lt_mcp_auth *auth, const lt_mcp_tokens *tokens, const lt_mcp_auth_reply *reply,
                                  lt_arena *arena, lt_err *err) {
  lt_str error = LT_STR_NULL, description = LT_STR_NULL;
  LT_AUTO_BUF(words, 2 * LT_MCP_WORDS_MAX_BYTES);
  if (reply->status < 400 || reply->status > 499 || !lt_json_str(lt_json_get(reply->root, "error"), arena, &error)) {
    return lt_fail(err, reply->status >= 500 ? LT_E_IO : LT_E_PROTOCOL,
                   "the authorization server answers with HTTP status %d, not with a token", reply->status);
  }
  (void)lt_json_str(lt_json_get(reply->root, "error_description"), arena, &description);
  mcp_auth_put_reason(auth, tokens, error, description, &words);
  return lt_fail(err, LT_E_DENIED, "the authorization server refuses a token: %.*s",
                 LT_STR_ARG(lt_buf_view_or(&words, LT_STR("no reason"))));
}

static bool mcp_auth_copy(lt_json value, lt_arena *arena, lt_mcp_tokens *tokens, lt_str *text) {
  lt_str read = LT_STR_NULL;
  if (!lt_json_str(value, arena, &read) || read.n == 0) {
    return false;
  }
  *text = lt_arena_dup(&tokens->arena, read);
  return text->p != NULL;
}

/* "the authorization server MUST [...] if different" name the scope; a refresh token that is not replaced stays good
 * (OAuth 2.1, sections 3.2.3 and 4.3) */
static lt_status mcp_auth_read_tokens(lt_json root, lt_arena *arena, lt_mcp_tokens *tokens, lt_err *err) {
  lt_str type = LT_STR_NULL;
  int64_t seconds = 0;
  (void)lt_json_str(lt_json_get(root, "token_type"), arena, &type);
  if (!lt_str_eq_fold(type, LT_STR("Bearer")) ||
      !mcp_auth_copy(lt_json_get(root, "access_token"), arena, tokens, &tokens->access_token)) {
    return lt_fail(err, LT_E_PROTOCOL, "the authorization server's answer has no access token of type Bearer");
  }
  (void)mcp_auth_copy(lt_json_get(root, "refresh_token"), arena, tokens, &tokens->refresh_token);
  (void)mcp_auth_copy(lt_json_get(root, "scope"), arena, tokens, &tokens->scope);
  bool has_end = lt_json_int(lt_json_get(root, "expires_in"), &seconds) && seconds > 0 && seconds < INT32_MAX;
  tokens->expires_at = has_end ? (int64_t)time(NULL) + seconds : 0;
  tokens->wanted = LT_STR_NULL;
  return LT_OK;
}

lt_status lt_mcp_auth_ask_token(lt_mcp_auth *auth, lt_buf *form, lt_cancel *cancel, lt_mcp_tokens *tokens,
                                lt_err *err) {
  LT_AUTO_ARENA(arena, LT_MCP_AUTH_MEMORY_BYTES);
  lt_mcp_auth_reply reply;
  lt_mcp_auth_text_field(form, "resource", tokens->resource);
  LT_TRY(mcp_auth_send(auth, tokens->token_endpoint, form, cancel, tokens, &arena, &reply, err));
  return reply.status == 200 ? mcp_auth_read_tokens(reply.root, &arena, tokens, err)
                             : mcp_auth_explain(auth, tokens, &reply, &arena, err);
}

lt_status lt_mcp_auth_ask_revoke(lt_mcp_auth *auth, lt_str token, const char *hint, const lt_mcp_tokens *tokens,
                                 lt_err *err) {
  LT_AUTO_ARENA(arena, LT_MCP_AUTH_MEMORY_BYTES);
  LT_AUTO_BUF(form, LT_MCP_AUTH_BODY_MAX_BYTES);
  lt_mcp_auth_reply reply;
  lt_mcp_auth_text_field(&form, "token", token);
  lt_mcp_auth_text_field(&form, "token_type_hint", lt_str_of(hint));
  LT_TRY(mcp_auth_send(auth, tokens->revocation_endpoint, &form, NULL, tokens, &arena, &reply, err));
  return reply.status == 200 ? LT_OK : mcp_auth_explain(auth, tokens, &reply, &arena, err);
}
