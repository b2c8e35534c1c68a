/* Another client's file of MCP servers, as a tree in the words of lathe.yaml. Internal to config/.
 *
 * Forms: `mcpServers`, which most clients have; `servers`, of VS Code; `mcp`, of opencode. JSON may have comments and
 * trailing commas. Of the last two, only the servers are kept: the other keys belong to that client.
 */
#ifndef LT_CONFIG_CONFIG_FOREIGN_H
#define LT_CONFIG_CONFIG_FOREIGN_H

#include "config/yaml.h"

/* Reads the text; the root has `mcpServers` where one of the forms was found. Lines are those of the text. References
 * to variables, ${env:NAME} and opencode's {env:NAME}, become ${NAME}. `name` is the file's, for messages. Errors: as
 * lt_yaml_parse. Owns: the arena. */
lt_status lt_config_foreign_parse(lt_arena *arena, lt_str text, const char *name, lt_yaml_node **ret_root, lt_err *err);

#endif
