/* The state and functions that the files of the TypeScript generator share. Private to typegen_ts*.c.
 *
 * A $ref becomes a named type, declared after the schema's own: recursion needs no special case, and a type that is
 * used twice is declared once. Work is bounded: every part of a schema is visited once per declaration, and the text
 * has a ceiling.
 */
#ifndef LT_TYPES_TYPEGEN_TS_H
#define LT_TYPES_TYPEGEN_TS_H

#include "base/buf.h"
#include "types/typegen_keys.h"

/* A $ref of the schema, by its text. */
typedef struct lt_typegen_ts_def {
  lt_str ref;
  lt_json target; /* NONE: not found */
  lt_str name;    /* of the declared type; empty for one that shares another entry's */
  size_t same_as; /* the entry that declares the type: itself, or an earlier one */
} lt_typegen_ts_def;

/* A reference in an array is looked at by TypeScript only when it is needed, and may lead back to what is being
 * declared; unless the array is part of an intersection, or in a place of a tuple that may be missing or be there many
 * times. */
typedef struct lt_typegen_ts_where {
  bool in_array;
  bool eager; /* looked at at once, in an array too */
} lt_typegen_ts_where;

/* Where the parts of `schema` are, which is at `where` itself. */
lt_typegen_ts_where lt_typegen_ts_within(lt_typegen_ts_where where, lt_json schema);
static inline bool lt_typegen_ts_is_deferred(lt_typegen_ts_where where) {
  return where.in_array && !where.eager;
}

typedef struct lt_typegen_ts_context {
  lt_buf *out;
  lt_arena *arena;
  lt_json root;
  lt_str name;       /* of the type the root becomes */
  bool input;        /* a tool's input, not its output */
  const char *vague; /* what a schema that says nothing becomes */
  size_t begin;      /* in out, of this schema's text */
  unsigned depth;
  unsigned steps; /* schemas looked at to find circles */
  unsigned indent;
  lt_typegen_ts_def *defs; /* at most LT_TYPEGEN_DEFS_MAX */
  size_t def_count;
  size_t def_cap;
  lt_json defining; /* what is being declared ... */
  bool direct;      /* ... and whether a type written now would be an alias of it, not a part ... */
  lt_typegen_ts_where where;
  lt_buf doc;       /* scratch */
  lt_status status; /* sticks; the output's status is apart */
} lt_typegen_ts_context;

/* How tightly the outermost operator of a type binds. */
typedef enum lt_typegen_ts_prec { LT_TSGEN_UNION, LT_TSGEN_INTERSECTION, LT_TSGEN_ATOM } lt_typegen_ts_prec;

/* Over the ceiling, or failed: stop, nothing more counts. */
bool lt_typegen_ts_is_over(const lt_typegen_ts_context *g);

/* --- typegen_ts_text.c */
void lt_typegen_ts_put(lt_typegen_ts_context *g, const char *text);
void lt_typegen_ts_put_indent(lt_typegen_ts_context *g);
/* Puts parentheses round the text after the first `start` bytes. */
void lt_typegen_ts_wrap(lt_typegen_ts_context *g, size_t start);
/* Writes `doc`, which is clean, as a comment of one or more lines. Writes nothing when `doc` is empty. */
void lt_typegen_ts_put_jsdoc(lt_typegen_ts_context *g, lt_str doc);
/* The same with a schema's description, default and limits. */
void lt_typegen_ts_put_doc(lt_typegen_ts_context *g, lt_json schema);
/* `any` with a comment: `why` is our own text, `what` a peer's. */
void lt_typegen_ts_put_any(lt_typegen_ts_context *g, const char *why, lt_str what);

/* --- typegen_ts_refs.c */
/* The name of the type a $ref means. */
void lt_typegen_ts_put_reference(lt_typegen_ts_context *g, lt_json ref);

/* --- typegen_ts_type.c */
/* The type of `schema`, in parentheses where the place asks for something that binds more tightly. Returns how tightly
 * what was written binds. */
lt_typegen_ts_prec lt_typegen_ts_put_type(lt_typegen_ts_context *g, lt_json schema, lt_typegen_ts_prec place);
/* An object schema's {...}. */
void lt_typegen_ts_put_object(lt_typegen_ts_context *g, lt_json schema);

#endif
