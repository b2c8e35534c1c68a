#include "mcp/mcp_auth.h"

#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/mcp_auth_impl.h"
#include "mcp/mcp_auth_text.h"
#include "mcp/mcp_peer_text.h"
#include "mcp/mcp_url.h"

/* --- Making and freeing ------------------------------------------------------------------------------------------- */

static const char *mcp_auth_copy_cstr(lt_mcp_auth *auth, const char *text, bool *ok) {
  lt_str copy = text != NULL ? lt_arena_dup(&auth->arena, lt_str_of(text)) : LT_STR_NULL;
  *ok = *ok && (text == NULL || copy.p != NULL);
  return copy.p;
}

static bool mcp_auth_copy_scopes(lt_mcp_auth *auth, const char *const *scopes) {
  size_t count = 0;
  while (scopes != NULL && scopes[count] != NULL) {
    count++;
  }
  const char **copy = lt_arena_zalloc(&auth->arena, count + 1, sizeof *copy);
  bool ok = copy != NULL;
  for (size_t i = 0; ok && i < count; i++) {
    copy[i] = mcp_auth_copy_cstr(auth, scopes[i], &ok);
  }
  auth->o.scopes = copy;
  return ok;
}

static bool mcp_auth_copy_options(lt_mcp_auth *auth, const lt_mcp_auth_options *from) {
  bool ok = true;
  lt_mcp_auth_options *o = &auth->o;
  *o = *from;
  o->server = lt_arena_dup(&auth->arena, from->server);
  o->url = mcp_auth_copy_cstr(auth, from->url, &ok);
  o->client_id = mcp_auth_copy_cstr(auth, from->client_id, &ok);
  o->client_secret = mcp_auth_copy_cstr(auth, from->client_secret, &ok);
  o->missing_variable = mcp_auth_copy_cstr(auth, from->missing_variable, &ok);
  o->client_metadata_url = mcp_auth_copy_cstr(auth, from->client_metadata_url, &ok);
  o->token_file = mcp_auth_copy_cstr(auth, from->token_file, &ok);
  o->token_key = mcp_auth_copy_cstr(auth, from->token_key, &ok);
  auth->place = (lt_mcp_token_place){auth->loop, o->server, lt_str_of(o->url), o->token_file, o->token_key};
  return ok && o->server.p != NULL && mcp_auth_copy_scopes(auth, from->scopes);
}

lt_status lt_mcp_auth_new(lt_loop *loop, const lt_mcp_auth_options *options, lt_mcp_auth **ret_auth, lt_err *err) {
  lt_mcp_auth *auth = lt_mem_zalloc(1, sizeof *auth);
  if (auth == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for an authorization");
  }
  auth->loop = loop;
  lt_arena_init(&auth->arena, LT_CONFIG_MAX_BYTES);
  lt_mcp_tokens_init(&auth->tokens);
  lt_buf_init(&auth->earlier, LT_MCP_AUTH_BODY_MAX_BYTES);
  lt_buf_init(&auth->document, LT_HTTP_URL_MAX_BYTES);
  lt_buf_init(&auth->wanted, LT_MCP_AUTH_SCOPES_MAX_BYTES);
  lt_status status = mcp_auth_copy_options(auth, options) ? lt_http_new(loop, &auth->http, err)
                                                          : lt_fail(err, LT_E_NOMEM, "no memory for an authorization");
  if (status != LT_OK) {
    lt_mcp_auth_free(auth);
    return status;
  }
  *ret_auth = auth;
  return LT_OK;
}

static void mcp_auth_wipe_earlier(lt_mcp_auth *auth) {
  if (auth->earlier.p != NULL) {
    explicit_bzero(auth->earlier.p, auth->earlier.n);
  }
  lt_buf_clear(&auth->earlier);
}

void lt_mcp_auth_free(lt_mcp_auth *auth) {
  if (auth != NULL) {
    lt_http_free(auth->http);
    lt_mcp_tokens_release(&auth->tokens);
    lt_secrets_free(auth->secrets);
    mcp_auth_wipe_earlier(auth);
    lt_buf_release(&auth->earlier);
    lt_buf_release(&auth->document);
    lt_buf_release(&auth->wanted);
    lt_arena_release(&auth->arena);
    lt_mem_free(auth);
  }
}

