/* The `type` keyword of JSON Schema without a whole schema; internal to tool/. */
#ifndef LT_TOOL_JSON_TYPE_H
#define LT_TOOL_JSON_TYPE_H

#include "json/json.h"

/* Whether a value of this type satisfies the keyword (a name or a list of names). Every value satisfies a missing
 * keyword and an unknown type name. */
bool lt_json_fits_type(lt_json keyword, lt_json value);

#endif
