/* Writes a server, given as JSON, in the form of a client's file. Pure. */
#ifndef LT_CLIENTS_CLIENT_PRINT_H
#define LT_CLIENTS_CLIENT_PRINT_H

#include "base/buf.h"
#include "json/json.h"

/* JSON in lines: objects have a line for each member, indented by `base` and as many `unit`s as they are deep; a list
 * stays in one line. `line_end` is "\n" or "\r\n". The first line has no indentation. */
typedef struct lt_client_layout {
  lt_str base, unit;
  const char *line_end;
} lt_client_layout;
void lt_client_print_json(lt_json value, const lt_client_layout *layout, lt_buf *out);
/* YAML in lines: the members of an object, each indented by `indent` spaces and with a line break; lists and empty
 * objects stay in one line. A dash before the first member makes an item of a list: `has_dash`, its column is
 * `indent` - 2. */
void lt_client_print_yaml(lt_json object, size_t indent, bool has_dash, const char *line_end, lt_buf *out);
/* A key as YAML has it: quoted where it must be. */
void lt_client_print_yaml_key(lt_str key, lt_buf *out);
/* The members of an object as lines of a TOML table; an object inside becomes an inline table. */
void lt_client_print_toml(lt_json object, const char *line_end, lt_buf *out);
void lt_client_print_toml_key(lt_str key, lt_buf *out);

#endif