void lt_mcp_auth_set_anonymous(lt_mcp_auth *auth, bool is_anonymous) {
  auth->is_anonymous = is_anonymous;
  auth->is_challenged = auth->is_challenged && !is_anonymous;
}

bool lt_mcp_auth_is_challenged(const lt_mcp_auth *auth) {
  return auth->is_challenged;
}

const lt_secrets *lt_mcp_auth_secrets(const lt_mcp_auth *auth) {
  return auth->secrets;
}

lt_status lt_mcp_auth_check_client(const lt_mcp_auth *auth, lt_err *err) {
  return auth->o.missing_variable == NULL
             ? LT_OK
             : lt_fail(err, LT_E_CONFIG, "oauth.clientSecretEnv names the variable %s, which is not set",
                       auth->o.missing_variable);
}

/* --- Tokens that are known ---------------------------------------------------------------------------------------- */

lt_secrets *lt_mcp_auth_secrets_of(const lt_mcp_auth *auth, const lt_mcp_tokens *tokens) {
  lt_secrets *secrets = lt_secrets_new();
  const lt_str texts[] = {tokens->access_token, tokens->refresh_token, tokens->client_secret,
                          lt_buf_view(&auth->earlier), lt_str_of(auth->o.client_secret)};
  for (size_t i = 0; secrets != NULL && i < sizeof texts / sizeof *texts; i++) {
    if (texts[i].n > 0 && lt_secrets_add(secrets, texts[i]) != LT_OK) {
      lt_secrets_free(secrets);
      return NULL;
    }
  }
  return secrets;
}

void lt_mcp_auth_take(lt_mcp_auth *auth, lt_mcp_tokens *from) {
  if (auth->tokens.access_token.n > 0 && !lt_str_eq(auth->tokens.access_token, from->access_token)) {
    mcp_auth_wipe_earlier(auth);
    lt_buf_add(&auth->earlier, auth->tokens.access_token);
  }
  lt_mcp_tokens_release(&auth->tokens);
  auth->tokens = *from;
  lt_mcp_tokens_init(from);
  lt_secrets_free(auth->secrets);
  auth->secrets = lt_mcp_auth_secrets_of(auth, &auth->tokens);
}

/* Tokens that another client got are not for the one of the configuration. */
static bool mcp_auth_is_same_client(const lt_mcp_auth *auth, const lt_mcp_tokens *tokens) {
  return auth->o.client_id == NULL || tokens->client_id.n == 0 || lt_str_eqc(tokens->client_id, auth->o.client_id);
}

static lt_status mcp_auth_read(lt_mcp_auth *auth, lt_mcp_tokens *tokens, lt_err *err) LT_YIELDS {
  LT_TRY(lt_mcp_token_store_read(&auth->place, tokens, err));
  if (!mcp_auth_is_same_client(auth, tokens)) {
    lt_mcp_tokens_release(tokens);
  }
  return LT_OK;
}

static bool mcp_auth_is_fresh(const lt_mcp_tokens *tokens) {
  return tokens->access_token.n > 0 &&
         (tokens->expires_at == 0 || (int64_t)time(NULL) < tokens->expires_at - LT_MCP_AUTH_EARLY_S);
}

/* --- Without a person --------------------------------------------------------------------------------------------- */

lt_status lt_mcp_auth_find_server(lt_mcp_auth *auth, lt_cancel *cancel, lt_arena *arena, lt_mcp_auth_metadata *ret,
                                  lt_err *err) {
  LT_AUTO_BUF(document, LT_HTTP_URL_MAX_BYTES); /* another answer may replace it */
  lt_buf_add(&document, lt_buf_view(&auth->document));
  const lt_mcp_auth_search search = {auth->http, lt_str_of(auth->o.url), lt_buf_view(&document), cancel};
  return lt_mcp_auth_metadata_find(&search, arena, ret, err);
}

