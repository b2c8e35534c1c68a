#include "mcp/mcp_login.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "io/http_server.h"
#include "mcp/mcp_auth_impl.h"
#include "mcp/mcp_auth_text.h"
#include "mcp/mcp_peer_text.h"
#include "mcp/mcp_url.h"

#define CALLBACK_PATH "/callback"
enum { RANDOM_DIGITS = 64 }; /* 256 bits; a verifier has 43 characters at least (RFC 7636, section 4.1) */

struct lt_mcp_login {
  lt_mcp_login_options o;
  lt_mcp_auth *auth;
  lt_arena arena; /* of `m` */
  lt_mcp_auth_metadata m;
  lt_mcp_tokens tokens; /* who we are there, and at the end the tokens */
  lt_http_server *server;
  char state[RANDOM_DIGITS + 1], verifier[RANDOM_DIGITS + 1];
  lt_buf scopes, address;
  lt_buf code;
  lt_err refusal; /* the answer is one that ends the login */
  bool is_answered;
  lt_wait answered;
};

static void mcp_login_say(const lt_mcp_login *login, const char *words) {
  login->o.on_step(login->o.arg, lt_str_of(words));
}

/* --- The answer --------------------------------------------------------------------------------------------------- */

/* "the client MUST compare" it "using simple string comparison" and "reject" one that is missing where it was promised
 * (RFC 9207, section 2.4; MCP, Authorization, Mix-Up Attack) */
static bool mcp_login_is_issuer(const lt_mcp_login *login, lt_str query) {
  LT_AUTO_BUF(issuer, LT_HTTP_URL_MAX_BYTES);
  bool has_issuer = lt_mcp_auth_text_query(query, "iss", &issuer);
  return has_issuer ? lt_str_eq(lt_buf_view(&issuer), login->m.issuer) : !login->m.has_iss;
}

static void mcp_login_read_error(lt_mcp_login *login, lt_str query, lt_str error) {
  LT_AUTO_BUF(description, LT_HTTP_URL_MAX_BYTES);
  LT_AUTO_BUF(words, 2 * LT_MCP_WORDS_MAX_BYTES);
  lt_mcp_peer_text_add(&words, error, LT_MCP_HEAD, 80, NULL);
  if (lt_mcp_auth_text_query(query, "error_description", &description)) {
    lt_buf_addc(&words, ": ");
    lt_mcp_peer_text_add(&words, lt_buf_view(&description), LT_MCP_HEAD, LT_MCP_WORDS_MAX_BYTES / 2, NULL);
  }
  lt_fail(&login->refusal, LT_E_DENIED, "the login was refused: %.*s",
          LT_STR_ARG(lt_buf_view_or(&words, LT_STR("no reason"))));
}

/* False: somebody else's answer, which does not end this login. */
static bool mcp_login_take_query(lt_mcp_login *login, lt_str query) {
  LT_AUTO_BUF(state, LT_HTTP_URL_MAX_BYTES);
  LT_AUTO_BUF(error, LT_HTTP_URL_MAX_BYTES);
  if (login->is_answered || !lt_mcp_auth_text_query(query, "state", &state) ||
      !lt_str_eqc(lt_buf_view(&state), login->state)) {
    mcp_login_say(login, login->is_answered ? "a second answer does not count"
                                            : "an answer that is not of this login (another state) does not count");
    return false;
  }
  if (!mcp_login_is_issuer(login, query)) {
    lt_fail(&login->refusal, LT_E_DENIED,
            "the answer does not come from the authorization server that was asked (issuer): it was not used");
  } else if (lt_mcp_auth_text_query(query, "error", &error)) {
    mcp_login_read_error(login, query, lt_buf_view(&error));
  } else if (!lt_mcp_auth_text_query(query, "code", &login->code) || login->code.n == 0) {
    lt_fail(&login->refusal, LT_E_PROTOCOL, "the answer of the authorization server has no code");
  }
  login->is_answered = true;
  lt_wait_wake(&login->answered, LT_OK);
  return true;
}

/* A code alone says nothing of its issuer, nor whose login it is of; PKCE keeps it to ours. */
static bool mcp_login_take_code(lt_mcp_login *login, lt_str code) {
  if (login->m.has_iss || login->is_answered) {
    mcp_login_say(login, "paste the whole address that the browser was sent to, beginning with http://127.0.0.1");
    return false;
  }
  lt_buf_add(&login->code, code);
  login->is_answered = true;
  lt_wait_wake(&login->answered, LT_OK);
  return true;
}

