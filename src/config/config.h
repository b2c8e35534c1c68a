/* The configuration: lathe.yaml, and the `mcpServers` files of other clients, read into plain structs.
 *
 * YAML (so JSON too) is read with libyaml into a tree that knows its lines (yaml.h), and the tree into these structs by
 * one table of known keys (config_keys.h). An unknown key is an error that names the nearest known one; unknown keys
 * inside `mcpServers` are warnings, because other clients have keys of their own.
 *
 * Environment references are replaced in string values only: ${NAME} (an error when unset; of a server its fault
 * alone), ${NAME:-default} (also when empty), $${ for the two characters themselves. Records with `disabled: true` are
 * left as they are written. The values are secrets: no message shows one, and lt_config.secrets lists those that no
 * other text may show either.
 *
 * This is data only. app/ turns it into a policy, modes and models.
 *
 * Owns: everything lives in the arena of the lt_config.
 */
#ifndef LT_CONFIG_CONFIG_H
#define LT_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "text/secrets.h"

/* Unless noted, a NULL text, a number 0 and a truth -1 mean that the file does not have the key. */

/* Two layers: the user's own file, and over it the project's. */
typedef enum lt_config_layer { LT_CONFIG_LAYER_USER, LT_CONFIG_LAYER_PROJECT } lt_config_layer;

typedef enum lt_config_trust { LT_CONFIG_NOT_TRUSTED, LT_CONFIG_CHANGED, LT_CONFIG_TRUSTED } lt_config_trust;

/* A file that was considered. */
typedef struct lt_config_file {
  const char *name; /* as it was named or found, for messages */
  const char *path; /* absolute, with the folder's links resolved */
  lt_config_layer layer;
  const char *why;  /* it counts or not: "--config", "$LATHE_CONFIG", "the user's", "./lathe.yaml, trusted" ... */
  const char *hash; /* SHA-256 of its content, in hexadecimal digits */
  bool counts;
  lt_config_trust trust; /* of a file that was found, not named */
  const char *wants;     /* an untrusted file: lines for a person, what it wants beyond what it may; "" for nothing */
} lt_config_file;

/* When a server starts. ON_DEMAND: at the first call of one of its tools; at once if its tools are not known from the
 * last time. ALWAYS: at once. */
typedef enum lt_config_start { LT_CONFIG_START_ON_DEMAND, LT_CONFIG_START_ALWAYS } lt_config_start;

/* How a server's tokens are got (OAuth 2.1). */
typedef enum lt_config_grant { LT_CONFIG_GRANT_CODE, LT_CONFIG_GRANT_CREDENTIALS } lt_config_grant;

/* mcpServers.*.oauth */
typedef struct lt_config_oauth {
  const char *client_id;         /* clientId; NULL: none */
  const char *client_secret_env; /* clientSecretEnv: the name of a variable; NULL: none */
  const char *client_metadata_url;
  const char *const *scopes; /* NULL last, never NULL */
  int64_t callback_port;     /* callbackPort; 0: any */
  lt_config_grant grant;
} lt_config_oauth;

typedef struct lt_config_server {
  const char *name;
  const char *type;         /* "stdio", "http" or "sse" */
  const char *command;      /* stdio; a relative path with a slash counts from the folder of the process */
  const char *const *args;  /* NULL last, never NULL */
  const char *const *env;   /* NAME=value additions to the environment, NULL last, never NULL */
  const char *cwd;          /* absolute; NULL: Lathe's own */
  const char *url;          /* http, sse */
  int64_t start_timeout_ms; /* startTimeoutMs */
  int64_t idle_timeout_ms;  /* idleTimeoutMs; 0: it is never stopped */
  lt_config_start start;
  const char *const *headers; /* http: "Name: value", NULL last, never NULL */
  lt_config_oauth oauth;
  const char *const *roots;   /* absolute, NULL last, never NULL */
  bool answer_with_defaults;  /* answerWithDefaults */
  bool has_sampling;          /* sampling is given, ... */
  bool allows_sampling;       /* ... and does not forbid it */
  const char *sampling_model; /* sampling.model; NULL: the default one */
  int64_t sampling_requests;  /* sampling.requests, in one run */
  int64_t sampling_tokens;    /* sampling.maxTokens, of one answer */
  bool allow_http;            /* allowHttp */
  bool disabled;
  const char *fault; /* why it cannot be used: a variable that it refers to is not set; NULL: it can */
} lt_config_server;

typedef struct lt_config_module {
  const char *name;
  const char *path;   /* absolute */
  const char *within; /* the folder that it must stay in, links resolved; NULL: the user's own file may name any */
} lt_config_module;