void lt_mcp_auth_add_scopes(const lt_mcp_auth *auth, const lt_mcp_auth_metadata *m, lt_buf *out) {
  for (const char *const *scope = auth->o.scopes; *scope != NULL; scope++) {
    lt_mcp_auth_text_add_scopes(out, lt_str_of(*scope));
  }
  if (auth->o.scopes[0] == NULL) {
    lt_mcp_auth_text_add_scopes(out, auth->wanted.n > 0 ? lt_buf_view(&auth->wanted) : m->scopes);
  }
}

bool lt_mcp_auth_is_registered(const lt_mcp_auth *auth, unsigned methods, lt_mcp_tokens *ret_client) {
  if (auth->o.client_id == NULL) {
    return false;
  }
  lt_mcp_auth_method method = auth->o.client_secret == NULL ? LT_MCP_AUTH_NONE
                              : (methods & 1u << LT_MCP_AUTH_POST) && !(methods & 1u << LT_MCP_AUTH_BASIC)
                                  ? LT_MCP_AUTH_POST
                                  : LT_MCP_AUTH_BASIC;
  ret_client->client_id = lt_arena_dup(&ret_client->arena, lt_str_of(auth->o.client_id));
  ret_client->client_method = lt_arena_dup(&ret_client->arena, lt_str_of(lt_mcp_auth_method_name(method)));
  return ret_client->client_id.p != NULL && ret_client->client_method.p != NULL;
}

/* No person sees where the client's secret goes, and the server names the place: it stays the first one. */
static lt_status mcp_auth_check_issuer(const lt_mcp_auth *auth, lt_str earlier, lt_str issuer, lt_err *err) {
  return earlier.n == 0 || lt_str_eq(earlier, issuer)
             ? LT_OK
             : lt_fail(err, LT_E_DENIED,
                       "the server names another authorization server than before, which did not get the client's "
                       "secret: if that is right, run `lathe logout %.*s` first",
                       LT_STR_ARG(auth->o.server));
}

/* "the client requests an access token using only its client credentials" (OAuth 2.1, section 4.2) */
static lt_status mcp_auth_use_credentials(lt_mcp_auth *auth, lt_mcp_tokens *tokens, lt_err *err) LT_YIELDS {
  LT_AUTO_ARENA(arena, LT_MCP_AUTH_MEMORY_BYTES);
  LT_AUTO_BUF(form, LT_MCP_AUTH_BODY_MAX_BYTES);
  LT_AUTO_BUF(scopes, LT_MCP_AUTH_SCOPES_MAX_BYTES);
  lt_mcp_auth_metadata m;
  LT_TRY(lt_mcp_auth_find_server(auth, NULL, &arena, &m, err));
  LT_TRY(mcp_auth_check_issuer(auth, tokens->issuer, m.issuer, err));
  lt_mcp_tokens_release(tokens);
  if (!lt_mcp_auth_is_registered(auth, m.methods, tokens)) {
    return lt_fail(err, LT_E_CONFIG, "\"oauth\" of a client of its own needs clientId and clientSecretEnv");
  }
  lt_mcp_auth_add_scopes(auth, &m, &scopes);
  tokens->issuer = lt_arena_dup(&tokens->arena, m.issuer);
  tokens->resource = lt_arena_dup(&tokens->arena, m.resource);
  tokens->token_endpoint = lt_arena_dup(&tokens->arena, m.token_endpoint);
  tokens->revocation_endpoint = lt_arena_dup(&tokens->arena, m.revocation_endpoint);
  tokens->scope = lt_arena_dup(&tokens->arena, lt_buf_view(&scopes));
  lt_mcp_auth_text_field(&form, "grant_type", LT_STR("client_credentials"));
  lt_mcp_auth_text_field(&form, "scope", lt_buf_view(&scopes));
  return lt_mcp_auth_ask_token(auth, &form, NULL, tokens, err);
}