bool lt_mcp_login_offer(lt_mcp_login *login, lt_str text) {
  lt_str trimmed = lt_str_trim(text);
  bool is_address = lt_str_find(trimmed, LT_STR("://"), 0) != SIZE_MAX;
  if (trimmed.n == 0 || login->is_answered) {
    return false;
  }
  return is_address ? mcp_login_take_query(login, lt_mcp_auth_text_query_of(trimmed))
                    : mcp_login_take_code(login, trimmed);
}

static void mcp_login_on_request(void *arg, const lt_http_call *call, lt_http_answer *answer) LT_YIELDS {
  lt_mcp_login *login = arg;
  answer->content_type = "text/plain; charset=utf-8";
  lt_http_answer_header(answer, "Cache-Control", LT_STR("no-store"));
  lt_http_answer_header(answer, "Referrer-Policy", LT_STR("no-referrer"));
  if (!lt_str_eqc(call->path, CALLBACK_PATH) || !lt_str_eqc(call->method, "GET")) {
    answer->status = 404;
    lt_buf_addc(&answer->body, "There is nothing here.\n");
  } else if (!mcp_login_take_query(login, call->query)) {
    answer->status = 400;
    lt_buf_addc(&answer->body,
                "This answer is not of the login that Lathe waits for. Use the address that it printed.\n");
  } else {
    lt_buf_addc(&answer->body, "Lathe has the answer. Close this page, and see in the terminal how the login ended.\n");
  }
}

/* --- Listening ---------------------------------------------------------------------------------------------------- */

static unsigned mcp_login_port_of(lt_str redirect_uri) {
  lt_str before = LT_STR("http://127.0.0.1:");
  return lt_str_starts(redirect_uri, before) ? (unsigned)strtoul(redirect_uri.p + before.n, NULL, 10) & 0xffff : 0;
}

static lt_status mcp_login_listen_on(lt_mcp_login *login, unsigned port, lt_err *err) {
  const lt_http_server_options options = {
      .port = port,
      .body_max = LT_KIB,
      .connections_max = LT_MCP_AUTH_CONNECTIONS_MAX,
      .handle = mcp_login_on_request,
      .arg = login,
  };
  return lt_http_server_open(login->auth->loop, &options, &login->server, err);
}

/* The port of an earlier registration is used again: authorization servers compare addresses, many with the port. */
static lt_status mcp_login_listen(lt_mcp_login *login, unsigned earlier_port, lt_err *err) {
  unsigned port = login->auth->o.callback_port;
  if (port != 0) {
    return mcp_login_listen_on(login, port, err);
  }
  if (earlier_port != 0 && mcp_login_listen_on(login, earlier_port, NULL) == LT_OK) {
    return LT_OK;
  }
  return mcp_login_listen_on(login, 0, err);
}

/* --- Who we are --------------------------------------------------------------------------------------------------- */

static lt_str mcp_login_keep(lt_mcp_login *login, lt_str text) {
  return lt_arena_dup(&login->tokens.arena, text);
}

static void mcp_login_put_list(lt_json_writer *w, const char *key, const char *first, const char *second) {
  lt_json_key(w, key);
  lt_json_begin_array(w);
  lt_json_put_cstr(w, first);
  if (second != NULL) {
    lt_json_put_cstr(w, second);
  }
  lt_json_end_array(w);
}

static lt_mcp_auth_method mcp_login_choose_method(unsigned methods, bool has_secret) {
  bool may_be_public = methods == 0 || (methods & 1u << LT_MCP_AUTH_NONE) != 0;
  if (may_be_public && !has_secret) {
    return LT_MCP_AUTH_NONE;
  }
  return methods == 0 || (methods & 1u << LT_MCP_AUTH_BASIC) != 0 ? LT_MCP_AUTH_BASIC
         : (methods & 1u << LT_MCP_AUTH_POST) != 0                ? LT_MCP_AUTH_POST
                                                                  : LT_MCP_AUTH_NONE;
}

static void mcp_login_put_registration(const lt_mcp_login *login, lt_buf *out) {
  lt_json_writer w = lt_json_writer_on(out);
  char redirect[LT_HTTP_URL_MAX_BYTES];
  snprintf(redirect, sizeof redirect, "%.*s", LT_STR_ARG(login->tokens.redirect_uri));
  lt_json_begin_object(&w);
  lt_json_key(&w, "client_name");
  lt_json_put_cstr(&w, "Lathe");
  lt_json_key(&w, "application_type");
  lt_json_put_cstr(&w, "native");
  mcp_login_put_list(&w, "redirect_uris", redirect, NULL);
  mcp_login_put_list(&w, "grant_types", "authorization_code", "refresh_token");
  mcp_login_put_list(&w, "response_types", "code", NULL);
  lt_json_key(&w, "token_endpoint_auth_method");
  lt_json_put_cstr(&w, lt_mcp_auth_method_name(mcp_login_choose_method(login->m.methods, false)));
  if (login->scopes.n > 0) {
    lt_json_key(&w, "scope");
    lt_json_put_str(&w, lt_buf_view(&login->scopes));
  }
  lt_json_end_object(&w);
}

