/* Between config.c and the files it is split into; nobody else includes this.
 *
 * config_check.c holds the table of known keys and checks a whole file against it, so that what reads the values
 * afterwards meets only what it expects.
 */
#ifndef LT_FRONT_CONFIG_PARTS_H
#define LT_FRONT_CONFIG_PARTS_H

#include "front/config.h"
#include "front/yaml.h"

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

/* `path` if it is absolute, else joined to the file's folder. NULL without memory. */
const char *lt_config_path(const lt_config_reading *reading, const char *path);

/* Adds the servers of a checked `mcpServers` mapping; one that is there already by that name is replaced. */
lt_status lt_config_add_servers(const lt_config_reading *reading, const lt_yaml_node *servers);

/* Fails with LT_E_NOMEM and says of which file. */
lt_status lt_config_no_memory(const lt_config_reading *reading);

#endif
