/* Equality of values: numbers by value, strings by character, objects whatever the order of their members. */
#include <stdlib.h>

#include "base/limits.h"
#include "json/schema_equal.h"

static bool schema_equal_enter(lt_schema_run *run) {
  if (run->depth >= LT_SCHEMA_DEPTH_MAX && run->status == LT_OK) {
    run->status = LT_E_LIMIT;
  }
  if (!lt_schema_spend(run, 2)) {
    return false;
  }
  run->depth++;
  return true;
}

static bool schema_equal_strings(lt_schema_run *run, lt_json a, lt_json b) {
  lt_str chars;
  return lt_schema_chars(run, a, &chars) && lt_json_str_eq(b, chars);
}

static bool schema_equal_numbers(lt_json a, lt_json b) {
  lt_decimal x = lt_decimal_of(lt_json_text(a));
  lt_decimal y = lt_decimal_of(lt_json_text(b));
  return lt_decimal_cmp(&x, &y) == 0;
}

static bool schema_equal_arrays(lt_schema_run *run, lt_json a, lt_json b) {
  lt_json_iter i = lt_json_each(a);
  lt_json_iter j = lt_json_each(b);
  while (lt_json_next(&i) && lt_json_next(&j)) {
    if (!lt_schema_equal(run, i.value, j.value)) {
      return false;
    }
  }
  return true;
}

static bool schema_equal_objects(lt_schema_run *run, lt_json a, lt_json b) {
  lt_json_iter it = lt_json_each(a);
  while (lt_json_next(&it)) {
    lt_str key;
    if (!lt_schema_chars(run, it.key, &key) || !lt_schema_spend(run, 3 * (uint64_t)lt_json_count(b))) {
      return false;
    }
    lt_json other = lt_json_get_str(b, key);
    if (!lt_json_exists(other) || !lt_schema_equal(run, it.value, other)) {
      return false;
    }
  }
  return true;
}

static bool schema_equal_inside(lt_schema_run *run, lt_json a, lt_json b) {
  lt_schema_spend(run, lt_json_text(a).n / 16);
  switch (lt_json_typeof(a)) {
    case LT_JSON_STRING:
      return schema_equal_strings(run, a, b);
    case LT_JSON_NUMBER:
      return schema_equal_numbers(a, b);
    case LT_JSON_ARRAY:
      return lt_json_count(a) == lt_json_count(b) && schema_equal_arrays(run, a, b);
    case LT_JSON_OBJECT:
      return lt_json_count(a) == lt_json_count(b) && schema_equal_objects(run, a, b);
    case LT_JSON_NONE:
    case LT_JSON_NULL:
    case LT_JSON_FALSE:
    case LT_JSON_TRUE:
      break;
  }
  return true;
}

bool lt_schema_equal(lt_schema_run *run, lt_json a, lt_json b) {
  if (lt_json_typeof(a) != lt_json_typeof(b) || !schema_equal_enter(run)) {
    return false;
  }
  bool equal = schema_equal_inside(run, a, b);
  run->depth--;
  return equal && run->status == LT_OK;
}

/* --- Items that are equal -----------------------------------------------------------------------------------------
 * By hash, so that long lists do not take the square of their length. */

static uint64_t schema_equal_mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ b) * UINT64_C(0x9E3779B97F4A7C15);
  return h ^ h >> 29;
}

static uint64_t schema_equal_hash_of(lt_schema_run *run, lt_json v);

/* Adds up the members, as they may be in any order. */
static uint64_t schema_equal_hash_inside(lt_schema_run *run, lt_json v) {
  uint64_t hash = lt_json_count(v);
  bool ordered = lt_json_typeof(v) == LT_JSON_ARRAY;
  lt_json_iter it = lt_json_each(v);
  while (run->status == LT_OK && lt_json_next(&it)) {
    uint64_t inner = schema_equal_hash_of(run, it.value);
    hash = ordered ? schema_equal_mix(hash, inner) : hash + schema_equal_mix(schema_equal_hash_of(run, it.key), inner);
  }
  return hash;
}

static uint64_t schema_equal_hash_value(lt_schema_run *run, lt_json v) {
  lt_json_type type = lt_json_typeof(v);
  lt_str text = lt_json_text(v);
  if (type == LT_JSON_ARRAY || type == LT_JSON_OBJECT) {
    return schema_equal_mix(type, schema_equal_hash_inside(run, v));
  }
  if (type == LT_JSON_NUMBER) {
    lt_decimal number = lt_decimal_of(text);
    return schema_equal_mix(type, lt_decimal_hash(&number));
  }
  if (type == LT_JSON_STRING && !lt_schema_chars(run, v, &text)) {
    return 0;
  }
  lt_schema_spend(run, text.n / 4);
  return schema_equal_mix(type, lt_str_hash(text));
}

static uint64_t schema_equal_hash_of(lt_schema_run *run, lt_json v) {
  if (!schema_equal_enter(run)) {
    return 0;
  }
  uint64_t hash = schema_equal_hash_value(run, v);
  run->depth--;
  return hash;
}

typedef struct comparable_item {
  uint64_t hash;
  lt_json value;
  uint32_t index;
} comparable_item;

static int schema_equal_compare_items(const void *a, const void *b) {
  const comparable_item *x = a;
  const comparable_item *y = b;
  if (x->hash != y->hash) {
    return x->hash < y->hash ? -1 : 1;
  }
  return x->index < y->index ? -1 : x->index > y->index;
}

/* Finds two equal items among those with the same hash. They are few, except in input that was made to collide. */
static bool schema_equal_find_among(lt_schema_run *run, const comparable_item *items, uint32_t count,
                                    uint32_t *ret_first, uint32_t *ret_second) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = i + 1; j < count && items[j].hash == items[i].hash; j++) {
      if (lt_schema_equal(run, items[i].value, items[j].value)) {
        *ret_first = items[i].index;
        *ret_second = items[j].index;
        return true;
      }
      if (run->status != LT_OK) {
        return false;
      }
    }
  }
  return false;
}

bool lt_schema_find_equal(lt_schema_run *run, lt_json array, uint32_t *ret_first, uint32_t *ret_second) {
  uint32_t count = lt_json_count(array);
  if (count < 2 || !lt_schema_spend(run, (uint64_t)count * 16)) {
    return false;
  }
  comparable_item *items = lt_arena_alloc(&run->arena, count * sizeof(*items));
  if (items == NULL) {
    lt_schema_fail_run(run);
    return false;
  }
  uint32_t n = 0;
  lt_json_iter it = lt_json_each(array);
  while (run->status == LT_OK && lt_json_next(&it)) {
    items[n] = (comparable_item){schema_equal_hash_of(run, it.value), it.value, n};
    n++;
  }
  if (run->status != LT_OK) {
    return false;
  }
  qsort(items, n, sizeof(*items), schema_equal_compare_items);
  return schema_equal_find_among(run, items, n, ret_first, ret_second);
}
