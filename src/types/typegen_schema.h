/* Reading JSON Schemas for the generators, leniently. Private to typegen. Borrows the document. */
#ifndef LT_TYPES_TYPEGEN_SCHEMA_H
#define LT_TYPES_TYPEGEN_SCHEMA_H

#include "types/typegen_keys.h"

/* Bits of lt_typegen_types. */
enum {
  LT_TYPEGEN_NULL = 1,
  LT_TYPEGEN_BOOLEAN = 2,
  LT_TYPEGEN_NUMBER = 4,
  LT_TYPEGEN_INTEGER = 8,
  LT_TYPEGEN_STRING = 16,
  LT_TYPEGEN_ARRAY = 32,
  LT_TYPEGEN_OBJECT = 64,
  LT_TYPEGEN_BAD = 128, /* a `type` that is none */
};

/* The bit of one type's name, given as a JSON string; LT_TYPEGEN_BAD for anything else. */
unsigned lt_typegen_type_bit(lt_json name);
/* What `type` allows; where there is no `type`, what properties or items suggest; 0: anything. */
unsigned lt_typegen_types(lt_json schema);

/* Whether the schema says nothing of a value's shape: true, {}, or only descriptions and limits. */
bool lt_typegen_is_vague(lt_json schema);
/* Whether every schema of the array says something of the shape; false for no array and an empty one. */
bool lt_typegen_all_are_informative(lt_json schemas);
/* Whether something besides `type` shapes the value: $ref, anyOf, oneOf, allOf. */
bool lt_typegen_is_composed(lt_json schema);
/* Whether a value must fit several of `type`, $ref, anyOf, oneOf and the members of allOf at once. */
bool lt_typegen_is_crossed(lt_json schema);
/* Whether the schema is a tuple with places that may be missing, or with any number of others after them. */
bool lt_typegen_is_loose_tuple(lt_json schema);
/* Whether the schema is a plain object: `type` object (or as good as), neither composed nor enumerated nor nullable. */
bool lt_typegen_is_plain_object(lt_json schema);
/* Whether the empty object is valid, as far as a look at this schema tells; a $ref counts as no. */
bool lt_typegen_allows_nothing(lt_json schema);

/* What `ref` ("#", "#/$defs/Node", escapes included) names in the document; NONE: not there, or not local.
 * `ret_name` is the last part of the path, unescaped ("" for "#"). LT_E_NOMEM. Owns: the arena. */
lt_status lt_typegen_resolve(lt_json root, lt_str ref, lt_arena *arena, lt_json *ret_target, lt_str *ret_name);

typedef struct lt_typegen_prop {
  lt_str key;
  lt_json schema; /* NONE: required, but not described */
  uint32_t order;
  bool required;
} lt_typegen_prop;

typedef struct lt_typegen_props {
  lt_typegen_prop *at; /* in the order of the text, those that are only required last */
  size_t count;
} lt_typegen_props;

/* `properties` and `required` of an object schema, each key once. LT_E_NOMEM. Owns: the arena. */
lt_status lt_typegen_props_read(lt_json schema, lt_arena *arena, lt_typegen_props *ret_props);

/* Appends default, limits and what an array's items are: " @default 3 @minimum 1 @items File path, minLength 1" for
 * JSDoc, else ", default 3, minimum 1, items: File path, minLength 1".
 * LT_E_NOMEM. */
lt_status lt_typegen_put_facts(lt_buf *out, lt_json schema, lt_arena *arena, bool jsdoc);

#endif
