/* What the parts of schema share. Private.
 *
 *   schema.c            a schema's life
 *   schema_keywords.c   which keyword is which
 *   schema_refs.c       identifiers, anchors and references;  schema_uri.c: their syntax
 *   schema_compile.c    from JSON to nodes, a node per schema;  schema_rules.c: from keywords to rules
 *   schema_check.c      applying a node to a value, and the rules that apply other nodes to the same value
 *   schema_value.c, schema_object.c, schema_array.c    the other rules
 *   schema_equal.c      equality of values
 *   schema_faults.c     what is said of a value that does not fit;  schema_choice.c: of one that fits no alternative
 */
#ifndef LT_JSON_SCHEMA_IMPL_H
#define LT_JSON_SCHEMA_IMPL_H

#include "base/arena.h"
#include "json/decimal.h"
#include "json/regex.h"
#include "json/schema.h"

/* --- Types: bits -------------------------------------------------------------------------------------------------- */
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

/* --- Keywords ------------------------------------------------------------------------------------------------------
 * What stands in it: nothing to compile, a schema, a list of schemas, either of the two, schemas by name, schemas or
 * lists of names by name. */
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

/* A schema's keywords; NONE where it has not got one. */
typedef struct lt_schema_keys {
  lt_json at[LT_KW_COUNT];
} lt_schema_keys;

/* `json` is an object. A draft up to 7 ignores what stands beside a $ref (draft-07, Core 8.3): `ref_alone`. */
void lt_schema_keys_read(lt_json json, bool ref_alone, lt_schema_keys *ret);
const char *lt_schema_keyword_text(lt_schema_keyword keyword);
lt_schema_shape lt_schema_keyword_shape(lt_schema_keyword keyword);

/* --- Nodes and rules ---------------------------------------------------------------------------------------------- */

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
  const lt_regex *regex; /* NULL: not understood */
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
  bool unsure; /* a pattern is not understood: no property is known to be additional */
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
  bool evaluates; /* what it found counts as evaluated: 2020-12 */
} lt_schema_contains;

typedef struct lt_schema_branch {
  const lt_schema_node *condition;
  const lt_schema_node *then; /* NULL: anything */
  const lt_schema_node *otherwise;
} lt_schema_branch;

/* If the property is there, so must the names be, and the object must fit the schema. */
typedef struct lt_schema_depends {
  lt_str name;
  const lt_str *names;
  uint32_t count;
  const lt_schema_node *schema; /* or NULL */
} lt_schema_depends;

typedef struct lt_schema_dynamic {
  const lt_schema_node *schema; /* unless something further out has the anchor */
  lt_str anchor;                /* empty: $recursiveAnchor */
} lt_schema_dynamic;

struct lt_schema_rule {
  lt_schema_rule_fn fn;
  lt_json keyword;  /* its value in the schema, for messages */
  uint32_t applies; /* to these types; others satisfy it */
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
  bool marks;                  /* it has unevaluated*: needs to know what the rest has seen to */
  struct lt_schema_node *next; /* in the order they were found */
};

/* A part of the document with an identifier of its own; the first one is all of it. */
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
  bool has_dynamic; /* some reference depends on how one came to it */
  lt_str notes;
};

/* --- Compiling ---------------------------------------------------------------------------------------------------- */

typedef struct lt_schema_compiler {
  lt_schema *schema;
  lt_arena *arena;   /* the schema's */
  lt_arena *scratch; /* for as long as compiling takes */
  lt_err *err;
  lt_status status;         /* the first failure */
  lt_schema_node **by_json; /* the node of each JSON node that is a schema we know of */
  lt_schema_node *first;
  lt_schema_node *last;
  lt_schema_node *scanned; /* the last one whose identifiers are known */
  uint32_t node_count;
  lt_schema_resource *resources;
  uint32_t resource_count;
  uint32_t resource_cap;
  lt_schema_anchor *anchors;
  uint32_t anchor_count;
  uint32_t anchor_cap;
  uint32_t pattern_count;
  size_t program_size;
  uint64_t steps;
  lt_buf notes;
  uint32_t note_count;
} lt_schema_compiler;

/* Compiles the document of `c->schema`. */
lt_status lt_schema_compile(lt_schema_compiler *c);
/* The node of the schema at `json`, to be compiled in its turn. NULL: the compiler has failed. */
lt_schema_node *lt_schema_node_at(lt_schema_compiler *c, lt_json json, uint32_t resource);
/* Finds the schemas in those that were found since the last time, and their identifiers. */
void lt_schema_scan(lt_schema_compiler *c);
/* Makes the node's rules. */
void lt_schema_rules_make(lt_schema_compiler *c, lt_schema_node *node);
/* Whether a $ref stands alone in this node's draft. */
bool lt_schema_ref_is_alone(const lt_schema_compiler *c, const lt_schema_node *node);

