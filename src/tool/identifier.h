/* Makes identifiers for programs from the names of tools.
 */
#ifndef LT_TOOL_IDENTIFIER_H
#define LT_TOOL_IDENTIFIER_H

#include "base/buf.h"
#include "base/str.h"
#include "tool/catalog.h"

/* Appends the camelCase of an id: weather.get-weather -> weatherGetWeather; 2fast -> _2fast. A reserved word or a
 * built-in name gets a trailing "_". */
void lt_identifier_js(lt_buf *out, lt_str id);
/* Appends the tool's own name as an identifier: get-weather -> get_weather; delete -> delete_ . */
void lt_identifier_ts(lt_buf *out, lt_str name);
/* Appends the snake_case of an identifier: shop_getOrder -> shop_get_order, getHTTPPage -> get_http_page. */
void lt_identifier_snake(lt_buf *out, lt_str name);
/* Appends the PascalCase of an identifier: get_weather -> GetWeather. */
void lt_identifier_ts_type(lt_buf *out, lt_str ts_name);

/* The change beyond camelCase (JavaScript) or underscores (TypeScript). Every change but PLAIN gives a warning. */
typedef enum lt_identifier_change {
  LT_IDENTIFIER_PLAIN,
  LT_IDENTIFIER_PREFIXED, /* a leading "_": the name began with a digit or was empty */
  LT_IDENTIFIER_SUFFIXED, /* a trailing "_": the name is a reserved word or a built-in */
} lt_identifier_change;

/* As lt_identifier_js and lt_identifier_ts, but they return the change. */
lt_identifier_change lt_identifier_make_js(lt_buf *out, lt_str id);
lt_identifier_change lt_identifier_make_ts(lt_buf *out, lt_str name);

/* Whether programs in the language find something else under this name, so that a name of a tool in another language
 * does not reach the tool there. */
bool lt_identifier_is_of_world(lt_tool_language language, lt_str name);

#endif
