/* The state of reading one file into a configuration. Internal to config/; cli/eval_tasks.c uses it for a YAML file of
 * its own. */
#ifndef LT_CONFIG_CONFIG_READING_H
#define LT_CONFIG_CONFIG_READING_H

#include "config/config.h"
#include "config/yaml.h"

typedef struct lt_config_reading {
  lt_config *config;
  const char *name;   /* of the file, in messages; in the arena of the configuration */
  const char *folder; /* relative paths count from here */
  lt_config_layer layer;
  bool is_found;      /* a file that is read in any folder: its servers start beside it */
  bool is_foreign;    /* another client's file: only its mcpServers count, other keys are warnings */
  bool is_disabled;   /* inside a disabled record: texts stay as written, and variables may be missing */
  const char **fault; /* inside a server: takes the message about an unset variable, in place of a failure; or NULL */
  lt_err *err;
} lt_config_reading;

/* The path from the file's top to a value, for messages. The items are in the stack frames of the readers. */
typedef struct lt_config_place {
  const struct lt_config_place *up; /* NULL: the file itself */
  lt_str key;                       /* a member's key, or ... */
  size_t index;                     /* ... an item's zero-based index, when key.p is NULL */
} lt_config_place;

typedef struct lt_config_place_text {
  char text[256];
} lt_config_place_text;

/* The path as text, such as tools.policy[0].action; "the configuration" for the file itself. By value. */
lt_config_place_text lt_config_place_of(const lt_config_place *place);

/* Fails with LT_E_CONFIG: "PLACE must be EXPECTED, not WHAT IT IS"; never shows a value, which may be a secret. */
lt_status lt_config_wrong(const lt_config_reading *reading, const lt_yaml_node *node, const lt_config_place *place,
                          const char *expected);
/* The same for values that are no secrets: shows the value. */
lt_status lt_config_wrong_text(const lt_config_reading *reading, const lt_yaml_node *node, const lt_config_place *place,
                               const char *expected);

/* Fails with LT_E_NOMEM and names the file. */
lt_status lt_config_no_memory(const lt_config_reading *reading);

/* Appends a warning to the configuration. LT_E_NOMEM. */
lt_status lt_config_warn(const lt_config_reading *reading, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* `path` if it is absolute, else joined to the file's folder. NULL without memory. */
const char *lt_config_path(const lt_config_reading *reading, const char *path);

#endif
