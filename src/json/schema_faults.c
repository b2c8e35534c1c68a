/* The error text for a value that does not fit. Names and values come from peers: they are cut and made safe for a
 * terminal. */
#include "base/limits.h"
#include "base/nearest.h"
#include "json/json_text.h"
#include "json/schema_faults.h"
#include "json/schema_rules.h"

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* Control characters, characters that change the direction of text, and halves of surrogate pairs. */
static bool schema_faults_is_unfit(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || lt_json_is_surrogate(c);
}

size_t lt_schema_put_char(lt_buf *out, const char *p, const char *end) {
  uint32_t c = 0;
  unsigned n = lt_json_read_char(p, end, &c);
  if (n == 0 || schema_faults_is_unfit(c)) {
    lt_buf_printf(out, "\\u%04x", (unsigned)(n == 0 ? 0xFFFD : c));
    return n > 0 ? n : 1;
  }
  lt_buf_add(out, (lt_str){p, n});
  return n;
}

/* Writes at most LT_SCHEMA_SHOWN_BYTES of the characters. `escapes`: bytes that get a backslash. */
static void schema_faults_put_chars(lt_buf *out, lt_str s, const char *escapes) {
  const char *p = s.p;
  const char *end = s.p + s.n;
  const char *stop = s.n > LT_SCHEMA_SHOWN_BYTES ? s.p + LT_SCHEMA_SHOWN_BYTES : end;
  while (p < stop) {
    if (*p != '\0' && strchr(escapes, *p) != NULL) {
      lt_buf_byte(out, '\\');
    }
    p += lt_schema_put_char(out, p, end);
  }
  lt_buf_addc(out, p < end ? "..." : "");
}

void lt_schema_put_plain(lt_buf *out, lt_str chars) {
  schema_faults_put_chars(out, chars, "");
}

void lt_schema_put_quoted(lt_buf *out, lt_str chars) {
  lt_buf_byte(out, '"');
  schema_faults_put_chars(out, chars, "\"\\");
  lt_buf_byte(out, '"');
}

/* An escaped string is never shorter than its characters, so only a bounded part of it is unescaped. */
static void schema_faults_put_string(lt_buf *out, lt_json value) {
  lt_str chars = LT_STR_NULL;
  LT_AUTO_ARENA(arena, LT_JSON_MAX_BYTES + LT_MIB);
  if (lt_json_str(value, &arena, &chars)) {
    lt_schema_put_quoted(out, chars);
  } else {
    out->status = LT_E_NOMEM;
  }
}

/* Writes a list or an object of the schema: whole when it is short, else as much as there is room for. */
static void schema_faults_put_compact(lt_buf *out, lt_json value) {
  LT_AUTO_BUF(text, LT_SCHEMA_SHOWN_BYTES + 20);
  lt_json_compact(value, &text);
  for (size_t at = 0; at < text.n;) {
    at += lt_schema_put_char(out, text.p + at, text.p + text.n);
  }
  lt_buf_addc(out, text.status != LT_OK ? "..." : "");
  out->status = text.status == LT_E_NOMEM ? LT_E_NOMEM : out->status;
}

void lt_schema_put_value(lt_buf *out, lt_json value) {
  lt_json_type type = lt_json_typeof(value);
  if (type == LT_JSON_STRING) {
    schema_faults_put_string(out, value);
  } else if (type == LT_JSON_ARRAY || type == LT_JSON_OBJECT) {
    schema_faults_put_compact(out, value);
  } else {
    lt_schema_put_plain(out, lt_json_text(value));
  }
}

/* Writes the given value. For objects and arrays the type is enough. */
void lt_schema_put_got(lt_buf *out, lt_json value) {
  lt_json_type type = lt_json_typeof(value);
  lt_buf_addc(out, ", got ");
  if (type == LT_JSON_ARRAY || type == LT_JSON_OBJECT) {
    lt_buf_addc(out, lt_json_type_name(type));
  } else {
    lt_schema_put_value(out, value);
  }
}

/* --- Lists -------------------------------------------------------------------------------------------------------- */

