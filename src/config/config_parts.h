/* Between config.c and the files it is split into; nobody else includes this.
 *
 * config_check.c holds the table of known keys and checks a whole file against it, so that what reads the values
 * afterwards meets only what it expects.
 */
#ifndef LT_CONFIG_CONFIG_PARTS_H
#define LT_CONFIG_CONFIG_PARTS_H

#include "base/buf.h"
#include "config/config.h"
#include "config/yaml.h"

/* One file on its way into a configuration. */
typedef struct lt_config_reading {
  lt_config *config;
  const char *name;   /* of the file, in messages */
  const char *folder; /* relative paths count from here */
  bool foreign;       /* another client's file: only its mcpServers count, other keys are warnings */
  lt_err *err;
} lt_config_reading;

/* Checks every key, type, range and required key. LT_E_CONFIG, LT_E_NOMEM. */
lt_status lt_config_check(const lt_config_reading *reading, const lt_yaml_node *root);

/* Appends a warning to the configuration. LT_E_NOMEM. */
lt_status lt_config_warn(const lt_config_reading *reading, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Replaces ${NAME} and ${NAME:-default} in a scalar's text. LT_E_CONFIG names the variable, never a value. */
lt_status lt_config_expand(const lt_config_reading *reading, const lt_yaml_node *scalar, const char **ret);

/* The same where what a variable holds is a secret: its value is listed in lt_config.secrets. */
lt_status lt_config_expand_secret(const lt_config_reading *reading, const lt_yaml_node *scalar, const char **ret);

/* Lists the value of the environment variable `name`, unless it is one of those that hold no secrets. LT_E_NOMEM. */
lt_status lt_config_secret_variable(const lt_config_reading *reading, lt_str name, lt_str value);
/* Lists the value of an entry of `env` or `headers` when its key sounds secret. LT_E_NOMEM. */
lt_status lt_config_secret_entry(const lt_config_reading *reading, lt_str key, lt_str value);

/* Read the checked sections `tools`, `plugins`, `models`, `defaults`, `store`, `python`, `deno`, `typescript` and
 * `plan`; NULL: there is none. LT_E_CONFIG, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_config_take_tools(const lt_config_reading *reading, const lt_yaml_node *tools);
lt_status lt_config_take_plugins(const lt_config_reading *reading, const lt_yaml_node *list);
lt_status lt_config_take_models(const lt_config_reading *reading, const lt_yaml_node *list);
lt_status lt_config_take_defaults(const lt_config_reading *reading, const lt_yaml_node *defaults);
lt_status lt_config_take_store(const lt_config_reading *reading, const lt_yaml_node *store);
lt_status lt_config_take_python(const lt_config_reading *reading, const lt_yaml_node *python);
lt_status lt_config_take_deno(const lt_config_reading *reading, const lt_yaml_node *deno);
lt_status lt_config_take_typescript(const lt_config_reading *reading, const lt_yaml_node *typescript);
void lt_config_take_plan(const lt_config_reading *reading, const lt_yaml_node *plan);

/* Appends a value as JSON text, with what ${NAME} put into it listed as secret. LT_E_CONFIG, LT_E_NOMEM; the buffer's
 * own status counts, too. */
lt_status lt_config_json(const lt_config_reading *reading, const lt_yaml_node *node, lt_buf *out);

/* NULL for a key that is not there or has nothing behind it. Borrows: the tree. */
const lt_yaml_node *lt_config_given(const lt_yaml_node *map, const char *key);

/* `path` if it is absolute, else joined to the file's folder. NULL without memory. */
const char *lt_config_path(const lt_config_reading *reading, const char *path);

/* A mapping of variables to values as NAME=value, with `extra` empty places before the NULL at the end. LT_E_CONFIG,
 * LT_E_NOMEM. */
lt_status lt_config_env(const lt_config_reading *reading, const lt_yaml_node *map, size_t extra, const char ***ret);

/* Adds the servers of a checked `mcpServers` mapping; one that is there already by that name is replaced. */
lt_status lt_config_add_servers(const lt_config_reading *reading, const lt_yaml_node *servers);

/* Fails with LT_E_NOMEM and says of which file. */
lt_status lt_config_no_memory(const lt_config_reading *reading);

#endif
