/* References between schemas. */
#ifndef LT_JSON_SCHEMA_REFS_H
#define LT_JSON_SCHEMA_REFS_H

#include "json/schema_compiler.h"

/* The target of a $ref or $dynamicRef text in `node`. NULL: unknown (noted), or failed. `ret_anchor` is the anchor's
 * name if the target is a $dynamicAnchor, else empty. */
const lt_schema_node *lt_schema_resolve(lt_schema_compiler *c, const lt_schema_node *node, lt_json ref,
                                        lt_str *ret_anchor);

#endif