/* An authorization server may register another method than was asked for (RFC 7591, section 3.2.1). */
static lt_status mcp_login_take_registration(lt_mcp_login *login, const lt_mcp_auth_reply *reply, lt_err *err) {
  LT_AUTO_ARENA(arena, LT_MCP_AUTH_MEMORY_BYTES);
  lt_str id = LT_STR_NULL, secret = LT_STR_NULL, name = LT_STR_NULL;
  lt_mcp_auth_method method;
  if (reply->status < 200 || reply->status > 299 || !lt_json_str(lt_json_get(reply->root, "client_id"), &arena, &id) ||
      id.n == 0) {
    return lt_fail(err, LT_E_PROTOCOL,
                   "the authorization server does not register Lathe (HTTP status %d): register it there by hand, and "
                   "write oauth.clientId into its configuration",
                   reply->status);
  }
  (void)lt_json_str(lt_json_get(reply->root, "client_secret"), &arena, &secret);
  (void)lt_json_str(lt_json_get(reply->root, "token_endpoint_auth_method"), &arena, &name);
  if (!lt_mcp_auth_method_find(name, &method)) {
    method = mcp_login_choose_method(login->m.methods, secret.n > 0 && login->m.methods != 1u << LT_MCP_AUTH_NONE);
  }
  login->tokens.client_id = mcp_login_keep(login, id);
  login->tokens.client_secret = mcp_login_keep(login, secret);
  login->tokens.client_method = mcp_login_keep(login, lt_str_of(lt_mcp_auth_method_name(method)));
  return LT_OK;
}

static lt_status mcp_login_register(lt_mcp_login *login, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(body, LT_MCP_AUTH_BODY_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_MCP_AUTH_MEMORY_BYTES);
  lt_mcp_auth_reply reply;
  mcp_login_put_registration(login, &body);
  LT_TRY(lt_buf_check(&body, err, "the registration is too long"));
  const lt_mcp_auth_fetch fetch = {
      .http = login->auth->http,
      .url = login->m.registration_endpoint,
      .may_be_local = lt_mcp_url_is_loopback(lt_str_of(login->auth->o.url)),
      .json = lt_buf_view(&body),
      .cancel = login->o.cancel,
  };
  LT_TRY(lt_mcp_auth_fetch_run(&fetch, &arena, &reply, err));
  return mcp_login_take_registration(login, &reply, err);
}

/* The registration of the last time, at the same authorization server and for the same address. Credentials of another
 * one are never used (Authorization, Client Registration Approaches). */
static bool mcp_login_reuse(lt_mcp_login *login, const lt_mcp_tokens *earlier) {
  bool is_same = earlier->client_id.n > 0 && lt_str_eq(earlier->issuer, login->m.issuer) &&
                 lt_str_eq(earlier->redirect_uri, login->tokens.redirect_uri);
  if (is_same) {
    login->tokens.client_id = mcp_login_keep(login, earlier->client_id);
    login->tokens.client_secret = mcp_login_keep(login, earlier->client_secret);
    login->tokens.client_method = mcp_login_keep(login, earlier->client_method);
  }
  return is_same;
}

/* "1. Use pre-registered client information [...] 2. Use Client ID Metadata Documents [...] 3. Use Dynamic Client
 * Registration as a fallback [...] 4. Prompt the user" (Authorization, Client Registration Approaches) */
static lt_status mcp_login_identify(lt_mcp_login *login, const lt_mcp_tokens *earlier, lt_err *err) LT_YIELDS {
  const char *document = login->auth->o.client_metadata_url;
  if (lt_mcp_auth_is_registered(login->auth, login->m.methods, &login->tokens)) {
    return LT_OK;
  }
  if (document != NULL && login->m.has_client_documents) {
    login->tokens.client_id = mcp_login_keep(login, lt_str_of(document));
    login->tokens.client_method = mcp_login_keep(login, lt_str_of(lt_mcp_auth_method_name(LT_MCP_AUTH_NONE)));
    return LT_OK;
  }
  if (mcp_login_reuse(login, earlier)) {
    return LT_OK;
  }
  if (login->m.registration_endpoint.n == 0) {
    return lt_fail(err, LT_E_CONFIG,
                   "the authorization server registers nobody by itself: register Lathe there with the redirect "
                   "address %.*s, and write oauth.clientId (and callbackPort) into the server's configuration",
                   LT_STR_ARG(login->tokens.redirect_uri));
  }
  mcp_login_say(login, "registering Lathe with the authorization server");
  return mcp_login_register(login, err);
}

