/* Suggestions for the name of a tool that does not exist. They compare the name with all tools of the catalog, which
 * takes milliseconds for thousands of tools. */
#ifndef LT_TOOL_CATALOG_SUGGEST_H
#define LT_TOOL_CATALOG_SUGGEST_H

#include "tool/catalog.h"

typedef struct lt_tool_suggestion {
  const lt_tool *tool;
  lt_str name; /* the similar name: the tool's id, JavaScript or TypeScript name */
} lt_tool_suggestion;

/* Appends the name by which the reader of a message knows the tool. Appends nothing when the reader does not see the
 * tool. */
typedef void (*lt_catalog_suggest_fn)(void *arg, const lt_tool_suggestion *suggestion, lt_buf *message);

/* Appends the sentence "Did you mean: a, b?" to a message whose last sentence may lack its full stop: up to
 * LT_TOOL_SUGGESTIONS tools with a name similar to `name`, best first. `put` appends each name. Appends nothing and
 * returns false when there is no suggestion. */
bool lt_catalog_suggest_put(const lt_catalog *catalog, lt_str name, lt_catalog_suggest_fn put, void *arg,
                            lt_buf *message);

/* Appends the message for an unknown id: similar names, and the existing tools. */
void lt_catalog_explain_unknown(const lt_catalog *catalog, lt_str id, lt_buf *out);

#endif
