/* YAML text as a small tree with line numbers. The configuration is read from this tree.
 *
 * libyaml finds the structure. This module adds the rules of a configuration file: one document, mappings with plain
 * and unique keys, bounded aliases, ceilings, and one-line errors with the file's name and the line. A scalar is kept
 * as text; its use decides whether it is a number or a boolean. JSON is accepted as YAML, also with tabs.
 *
 * Owns: the arena. Aliased nodes are shared: a node may have several parents.
 */
#ifndef LT_CONFIG_YAML_H
#define LT_CONFIG_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

typedef enum lt_yaml_type {
  LT_YAML_NULL, /* ~, null or nothing, unquoted */
  LT_YAML_SCALAR,
  LT_YAML_LIST,
  LT_YAML_MAP,
} lt_yaml_type;

typedef struct lt_yaml_node lt_yaml_node;

struct lt_yaml_node {
  lt_yaml_type type;
  bool quoted;        /* a scalar written with quotes, as a block, or tagged !!str: always a string */
  uint32_t line;      /* counted from 1 */
  uint32_t count;     /* items, or members */
  uint32_t size;      /* number of nodes in the subtree; nodes behind aliases count each time */
  lt_str text;        /* scalars: without NUL bytes, with a NUL after it */
  lt_yaml_node *key;  /* of a map's member */
  lt_yaml_node *kids; /* the first item or member value */
  lt_yaml_node *next; /* the next one in the list or map */
};

/* Reads one document. `name` is the file's name in messages. An empty document gives a NULL-type node.
 * Errors: LT_E_CONFIG ("name:line: what is wrong"), LT_E_LIMIT, LT_E_NOMEM.
 * Limits: LT_CONFIG_MAX_BYTES, LT_CONFIG_DEPTH_MAX, LT_CONFIG_NODES_MAX. */
lt_status lt_yaml_parse(lt_arena *arena, lt_str text, const char *name, lt_yaml_node **ret_root, lt_err *err);

/* The member's value; NULL: no such member, or `map` is no map. Borrows: the tree. */
lt_yaml_node *lt_yaml_get(const lt_yaml_node *map, const char *key);
/* The same, but NULL also for a key without a value. */
const lt_yaml_node *lt_yaml_given(const lt_yaml_node *map, const char *key);

/* "a string", "a number", "true or false", "a list", "a mapping" or "nothing": the name of a node's type, for messages.
 */
const char *lt_yaml_describe(const lt_yaml_node *node);

/* A whole decimal number, unquoted; 1e3, 0x1f and 1_000 are not. */
bool lt_yaml_int(const lt_yaml_node *node, int64_t *ret);
/* true or false, unquoted. */
bool lt_yaml_bool(const lt_yaml_node *node, bool *ret);

/* Text of the file for a one-line message: cut to a fixed length, control characters as "?". By value. */
typedef struct lt_yaml_clipped {
  char text[80];
} lt_yaml_clipped;
lt_yaml_clipped lt_yaml_clip(lt_str s);

#endif
