#include "cli/mcp_install.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "config/config.h"
#include "config/config_read.h"
#include "store/store.h"

#define WORDS_MAX 64 /* arguments, and variables of --env */

const lt_client *lt_mcp_install_client(const char *command, const char *name) {
  LT_AUTO_BUF(names, LT_KIB);
  const char *nearest;
  const lt_client *client = lt_client_table_find(name, &nearest);
  if (client != NULL) {
    return client;
  }
  lt_client_table_list(&names);
  fprintf(stderr, "lathe %s: unknown client \"%s\"", command, name);
  if (nearest != NULL) {
    fprintf(stderr, " (did you mean \"%s\"?)", nearest);
  }
  fprintf(stderr, "; there are %s\n", names.status == LT_OK ? names.p : "more");
  return NULL;
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

/* This program, as it was started. */
static lt_status mcp_install_program(lt_mcp_install *install, const char **ret, lt_err *err) {
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) {
    return lt_fail(err, LT_E_IO, "cannot find out where this program is: %s", strerror(errno));
  }
  path[n] = '\0';
  if (access(path, X_OK) != 0) {
    return lt_fail(err, LT_E_NOTFOUND, "this program was replaced while it runs (%s): run the command again", path);
  }
  *ret = lt_arena_dup(&install->arena, lt_str_of(path)).p;
  return *ret != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

static lt_status mcp_install_absolute(lt_mcp_install *install, const char *path, const char *option, const char **ret,
                                      lt_err *err) {
  if (access(path, R_OK) != 0) {
    return lt_fail(err, LT_E_CONFIG, "%s: %s (%s names it)", path, strerror(errno), option);
  }
  *ret = lt_config_absolute_path(&install->arena, path);
  return *ret != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

/* --config, else $LATHE_CONFIG, else the project's ./lathe.yaml for a project, else the user's own file. */
static lt_status mcp_install_find_config(lt_mcp_install *install, const lt_mcp_install_options *options,
                                         lt_buf *user_path, lt_err *err) {
  const char *variable = getenv("LATHE_CONFIG");
  lt_status status = lt_config_user_path(user_path, err);
  bool has_user = status == LT_OK && access(user_path->p, F_OK) == 0;
  if (options->planned_config != NULL) {
    install->config_path = lt_config_absolute_path(&install->arena, options->planned_config);
    return install->config_path != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  if (options->config_file != NULL) {
    return mcp_install_absolute(install, options->config_file, "--config", &install->config_path, err);
  }
  if (variable != NULL && variable[0] != '\0') {
    return mcp_install_absolute(install, variable, "$LATHE_CONFIG", &install->config_path, err);
  }
  if (options->is_project && access("lathe.yaml", F_OK) == 0) {
    return mcp_install_absolute(install, "lathe.yaml", "the project", &install->config_path, err);
  }
  return has_user ? mcp_install_absolute(install, user_path->p, "your configuration", &install->config_path, err)
                  : LT_OK;
}

static lt_status mcp_install_outline(lt_mcp_install *install, const lt_mcp_install_options *options, lt_err *err) {
  LT_AUTO_BUF(user_path, PATH_MAX);
  LT_TRY(mcp_install_find_config(install, options, &user_path, err));
  if (install->config_path != NULL && access(install->config_path, F_OK) == 0) {
    LT_TRY(lt_config_outline_add(&install->arena, install->config_path, false, &install->outline, err));
  }
  if (user_path.n > 0 && access(user_path.p, F_OK) == 0) {
    LT_TRY(lt_config_outline_add(&install->arena, user_path.p, false, &install->outline, err));
  }
  if (options->mcp_config_file != NULL) {
    LT_TRY(lt_config_outline_add(&install->arena, options->mcp_config_file, true, &install->outline, err));
  }
  return LT_OK;
}

/* The database that this shell uses. Nothing where the configuration names it: then the configuration decides. */
static lt_status mcp_install_store(lt_mcp_install *install, const lt_mcp_install_options *options, const char **ret,
                                   lt_err *err) {
  LT_AUTO_BUF(url, PATH_MAX + 16);
  lt_str given = lt_str_of(options->store), path = lt_str_sub(given, strlen("sqlite:"), given.n);
  *ret = NULL;
  if (given.n == 0 && install->outline.has_store) {
    return LT_OK;
  }
  lt_buf_addc(&url, "sqlite:");
  if (given.n == 0) {
    LT_AUTO_BUF(usual, PATH_MAX);
    LT_TRY(lt_store_default_path(&usual, err));
    lt_buf_add(&url, lt_buf_view(&usual));
  } else if (!lt_str_starts(given, LT_STR("sqlite:")) || path.n == 0) {
    return lt_fail(err, LT_E_INVALID, "--store is sqlite:PATH, or sqlite::memory: to keep nothing");
  } else if (path.p[0] == '/' || lt_str_eqc(path, ":memory:")) {
    lt_buf_add(&url, path);
  } else {
    lt_buf_addc(&url, lt_config_folder_of(".").path);
    lt_buf_printf(&url, "/%.*s", LT_STR_ARG(path));
  }
  *ret = lt_arena_dup_buf(&install->arena, &url).p;
  return *ret != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

/* --- Variables ---------------------------------------------------------------------------------------------------- */

static lt_status mcp_install_add_variable(lt_mcp_install *install, lt_str name, const char **ret, lt_err *err) {
  const char *kept = lt_arena_dup(&install->arena, name).p;
  const char *value = kept != NULL ? getenv(kept) : NULL;
  if (value == NULL) {
    return lt_fail(err, LT_E_INVALID, "--env %.*s: this variable is not set here", LT_STR_ARG(lt_str_sub(name, 0, 80)));
  }
  LT_TRY(lt_secrets_add(install->secrets, lt_str_of(value)));
  *ret = lt_arena_printf(&install->arena, "%s=%s", kept, value).p;
  return *ret != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "out of memory");
}

/* NAME=value for each name of --env. */
static lt_status mcp_install_variables(lt_mcp_install *install, const char *names, const char **ret_env, lt_err *err) {
  lt_str all = lt_str_of(names);
  size_t n = 0;
  for (size_t at = 0; at < all.n;) {
    size_t comma = lt_str_find(all, LT_STR(","), at), end = comma < all.n ? comma : all.n;
    lt_str name = lt_str_trim(lt_str_sub(all, at, end));
    if (n == WORDS_MAX - 1) {
      return lt_fail(err, LT_E_INVALID, "--env has more than %d names", WORDS_MAX - 1);
    }
    if (name.n > 0) {
      LT_TRY(mcp_install_add_variable(install, name, &ret_env[n++], err));
    }
    at = end + 1;
  }
  ret_env[n] = NULL;
  return LT_OK;
}

static bool mcp_install_is_written(const lt_mcp_install_options *options, const char *variable) {
  lt_str all = lt_str_of(options->env), name = lt_str_of(variable);
  for (size_t at = 0; (at = lt_str_find(all, name, at)) < all.n; at++) {
    bool begins = at == 0 || all.p[at - 1] == ',' || all.p[at - 1] == ' ';
    size_t end = at + name.n;
    if (begins && (end == all.n || all.p[end] == ',' || all.p[end] == ' ')) {
      return true;
    }
  }
  return false;
}

/* Names that the client hands over: those without a written value. */
static void mcp_install_names(const lt_mcp_install *install, const lt_mcp_install_options *options,
                              const char **ret_names) {
  size_t n = 0;
  for (size_t i = 0; i < install->outline.variable_count; i++) {
    if (!mcp_install_is_written(options, install->outline.variables[i])) {
      ret_names[n++] = install->outline.variables[i];
    }
  }
  ret_names[n] = NULL;
}

/* --- The server --------------------------------------------------------------------------------------------------- */

static lt_status mcp_install_arguments(lt_mcp_install *install, const lt_mcp_install_options *options,
                                       const char **ret_args, lt_err *err) {
  const char *store, *mcp_config;
  size_t n = 0;
  ret_args[n++] = "mcp";
  if (install->config_path != NULL) {
    ret_args[n++] = "--config";
    ret_args[n++] = install->config_path;
  }
  if (options->mcp_config_file != NULL) {
    LT_TRY(mcp_install_absolute(install, options->mcp_config_file, "--mcp-config", &mcp_config, err));
    ret_args[n++] = "--mcp-config";
    ret_args[n++] = mcp_config;
  }
  LT_TRY(mcp_install_store(install, options, &store, err));
  if (store != NULL) {
    ret_args[n++] = "--store";
    ret_args[n++] = store;
  }
  ret_args[n] = NULL;
  return LT_OK;
}

static lt_status mcp_install_write(const lt_client *client, const lt_mcp_install_options *options,
                                   lt_mcp_install *install, lt_err *err) {
  const char *args[WORDS_MAX], *env[WORDS_MAX], *program = NULL;
  const char **names = lt_arena_zalloc(&install->arena, install->outline.variable_count + 1, sizeof *names);
  if (names == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  LT_TRY(mcp_install_program(install, &program, err));
  LT_TRY(mcp_install_arguments(install, options, args, err));
  LT_TRY(mcp_install_variables(install, options->env, env, err));
  mcp_install_names(install, options, names);
  const lt_client_server server = {.name = lt_str_of(install->name),
                                   .command = program,
                                   .args = args,
                                   .env = env,
                                   .env_names = names,
                                   .url = options->url,
                                   .token_env = options->token_env};
  return lt_client_server_write(client, &server, &install->server, err);
}

static lt_status mcp_install_check(const lt_mcp_install_options *options, lt_err *err) {
  lt_str url = lt_str_of(options->url);
  if (options->name != NULL && options->name[0] == '\0') {
    return lt_fail(err, LT_E_INVALID, "--name is empty");
  }
  if (url.n > 0 && !lt_str_starts(url, LT_STR("http://")) && !lt_str_starts(url, LT_STR("https://"))) {
    return lt_fail(err, LT_E_INVALID, "--http is the address of a running Lathe, such as http://127.0.0.1:8421/mcp");
  }
  if (url.n == 0 && options->token_env != NULL) {
    return lt_fail(err, LT_E_INVALID, "--token-env is for --http: a gateway that the client starts needs no token");
  }
  if (url.n > 0 && (options->config_file != NULL || options->store != NULL || options->env != NULL)) {
    return lt_fail(err, LT_E_INVALID, "with --http the running Lathe has its own configuration, store and variables");
  }
  return LT_OK;
}

lt_status lt_mcp_install_prepare(const lt_client *client, const lt_mcp_install_options *options, lt_mcp_install *ret,
                                 lt_err *err) {
  *ret = (lt_mcp_install){.name = options->name != NULL ? options->name : "lathe", .secrets = lt_secrets_new()};
  lt_arena_init(&ret->arena, LT_CONFIG_MEMORY_BYTES);
  lt_buf_init(&ret->server, LT_MIB);
  if (ret->secrets == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  LT_TRY(mcp_install_check(options, err));
  if (options->url == NULL) {
    LT_TRY(mcp_install_outline(ret, options, err));
  }
  return mcp_install_write(client, options, ret, err);
}

void lt_mcp_install_release(lt_mcp_install *install) {
  lt_buf_release(&install->server);
  lt_secrets_free(install->secrets);
  lt_arena_release(&install->arena);
}

/* --- Notes -------------------------------------------------------------------------------------------------------- */

void lt_mcp_install_put_notes(const lt_mcp_install *install, const lt_client *client,
                              const lt_mcp_install_options *options, lt_buf *out) {
  if (options->url == NULL && install->config_path == NULL) {
    lt_buf_addc(out, "There is no configuration yet: lathe mcp import takes over a client's servers.\n");
  }
  for (size_t i = 0; i < install->outline.variable_count; i++) {
    const char *name = install->outline.variables[i];
    if (mcp_install_is_written(options, name)) {
      lt_buf_printf(out, "The configuration needs %s: its value is written there.\n", name);
    } else {
      lt_buf_printf(out, "The configuration needs %s: set it where %s is started, or write its value with --env %s.\n",
                    name, client->title, name);
    }
  }
}