void lt_schema_put_or(lt_buf *out, uint32_t i, uint32_t count) {
  if (i > 0) {
    lt_buf_addc(out, i + 1 == count ? " or " : ", ");
  }
}

void lt_schema_put_values(lt_buf *out, lt_json list) {
  uint32_t count = lt_json_count(list);
  bool cut = count > LT_TOOL_LISTED_MAX;
  uint32_t i = 0;
  lt_json_iter it = lt_json_each(list);
  for (; i < LT_TOOL_LISTED_MAX && lt_json_next(&it); i++) {
    lt_schema_put_or(out, i, cut ? UINT32_MAX : count);
    lt_schema_put_value(out, it.value);
  }
  if (cut) {
    lt_buf_printf(out, " and %u more", (unsigned)(count - i));
  }
}

void lt_schema_put_types(lt_buf *out, uint32_t types) {
  static const char *const names[] = {"null", "boolean", "integer", "number", "string", "array", "object"};
  /* In the usual order: "or null" comes last. The type number includes whole numbers. */
  static const uint32_t order[] = {LT_SCHEMA_STRING, LT_SCHEMA_NUMBER, LT_SCHEMA_INTEGER, LT_SCHEMA_BOOLEAN,
                                   LT_SCHEMA_ARRAY,  LT_SCHEMA_OBJECT, LT_SCHEMA_NULL};
  types &= types & LT_SCHEMA_NUMBER ? ~(uint32_t)LT_SCHEMA_INTEGER : UINT32_MAX;
  uint32_t count = (uint32_t)__builtin_popcount(types);
  uint32_t i = 0;
  for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
    if (types & order[k]) {
      lt_schema_put_or(out, i++, count);
      lt_buf_addc(out, names[__builtin_ctz(order[k])]);
    }
  }
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

/* Whether the name may follow a dot in JavaScript. */
static bool schema_faults_is_plain_name(lt_str s) {
  bool plain = s.n > 0 && s.n <= LT_SCHEMA_SHOWN_BYTES && !lt_json_is_digit(s.p[0]);
  for (size_t i = 0; i < s.n && plain; i++) {
    char c = s.p[i];
    plain = c == '_' || c == '$' || lt_json_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  }
  return plain;
}

static void schema_faults_put_member(lt_buf *out, lt_str name) {
  if (schema_faults_is_plain_name(name)) {
    lt_buf_byte(out, '.');
    lt_buf_add(out, name);
  } else {
    lt_buf_byte(out, '[');
    lt_schema_put_quoted(out, name);
    lt_buf_byte(out, ']');
  }
}

static void schema_faults_put_key(lt_buf *out, lt_json key) {
  lt_str text = lt_json_text(key);
  lt_str name = lt_str_sub(text, 1, text.n - 1);
  if (schema_faults_is_plain_name(name)) {
    schema_faults_put_member(out, name);
  } else {
    lt_buf_byte(out, '[');
    schema_faults_put_string(out, key);
    lt_buf_byte(out, ']');
  }
}

static void schema_faults_put_path(lt_buf *out, const lt_schema_run *run, const lt_schema_place *at) {
  if (at->up == NULL) {
    lt_buf_add(out, run->root_name);
    return;
  }
  schema_faults_put_path(out, run, at->up);
  if (lt_json_exists(at->key)) {
    schema_faults_put_key(out, at->key);
  } else {
    lt_buf_printf(out, "[%u]", at->index);
  }
}

/* --- Faults ------------------------------------------------------------------------------------------------------- */

/* Estimates how far a fault is from the intended alternative. A wrong type, or a wrong value in the property that
 * distinguishes the alternatives, means that this alternative was hardly intended. A fault deep inside means that
 * everything around it was right. */
static uint32_t schema_faults_weight_of(lt_schema_fault kind, uint32_t depth) {
  if (kind == LT_FAULT_TYPE && depth == 0) {
    return 1000;
  }
  if (kind == LT_FAULT_VALUE && depth <= 1) {
    return depth == 0 ? 500 : 50;
  }
  return depth > 1 ? 2 : 4;
}

