#include "source/mcp_list_place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/sha256.h"

/* A NUL ends each part: no part can look like two. */
static void mcp_list_place_add(lt_buf *identity, const char *part) {
  lt_buf_addc(identity, part != NULL ? part : "");
  lt_buf_byte(identity, '\0');
}

static void mcp_list_place_add_all(lt_buf *identity, const char *const *parts) {
  for (; parts != NULL && *parts != NULL; parts++) {
    mcp_list_place_add(identity, *parts);
  }
  lt_buf_byte(identity, '\0');
}

/* `word` may name a script of the server. */
static void mcp_list_place_add_file(lt_buf *identity, const char *folder, const char *word) {
  char path[PATH_MAX];
  struct stat st;
  bool is_relative = word[0] != '/' && folder != NULL;
  int n = snprintf(path, sizeof path, "%s%s%s", is_relative ? folder : "", is_relative ? "/" : "", word);
  if (n > 0 && (size_t)n < sizeof path && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
    lt_buf_printf(identity, "%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                  (long)st.st_mtim.tv_nsec);
  }
  lt_buf_byte(identity, '\0');
}

static void mcp_list_place_identify(const lt_config_server *server, lt_buf *identity) {
  mcp_list_place_add(identity, server->name);
  mcp_list_place_add(identity, server->type);
  mcp_list_place_add(identity, server->command);
  mcp_list_place_add(identity, server->cwd);
  mcp_list_place_add(identity, server->url);
  mcp_list_place_add_all(identity, server->args);
  mcp_list_place_add_all(identity, server->env);
  mcp_list_place_add_all(identity, server->headers);
  mcp_list_place_add_all(identity, server->roots);
  mcp_list_place_add(identity, server->answer_with_defaults ? "asks" : NULL);
  if (server->command != NULL) {
    mcp_list_place_add_file(identity, server->cwd, server->command);
  }
  for (const char *const *arg = server->args; *arg != NULL; arg++) {
    mcp_list_place_add_file(identity, server->cwd, *arg);
  }
}

/* A relative path would be a folder of whoever owns the current one. */
static lt_status mcp_list_place_put_folder(lt_buf *out, lt_err *err) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cache != NULL && cache[0] == '/') {
    lt_buf_addc(out, cache);
  } else if (home != NULL && home[0] == '/') {
    lt_buf_printf(out, "%s/.cache", home);
  } else {
    return lt_fail(err, LT_E_NOTFOUND, "there is no folder for lists of tools: set $HOME or $XDG_CACHE_HOME");
  }
  return LT_OK;
}

lt_status lt_mcp_list_place(const lt_config_server *server, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(identity, LT_CONFIG_MAX_BYTES);
  LT_TRY(mcp_list_place_put_folder(out, err));
  mcp_list_place_identify(server, &identity);
  LT_TRY(lt_buf_check(&identity, err, "no memory for the name of a list of tools"));
  lt_buf_printf(out, "/lathe/servers/%s.json", lt_sha256(lt_buf_view(&identity)).text);
  return lt_buf_check(out, err, "no memory for the name of a list of tools");
}
