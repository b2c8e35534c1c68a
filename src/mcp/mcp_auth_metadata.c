#include "mcp/mcp_auth_metadata.h"

#include "base/limits.h"
#include "mcp/mcp_auth_text.h"
#include "mcp/mcp_url.h"

static const char *const method_names[] = {"none", "client_secret_basic", "client_secret_post"};

const char *lt_mcp_auth_method_name(lt_mcp_auth_method method) {
  return method_names[method];
}

bool lt_mcp_auth_method_find(lt_str name, lt_mcp_auth_method *ret_method) {
  for (size_t i = 0; i < sizeof method_names / sizeof *method_names; i++) {
    if (lt_str_eqc(name, method_names[i])) {
      *ret_method = (lt_mcp_auth_method)i;
      return true;
    }
  }
  return false;
}

/* --- Addresses ---------------------------------------------------------------------------------------------------- */

/* The path of an address, without query, fragment and a "/" at its end. Borrows. */
static lt_str mcp_auth_metadata_path(lt_str url) {
  size_t start = lt_mcp_url_origin(url).n, end = start;
  while (end < url.n && url.p[end] != '?' && url.p[end] != '#') {
    end++;
  }
  while (end > start && url.p[end - 1] == '/') {
    end--;
  }
  return lt_str_sub(url, start, end);
}

static lt_str mcp_auth_metadata_join(lt_arena *arena, lt_str a, const char *b, lt_str c) {
  LT_AUTO_BUF(url, LT_HTTP_URL_MAX_BYTES);
  lt_buf_add(&url, a);
  lt_buf_addc(&url, b);
  lt_buf_add(&url, c);
  return lt_arena_dup_buf(arena, &url);
}

static lt_status mcp_auth_metadata_get(const lt_mcp_auth_search *search, lt_str url, lt_arena *arena,
                                       lt_mcp_auth_reply *reply, lt_err *err) LT_YIELDS {
  const lt_mcp_auth_fetch fetch = {
      .http = search->http,
      .url = url,
      .may_be_local = lt_mcp_url_is_loopback(search->server_url),
      .cancel = search->cancel,
  };
  return url.n > 0 ? lt_mcp_auth_fetch_run(&fetch, arena, reply, err)
                   : lt_fail(err, LT_E_LIMIT, "the address of the authorization is too long");
}

static bool mcp_auth_metadata_is_document(const lt_mcp_auth_reply *reply, const char *member) {
  return reply->status == 200 && lt_json_typeof(lt_json_get(reply->root, member)) == LT_JSON_STRING;
}

/* --- The resource ------------------------------------------------------------------------------------------------- */

/* The resource is the server's address, or one that this lies below. "the `resource` value returned MUST be identical
 * to the protected resource's resource identifier value" (RFC 9728, section 3.3); MCP's servers name their origin, too.
 */
static bool mcp_auth_metadata_is_ours(lt_str resource, lt_str server_url) {
  lt_str wide = mcp_auth_metadata_path(resource), narrow = mcp_auth_metadata_path(server_url);
  return lt_mcp_url_same_origin(resource, server_url) && lt_str_starts(narrow, wide) &&
         (narrow.n == wide.n || narrow.p[wide.n] == '/');
}

static void mcp_auth_metadata_add_scopes(lt_json list, lt_arena *arena, lt_buf *scopes) {
  lt_json_iter it = lt_json_each(list);
  lt_str scope;
  while (lt_json_typeof(list) == LT_JSON_ARRAY && lt_json_next(&it)) {
    if (lt_json_str(it.value, arena, &scope)) {
      lt_mcp_auth_text_add_scopes(scopes, scope);
    }
  }
}

static lt_status mcp_auth_metadata_take_resource(const lt_mcp_auth_search *search, lt_json root, lt_arena *arena,
                                                 lt_mcp_auth_metadata *m, lt_err *err) {
  LT_AUTO_BUF(scopes, LT_MCP_AUTH_SCOPES_MAX_BYTES);
  (void)lt_json_str(lt_json_get(root, "resource"), arena, &m->resource);
  if (!mcp_auth_metadata_is_ours(m->resource, search->server_url)) {
    return lt_fail(err, LT_E_DENIED,
                   "the server's authorization is for another address than \"url\"; a token for that is not asked for");
  }
  if (!lt_json_str(lt_json_at(lt_json_get(root, "authorization_servers"), 0), arena, &m->issuer)) {
    return lt_fail(err, LT_E_PROTOCOL, "the server does not say which authorization server it trusts");
  }
  mcp_auth_metadata_add_scopes(lt_json_get(root, "scopes_supported"), arena, &scopes);
  m->scopes = lt_arena_dup(arena, lt_buf_view_or(&scopes, LT_STR_NULL));
  return LT_OK;
}