typedef enum lt_config_action { LT_CONFIG_ALLOW, LT_CONFIG_ASK, LT_CONFIG_DENY } lt_config_action;

/* An entry of tools.policy; nothing here looks into a condition. */
typedef struct lt_config_rule {
  const char *match;
  const char *when;
  const char *reason;
  lt_config_action action;
  lt_config_layer layer;
} lt_config_rule;

typedef struct lt_config_budget {
  const char *match;
  int64_t calls;
  int64_t per_minute;
  lt_config_layer layer;
} lt_config_budget;

/* An entry of tools.expose. */
typedef enum lt_config_expose {
  LT_CONFIG_EXPOSE_CODE,
  LT_CONFIG_EXPOSE_DIRECT,
  LT_CONFIG_EXPOSE_BOTH,
  LT_CONFIG_EXPOSE_HIDDEN
} lt_config_expose;

typedef struct lt_config_exposure {
  const char *match;
  lt_config_expose as;
} lt_config_exposure;

typedef struct lt_config_plugin {
  const char *path;   /* of a shared object, absolute; NULL: a built-in one ... */
  const char *name;   /* ... of this name */
  const char *config; /* JSON text, or "" */
  bool disabled;
} lt_config_plugin;

/* In US dollars for a million tokens: JSON numbers, or NULL. */
typedef struct lt_config_price {
  const char *input;
  const char *output;
  const char *cached_input;
  const char *cache_write;
} lt_config_price;

/* app/models.h completes a model from the environment. */
typedef struct lt_config_model {
  const char *ref;         /* unique */
  const char *name;        /* the provider's name for the model */
  const char *provider;    /* one of lt_model_provider_names; NULL: the address says which */
  const char *base_url;    /* begins with http:// or https:// */
  const char *api;         /* "messages", "responses" or "chat"; NULL: the address says which */
  const char *api_key_env; /* the name of the variable that holds the key */
  int64_t max_tokens;
  int64_t context_tokens;     /* 0: not said */
  const char *temperature;    /* a JSON number, or NULL */
  const char *effort;         /* reasoningEffort; NULL: the provider's own */
  const char *const *headers; /* "Name: value", NULL last, never NULL */
  const char *body;           /* a JSON object, or "" */
  int64_t answer_ms, idle_ms; /* timeouts; 0: LT_HTTP_ANSWER_MS, LT_HTTP_IDLE_MS */
  int code_mode;              /* 1, 0, or -1 */
  int images, files;          /* whether it takes them; -1: by its name */
  lt_config_price price;
} lt_config_model;

/* What python.envPassthrough lets through. */
typedef struct lt_config_passthrough {
  bool all;                 /* `true`: Lathe's whole environment */
  const char *const *names; /* variables, NULL last, never NULL */
} lt_config_passthrough;

typedef struct lt_config_python {
  bool given;             /* the section `python` exists, even if empty: models have execute_code */
  const char *path;       /* a name without a slash is looked up in PATH; others are absolute */
  const char *workspace;  /* absolute */
  const char *const *env; /* NAME=value, those of passthrough.names included; NULL last, never NULL */
  lt_config_passthrough passthrough;
} lt_config_python;

typedef enum lt_config_engine { LT_CONFIG_QUICKJS, LT_CONFIG_DENO } lt_config_engine;

typedef struct lt_config_typescript {
  const char *path; /* of a `tsc`; as python.path */
  int check;        /* 1, 0, or -1 */
  lt_config_engine runner;
} lt_config_typescript;

typedef struct lt_config_programs {
  bool save; /* programs may save programs */
} lt_config_programs;

typedef struct lt_config_plan {
  bool given;                     /* the section `plan` exists, even if empty: models have execute_plan */
  int64_t max_steps, concurrency; /* LT_PLAN_STEPS, LT_PLAN_AT_ONCE */
} lt_config_plan;

typedef enum lt_config_log { LT_CONFIG_LOG_TEXT, LT_CONFIG_LOG_JSON } lt_config_log;
typedef enum lt_config_log_level {
  LT_CONFIG_LOG_ERROR,
  LT_CONFIG_LOG_WARNING,
  LT_CONFIG_LOG_INFO,
  LT_CONFIG_LOG_DEBUG
} lt_config_log_level;
/* server.limits; 0: see the table of keys. "At once" and rates are each user's, unless an address is named. */
typedef struct lt_config_limits {
  int64_t body_bytes, header_bytes;
  int64_t idle_ms;
  int64_t connections, connections_per_address;
  int64_t requests_per_second, requests_burst;
  int64_t address_requests_per_second, address_requests_burst; /* of an address that no user is known of */
  int64_t requests, prompts, readers, queued;                  /* at once */
} lt_config_limits;