/* Counts a fault. Returns the buffer with the fault's path when its text is to be written. */
static lt_buf *schema_faults_begin(lt_schema_run *run, uint32_t depth, lt_schema_fault kind) {
  lt_schema_sink *sink = run->sink;
  if (sink == NULL || run->status != LT_OK) {
    return NULL;
  }
  uint32_t inside = depth - sink->depth;
  sink->kinds |= 1u << (inside == 0 ? kind : LT_FAULT_OTHER);
  sink->weight += schema_faults_weight_of(kind, inside);
  if (sink->count++ >= sink->max) {
    return NULL;
  }
  lt_buf_addc(sink->out, sink->count > 1 ? sink->separator : "");
  return sink->out;
}

lt_buf *lt_schema_fault_at(lt_schema_run *run, const lt_schema_place *at, lt_schema_fault kind) {
  lt_buf *out = schema_faults_begin(run, at->depth, kind);
  if (out != NULL) {
    schema_faults_put_path(out, run, at);
    lt_buf_addc(out, at->is_name ? ": the name " : ": ");
  }
  return out;
}

lt_buf *lt_schema_fault_member(lt_schema_run *run, const lt_schema_place *at, lt_str name, lt_schema_fault kind) {
  lt_buf *out = schema_faults_begin(run, at->depth + 1, kind);
  if (out != NULL) {
    schema_faults_put_path(out, run, at);
    schema_faults_put_member(out, name);
    lt_buf_addc(out, ": ");
  }
  return out;
}

bool lt_schema_fault_text(lt_schema_run *run, const lt_schema_place *at, lt_schema_fault kind, const char *text) {
  lt_buf *out = lt_schema_fault_at(run, at, kind);
  if (out != NULL) {
    lt_buf_addc(out, text);
  }
  return false;
}

void lt_schema_fault_type(lt_schema_run *run, const lt_schema_place *at, uint32_t types) {
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_TYPE);
  if (out == NULL) {
    return;
  }
  lt_buf_addc(out, at->is_name ? "is a string, expected " : "expected ");
  lt_schema_put_types(out, types);
  if (at->is_name) {
    return;
  }
  lt_json_type type = lt_json_typeof(at->value);
  if (type == LT_JSON_NUMBER && (types & LT_SCHEMA_INTEGER) != 0) {
    lt_schema_put_got(out, at->value); /* "got number" would not distinguish it from the right ones */
  } else {
    lt_buf_addc(out, ", got ");
    lt_buf_addc(out, lt_json_type_name(type));
  }
}

static lt_str schema_faults_find_nearest(const lt_schema_object *object, lt_str name) {
  unsigned edits = name.n > 2 ? 2 : 1;
  lt_nearest nearest = lt_nearest_to(name, name.n > 8 ? 3 : edits);
  for (uint32_t i = 0; i < object->prop_count; i++) {
    lt_nearest_offer(&nearest, object->props[i].name);
  }
  return nearest.name;
}

static void schema_faults_put_known(lt_buf *out, const lt_schema_object *object, lt_str name) {
  lt_str nearest = schema_faults_find_nearest(object, name);
  if (nearest.p != NULL) {
    lt_buf_addc(out, " (did you mean ");
    lt_schema_put_quoted(out, nearest);
    lt_buf_addc(out, "?)");
    return;
  }
  uint32_t i = 0;
  lt_json_iter it = lt_json_each(object->properties);
  for (; i < LT_TOOL_LISTED_MAX && lt_json_next(&it); i++) {
    lt_buf_addc(out, i == 0 ? " (known: " : ", ");
    lt_schema_put_value(out, it.key);
  }
  if (object->prop_count > i) {
    lt_buf_printf(out, " and %u more", (unsigned)(object->prop_count - i));
  }
  lt_buf_addc(out, i > 0 ? ")" : "");
}

void lt_schema_fault_unknown(lt_schema_run *run, const lt_schema_place *at, const lt_schema_object *object) {
  lt_str name;
  lt_buf *out = lt_schema_fault_at(run, at, LT_FAULT_UNKNOWN);
  if (out != NULL) {
    lt_buf_addc(out, "is not a known property");
    if (object != NULL && lt_schema_chars(run, at->key, &name)) {
      schema_faults_put_known(out, object, name);
    }
  }
}