/* --- The address -------------------------------------------------------------------------------------------------- */

static lt_status mcp_login_write_address(lt_mcp_login *login, lt_err *err) {
  LT_AUTO_BUF(query, LT_HTTP_URL_MAX_BYTES);
  LT_AUTO_BUF(challenge, LT_KIB);
  lt_mcp_auth_text_code_challenge(lt_str_of(login->verifier), &challenge);
  lt_mcp_auth_text_field(&query, "response_type", LT_STR("code"));
  lt_mcp_auth_text_field(&query, "client_id", login->tokens.client_id);
  lt_mcp_auth_text_field(&query, "redirect_uri", login->tokens.redirect_uri);
  lt_mcp_auth_text_field(&query, "state", lt_str_of(login->state));
  lt_mcp_auth_text_field(&query, "code_challenge", lt_buf_view(&challenge));
  lt_mcp_auth_text_field(&query, "code_challenge_method", LT_STR("S256"));
  lt_mcp_auth_text_field(&query, "scope", lt_buf_view(&login->scopes));
  lt_mcp_auth_text_field(&query, "resource", login->m.resource);
  bool has_query = lt_str_find(login->m.authorization_endpoint, LT_STR("?"), 0) != SIZE_MAX;
  lt_buf_add(&login->address, login->m.authorization_endpoint);
  lt_buf_addc(&login->address, has_query ? "&" : "?");
  lt_buf_add(&login->address, lt_buf_view(&query));
  LT_TRY(lt_buf_check(&query, err, "the address of the login is too long"));
  return lt_buf_check(&login->address, err, "the address of the login is too long");
}

/* What an earlier answer wanted comes first, then the usual scopes. A refresh token often needs a scope of its own:
 * "if the authorization server lists offline_access" (Authorization, Refresh Tokens). */
static void mcp_login_choose_scopes(lt_mcp_login *login, const lt_mcp_tokens *earlier) {
  lt_mcp_auth_add_scopes(login->auth, &login->m, &login->scopes);
  if (earlier->wanted.n > 0) {
    lt_mcp_auth_text_add_scopes(&login->scopes, earlier->scope);
    lt_mcp_auth_text_add_scopes(&login->scopes, earlier->wanted);
  }
  if (login->m.has_offline_scope && login->scopes.n > 0) {
    lt_mcp_auth_text_add_scopes(&login->scopes, LT_STR("offline_access"));
  }
}

static lt_status mcp_login_prepare(lt_mcp_login *login, const lt_mcp_tokens *earlier, lt_err *err) LT_YIELDS {
  lt_mcp_auth *auth = login->auth;
  LT_TRY(lt_mcp_auth_check_client(auth, err));
  if (auth->place.file == NULL) {
    return lt_fail(err, LT_E_CONFIG, "there is no place for tokens: set $HOME or $XDG_STATE_HOME");
  }
  mcp_login_say(login, "looking for the authorization server");
  LT_TRY(lt_mcp_auth_find_server(auth, login->o.cancel, &login->arena, &login->m, err));
  if (login->m.is_guessed && !auth->is_challenged) {
    return lt_fail(err, LT_E_NOTFOUND, "the server wants no login");
  }
  bool is_same_issuer = lt_str_eq(earlier->issuer, login->m.issuer);
  LT_TRY(mcp_login_listen(login, is_same_issuer ? mcp_login_port_of(earlier->redirect_uri) : 0, err));
  login->tokens.redirect_uri =
      lt_arena_printf(&login->tokens.arena, "http://127.0.0.1:%u" CALLBACK_PATH, lt_http_server_port(login->server));
  mcp_login_choose_scopes(login, earlier);
  if (!lt_random_hex(login->state, RANDOM_DIGITS) || !lt_random_hex(login->verifier, RANDOM_DIGITS)) {
    return lt_fail(err, LT_E_IO, "there are no random bytes");
  }
  LT_TRY(mcp_login_identify(login, earlier, err));
  return mcp_login_write_address(login, err);
}

