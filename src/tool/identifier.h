/* Identifiers that programs call tools by, made of the tools' own names.
 */
#ifndef LT_TOOL_IDENTIFIER_H
#define LT_TOOL_IDENTIFIER_H

#include "base/buf.h"
#include "base/str.h"

/* Appends the camelCase of an id: weather.get-weather -> weatherGetWeather; 2fast -> _2fast. A reserved word or a
 * built-in of the program's world gets a "_" after it. */
void lt_identifier_js(lt_buf *out, lt_str id);
/* Appends the tool's own name as an identifier: get-weather -> get_weather; delete -> delete_ . */
void lt_identifier_ts(lt_buf *out, lt_str name);
/* Appends the PascalCase of an identifier: get_weather -> GetWeather. */
void lt_identifier_ts_type(lt_buf *out, lt_str ts_name);

/* What was changed beyond camelCase (JavaScript) or underscores (TypeScript). A person is warned of all but PLAIN. */
typedef enum lt_identifier_change {
  LT_IDENTIFIER_PLAIN,
  LT_IDENTIFIER_PREFIXED, /* "_" before it: it would have begun with a digit, or been empty */
  LT_IDENTIFIER_SUFFIXED, /* "_" after it: a reserved word or a built-in has this name */
} lt_identifier_change;

/* lt_identifier_js and lt_identifier_ts; they return the change. */
lt_identifier_change lt_identifier_make_js(lt_buf *out, lt_str id);
lt_identifier_change lt_identifier_make_ts(lt_buf *out, lt_str name);

#endif
