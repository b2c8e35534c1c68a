#include "tool/check.h"

#include <math.h>

#include "base/limits.h"
#include "tool/names.h"

typedef struct check {
  lt_arena *arena;
  lt_json input;
  lt_buf *faults;
  unsigned count;
} check;

/* --- Messages -------------------------------------------------------------------------------------------------------
 */
/* Begins a fault with its path. False when there have been enough. */
static bool begin_fault(check *c, lt_str key) {
  if (c->count++ >= LT_TOOL_INPUT_ERRORS_MAX) {
    return false;
  }
  lt_buf_addc(c->faults, c->count > 1 ? "; input" : "input");
  if (lt_name_is_plain(key)) {
    lt_buf_byte(c->faults, '.');
    lt_buf_add(c->faults, key);
  } else {
    lt_json_writer w = lt_json_writer_on(c->faults);
    lt_buf_byte(c->faults, '[');
    lt_json_put_str(&w, key);
    lt_buf_byte(c->faults, ']');
  }
  lt_buf_addc(c->faults, ": ");
  return true;
}

static void fault_missing(check *c, lt_str key) {
  if (begin_fault(c, key)) {
    lt_buf_addc(c->faults, "is required");
  }
}

/* "string", or "string, integer or null". */
static void add_types(check *c, lt_json keyword) {
  uint32_t count = lt_json_count(keyword);
  uint32_t i = 0;
  lt_json_iter it = lt_json_each(keyword);
  while (lt_json_next(&it)) {
    lt_str name = LT_STR("");
    lt_json_str(it.value, c->arena, &name);
    if (i > 0) {
      lt_buf_addc(c->faults, i + 1 == count ? " or " : ", ");
    }
    lt_buf_add(c->faults, name);
    i++;
  }
}

static void fault_type(check *c, lt_str key, lt_json keyword, lt_json value) {
  if (!begin_fault(c, key)) {
    return;
  }
  lt_str name;
  lt_buf_addc(c->faults, "expected ");
  if (lt_json_str(keyword, c->arena, &name)) {
    lt_buf_add(c->faults, name);
  } else {
    add_types(c, keyword);
  }
  lt_buf_addc(c->faults, ", got ");
  lt_buf_addc(c->faults, lt_json_type_name(lt_json_typeof(value)));
}

static void fault_enum(check *c, lt_str key, lt_json values, lt_json value) {
  if (!begin_fault(c, key)) {
    return;
  }
  lt_buf_addc(c->faults, "expected one of ");
  uint32_t count = lt_json_count(values);
  uint32_t i = 0;
  lt_json_iter it = lt_json_each(values);
  while (i < LT_TOOL_LISTED_MAX && lt_json_next(&it)) {
    lt_buf_addc(c->faults, i > 0 ? ", " : "");
    lt_buf_add(c->faults, lt_json_text(it.value));
    i++;
  }
  if (count > i) {
    lt_buf_printf(c->faults, " and %u more", (unsigned)(count - i));
  }
  lt_buf_addc(c->faults, ", got ");
  lt_buf_add(c->faults, lt_json_text(value));
}

/* --- Keywords -------------------------------------------------------------------------------------------------------
 */
/* JSON Schema 2020-12, 6.1.1: "integer" matches any number with a zero fractional part. */
static bool is_whole(lt_json value) {
  double d;
  return lt_json_double(value, &d) && (isinf(d) || d == floor(d));
}

/* Whether the value has the type called `name`; a name that does not exist fits all. */
static bool has_type(lt_json name, lt_json value) {
  lt_json_type type = lt_json_typeof(value);
  if (lt_json_str_eq(name, LT_STR("integer"))) {
    return type == LT_JSON_NUMBER && is_whole(value);
  }
  static const char *const known[] = {"null", "boolean", "number", "string", "array", "object"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (lt_json_str_eq(name, lt_str_of(known[i]))) {
      return lt_str_eqc(lt_str_of(known[i]), lt_json_type_name(type));
    }
  }
  return true;
}

bool lt_check_type(lt_json keyword, lt_json value) {
  if (lt_json_typeof(keyword) == LT_JSON_STRING) {
    return has_type(keyword, value);
  }
  if (lt_json_count(keyword) == 0 || lt_json_typeof(keyword) != LT_JSON_ARRAY) {
    return true;
  }
  lt_json_iter it = lt_json_each(keyword);
  while (lt_json_next(&it)) {
    if (has_type(it.value, value)) {
      return true;
    }
  }
  return false;
}

/* A string must be among the values; what is not a string is the business of `type`. */
static bool in_enum(check *c, lt_json values, lt_json value) {
  lt_str s;
  if (lt_json_typeof(values) != LT_JSON_ARRAY || lt_json_count(values) == 0 || !lt_json_str(value, c->arena, &s)) {
    return true;
  }
  lt_json_iter it = lt_json_each(values);
  while (lt_json_next(&it)) {
    if (lt_json_str_eq(it.value, s)) {
      return true;
    }
  }
  return false;
}

static void check_required(check *c, lt_json required) {
  if (lt_json_typeof(required) != LT_JSON_ARRAY) {
    return;
  }
  lt_json_iter it = lt_json_each(required);
  while (lt_json_next(&it)) {
    lt_str key;
    if (lt_json_str(it.value, c->arena, &key) && !lt_json_exists(lt_json_get_str(c->input, key))) {
      fault_missing(c, key);
    }
  }
}

static void check_properties(check *c, lt_json properties) {
  if (lt_json_typeof(properties) != LT_JSON_OBJECT) {
    return;
  }
  lt_json_iter it = lt_json_each(properties);
  while (lt_json_next(&it)) {
    lt_str key;
    lt_json value = {0};
    if (lt_json_str(it.key, c->arena, &key)) {
      value = lt_json_get_str(c->input, key);
    }
    if (!lt_json_exists(value)) {
      continue;
    }
    lt_json type = lt_json_get(it.value, "type");
    lt_json values = lt_json_get(it.value, "enum");
    if (!lt_check_type(type, value)) {
      fault_type(c, key, type, value);
    } else if (!in_enum(c, values, value)) {
      fault_enum(c, key, values, value);
    }
  }
}

lt_status lt_check_input(lt_arena *arena, lt_str schema, lt_json input, lt_buf *faults) {
  check c = {.arena = arena, .input = input, .faults = faults};
  lt_json_doc doc;
  lt_status status = lt_json_parse(arena, schema, &doc, NULL);
  if (status != LT_OK) {
    return status == LT_E_NOMEM ? status : LT_OK; /* a broken schema is the server's fault, not the caller's */
  }
  check_required(&c, lt_json_get(lt_json_root(&doc), "required"));
  check_properties(&c, lt_json_get(lt_json_root(&doc), "properties"));
  if (c.count > LT_TOOL_INPUT_ERRORS_MAX) {
    lt_buf_printf(faults, "; and %u more", c.count - LT_TOOL_INPUT_ERRORS_MAX);
  }
  return c.count > 0 ? LT_E_INVALID : LT_OK;
}
