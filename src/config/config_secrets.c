#include "config/config_secrets.h"

#include "base/environ.h"
#include "base/limits.h"
#include "text/pair_list.h"
#include "text/secret_name.h"
#include "text/secrets.h"

#define SECRETS_MAX 256 /* each has several forms, and Lathe's environment has secrets, too */

static bool config_is_public(lt_str name) {
  static const char *const names[] = {
      "HOME",   "PATH",      "PWD",       "OLDPWD",     "USER",          "LOGNAME",         "USERNAME",
      "SHELL",  "SHLVL",     "LANG",      "TERM",       "LANGUAGE",      "TMPDIR",          "TEMP",
      "TMP",    "TZ",        "HOSTNAME",  "HOST",       "DISPLAY",       "PAGER",           "EDITOR",
      "VISUAL", "MAIL",      "NODE_ENV",  "NODE_PATH",  "SSH_AUTH_SOCK", "LD_LIBRARY_PATH", "MANPATH",
      "DEBUG",  "LOG_LEVEL", "COLORTERM", "XAUTHORITY", "PYTHONPATH",    "VIRTUAL_ENV",     "NPM_CONFIG_PREFIX",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (lt_str_eqc(name, names[i])) {
      return true;
    }
  }
  return lt_str_starts(name, LT_STR("XDG_")) || lt_str_starts(name, LT_STR("LC_"));
}

static bool config_is_secret_entry(lt_str key, lt_str value) {
  return lt_secret_name_sounds(key) && !config_is_public(key) && !lt_secret_name_is_count(value);
}

static bool config_is_listed(const lt_config *config, lt_str value) {
  for (size_t i = 0; i < config->secret_count; i++) {
    if (lt_str_eq(config->secrets[i], value)) {
      return true;
    }
  }
  return false;
}

/* The list doubles: its size is a power of two whenever it is full. */
lt_status lt_config_secret_value(const lt_config_reading *r, lt_str value) {
  lt_config *config = r->config;
  size_t n = config->secret_count;
  if (value.n < LT_SECRET_MIN_BYTES || config_is_listed(config, value)) {
    return LT_OK;
  }
  if (n == SECRETS_MAX) {
    return lt_fail(r->err, LT_E_LIMIT, "%s: more than %d different secrets", r->name, SECRETS_MAX);
  }
  if ((n & (n - 1)) == 0) {
    lt_str *list = lt_arena_zalloc(&config->arena, n ? 2 * n : 1, sizeof *list);
    if (!list) {
      return lt_config_no_memory(r);
    }
    if (n) {
      memcpy(list, config->secrets, n * sizeof *list);
    }
    config->secrets = list;
  }
  lt_str kept = lt_arena_dup(&config->arena, value);
  if (!kept.p) {
    return lt_config_no_memory(r);
  }
  config->secrets[config->secret_count++] = kept;
  return LT_OK;
}

lt_status lt_config_secret_variable(const lt_config_reading *r, lt_str name, lt_str value) {
  return config_is_public(name) ? LT_OK : lt_config_secret_value(r, value);
}

lt_status lt_config_secret_entry(const lt_config_reading *r, lt_str key, lt_str value) {
  return config_is_secret_entry(key, value) ? lt_config_secret_value(r, value) : LT_OK;
}

/* --- The list of secrets ------------------------------------------------------------------------------------------ */

/* Keys of a collector, whatever the headers are called. A value is sent as it is decoded. */
static lt_status config_add_headers(lt_secrets *secrets, lt_str list) {
  lt_str name, value;
  while (lt_pair_list_next(&list, &name, &value)) {
    LT_AUTO_BUF(decoded, LT_CONFIG_MAX_BYTES);
    lt_pair_list_decode(value, &decoded);
    LT_TRY(lt_buf_check(&decoded, NULL, ""));
    LT_TRY(lt_secrets_add(secrets, value));
    LT_TRY(lt_secrets_add(secrets, lt_buf_view(&decoded)));
  }
  return LT_OK;
}

