/* The supported keywords of JSON Schema, and the shape of each keyword's value. */
#ifndef LT_JSON_SCHEMA_KEYWORDS_H
#define LT_JSON_SCHEMA_KEYWORDS_H

#include "json/json.h"

/* The shape of a keyword's value: no schema, a schema, a list of schemas, either of the two, schemas by name, or
 * schemas or name lists by name. */
typedef enum lt_schema_shape {
  LT_SHAPE_NONE,
  LT_SHAPE_ONE,
  LT_SHAPE_LIST,
  LT_SHAPE_ONE_OR_LIST,
  LT_SHAPE_MAP,
  LT_SHAPE_MAP_OR_NAMES,
} lt_schema_shape;

#define LT_SCHEMA_KEYWORDS(X)                           \
  X(SCHEMA, "$schema", NONE)                            \
  X(ID, "$id", NONE)                                    \
  X(OLD_ID, "id", NONE)                                 \
  X(ANCHOR, "$anchor", NONE)                            \
  X(DYNAMIC_ANCHOR, "$dynamicAnchor", NONE)             \
  X(RECURSIVE_ANCHOR, "$recursiveAnchor", NONE)         \
  X(REF, "$ref", NONE)                                  \
  X(DYNAMIC_REF, "$dynamicRef", NONE)                   \
  X(RECURSIVE_REF, "$recursiveRef", NONE)               \
  X(DEFS, "$defs", MAP)                                 \
  X(DEFINITIONS, "definitions", MAP)                    \
  X(TYPE, "type", NONE)                                 \
  X(NULLABLE, "nullable", NONE)                         \
  X(ENUM, "enum", NONE)                                 \
  X(CONST, "const", NONE)                               \
  X(TITLE, "title", NONE)                               \
  X(MULTIPLE_OF, "multipleOf", NONE)                    \
  X(MINIMUM, "minimum", NONE)                           \
  X(MAXIMUM, "maximum", NONE)                           \
  X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", NONE)        \
  X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", NONE)        \
  X(MIN_LENGTH, "minLength", NONE)                      \
  X(MAX_LENGTH, "maxLength", NONE)                      \
  X(PATTERN, "pattern", NONE)                           \
  X(MIN_ITEMS, "minItems", NONE)                        \
  X(MAX_ITEMS, "maxItems", NONE)                        \
  X(UNIQUE_ITEMS, "uniqueItems", NONE)                  \
  X(PREFIX_ITEMS, "prefixItems", LIST)                  \
  X(ITEMS, "items", ONE_OR_LIST)                        \
  X(ADDITIONAL_ITEMS, "additionalItems", ONE)           \
  X(CONTAINS, "contains", ONE)                          \
  X(MIN_CONTAINS, "minContains", NONE)                  \
  X(MAX_CONTAINS, "maxContains", NONE)                  \
  X(MIN_PROPERTIES, "minProperties", NONE)              \
  X(MAX_PROPERTIES, "maxProperties", NONE)              \
  X(REQUIRED, "required", NONE)                         \
  X(PROPERTIES, "properties", MAP)                      \
  X(PATTERN_PROPERTIES, "patternProperties", MAP)       \
  X(ADDITIONAL_PROPERTIES, "additionalProperties", ONE) \
  X(PROPERTY_NAMES, "propertyNames", ONE)               \
  X(DEPENDENT_REQUIRED, "dependentRequired", NONE)      \
  X(DEPENDENT_SCHEMAS, "dependentSchemas", MAP)         \
  X(DEPENDENCIES, "dependencies", MAP_OR_NAMES)         \
  X(ALL_OF, "allOf", LIST)                              \
  X(ANY_OF, "anyOf", LIST)                              \
  X(ONE_OF, "oneOf", LIST)                              \
  X(NOT, "not", ONE)                                    \
  X(IF, "if", ONE)                                      \
  X(THEN, "then", ONE)                                  \
  X(ELSE, "else", ONE)                                  \
  X(UNEVALUATED_ITEMS, "unevaluatedItems", ONE)         \
  X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", ONE)

typedef enum lt_schema_keyword {
#define LT_SCHEMA_ENUM(name, text, shape) LT_KW_##name,
  LT_SCHEMA_KEYWORDS(LT_SCHEMA_ENUM)
#undef LT_SCHEMA_ENUM
      LT_KW_COUNT,
} lt_schema_keyword;

/* A schema's keywords; NONE for the missing ones. */
typedef struct lt_schema_keys {
  lt_json at[LT_KW_COUNT];
} lt_schema_keys;

/* `json` is an object. `ref_alone`: the draft ignores keywords beside a $ref, as drafts up to 7 do (draft-07, Core
 * 8.3). */
void lt_schema_keys_read(lt_json json, bool ref_alone, lt_schema_keys *ret);
lt_schema_shape lt_schema_keyword_shape(lt_schema_keyword keyword);

#endif
