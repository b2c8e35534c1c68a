/* The table of configuration keys as a JSON Schema (draft 2020-12), which editors complete and check lathe.yaml by.
 *
 * The schema has the content of the rows. It leaves out the checks that only the program makes: unique names, values of
 * environment references, keys that exclude each other. A file that Lathe accepts fits the schema, with one exception:
 * Lathe treats an empty value (`timeoutMs:`) as a missing key.
 */
#ifndef LT_CONFIG_CONFIG_SCHEMA_H
#define LT_CONFIG_CONFIG_SCHEMA_H

#include "base/buf.h"

/* Appends the schema as JSON text. A failure is in the buffer's status. */
void lt_config_schema(lt_buf *out);

#endif
