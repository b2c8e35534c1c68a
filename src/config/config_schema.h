/* The table of configuration keys as a JSON Schema (draft 2020-12), which editors complete and check lathe.yaml by.
 *
 * It says what a row of the table says. What only the program knows stays out: names that must be unique, what a
 * reference to the environment brings, that one of two keys must be missing. A file that Lathe takes fits the schema,
 * but for a value left empty (`timeoutMs:`), which Lathe takes for a key that is not given.
 */
#ifndef LT_CONFIG_CONFIG_SCHEMA_H
#define LT_CONFIG_CONFIG_SCHEMA_H

#include "base/buf.h"

/* Appends the schema as JSON text. The buffer's status counts. */
void lt_config_schema(lt_buf *out);

#endif