/* "If the protected resource metadata is not in the challenge: at the path of the server's MCP endpoint, then at the
 * root" (Authorization, Protected Resource Metadata Discovery). `m->issuer` stays empty where there is none. */
static lt_status mcp_auth_metadata_find_resource(const lt_mcp_auth_search *search, lt_arena *arena,
                                                 lt_mcp_auth_metadata *m, lt_err *err) LT_YIELDS {
  static const char well_known[] = "/.well-known/oauth-protected-resource";
  lt_str origin = lt_mcp_url_origin(search->server_url), path = mcp_auth_metadata_path(search->server_url);
  const lt_str places[] = {
      search->document,
      mcp_auth_metadata_join(arena, origin, well_known, path),
      path.n > 0 ? mcp_auth_metadata_join(arena, origin, well_known, LT_STR_NULL) : LT_STR_NULL,
  };
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    lt_mcp_auth_reply reply;
    if (places[i].n > 0) {
      LT_TRY(mcp_auth_metadata_get(search, places[i], arena, &reply, err));
      if (mcp_auth_metadata_is_document(&reply, "resource")) {
        return mcp_auth_metadata_take_resource(search, reply.root, arena, m, err);
      }
    }
  }
  return LT_OK;
}

/* --- The authorization server ------------------------------------------------------------------------------------- */

static bool mcp_auth_metadata_lists(lt_json list, const char *word) {
  lt_json_iter it = lt_json_each(list);
  while (lt_json_typeof(list) == LT_JSON_ARRAY && lt_json_next(&it)) {
    if (lt_json_str_eq(it.value, lt_str_of(word))) {
      return true;
    }
  }
  return false;
}

static unsigned mcp_auth_metadata_methods(lt_json root) {
  lt_json list = lt_json_get(root, "token_endpoint_auth_methods_supported");
  unsigned methods = 0;
  for (size_t i = 0; i < sizeof method_names / sizeof *method_names; i++) {
    methods |= mcp_auth_metadata_lists(list, method_names[i]) ? 1u << i : 0;
  }
  return methods;
}

/* A login prints an endpoint and hands it to a browser: a line break in it could write lines of its own (RFC 3986,
 * section 2: the characters of an address). */
static bool mcp_auth_metadata_is_address(lt_str url) {
  for (size_t i = 0; i < url.n; i++) {
    if (url.p[i] <= ' ' || url.p[i] > '~' || memchr("\"<>\\^`{|}", url.p[i], 9) != NULL) {
      return false;
    }
  }
  return true;
}

static lt_status mcp_auth_metadata_check_endpoints(const lt_mcp_auth_search *search, const lt_mcp_auth_metadata *m,
                                                   lt_err *err) {
  bool may_be_local = lt_mcp_url_is_loopback(search->server_url);
  const lt_str endpoints[] = {m->authorization_endpoint, m->token_endpoint, m->registration_endpoint,
                              m->revocation_endpoint};
  for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++) {
    if ((i < 2 || endpoints[i].n > 0) && !lt_mcp_auth_fetch_may(endpoints[i], may_be_local)) {
      return lt_fail(err, LT_E_DENIED,
                     "an endpoint of the authorization server is missing or does not begin with https://");
    }
    if (!mcp_auth_metadata_is_address(endpoints[i])) {
      return lt_fail(err, LT_E_DENIED,
                     "an endpoint of the authorization server has characters that no address has; it was not used");
    }
  }
  return LT_OK;
}

/* "MCP clients MUST refuse to proceed" without code_challenge_methods_supported (Authorization, Authorization Code
 * Protection) */
