#include "tool/json_type.h"

#include <math.h>

#define NO_FRACTION 9007199254740992.0 /* 2^53: no double from here on has one */

/* JSON Schema 2020-12, 6.1.1: "integer" matches any number with a zero fractional part. */
static bool json_type_is_whole(lt_json value) {
  double d;
  return lt_json_double(value, &d) && (fabs(d) >= NO_FRACTION || d == (double)(int64_t)d);
}

/* Whether the value has the type `name`; every value has a type with an unknown name. */
static bool json_type_matches(lt_json name, lt_json value) {
  lt_json_type type = lt_json_typeof(value);
  if (lt_json_str_eq(name, LT_STR("integer"))) {
    return type == LT_JSON_NUMBER && json_type_is_whole(value);
  }
  static const char *const known[] = {"null", "boolean", "number", "string", "array", "object"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (lt_json_str_eq(name, lt_str_of(known[i]))) {
      return lt_str_eqc(lt_str_of(known[i]), lt_json_type_name(type));
    }
  }
  return true;
}

bool lt_json_fits_type(lt_json keyword, lt_json value) {
  if (lt_json_typeof(keyword) == LT_JSON_STRING) {
    return json_type_matches(keyword, value);
  }
  if (lt_json_count(keyword) == 0 || lt_json_typeof(keyword) != LT_JSON_ARRAY) {
    return true;
  }
  lt_json_iter it = lt_json_each(keyword);
  while (lt_json_next(&it)) {
    if (json_type_matches(it.value, value)) {
      return true;
    }
  }
  return false;
}
