/* JSON Schema to Python type hints. Private to typegen_py*.c. */
#ifndef LT_CODEC_TYPEGEN_PY_TYPE_H
#define LT_CODEC_TYPEGEN_PY_TYPE_H

#include "base/buf.h"
#include "codec/json.h"

typedef struct lt_pygen {
  lt_buf *out;
  lt_arena *arena;
  lt_json root;
  unsigned depth;
  unsigned steps; /* schemas looked at so far: references are followed, not named */
  bool shape;     /* objects as {"key": type}, for people, instead of dict[str, Any] */
  lt_status status;
} lt_pygen;

/* Appends the type of `schema`; Any where it cannot be said. The status sticks in `g`. */
void lt_pygen_put_type(lt_pygen *g, lt_json schema);

/* Whether values of it are objects with keys worth telling. */
bool lt_pygen_has_shape(lt_pygen *g, lt_json schema);

/* Follows $ref as far as it goes; NONE where it leads nowhere. */
lt_json lt_pygen_target(lt_pygen *g, lt_json schema);

#endif
