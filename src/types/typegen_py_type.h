/* JSON Schema to Python type hints. Private to typegen_py*.c.
 *
 * Types are written in line, so that what refers to itself, or is nested deeply, ends in Any.
 */
#ifndef LT_TYPES_TYPEGEN_PY_TYPE_H
#define LT_TYPES_TYPEGEN_PY_TYPE_H

#include "base/buf.h"
#include "types/typegen_keys.h"

enum { LT_PYGEN_DEPTH_MAX = 6 };

typedef struct lt_typegen_py_context {
  lt_buf *out;
  lt_arena *arena;
  lt_json root;
  unsigned depth;
  uint32_t within[LT_PYGEN_DEPTH_MAX]; /* the schemas being written, outermost first: nodes of the root's document */
  unsigned steps;                      /* schemas looked at so far: references are followed, not named */
  bool shape;                          /* objects as {"key": type}, for people, instead of dict[str, Any] */
  lt_status status;
} lt_typegen_py_context;

/* Appends the type of `schema`; Any where it cannot be said. The status sticks in `g`. */
void lt_typegen_py_put_type(lt_typegen_py_context *g, lt_json schema);

/* Follows $ref as far as it goes; NONE where it leads nowhere. */
lt_json lt_typegen_py_target(lt_typegen_py_context *g, lt_json schema);

#endif