static bool config_is_header_list(lt_str variable) {
  return lt_str_eqc(variable, "OTEL_EXPORTER_OTLP_HEADERS") ||
         lt_str_eqc(variable, "OTEL_EXPORTER_OTLP_TRACES_HEADERS");
}

static lt_status config_add_environment(lt_secrets *secrets) {
  for (char **entry = lt_environ_view(); *entry != NULL; entry++) {
    lt_str all = lt_str_of(*entry);
    size_t equals = lt_str_find(all, LT_STR("="), 0);
    if (equals == SIZE_MAX) {
      continue;
    }
    lt_str variable = lt_str_sub(all, 0, equals), value = lt_str_sub(all, equals + 1, all.n);
    if (config_is_header_list(variable)) {
      LT_TRY(config_add_headers(secrets, value));
    } else if (config_is_secret_entry(variable, value)) {
      LT_TRY(lt_secrets_add(secrets, value));
    } else {
      LT_TRY(lt_secrets_add_url(secrets, value)); /* DATABASE_URL, HTTP_PROXY */
    }
  }
  return LT_OK;
}

static lt_status config_add_texts(lt_secrets *secrets, const char *const *texts, bool is_env) {
  for (; texts != NULL && *texts != NULL; texts++) {
    lt_str text = lt_str_of(*texts);
    size_t equals = is_env ? lt_str_find(text, LT_STR("="), 0) : SIZE_MAX;
    LT_TRY(lt_secrets_add_url(secrets, lt_str_sub(text, equals == SIZE_MAX ? 0 : equals + 1, text.n)));
  }
  return LT_OK;
}

/* What is written in the configuration as it is, without ${NAME}. */
static lt_status config_add_urls(const lt_config *config, lt_secrets *secrets) {
  for (size_t i = 0; i < config->model_count; i++) {
    LT_TRY(lt_secrets_add_url(secrets, lt_str_of(config->models[i].base_url)));
  }
  for (size_t i = 0; i < config->server_count; i++) {
    const lt_config_server *server = &config->servers[i];
    LT_TRY(lt_secrets_add_url(secrets, lt_str_of(server->url)));
    LT_TRY(config_add_texts(secrets, server->args, false));
    LT_TRY(config_add_texts(secrets, server->env, true));
  }
  LT_TRY(lt_secrets_add_url(secrets, lt_str_of(config->telemetry.endpoint)));
  return config_add_texts(secrets, config->python.env, true);
}

static lt_status config_add_all(const lt_config *config, lt_secrets *secrets) {
  for (size_t i = 0; i < config->secret_count; i++) {
    LT_TRY(lt_secrets_add(secrets, config->secrets[i]));
  }
  LT_TRY(config_add_urls(config, secrets));
  return config_add_environment(secrets);
}

/* Takes `secrets`, which is NULL without memory. */
static lt_status config_fill_secrets(const lt_config *config, lt_secrets *secrets, lt_secrets **ret_secrets,
                                     lt_err *err) {
  lt_status status = secrets != NULL ? config_add_all(config, secrets) : LT_E_NOMEM;
  if (status == LT_OK) {
    *ret_secrets = secrets;
    return LT_OK;
  }
  lt_secrets_free(secrets);
  const char *why = "out of memory";
  return lt_fail(err, status, "%s",
                 status == LT_E_LIMIT ? "too many secrets in the configuration and the environment" : why);
}

lt_status lt_config_secrets(const lt_config *config, lt_secrets **ret_secrets, lt_err *err) {
  return config_fill_secrets(config, lt_secrets_new(), ret_secrets, err);
}

lt_status lt_config_more_secrets(const lt_config *config, const lt_secrets *known, lt_secrets **ret_secrets,
                                 lt_err *err) {
  return config_fill_secrets(config, lt_secrets_copy(known), ret_secrets, err);
}