/* server.proxy: who is in front of the server. */
typedef struct lt_config_proxy {
  const char *const *from; /* addresses, networks and "unix", NULL last */
  const char *user_header; /* NULL: it does not say who asks */
  const char *secret;      /* NULL: its address is enough */
} lt_config_proxy;

typedef struct lt_config_http {
  const char *listen;         /* NULL: LT_SERVE_PORT of loopback */
  const char *socket_group;   /* of a unix socket; NULL: none */
  const char *const *hosts;   /* NULL last */
  const char *const *origins; /* NULL last */
  const char *const *tokens;  /* NULL last; of `lathe mcp --http` */
  lt_config_log log;
  lt_config_log_level log_level; /* logLevel */
  lt_config_limits limits;
  lt_config_proxy proxy;
  int64_t grace_ms; /* graceMs, default LT_SERVE_GRACE_MS */
} lt_config_http;

/* Where traces go: telemetry.otlp and telemetry.content. */
typedef struct lt_config_telemetry {
  const char *endpoint;       /* begins with http:// or https://; NULL: the environment's */
  const char *const *headers; /* "Name: value", NULL last, never NULL; of the file that names the endpoint */
  const char *endpoint_file, *headers_file; /* that name them; NULL: none does */
  bool has_content;                         /* telemetry.content */
} lt_config_telemetry;

/* An entry of a mapping of names to numbers. */
typedef struct lt_config_count {
  const char *name;
  int64_t value;
  const char *file; /* for messages */
  uint32_t line;
} lt_config_count;

/* store.retention: how long data is kept, as in "90d"; NULL: for ever. */
typedef struct lt_config_retention {
  const char *calls;
  const char *conversations;
  const char *artifacts;
} lt_config_retention;

/* What models are told beside their mode. */
typedef struct lt_config_instructions {
  const char *text;                      /* NULL: nothing */
  bool has_files;                        /* AGENTS.md of the folder and of those above it */
  bool has_date, has_folder, has_system; /* they are told of these, too */
} lt_config_instructions;

typedef struct lt_config_defaults {
  const char *model;
  const char *model_file; /* that says it, for messages */
  const char *mode;
  const char *mode_file;
  bool code_mode;
  const lt_config_count *rounds; /* maxRounds, by mode; config/ does not know the list of modes */
  size_t rounds_count;
} lt_config_defaults;

typedef struct lt_config {
  lt_arena arena;
  const char *path;            /* the last file that counts, the project's or the user's; NULL: defaults only */
  const lt_config_file *files; /* in the order in which they were read */
  size_t file_count;
  const lt_config_server *servers;
  size_t server_count;
  lt_config_instructions instructions;
  const lt_config_module *modules;
  size_t module_count;
  const lt_config_rule *rules; /* tools.policy */
  size_t rule_count;
  const lt_config_budget *budgets; /* tools.budgets */
  size_t budget_count;
  const lt_config_exposure *exposures; /* tools.expose */
  size_t exposure_count;
  int64_t listing_tokens; /* tools.listingTokens, default LT_LISTING_TOKENS */
  const lt_config_plugin *plugins;
  size_t plugin_count;
  const lt_config_model *models;
  size_t model_count;
  lt_config_defaults defaults;
  const char *store; /* store.url: a file's path, absolute, or ":memory:"; NULL: the default */
  lt_config_retention retention;
  int64_t artifacts_mb;         /* store.artifactsMb, default LT_ARTIFACTS_STORE_MB */
  int64_t artifacts_per_run_mb; /* store.artifactsPerRunMb, default LT_ARTIFACTS_RUN_MB */
  lt_str *secrets;              /* values that must not be shown: see config_secrets.h */
  size_t secret_count;
  lt_config_python python;
  const char *deno_path; /* as python.path */
  lt_config_typescript typescript;
  lt_config_plan plan;
  lt_config_programs programs;
  bool mcp_approves_by_call; /* mcp.approveByCall */
  lt_config_http server;
  lt_config_telemetry telemetry;
  int64_t mcp_wait_ms;         /* mcp.waitMs, default LT_GATEWAY_WAIT_MS */
  bool require_walls;          /* sandbox.requireWalls, default true: process runners refuse to run without a wall */
  int64_t timeout_ms;          /* sandbox.timeoutMs, default LT_RUN_TIMEOUT_MS */
  int64_t memory_mb;           /* sandbox.memoryMb; 0: each runner has its own default */
  int64_t max_output_bytes;    /* sandbox.maxOutputBytes, 0: LT_RUN_OUTPUT_MAX_BYTES, or as the command says */
  const char *time_zone;       /* sandbox.timeZone, a name that lt_time_zone_find knows; NULL: UTC */
  const char *const *warnings; /* one line each, NULL last, never NULL */
} lt_config;