/* A refused refresh token is used up: what else is kept, above all the registration, is good for the next login. */
static lt_status mcp_auth_use_refresh_token(lt_mcp_auth *auth, lt_mcp_tokens *tokens, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(form, LT_MCP_AUTH_BODY_MAX_BYTES);
  lt_mcp_auth_text_field(&form, "grant_type", LT_STR("refresh_token"));
  lt_mcp_auth_text_field(&form, "refresh_token", tokens->refresh_token);
  lt_status status = lt_mcp_auth_ask_token(auth, &form, NULL, tokens, err);
  if (status == LT_E_DENIED) {
    tokens->access_token = tokens->refresh_token = LT_STR_NULL;
    (void)lt_mcp_token_store_write(&auth->place, tokens, NULL);
  }
  return status;
}

/* Reads what is kept. LT_OK and `ret_is_new`: another process, or a login, was faster. LT_E_NOTFOUND: a person has to
 * log in. */
static lt_status mcp_auth_read_new(lt_mcp_auth *auth, lt_str used, lt_mcp_tokens *tokens, bool *ret_is_new,
                                   lt_err *err) LT_YIELDS {
  LT_TRY(mcp_auth_read(auth, tokens, err));
  *ret_is_new = mcp_auth_is_fresh(tokens) && !lt_str_eq(tokens->access_token, used);
  return *ret_is_new || auth->o.is_own_client || tokens->refresh_token.n > 0 ? LT_OK : LT_E_NOTFOUND;
}

/* Under the lock. */
static lt_status mcp_auth_renew_locked(lt_mcp_auth *auth, lt_str used, lt_mcp_tokens *tokens, lt_err *err) LT_YIELDS {
  bool is_new = false;
  LT_TRY(mcp_auth_read_new(auth, used, tokens, &is_new, err));
  if (is_new) {
    return LT_OK;
  }
  LT_TRY(auth->o.is_own_client ? mcp_auth_use_credentials(auth, tokens, err)
                               : mcp_auth_use_refresh_token(auth, tokens, err));
  return lt_mcp_token_store_write(&auth->place, tokens, err);
}

/* Without anything to renew nothing is written, the lock included. */
static lt_status mcp_auth_renew_kept(lt_mcp_auth *auth, lt_str used, lt_mcp_tokens *tokens, lt_err *err) LT_YIELDS {
  int lock = -1;
  bool is_new = false;
  LT_TRY(mcp_auth_read_new(auth, used, tokens, &is_new, err));
  if (is_new) {
    return LT_OK;
  }
  LT_TRY(lt_mcp_token_store_lock(&auth->place, &lock, err));
  lt_status status = mcp_auth_renew_locked(auth, used, tokens, err);
  lt_mcp_token_store_unlock(lock);
  return status;
}

/* Not cancelled with a request: an answer that nobody waits for would have the only good refresh token. */
static lt_status mcp_auth_renew_token(lt_mcp_auth *auth, lt_str used_token, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(used, LT_HTTP_HEADERS_MAX_BYTES);
  lt_mcp_tokens tokens;
  lt_buf_add(&used, used_token);
  lt_mcp_tokens_init(&tokens);
  lt_status status = mcp_auth_renew_kept(auth, lt_buf_view(&used), &tokens, err);
  if (status == LT_OK || status == LT_E_NOTFOUND) {
    lt_mcp_auth_take(auth, &tokens);
  }
  lt_mcp_tokens_release(&tokens);
  return status;
}

/* --- The header --------------------------------------------------------------------------------------------------- */

static lt_status mcp_auth_prepare(lt_mcp_auth *auth, lt_err *err) LT_YIELDS {
  if (!auth->is_read) {
    lt_mcp_tokens tokens;
    lt_mcp_tokens_init(&tokens);
    lt_status status = mcp_auth_read(auth, &tokens, err);
    if (status == LT_OK && !auth->is_read) {
      auth->is_read = true;
      lt_mcp_auth_take(auth, &tokens);
    }
    lt_mcp_tokens_release(&tokens);
    LT_TRY(status);
  }
  bool can_renew = auth->tokens.refresh_token.n > 0 || auth->o.is_own_client;
  if (auth->tokens.access_token.n > 0 && !mcp_auth_is_fresh(&auth->tokens) && can_renew) {
    (void)mcp_auth_renew_token(auth, auth->tokens.access_token,
                               NULL); /* the server says what it thinks of the old one */
  }
  return LT_OK;
}

