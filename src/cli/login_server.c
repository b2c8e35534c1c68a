#include "cli/login_server.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "source/mcp_authorization.h"
#include "source/mcp_list_place.h"

static lt_status login_server_fail(const lt_config *config, const char *name, lt_err *err) {
  LT_AUTO_BUF(names, LT_KIB / 2);
  for (size_t i = 0; i < config->server_count; i++) {
    if (lt_mcp_authorization_is_possible(&config->servers[i])) {
      lt_buf_addc(&names, names.n > 0 ? ", " : "");
      lt_buf_addc(&names, config->servers[i].name);
    }
  }
  lt_str list = lt_buf_view_or(&names, LT_STR_NULL);
  return lt_fail(err, LT_E_NOTFOUND, "there is no server \"%.100s\"%s%.*s", name,
                 list.n > 0 ? "; with a url there are: " : " in the configuration", LT_STR_ARG(list));
}

lt_status lt_login_server_find(const lt_config *config, const char *name, const lt_config_server **ret_server,
                               lt_err *err) {
  const lt_config_server *server = NULL;
  for (size_t i = 0; i < config->server_count && server == NULL; i++) {
    server = strcmp(config->servers[i].name, name) == 0 ? &config->servers[i] : NULL;
  }
  if (server == NULL) {
    return login_server_fail(config, name, err);
  }
  if (!lt_mcp_authorization_is_possible(server)) {
    return lt_fail(err, LT_E_INVALID, "server \"%s\" wants no login: it %s", name,
                   strcmp(server->type, "stdio") == 0 ? "is a program, not an address"
                                                      : "has a key of its own in \"headers\" (Authorization)");
  }
  *ret_server = server;
  return LT_OK;
}

void lt_login_server_forget_tools(const lt_config_server *server) {
  LT_AUTO_BUF(path, PATH_MAX);
  if (lt_mcp_list_place(server, &path, NULL) == LT_OK) {
    (void)unlink(path.p);
  }
}
