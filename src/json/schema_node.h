/* A compiled schema: a node per schema, rules in each. Made by schema_compile.c and schema_rules.c, applied by
 * schema_check.c; nothing changes it afterwards.
 */
#ifndef LT_JSON_SCHEMA_NODE_H
#define LT_JSON_SCHEMA_NODE_H

#include "base/arena.h"
#include "json/decimal.h"
#include "json/json.h"
#include "json/regex.h"
#include "json/schema.h"

/* Types: bits. */
enum {
  LT_SCHEMA_NULL = 1,
  LT_SCHEMA_BOOLEAN = 2,
  LT_SCHEMA_INTEGER = 4, /* of values: whole numbers have both bits */
  LT_SCHEMA_NUMBER = 8,
  LT_SCHEMA_STRING = 16,
  LT_SCHEMA_ARRAY = 32,
  LT_SCHEMA_OBJECT = 64,
  LT_SCHEMA_ANY = 127,
};

typedef struct lt_schema_node lt_schema_node;
typedef struct lt_schema_rule lt_schema_rule;
typedef struct lt_schema_run lt_schema_run;
typedef struct lt_schema_place lt_schema_place;

/* Whether the value at `at` satisfies the rule; false also when the run has failed. */
typedef bool (*lt_schema_rule_fn)(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

typedef struct lt_schema_prop {
  lt_str name;
  const lt_schema_node *schema;
} lt_schema_prop;

typedef struct lt_schema_pattern {
  const lt_regex *regex; /* NULL: not supported */
  const lt_schema_node *schema;
} lt_schema_pattern;

/* properties, patternProperties and additionalProperties: the last depends on the others. */
typedef struct lt_schema_object {
  lt_json properties;
  const lt_schema_prop *props; /* sorted by lt_schema_name_cmp */
  const lt_schema_pattern *patterns;
  const lt_schema_node *rest; /* NULL: anything */
  uint32_t prop_count;
  uint32_t pattern_count;
  bool unsure; /* a pattern is not supported: no property is known to be additional */
} lt_schema_object;

typedef struct lt_schema_array {
  const lt_schema_node **prefix;
  const lt_schema_node *rest; /* NULL: anything */
  uint32_t prefix_count;
} lt_schema_array;

typedef struct lt_schema_contains {
  const lt_schema_node *schema;
  uint64_t min;
  uint64_t max;
  bool evaluates; /* matching items count as evaluated: 2020-12 */
} lt_schema_contains;

typedef struct lt_schema_branch {
  const lt_schema_node *condition;
  const lt_schema_node *then; /* NULL: anything */
  const lt_schema_node *otherwise;
} lt_schema_branch;

/* If the object has the property, it must have the names and fit the schema. */
typedef struct lt_schema_depends {
  lt_str name;
  const lt_str *names;
  uint32_t count;
  const lt_schema_node *schema; /* or NULL */
} lt_schema_depends;

typedef struct lt_schema_dynamic {
  const lt_schema_node *schema; /* unless an outer resource has the anchor */
  lt_str anchor;                /* empty: $recursiveAnchor */
} lt_schema_dynamic;

struct lt_schema_rule {
  lt_schema_rule_fn fn;
  lt_json keyword;  /* its value in the schema, for messages */
  uint32_t applies; /* to these types; values of other types satisfy the rule */
  uint32_t count;   /* of what is a list */
  union {
    uint64_t limit;
    lt_decimal number;
    const lt_regex *regex;
    const lt_schema_node *schema;
    const lt_schema_node **schemas;
    const lt_schema_object *object;
    const lt_schema_array *array;
    const lt_schema_contains *contains;
    const lt_schema_branch *branch;
    const lt_schema_depends *depends;
    const lt_schema_dynamic *dynamic;
    const lt_str *names;
  } u;
};

struct lt_schema_node {
  lt_json json;
  const lt_schema_rule *rules; /* those of unevaluated* last */
  uint32_t rule_count;
  uint32_t resource; /* index */
  uint32_t types;
  bool never;                  /* the schema `false` */
  bool marks;                  /* it has unevaluated*: needs the marks of the other rules */
  struct lt_schema_node *next; /* in the order they were found */
};

/* A part of the document with its own identifier. The first resource is the whole document. */
typedef struct lt_schema_resource {
  lt_str uri; /* absolute or not, without fragment; "" when it has none */
  lt_schema_node *root;
  uint32_t draft;    /* 4, 6, 7, 2019 or 2020 */
  bool is_recursive; /* $recursiveAnchor: true */
} lt_schema_resource;

typedef struct lt_schema_anchor {
  lt_str name;
  lt_schema_node *node;
  uint32_t resource;
  bool dynamic;
} lt_schema_anchor;

struct lt_schema {
  lt_arena arena;
  lt_json_doc doc;
  const lt_schema_node *root;
  const lt_schema_resource *resources;
  const lt_schema_anchor *anchors;
  uint32_t resource_count;
  uint32_t anchor_count;
  bool has_dynamic; /* a reference depends on the dynamic scope */
  lt_str notes;
};

/* Orders names by length first. */
static inline int lt_schema_name_cmp(lt_str a, lt_str b) {
  if (a.n != b.n) {
    return a.n < b.n ? -1 : 1;
  }
  return a.n > 0 ? memcmp(a.p, b.p, a.n) : 0;
}

#endif