lt_status lt_mcp_auth_header(lt_mcp_auth *auth, lt_buf *out, lt_err *err) {
  if (auth->is_anonymous) {
    return LT_OK;
  }
  LT_TRY(lt_mcp_auth_check_client(auth, err));
  LT_TRY(mcp_auth_prepare(auth, err));
  if (auth->tokens.access_token.n > 0) {
    lt_buf_addc(out, "Bearer ");
    lt_buf_add(out, auth->tokens.access_token);
  }
  return lt_buf_check(out, err, "the token is too long");
}

/* --- Answers that want another token ------------------------------------------------------------------------------ */

static void mcp_auth_hear_challenge(lt_mcp_auth *auth, lt_str challenge) {
  lt_buf_clear(&auth->document);
  lt_buf_clear(&auth->wanted);
  auth->is_challenged = true;
  (void)lt_mcp_auth_text_challenge(challenge, "resource_metadata", &auth->document);
  (void)lt_mcp_auth_text_challenge(challenge, "scope", &auth->wanted);
  if (auth->document.status != LT_OK || auth->wanted.status != LT_OK) {
    lt_buf_clear(&auth->document);
    lt_buf_clear(&auth->wanted);
  }
}

static lt_status mcp_auth_want_login(const lt_mcp_auth *auth, const char *why, lt_err *err) {
  return lt_fail(err, LT_E_DENIED, "%s run `lathe login %.*s`", why, LT_STR_ARG(auth->o.server));
}

lt_status lt_mcp_auth_give_up(const lt_mcp_auth *auth, lt_err *err) {
  return mcp_auth_want_login(auth, "it does not take a token that was just renewed:", err);
}

/* What the next login asks for is kept. "clients SHOULD [...] the union of previously requested scopes and newly
 * challenged" ones (Authorization, Scope Challenge Handling). */
static lt_status mcp_auth_keep_wanted(lt_mcp_auth *auth, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(scopes, LT_MCP_AUTH_SCOPES_MAX_BYTES);
  lt_mcp_tokens tokens;
  int lock = -1;
  lt_buf_add(&scopes, lt_buf_view(&auth->wanted));
  lt_mcp_tokens_init(&tokens);
  LT_TRY(lt_mcp_token_store_lock(&auth->place, &lock, err));
  lt_status status = lt_mcp_token_store_read(&auth->place, &tokens, err);
  if (status == LT_OK && !lt_mcp_auth_text_has_scopes(tokens.wanted, lt_buf_view(&scopes))) {
    lt_mcp_auth_text_add_scopes(&scopes, tokens.wanted);
    tokens.wanted = lt_arena_dup(&tokens.arena, lt_buf_view_or(&scopes, LT_STR_NULL));
    status = lt_mcp_token_store_write(&auth->place, &tokens, err);
  }
  lt_mcp_token_store_unlock(lock);
  lt_mcp_tokens_release(&tokens);
  return status;
}

static bool mcp_auth_has_wanted(const lt_mcp_auth *auth) {
  return auth->wanted.n > 0 && lt_mcp_auth_text_has_scopes(auth->tokens.scope, lt_buf_view(&auth->wanted));
}

/* More rights are a person's to give. A server that has been given them and still asks will go on asking. */
static lt_status mcp_auth_step_up(lt_mcp_auth *auth, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(words, 4 * LT_KIB);
  lt_mcp_peer_text_add(&words, lt_buf_view(&auth->wanted), LT_MCP_HEAD, 200, auth->secrets);
  if (mcp_auth_has_wanted(auth)) {
    return lt_fail(err, LT_E_DENIED,
                   "the server wants the scope \"%.*s\", which the token has already: it does not allow this",
                   LT_STR_ARG(lt_buf_view(&words)));
  }
  (void)mcp_auth_keep_wanted(auth, NULL); /* else the next login asks for what the server says then */
  LT_AUTO_BUF(why, 8 * LT_KIB);
  lt_buf_printf(&why,
                "the server wants more rights (scope \"%.*s\") than it was given:", LT_STR_ARG(lt_buf_view(&words)));
  return mcp_auth_want_login(auth, why.status == LT_OK ? why.p : "the server wants more rights:", err);
}

