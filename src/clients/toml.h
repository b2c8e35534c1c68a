/* Reads TOML (https://toml.io/en/v1.0.0) as JSON text, and tells where its tables stand.
 *
 * Texts, whole numbers, booleans, lists and tables keep their meaning. Dates, numbers that JSON does not have (hex,
 * inf, underscores) become texts. Pure. */
#ifndef LT_CLIENTS_TOML_H
#define LT_CLIENTS_TOML_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* A table with a header line, [a.b] or [[a.b]]. Offsets are in the file's text. */
typedef struct lt_toml_table {
  const lt_str *keys; /* its path */
  size_t key_count;
  size_t start; /* of the header's line */
  size_t end;   /* one past the line break after its last value; comments and blank lines behind it are not in it */
  struct lt_toml_table *next;
} lt_toml_table;

/* Appends the JSON text. `name` is the file's name in messages. Errors: LT_E_CONFIG with file and line, LT_E_LIMIT,
 * LT_E_NOMEM. Owns: the arena. Limits: LT_CONFIG_DEPTH_MAX. */
lt_status lt_toml_parse(lt_arena *arena, lt_str text, const char *name, lt_buf *ret_json, lt_toml_table **ret_tables,
                        lt_err *err);

#endif
