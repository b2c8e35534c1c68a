/* JSON text (RFC 8259), read to spans and written to buffers.
 *
 * The parser validates, keeps numbers as written and strings as WTF-8 (a lone surrogate, escaped or encoded, survives a
 * round trip), and has a depth and a size ceiling. lt_json_parse makes a flat index of a document, not a tree: a node
 * holds its type, the position of its text, and the index of the next node.
 *
 * A document borrows its text; its index is in the caller's arena. Nothing here suspends, and nothing keeps state
 * between calls.
 */
#ifndef LT_JSON_JSON_H
#define LT_JSON_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"

typedef enum lt_json_type {
  LT_JSON_NONE = 0, /* no value: the result of a lookup that finds nothing */
  LT_JSON_NULL,
  LT_JSON_FALSE,
  LT_JSON_TRUE,
  LT_JSON_NUMBER,
  LT_JSON_STRING,
  LT_JSON_ARRAY,
  LT_JSON_OBJECT,
} lt_json_type;

/* One value, or one key of an object (a STRING that stands before its value). Children follow their parent. */
typedef struct lt_json_node {
  uint32_t start; /* byte offset of the value's text */
  uint32_t end;   /* one past it */
  uint32_t next;  /* index of the node after this one and all of its children */
  uint32_t info;  /* type in the low 4 bits, "has escapes" in bit 4, "is a key" in bit 5, members or items above */
} lt_json_node;

typedef struct lt_json_doc {
  lt_str text;
  const lt_json_node *nodes; /* nodes[0] is the document's value */
  uint32_t count;
} lt_json_doc;

/* A value in a document, by value. {NULL, 0} is a missing value; every function below accepts it and returns NONE or
 * false. */
typedef struct lt_json {
  const lt_json_doc *doc;
  uint32_t at;
} lt_json;

/* Checks that `text` is one JSON value, with optional white space around it, and indexes it. Errors: LT_E_SYNTAX with
 * line and column, LT_E_LIMIT (over LT_JSON_MAX_BYTES or LT_JSON_MAX_DEPTH), LT_E_NOMEM. Borrows: `text`, as long as
 * the document is used. Owns: the arena. */
lt_status lt_json_parse(lt_arena *arena, lt_str text, lt_json_doc *ret_doc, lt_err *err);

/* Only checks; needs no memory. Same errors. */
lt_status lt_json_check(lt_str text, lt_err *err);

/* The document's value. */
static inline lt_json lt_json_root(const lt_json_doc *doc) {
  return (lt_json){doc, 0};
}

lt_json_type lt_json_typeof(lt_json v);
/* "null", "boolean", "number", "string", "array", "object"; "nothing" for NONE: for error messages. */
const char *lt_json_type_name(lt_json_type type);
static inline bool lt_json_exists(lt_json v) {
  return lt_json_typeof(v) != LT_JSON_NONE;
}

/* The text as it stands in the document, quotes included. */
lt_str lt_json_text(lt_json v);

/* Number of items or members; 0 for anything else. */
uint32_t lt_json_count(lt_json v);

/* The member `key` of an object, else NONE. Of repeated keys the last one counts, as in JavaScript. The second is
 * inline, so that the compiler counts the bytes of a literal. */
lt_json lt_json_get_str(lt_json object, lt_str key);
static inline lt_json lt_json_get(lt_json object, const char *key) {
  return lt_json_get_str(object, lt_str_of(key));
}
/* Item `i` of an array, else NONE. Linear time: use lt_json_each to visit all items. */
lt_json lt_json_at(lt_json array, uint32_t i);

/* Iterates an array's items or an object's members, in the order of the text:
 *   lt_json_iter it = lt_json_each(v);
 *   while (lt_json_next(&it)) { it.key (objects), it.value }  */
typedef struct lt_json_iter {
  lt_json container;
  uint32_t at;
  uint32_t end;
  lt_json key; /* NONE in arrays */
  lt_json value;
} lt_json_iter;
lt_json_iter lt_json_each(lt_json v);
bool lt_json_next(lt_json_iter *it);

/* The characters of a string or key, unescaped, as WTF-8. They are in the arena if the text has escapes, else in the
 * document's text. They may contain NUL bytes. False (ret unchanged) when `v` is not a string or there is no memory. */
bool lt_json_str(lt_json v, lt_arena *arena, lt_str *ret);
/* Whether `v` is a string with exactly these characters. */
bool lt_json_str_eq(lt_json v, lt_str s);
/* The value of a boolean, or `fallback` when `v` is not a boolean. */
bool lt_json_bool(lt_json v, bool fallback);
/* A whole number that fits (1, -0, 1e3, 2.0 do; 1.5 and 1e30 do not). */
bool lt_json_int(lt_json v, int64_t *ret);
/* Any number. A number out of range becomes +-infinity, as with strtod. */
bool lt_json_double(lt_json v, double *ret);

/* --- Writing -------------------------------------------------------------------------------------------------------
 * The writer adds commas and checks the nesting; misuse is a bug of ours (LT_CHECK). Errors stick in the buffer's
 * status.
 */
typedef struct lt_json_writer {
  lt_buf *buf;
  uint32_t depth;
  bool need_comma;
  bool after_key;
  uint64_t objects; /* bit n: the container at depth n + 1 is an object; not recorded beyond 64 levels */
} lt_json_writer;

static inline lt_json_writer lt_json_writer_on(lt_buf *buf) {
  return (lt_json_writer){.buf = buf};
}

void lt_json_begin_object(lt_json_writer *w);
void lt_json_end_object(lt_json_writer *w);
void lt_json_begin_array(lt_json_writer *w);
void lt_json_end_array(lt_json_writer *w);
/* Writes a key. Its value must follow. */
void lt_json_key_str(lt_json_writer *w, lt_str key);
static inline void lt_json_key(lt_json_writer *w, const char *key) {
  lt_json_key_str(w, lt_str_of(key));
}
/* Characters as a JSON string. WTF-8 surrogates are written as \uXXXX; bytes that are not WTF-8 become U+FFFD. */
void lt_json_put_str(lt_json_writer *w, lt_str s);
void lt_json_put_cstr(lt_json_writer *w, const char *cstr);
void lt_json_put_int(lt_json_writer *w, int64_t n);
/* Writes the shortest text that reads back as the same number. NaN and infinities become null. */
void lt_json_put_double(lt_json_writer *w, double n);
void lt_json_put_bool(lt_json_writer *w, bool b);
void lt_json_put_null(lt_json_writer *w);
/* Writes a key and its value; nothing is written by put_given if the value is empty. */
static inline void lt_json_put_pair(lt_json_writer *w, const char *key, lt_str value) {
  lt_json_key(w, key);
  lt_json_put_str(w, value);
}
void lt_json_put_given(lt_json_writer *w, const char *key, lt_str value);
/* Writes JSON text unchanged. Empty text becomes null. */
void lt_json_put_raw(lt_json_writer *w, lt_str json);

/* Append the value with two-space indentation (for people), or without white space (for one-line protocols). Scalars
 * keep their text, except that encoded surrogates become escapes: the output is UTF-8. NONE appends nothing. */
void lt_json_pretty(lt_json v, lt_buf *out);
void lt_json_compact(lt_json v, lt_buf *out);

/* Appends the text with U+FFFD in place of bytes that are not WTF-8, as lt_json_put_str has them. */
void lt_json_mend_utf8(lt_buf *out, lt_str s);

/* Appends only the escaped characters of `s`, without the quotes. */
void lt_json_escape(lt_buf *buf, lt_str s);

#endif
