/* A regular expression as a tree: made by regex_parse.c, compiled by regex.c. Private to regex*.c. */
#ifndef LT_JSON_REGEX_TREE_H
#define LT_JSON_REGEX_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "json/regex_class.h"

typedef enum lt_regex_kind {
  LT_RE_EMPTY,
  LT_RE_CHAR,
  LT_RE_CLASS,
  LT_RE_ASSERT,
  LT_RE_LOOK,
  LT_RE_SEQUENCE,
  LT_RE_CHOICE,
  LT_RE_REPEAT,
} lt_regex_kind;

#define LT_REGEX_FOREVER UINT32_MAX

typedef struct lt_regex_node {
  struct lt_regex_node *first; /* children */
  struct lt_regex_node *last;
  struct lt_regex_node *next; /* in the parent */
  struct lt_regex_node *prev;
  const lt_regex_class *class; /* CLASS */
  uint32_t c;                  /* CHAR: the character; ASSERT: which; LOOK: its number */
  uint32_t min;                /* REPEAT */
  uint32_t max;
  lt_regex_kind kind;
  bool behind;  /* LOOK */
  bool negated; /* LOOK */
} lt_regex_node;

typedef struct lt_regex_tree {
  lt_regex_node *root;
  lt_regex_node **looks; /* inner ones before outer ones */
  uint32_t look_count;
} lt_regex_tree;

/* LT_E_SYNTAX, LT_E_UNSUPPORTED, LT_E_LIMIT, LT_E_NOMEM. Owns: `scratch` the tree, `arena` the classes in it. */
lt_status lt_regex_parse(lt_arena *scratch, lt_arena *arena, lt_str pattern, lt_regex_tree *ret, lt_err *err);

#endif