static lt_status mcp_auth_metadata_take_server(const lt_mcp_auth_search *search, lt_json root, lt_arena *arena,
                                               lt_mcp_auth_metadata *m, lt_err *err) {
  if (!lt_json_str_eq(lt_json_get(root, "issuer"), m->issuer)) {
    return lt_fail(err, LT_E_DENIED,
                   "the authorization server calls itself by another name (issuer) than the one that led to it");
  }
  if (!mcp_auth_metadata_lists(lt_json_get(root, "code_challenge_methods_supported"), "S256")) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "the authorization server does not say that it has PKCE with S256, which MCP wants");
  }
  (void)lt_json_str(lt_json_get(root, "authorization_endpoint"), arena, &m->authorization_endpoint);
  (void)lt_json_str(lt_json_get(root, "token_endpoint"), arena, &m->token_endpoint);
  (void)lt_json_str(lt_json_get(root, "registration_endpoint"), arena, &m->registration_endpoint);
  (void)lt_json_str(lt_json_get(root, "revocation_endpoint"), arena, &m->revocation_endpoint);
  m->methods = mcp_auth_metadata_methods(root);
  m->has_iss = lt_json_bool(lt_json_get(root, "authorization_response_iss_parameter_supported"), false);
  m->has_client_documents = lt_json_bool(lt_json_get(root, "client_id_metadata_document_supported"), false);
  m->has_offline_scope = mcp_auth_metadata_lists(lt_json_get(root, "scopes_supported"), "offline_access");
  return mcp_auth_metadata_check_endpoints(search, m, err);
}

/* Where the metadata of an issuer may be, in order (Authorization, Authorization Server Metadata Discovery). */
static lt_status mcp_auth_metadata_find_server(const lt_mcp_auth_search *search, lt_arena *arena,
                                               lt_mcp_auth_metadata *m, bool *ret_is_found, lt_err *err) LT_YIELDS {
  lt_str origin = lt_mcp_url_origin(m->issuer), path = mcp_auth_metadata_path(m->issuer);
  const lt_str places[] = {
      mcp_auth_metadata_join(arena, origin, "/.well-known/oauth-authorization-server", path),
      mcp_auth_metadata_join(arena, origin, "/.well-known/openid-configuration", path),
      path.n > 0 ? mcp_auth_metadata_join(arena, lt_str_sub(m->issuer, 0, origin.n + path.n),
                                          "/.well-known/openid-configuration", LT_STR_NULL)
                 : LT_STR_NULL,
  };
  *ret_is_found = false;
  for (size_t i = 0; i < sizeof places / sizeof *places && !*ret_is_found; i++) {
    lt_mcp_auth_reply reply;
    if (places[i].n > 0) {
      LT_TRY(mcp_auth_metadata_get(search, places[i], arena, &reply, err));
      *ret_is_found = mcp_auth_metadata_is_document(&reply, "issuer");
      if (*ret_is_found) {
        return mcp_auth_metadata_take_server(search, reply.root, arena, m, err);
      }
    }
  }
  return LT_OK;
}

/* "clients MUST use the following default endpoint paths" (2025-03-26, Authorization, Fallbacks for Servers without
 * Metadata Discovery) */
static lt_status mcp_auth_metadata_guess(const lt_mcp_auth_search *search, lt_arena *arena, lt_mcp_auth_metadata *m,
                                         lt_err *err) {
  m->authorization_endpoint = mcp_auth_metadata_join(arena, m->issuer, "/authorize", LT_STR_NULL);
  m->token_endpoint = mcp_auth_metadata_join(arena, m->issuer, "/token", LT_STR_NULL);
  m->registration_endpoint = mcp_auth_metadata_join(arena, m->issuer, "/register", LT_STR_NULL);
  m->is_guessed = true;
  return mcp_auth_metadata_check_endpoints(search, m, err);
}

lt_status lt_mcp_auth_metadata_find(const lt_mcp_auth_search *search, lt_arena *arena,
                                    lt_mcp_auth_metadata *ret_metadata, lt_err *err) {
  lt_mcp_auth_metadata m = {.scopes = LT_STR_NULL};
  bool is_found = false;
  LT_TRY(mcp_auth_metadata_find_resource(search, arena, &m, err));
  bool has_resource = m.issuer.n > 0;
  if (!has_resource) {
    m.issuer = lt_arena_dup(arena, lt_mcp_url_origin(search->server_url));
    m.resource = lt_arena_dup(arena, search->server_url);
  }
  LT_TRY(mcp_auth_metadata_find_server(search, arena, &m, &is_found, err));
  if (!is_found && has_resource) {
    return lt_fail(err, LT_E_PROTOCOL, "the authorization server that the server names publishes no metadata");
  } else if (!is_found) {
    LT_TRY(mcp_auth_metadata_guess(search, arena, &m, err));
  }
  *ret_metadata = m;
  return LT_OK;
}
