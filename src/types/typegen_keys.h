/* A schema's document and quick access to its keywords. Private to typegen.
 *
 * The generators query every schema for about thirty keywords, and most schemas have three or four of them. The
 * keywords present are found once per schema and kept as a bit mask.
 */
#ifndef LT_TYPES_TYPEGEN_KEYS_H
#define LT_TYPES_TYPEGEN_KEYS_H

#include "json/json.h"

/* In the order of their length: keys are looked up by it. */
#define LT_TYPEGEN_KEYS(X)                   \
  X(ENUM, "enum")                            \
  X(TYPE, "type")                            \
  X(REF, "$ref")                             \
  X(CONST, "const")                          \
  X(ITEMS, "items")                          \
  X(ANY_OF, "anyOf")                         \
  X(ONE_OF, "oneOf")                         \
  X(ALL_OF, "allOf")                         \
  X(FORMAT, "format")                        \
  X(DEFAULT, "default")                      \
  X(MINIMUM, "minimum")                      \
  X(MAXIMUM, "maximum")                      \
  X(PATTERN, "pattern")                      \
  X(MIN_ITEMS, "minItems")                   \
  X(MAX_ITEMS, "maxItems")                   \
  X(NULLABLE, "nullable")                    \
  X(REQUIRED, "required")                    \
  X(MIN_LENGTH, "minLength")                 \
  X(MAX_LENGTH, "maxLength")                 \
  X(MULTIPLE_OF, "multipleOf")               \
  X(DEPRECATED, "deprecated")                \
  X(PROPERTIES, "properties")                \
  X(PREFIX_ITEMS, "prefixItems")             \
  X(UNIQUE_ITEMS, "uniqueItems")             \
  X(DESCRIPTION, "description")              \
  X(MIN_PROPERTIES, "minProperties")         \
  X(ADDITIONAL_ITEMS, "additionalItems")     \
  X(EXCLUSIVE_MINIMUM, "exclusiveMinimum")   \
  X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum")   \
  X(PATTERN_PROPERTIES, "patternProperties") \
  X(ADDITIONAL_PROPERTIES, "additionalProperties")

typedef enum lt_typegen_keyword {
#define LT_TYPEGEN_KEY_ENUM(name, text) LT_KEY_##name,
  LT_TYPEGEN_KEYS(LT_TYPEGEN_KEY_ENUM)
#undef LT_TYPEGEN_KEY_ENUM
      LT_KEY_COUNT
} lt_typegen_keyword;

/* The functions below accept only values of such a document. */
typedef struct lt_typegen_doc {
  lt_json_doc json; /* first: found again from a value */
  uint32_t *masks;  /* per node: the keywords present, filled by lt_typegen_key */
} lt_typegen_doc;

/* Reads a schema's text. Errors: those of lt_json_parse. Borrows: the text. Owns: the arena; `doc` must stay in place.
 */
lt_status lt_typegen_parse(lt_arena *arena, lt_str text, lt_typegen_doc *doc, lt_err *err);

/* The keyword's value in a schema; NONE where it is missing or `schema` is no object. */
lt_json lt_typegen_key(lt_json schema, lt_typegen_keyword key);
static inline bool lt_typegen_has(lt_json schema, lt_typegen_keyword key) {
  return lt_json_exists(lt_typegen_key(schema, key));
}
/* The keyword as schemas write it. */
const char *lt_typegen_key_text(lt_typegen_keyword key);

#endif