/* Fails with LT_E_INVALID: "#/where: what". */
void lt_schema_fail(lt_schema_compiler *c, lt_json where, const char *what);
void lt_schema_fail_memory(lt_schema_compiler *c);
/* Notes that something is not checked: "#/where: what", with `detail`, cut, in quotes after it. */
void lt_schema_note(lt_schema_compiler *c, lt_json where, const char *what, lt_str detail);
/* A JSON string's characters in the schema's arena. False: no string, or no memory (failed then). */
bool lt_schema_text(lt_schema_compiler *c, lt_json json, lt_str *ret);
/* Appends the JSON pointer of a value in its document, "#/properties/a". */
void lt_schema_put_pointer(lt_buf *out, lt_json json);

/* Notes the node's $id and anchors; a new $id makes it the root of a new resource. */
void lt_schema_identify(lt_schema_compiler *c, lt_schema_node *node);
/* What a $ref or $dynamicRef text in `node` leads to. NULL: not known (noted), or failed. `ret_anchor` is the name when
 * it is a $dynamicAnchor, else empty. */
const lt_schema_node *lt_schema_resolve(lt_schema_compiler *c, const lt_schema_node *node, lt_json ref,
                                        lt_str *ret_anchor);
/* RFC 3986, 5.2: what `ref` means in a document at `base`; the fragment apart, still escaped, without its "#".
 * False: no memory. */
bool lt_schema_uri_resolve(lt_arena *arena, lt_str base, lt_str ref, lt_str *ret_uri, lt_str *ret_fragment);
/* Undoes %41. A text without any is returned as it is. {NULL, 0}: no memory. */
lt_str lt_schema_uri_unescape(lt_arena *arena, lt_str text);

