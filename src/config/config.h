/* The configuration: lathe.yaml, and the `mcpServers` files of other clients, read into plain structs.
 *
 * YAML (so JSON too) is read with libyaml into a tree that knows its lines (yaml.h), checked against one table of known
 * keys (config_check.c), and only then looked at. An unknown key is an error that names the nearest known one; unknown
 * keys inside `mcpServers` are warnings, as other clients have their own. Keys of parts that are not built yet are
 * known and checked, and otherwise ignored.
 *
 * Environment references are replaced in string values only: ${NAME} (an error when unset), ${NAME:-default} (also when
 * empty), $${ for the two characters themselves. Servers that are disabled are left as they are written. The values are
 * secrets: no message shows one, and lt_config.secrets lists those that no other text may show either.
 *
 * Owns: everything lives in the arena of the lt_config.
 */
#ifndef LT_CONFIG_CONFIG_H
#define LT_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "text/secrets.h"
#include "tool/policy/policy.h"

typedef struct lt_config_server {
  const char *name;
  const char *type;    /* "stdio", "http" or "sse": only stdio can be started so far */
  const char *command; /* stdio, NULL for the others; a relative path with a slash counts from the file's folder only if
                          cwd says so */
  const char *const *args;    /* NULL last, never NULL */
  const char *const *env;     /* NAME=value additions to the environment, NULL last, never NULL */
  const char *cwd;            /* absolute: relative ones count from the file's folder; may be NULL: our own */
  const char *url;            /* http */
  int64_t start_timeout_ms;   /* startTimeoutMs; 0: not said */
  const char *const *headers; /* http: "Name: value", NULL last, never NULL */
  bool disabled;              /* `disabled: true` as other clients have it */
} lt_config_server;

typedef struct lt_config_module {
  const char *name;
  const char *path; /* absolute: relative ones count from the configuration file's folder */
} lt_config_module;

typedef struct lt_config_plugin {
  const char *path;   /* of a shared object, absolute; NULL: a built-in one ... */
  const char *name;   /* ... of this name */
  const char *config; /* JSON text; "" when there is none */
  bool disabled;
} lt_config_plugin;

/* As it is written; what is not, models.h fills in from the environment. */
typedef struct lt_config_model {
  const char *ref;
  const char *name;        /* what the provider calls it; NULL: not said */
  const char *base_url;    /* NULL: not said */
  const char *api_key_env; /* the name of the variable that holds the key; NULL: not said */
  int64_t max_tokens;      /* 0: not said */
  int code_mode;           /* 1, 0, or -1: not said */
} lt_config_model;

/* The sections of the process runners; what is not said is NULL, false or 0. */
typedef struct lt_config_python {
  bool given;             /* there is a section `python`, perhaps an empty one: models have execute_code */
  const char *path;       /* a name without a slash is looked up in PATH; others are absolute */
  const char *workspace;  /* absolute */
  const char *const *env; /* NAME=value, also of the variables that envPassthrough names; NULL last, never NULL */
  bool env_passthrough;   /* envPassthrough: true: all of ours */
} lt_config_python;

typedef enum lt_config_engine { LT_CONFIG_QUICKJS, LT_CONFIG_DENO } lt_config_engine;

typedef struct lt_config_typescript {
  const char *path; /* of a `tsc`; as python.path */
  int check;        /* 1, 0, or -1: not said */
  lt_config_engine runner;
} lt_config_typescript;

typedef struct lt_config_plan {
  bool given;                     /* there is a section `plan`, perhaps an empty one: models have execute_plan */
  int64_t max_steps, concurrency; /* LT_PLAN_STEPS, LT_PLAN_AT_ONCE */
} lt_config_plan;

typedef struct lt_config_defaults {
  const char *model; /* NULL: not said */
  const char *mode;  /* NULL: not said */
  bool code_mode;
  const lt_mode_rounds *rounds; /* maxRounds; a mode may be one that a plugin is to register */
  size_t rounds_count;
} lt_config_defaults;

typedef struct lt_config {
  lt_arena arena;
  const char *path; /* the file that was read, or NULL: defaults only */
  const lt_config_server *servers;
  size_t server_count;
  const lt_config_module *modules;
  size_t module_count;
  const lt_policy_rule *rules; /* tools.policy; a `when` is not looked into here */
  size_t rule_count;
  const lt_policy_budget *budgets; /* tools.budgets */
  size_t budget_count;
  int64_t listing_tokens; /* tools.listingTokens; 0: not said */
  const lt_config_plugin *plugins;
  size_t plugin_count;
  const lt_config_model *models;
  size_t model_count;
  lt_config_defaults defaults;
  const char *store; /* a file's path, absolute, or ":memory:"; NULL: the default */
  lt_str *secrets;   /* what must not be shown: see config_secrets.c */
  size_t secret_count;
  lt_config_python python;
  const char *deno_path; /* as python.path */
  lt_config_typescript typescript;
  lt_config_plan plan;
  bool require_walls;          /* sandbox.requireWalls, default true: process runners refuse to run without a wall */
  int64_t timeout_ms;          /* sandbox.timeoutMs, default LT_RUN_TIMEOUT_MS */
  int64_t memory_bytes;        /* sandbox.memoryMb; 0: not said, each runner has its own default */
  int64_t max_output_bytes;    /* sandbox.maxOutputBytes, default LT_RUN_OUTPUT_MAX_BYTES */
  const char *const *warnings; /* one line each, NULL last, never NULL */
} lt_config;

typedef struct lt_config_sources {
  const char *config_file;     /* --config, or NULL: $LATHE_CONFIG, ./lathe.yaml, $XDG_CONFIG_HOME/lathe/lathe.yaml */
  const char *mcp_config_file; /* --mcp-config, or NULL; its servers are added, on equal names it wins */
} lt_config_sources;

/* Finds and reads the configuration. No file anywhere is not an error: the defaults are returned; a file that was asked
 * for (by a flag or $LATHE_CONFIG) and is not there is one.
 * Errors: LT_E_CONFIG, with file, line and what to do; LT_E_LIMIT, LT_E_NOMEM. The caller releases it in either case.
 */
lt_status lt_config_load(const lt_config_sources *sources, lt_config *ret_config, lt_err *err);

/* The same for text that is already there (tests, fuzzing). `name` is used in messages, `folder` for relative paths. */
lt_status lt_config_parse(lt_str yaml, const char *name, const char *folder, lt_config *ret_config, lt_err *err);

/* Adds the servers of another client's file (`.mcp.json`) to a configuration that was parsed or loaded. Its other keys
 * are warnings. On equal names the new server wins. */
lt_status lt_config_parse_mcp(lt_str text, const char *name, const char *folder, lt_config *config, lt_err *err);

/* What is to be masked everywhere: the configuration's secrets, and what our own environment, which servers inherit,
 * holds under names that sound secret. Copies. Errors: LT_E_LIMIT, LT_E_NOMEM. Owns: the caller, lt_secrets_free. */
lt_status lt_config_secrets(const lt_config *config, lt_secrets **ret_secrets, lt_err *err);

/* Whether there may be modes beside those that are built in: a plugin of somebody's own is to be loaded. */
bool lt_config_may_add_modes(const lt_config *config);

/* Gives everything back; what is left are the defaults. */
void lt_config_release(lt_config *config);

#endif