/* Whether a person trusts the file, by its path and hash. */
typedef lt_config_trust lt_config_trust_fn(void *arg, const lt_config_file *file);

/* The user's file, $XDG_CONFIG_HOME/lathe/lathe.yaml, counts unless `is_alone`. Over it the project's: */
typedef struct lt_config_sources {
  const char *config_file;        /* --config, or NULL: $LATHE_CONFIG, else ./lathe.yaml if it is trusted */
  const char *mcp_config_file;    /* --mcp-config, or NULL; its servers are added, on equal names it wins */
  const char *store;              /* --store, or NULL: over store.url of the files */
  const char *found_file;         /* a file that another file names, in place of ./lathe.yaml; or NULL */
  lt_config_trust_fn *trust;      /* NULL: no file is trusted */
  void *trust_arg;                /* of `trust` */
  const lt_config_file *accepted; /* is trusted this once; or NULL */
  bool leaves_out_untrusted;      /* an untrusted file is no failure: it is left out */
  bool is_alone;      /* nothing is read but `text`, or config_file, which nobody has to trust; neither: the defaults */
  const char *text;   /* is_alone: the configuration itself; NULL: that of config_file */
  const char *folder; /* is_alone: where relative paths of `text` begin; NULL: the current folder */
} lt_config_sources;

/* Sets the defaults. Does not allocate. */
void lt_config_init(lt_config *config);
/* Frees everything and sets the defaults. */
void lt_config_release(lt_config *config);

/* Finds and reads the configuration. Without any file the defaults are returned. A missing file that a flag or
 * $LATHE_CONFIG names is an error. Errors: LT_E_CONFIG, with file, line and what to do; LT_E_DENIED, with the command
 * to run: a file must be trusted first, lt_config_untrusted has it; LT_E_LIMIT, LT_E_NOMEM. The caller releases `ret`
 * also after an error. */
lt_status lt_config_load(const lt_config_sources *sources, lt_config *ret_config, lt_err *err);

/* Appends the path of the user's own file: $XDG_CONFIG_HOME/lathe/lathe.yaml, by default in ~/.config. Errors:
 * LT_E_NOTFOUND: there is no home. */
lt_status lt_config_user_path(lt_buf *out, lt_err *err);

/* The file that does not count because it is not trusted; NULL: there is none. */
const lt_config_file *lt_config_untrusted(const lt_config *config);

/* Reads one file as it is written, without any effect: lt_config.files[0] has its path, its hash and what it wants.
 * Errors: LT_E_NOTFOUND, and lt_config_load's. The caller releases `ret` also after an error. */
lt_status lt_config_inspect(const char *path, lt_config *ret_config, lt_err *err);

/* Reads text in memory, as a file of the project that counts (tests, fuzzing). `name` is used in messages, `folder` for
 * relative paths. */
lt_status lt_config_parse(lt_str yaml, const char *name, const char *folder, lt_config *ret_config, lt_err *err);

/* Adds the servers of another client's file (`.mcp.json`, or VS Code's or opencode's form) to a configuration that was
 * parsed or loaded. Its other keys are warnings. On equal names the new server wins. */
lt_status lt_config_parse_mcp(lt_str text, const char *name, const char *folder, lt_config *config, lt_err *err);

/* Makes the list of values that are masked everywhere: the configuration's secrets, and the variables of Lathe's own
 * environment whose names sound secret, because servers inherit them. Copies. Errors: LT_E_LIMIT, LT_E_NOMEM. Owns: the
 * caller, lt_secrets_free. */
lt_status lt_config_secrets(const lt_config *config, lt_secrets **ret_secrets, lt_err *err);

/* The same list with what is known already, for lt_secrets_replace. Borrows: `known`. */
lt_status lt_config_more_secrets(const lt_config *config, const lt_secrets *known, lt_secrets **ret_secrets,
                                 lt_err *err);

/* Reads an age: "30d" or "30", in days, or "never" (-1). False: it is no age. */
bool lt_config_age(const char *text, int64_t *ret_days);

/* Whether a plugin may add modes: the configuration loads a shared object. */
bool lt_config_may_add_modes(const lt_config *config);

#endif