/* Orders names by length first. */
static inline int lt_schema_name_cmp(lt_str a, lt_str b) {
  if (a.n != b.n) {
    return a.n < b.n ? -1 : 1;
  }
  return a.n > 0 ? memcmp(a.p, b.p, a.n) : 0;
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */

/* Which members or items of one value some keyword has seen to: bits, in the order of the text. */
typedef struct lt_schema_marks {
  uint64_t *bits;
  uint32_t count;
} lt_schema_marks;

/* The resources that one has come through, the innermost first. */
typedef struct lt_schema_scope {
  const struct lt_schema_scope *up;
  uint32_t resource;
} lt_schema_scope;

struct lt_schema_place {
  lt_json value;
  lt_json key;               /* in an object */
  const lt_schema_place *up; /* the container's; NULL at the root */
  const lt_schema_scope *scope;
  lt_schema_marks *marks; /* NULL: nobody asks */
  uint32_t index;         /* in an array */
  uint32_t depth;         /* containers around */
  bool is_name;           /* the value is the key */
};

/* What kind of fault it is: tells which of several alternatives was meant. */
typedef enum lt_schema_fault {
  LT_FAULT_TYPE,
  LT_FAULT_VALUE, /* not the constant, not in the list */
  LT_FAULT_MISSING,
  LT_FAULT_UNKNOWN, /* a property that is not known */
  LT_FAULT_OTHER,
} lt_schema_fault;

/* Where faults go. */
typedef struct lt_schema_sink {
  lt_buf *out;
  const char *separator;
  uint32_t max;   /* as many are written ... */
  uint32_t count; /* ... of so many */
  uint32_t depth; /* of the place that alternatives are compared at */
  uint32_t weight;
  uint32_t kinds; /* bits of the faults at that place itself */
} lt_schema_sink;

struct lt_schema_run {
  const lt_schema *schema;
  lt_str root_name;
  lt_arena arena;
  lt_regex_work work;
  lt_schema_sink *sink; /* NULL: nobody wants to know what is wrong, the first fault ends it */
  uint64_t steps;       /* left */
  uint32_t depth;
  lt_status status; /* why the run has failed: LT_E_LIMIT, LT_E_NOMEM */
};

/* Whether the value at `at` fits; false also when the run has failed. In-place: `at`'s marks are for the value. */
bool lt_schema_apply(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at);
/* The same without a word about faults, and without marks left behind. */
bool lt_schema_fits(lt_schema_run *run, const lt_schema_node *node, const lt_schema_place *at);
/* Takes off steps. False: they are used up, or the run has failed before. */
bool lt_schema_spend(lt_schema_run *run, uint64_t steps);
/* Memory could not be had: the run fails with LT_E_LIMIT if it has used much, else with LT_E_NOMEM. */
void lt_schema_fail_run(lt_schema_run *run);
/* The type bits of a value. */
uint32_t lt_schema_type_of(lt_json value);
/* A string's characters. False: the run has failed. */
bool lt_schema_chars(lt_schema_run *run, lt_json string, lt_str *ret);
/* Whether `regex` matches; false also when the run has failed. */
bool lt_schema_matches(lt_schema_run *run, const lt_regex *regex, lt_str text);
/* The place of a member or item. */
lt_schema_place lt_schema_inside(const lt_schema_place *at, lt_json key, lt_json value, uint32_t index);
const lt_schema_prop *lt_schema_find_prop(const lt_schema_object *object, lt_str name);

static inline void lt_schema_mark(const lt_schema_place *at, uint32_t i) {
  if (at->marks != NULL) {
    at->marks->bits[i / 64] |= UINT64_C(1) << (i % 64);
  }
}
static inline bool lt_schema_is_marked(const lt_schema_place *at, uint32_t i) {
  return at->marks->bits[i / 64] >> (i % 64) & 1;
}
void lt_schema_mark_all(const lt_schema_place *at);

/* JSON Schema 2020-12, Core 4.2.2. False also when the run has failed. */
bool lt_schema_equal(lt_schema_run *run, lt_json a, lt_json b);
/* Finds two equal items: their places. */
bool lt_schema_find_equal(lt_schema_run *run, lt_json array, uint32_t *ret_first, uint32_t *ret_second);

/* The rules, in the order of the files they are in. */
bool lt_schema_rule_ref(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_unknown(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_dynamic(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_all_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_any_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_one_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_not(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_if(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

bool lt_schema_rule_enum(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_const(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_minimum(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_maximum(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_more_than(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_less_than(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_multiple_of(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_min_length(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_max_length(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_pattern(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

bool lt_schema_rule_min_properties(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_max_properties(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_required(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_object(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_property_names(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_depends(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_unevaluated_properties(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

bool lt_schema_rule_min_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_max_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_unique_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_array(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_contains(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);
bool lt_schema_rule_unevaluated_items(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

/* --- Faults ------------------------------------------------------------------------------------------------------- */

/* Counts a fault and writes its path. What follows goes to the result; NULL: it is not to be written. */
lt_buf *lt_schema_fault_at(lt_schema_run *run, const lt_schema_place *at, lt_schema_fault kind);
/* The same for a member that `at`'s object may not have. */
lt_buf *lt_schema_fault_member(lt_schema_run *run, const lt_schema_place *at, lt_str name, lt_schema_fault kind);
/* A fault that is `text` alone. Returns false, for a rule to return. */
bool lt_schema_fault_text(lt_schema_run *run, const lt_schema_place *at, lt_schema_fault kind, const char *text);
/* "expected number, got string". */
void lt_schema_fault_type(lt_schema_run *run, const lt_schema_place *at, uint32_t types);
/* "is not a known property (did you mean ...)"; `at` is the property's place, `object` may be NULL. */
void lt_schema_fault_unknown(lt_schema_run *run, const lt_schema_place *at, const lt_schema_object *object);
/* Says which alternatives there are, and what is wrong with the one that was probably meant. */
void lt_schema_fault_choice(lt_schema_run *run, const lt_schema_rule *rule, const lt_schema_place *at);

/* "string, integer or null". */
void lt_schema_put_types(lt_buf *out, uint32_t types);
/* A value as JSON, on one line, cut. */
void lt_schema_put_value(lt_buf *out, lt_json value);
/* ", got " and the value, or its type. */
void lt_schema_put_got(lt_buf *out, lt_json value);
/* One character, in a form that does no harm on a terminal; returns its bytes. `p` is before `end`. */
size_t lt_schema_put_char(lt_buf *out, const char *p, const char *end);
/* Characters, cut. */
void lt_schema_put_plain(lt_buf *out, lt_str chars);
/* Characters in quotes, cut. */
void lt_schema_put_quoted(lt_buf *out, lt_str chars);
/* The items of a list of values, `"a", "b" or 3`, cut at LT_TOOL_LISTED_MAX. */
void lt_schema_put_values(lt_buf *out, lt_json list);
/* ", " or " or " before item `i` of `count`; nothing before the first. */
void lt_schema_put_or(lt_buf *out, uint32_t i, uint32_t count);
void lt_schema_put_path(lt_buf *out, const lt_schema_run *run, const lt_schema_place *at);

#endif
