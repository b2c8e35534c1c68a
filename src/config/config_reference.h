/* The table of configuration keys as a table in Markdown: the reference in docs/guide/configuration.md. */
#ifndef LT_CONFIG_CONFIG_REFERENCE_H
#define LT_CONFIG_CONFIG_REFERENCE_H

#include "base/buf.h"

/* Appends the table. A failure is in the buffer's status. */
void lt_config_reference(lt_buf *out);

#endif
