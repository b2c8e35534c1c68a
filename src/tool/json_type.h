/* The `type` keyword of JSON Schema on its own, where no whole schema is needed; internal to tool/. */
#ifndef LT_TOOL_JSON_TYPE_H
#define LT_TOOL_JSON_TYPE_H

#include "json/json.h"

/* Whether a value of this type satisfies the keyword (a name or a list of names). A keyword that is missing or has
 * names JSON Schema does not know is satisfied by anything. */
bool lt_json_fits_type(lt_json keyword, lt_json value);

#endif