lt_status lt_mcp_login_begin(const lt_mcp_login_options *options, lt_mcp_login **ret_login, lt_err *err) {
  lt_mcp_login *login = lt_mem_zalloc(1, sizeof *login);
  if (login == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a login");
  }
  login->o = *options;
  login->auth = options->auth;
  lt_arena_init(&login->arena, LT_MCP_AUTH_MEMORY_BYTES);
  lt_mcp_tokens_init(&login->tokens);
  lt_buf_init(&login->scopes, LT_MCP_AUTH_SCOPES_MAX_BYTES);
  lt_buf_init(&login->address, 2 * LT_HTTP_URL_MAX_BYTES);
  lt_buf_init(&login->code, LT_HTTP_URL_MAX_BYTES);
  lt_wait_init(&login->answered, login->auth->loop);
  lt_mcp_tokens earlier;
  lt_mcp_tokens_init(&earlier);
  lt_status status = lt_mcp_token_store_read(&login->auth->place, &earlier, NULL);
  status = mcp_login_prepare(login, &earlier, err); /* tokens that cannot be read are replaced */
  lt_mcp_tokens_release(&earlier);
  if (status != LT_OK) {
    lt_mcp_login_end(login);
    return status;
  }
  *ret_login = login;
  return LT_OK;
}

lt_str lt_mcp_login_address(const lt_mcp_login *login) {
  return lt_buf_view(&login->address);
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

static lt_status mcp_login_wait(lt_mcp_login *login, uint64_t timeout_ms, lt_err *err) LT_YIELDS {
  lt_cancel_node node;
  lt_status status = LT_OK;
  uint64_t until_ms = lt_loop_now_ms(login->auth->loop) + timeout_ms;
  lt_cancel_add(login->o.cancel, &node, &login->answered);
  while (!login->is_answered && status == LT_OK) {
    uint64_t now_ms = lt_loop_now_ms(login->auth->loop);
    status = lt_wait_on(&login->answered, until_ms > now_ms ? until_ms - now_ms : 0);
  }
  lt_cancel_remove(login->o.cancel, &node);
  if (status == LT_E_TIMEOUT) {
    return lt_fail(err, status, "nobody has logged in within %g s: run the command again, and open the address",
                   (double)timeout_ms / 1000);
  }
  LT_TRY(lt_fail_if(err, status, "the login was given up"));
  return lt_err_copy(err, &login->refusal);
}

static lt_status mcp_login_exchange(lt_mcp_login *login, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(form, LT_MCP_AUTH_BODY_MAX_BYTES);
  lt_mcp_tokens *t = &login->tokens;
  t->issuer = mcp_login_keep(login, login->m.issuer);
  t->resource = mcp_login_keep(login, login->m.resource);
  t->token_endpoint = mcp_login_keep(login, login->m.token_endpoint);
  t->revocation_endpoint = mcp_login_keep(login, login->m.revocation_endpoint);
  t->scope = mcp_login_keep(login, lt_buf_view(&login->scopes));
  lt_mcp_auth_text_field(&form, "grant_type", LT_STR("authorization_code"));
  lt_mcp_auth_text_field(&form, "code", lt_buf_view(&login->code));
  lt_mcp_auth_text_field(&form, "redirect_uri", t->redirect_uri);
  lt_mcp_auth_text_field(&form, "code_verifier", lt_str_of(login->verifier));
  return lt_mcp_auth_ask_token(login->auth, &form, login->o.cancel, t, err);
}

static lt_status mcp_login_store(lt_mcp_login *login, lt_err *err) LT_YIELDS {
  int lock = -1;
  LT_TRY(lt_mcp_token_store_lock(&login->auth->place, &lock, err));
  lt_status status = lt_mcp_token_store_write(&login->auth->place, &login->tokens, err);
  lt_mcp_token_store_unlock(lock);
  return status;
}

lt_status lt_mcp_login_finish(lt_mcp_login *login, uint64_t timeout_ms, lt_err *err) {
  LT_TRY(mcp_login_wait(login, timeout_ms, err));
  mcp_login_say(login, "asking for the token");
  LT_TRY(mcp_login_exchange(login, err));
  LT_TRY(mcp_login_store(login, err));
  lt_mcp_auth_take(login->auth, &login->tokens);
  login->auth->is_read = true;
  return LT_OK;
}

void lt_mcp_login_end(lt_mcp_login *login) {
  if (login == NULL) {
    return;
  }
  lt_http_server_close(login->server);
  lt_mcp_tokens_release(&login->tokens);
  lt_buf_release(&login->scopes);
  lt_buf_release(&login->address);
  if (login->code.p != NULL) {
    explicit_bzero(login->code.p, login->code.n);
  }
  lt_buf_release(&login->code);
  explicit_bzero(login->verifier, sizeof login->verifier);
  lt_arena_release(&login->arena);
  lt_mem_free(login);
}
