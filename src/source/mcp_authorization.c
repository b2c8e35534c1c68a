#include "source/mcp_authorization.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sha256.h"
#include "mcp/mcp_url.h"

#define TOKEN_KEY "LATHE_TOKEN_KEY"

static bool mcp_authorization_has_key(const lt_config_server *server) {
  for (const char *const *header = server->headers; *header != NULL; header++) {
    if (strncasecmp(*header, "Authorization:", strlen("Authorization:")) == 0) {
      return true;
    }
  }
  return false;
}

bool lt_mcp_authorization_is_possible(const lt_config_server *server) {
  return strcmp(server->type, "stdio") != 0 && server->url != NULL && !mcp_authorization_has_key(server);
}

bool lt_mcp_authorization_is_secret(const lt_config *config, lt_str variable) {
  bool is_secret = lt_str_eqc(variable, TOKEN_KEY);
  for (size_t i = 0; i < config->server_count && !is_secret; i++) {
    const char *name = config->servers[i].oauth.client_secret_env;
    is_secret = name != NULL && lt_str_eqc(variable, name);
  }
  return is_secret;
}

lt_status lt_mcp_authorization_check_url(const lt_config_server *server, lt_err *err) {
  lt_str url = lt_str_of(server->url);
  if (lt_mcp_url_origin(url).n == 0) {
    return lt_fail(err, LT_E_CONFIG,
                   "its url must begin with https:// or http://, and have no user or password (write \"headers\")");
  }
  bool is_plain = url.p[4] == ':';
  if (is_plain && !server->allow_http && !lt_mcp_url_is_loopback(url)) {
    return lt_fail(
        err, LT_E_DENIED,
        "its url begins with http://, so that everybody on the way could read and change what is sent: write "
        "https://, or allowHttp: true");
  }
  return LT_OK;
}

/* $XDG_STATE_HOME/lathe/tokens/HASH.json: of the name, since one may have two accounts, and of the address. False:
 * there is no state folder. */
static bool mcp_authorization_put_file(const lt_config_server *server, lt_buf *out) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  LT_AUTO_BUF(owner, LT_CONFIG_MAX_BYTES);
  lt_buf_addc(&owner, server->name);
  lt_buf_byte(&owner, '\n');
  lt_buf_addc(&owner, server->url);
  if (state != NULL && state[0] == '/') {
    lt_buf_addc(out, state);
  } else if (home != NULL && home[0] == '/') {
    lt_buf_printf(out, "%s/.local/state", home);
  } else {
    return false;
  }
  lt_buf_printf(out, "/lathe/tokens/%s.json", lt_sha256(lt_buf_view(&owner)).text);
  return out->status == LT_OK && owner.status == LT_OK;
}

lt_status lt_mcp_authorization_open(lt_loop *loop, const lt_config_server *server, lt_mcp_auth **ret_auth,
                                    lt_err *err) {
  *ret_auth = NULL;
  if (!lt_mcp_authorization_is_possible(server)) {
    return LT_OK;
  }
  const char *name = server->oauth.client_secret_env, *key = getenv(TOKEN_KEY);
  const char *secret = name != NULL ? getenv(name) : NULL;
  LT_AUTO_BUF(file, PATH_MAX);
  bool has_file = mcp_authorization_put_file(server, &file);
  const lt_mcp_auth_options options = {
      .server = lt_str_of(server->name),
      .url = server->url,
      .client_id = server->oauth.client_id,
      .client_secret = secret,
      .missing_variable = secret == NULL || secret[0] == '\0' ? name : NULL,
      .client_metadata_url = server->oauth.client_metadata_url,
      .scopes = server->oauth.scopes,
      .token_file = has_file ? file.p : NULL,
      .token_key = key != NULL && key[0] != '\0' ? key : NULL,
      .callback_port = (unsigned)server->oauth.callback_port,
      .is_own_client = server->oauth.grant == LT_CONFIG_GRANT_CREDENTIALS,
  };
  return lt_mcp_auth_new(loop, &options, ret_auth, err);
}