static bool mcp_auth_is_insufficient(lt_str challenge) {
  LT_AUTO_BUF(error, LT_KIB);
  return lt_mcp_auth_text_challenge(challenge, "error", &error) &&
         lt_str_eqc(lt_buf_view(&error), "insufficient_scope");
}

lt_status lt_mcp_auth_renew(lt_mcp_auth *auth, int status, lt_str challenge, lt_str used, lt_err *err) {
  if (status != 401 && !(status == 403 && mcp_auth_is_insufficient(challenge))) {
    return LT_E_NOTFOUND;
  }
  mcp_auth_hear_challenge(auth, challenge);
  if (auth->is_anonymous) {
    return mcp_auth_want_login(auth, "it wants a login:", err);
  }
  if (status == 403 && (!auth->o.is_own_client || mcp_auth_has_wanted(auth))) {
    return mcp_auth_step_up(auth, err);
  }
  lt_str prefix = LT_STR("Bearer ");
  lt_str token = lt_str_starts(used, prefix) ? lt_str_sub(used, prefix.n, used.n) : LT_STR_NULL;
  lt_status renewed = mcp_auth_renew_token(auth, token, err);
  if (renewed == LT_E_NOTFOUND && token.n == 0 && challenge.n == 0) {
    return mcp_auth_want_login(auth,
                               "the server answers with HTTP status 401; it wants a key or a login: give the key in "
                               "\"headers\", such as Authorization: Bearer ${TOKEN}, or",
                               err);
  }
  if (renewed == LT_E_NOTFOUND) {
    return mcp_auth_want_login(auth, token.n > 0 ? "it does not take the token any more:" : "it wants a login:", err);
  }
  if (renewed == LT_E_DENIED && !auth->o.is_own_client && auth->place.file != NULL && err != NULL) {
    lt_err_prefix(err, "its login is over: run `lathe login %.*s`", LT_STR_ARG(auth->o.server));
  }
  return renewed;
}

/* --- Forgetting --------------------------------------------------------------------------------------------------- */

static bool mcp_auth_revoke(lt_mcp_auth *auth, const lt_mcp_tokens *tokens) LT_YIELDS {
  if (tokens->revocation_endpoint.n == 0) {
    return false;
  }
  bool is_revoked = true;
  if (tokens->refresh_token.n > 0) {
    is_revoked = lt_mcp_auth_ask_revoke(auth, tokens->refresh_token, "refresh_token", tokens, NULL) == LT_OK;
  }
  if (tokens->access_token.n > 0) {
    is_revoked =
        lt_mcp_auth_ask_revoke(auth, tokens->access_token, "access_token", tokens, NULL) == LT_OK && is_revoked;
  }
  return is_revoked;
}

/* Tokens that cannot be read any more are deleted, too. */
lt_status lt_mcp_auth_forget(lt_mcp_auth *auth, bool *ret_is_revoked, lt_err *err) {
  lt_mcp_tokens tokens;
  int lock = -1;
  lt_mcp_tokens_init(&tokens);
  LT_TRY(lt_mcp_token_store_lock(&auth->place, &lock, err));
  lt_status is_readable = lt_mcp_token_store_read(&auth->place, &tokens, NULL);
  bool has_tokens = tokens.access_token.n > 0 || tokens.refresh_token.n > 0;
  bool is_revoked = has_tokens && mcp_auth_revoke(auth, &tokens);
  bool is_kept = is_readable != LT_OK || tokens.issuer.n > 0 || tokens.wanted.n > 0;
  lt_status status = lt_mcp_token_store_delete(&auth->place, err);
  lt_mcp_token_store_unlock(lock);
  lt_mcp_tokens_release(&tokens);
  if (ret_is_revoked != NULL) {
    *ret_is_revoked = is_revoked;
  }
  LT_TRY(status);
  return is_kept ? LT_OK : lt_fail(err, LT_E_NOTFOUND, "nobody is logged in");
}
