/* What the parts of regex share: the tree a pattern is read into, classes, and the program made of it. Private.
 */
#ifndef LT_JSON_REGEX_IMPL_H
#define LT_JSON_REGEX_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "json/regex.h"

/* --- Classes: regex_class.c --------------------------------------------------------------------------------------- */

typedef struct lt_regex_range {
  uint32_t from;
  uint32_t to; /* inclusive */
} lt_regex_range;

typedef struct lt_regex_class {
  uint64_t ascii[2];
  const lt_regex_range *ranges; /* of 0x80 and above: sorted, apart from each other */
  uint32_t count;
  bool any_other; /* not known beyond ASCII: everything there is a member */
} lt_regex_class;

/* A class while it is read: ranges in any order. */
typedef struct lt_regex_set {
  lt_arena *scratch;
  lt_regex_range *ranges;
  uint32_t count;
  uint32_t cap;
  bool any_other;
  lt_status status; /* LT_E_LIMIT (over LT_REGEX_RANGES_MAX), LT_E_NOMEM */
} lt_regex_set;

void lt_regex_set_add(lt_regex_set *set, uint32_t from, uint32_t to);
/* \d \w \s, and their capitals for what they leave out. False when `name` is none of the six. */
bool lt_regex_set_add_escape(lt_regex_set *set, char name);
/* \p{name}, or \P{name} with `negated`. False when it is not known. */
bool lt_regex_set_add_property(lt_regex_set *set, lt_str name, bool negated);
/* Adds the other case of ASCII letters. */
void lt_regex_set_fold(lt_regex_set *set);
/* The class of what is, or with `negated` is not, in the set. The set's status, or LT_E_NOMEM. Owns: `arena`. */
lt_status lt_regex_set_finish(lt_regex_set *set, bool negated, lt_arena *arena, const lt_regex_class **ret);
bool lt_regex_class_has(const lt_regex_class *class, uint32_t c);

/* --- The tree: regex_parse.c -------------------------------------------------------------------------------------- */

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

typedef enum lt_regex_assertion {
  LT_RE_TEXT_START,
  LT_RE_TEXT_END,
  LT_RE_LINE_START,
  LT_RE_LINE_END,
  LT_RE_WORD_EDGE,
  LT_RE_NO_WORD_EDGE,
} lt_regex_assertion;

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
  lt_regex_node **looks; /* an inner one before the one it is in */
  uint32_t look_count;
} lt_regex_tree;

/* LT_E_SYNTAX, LT_E_UNSUPPORTED, LT_E_LIMIT, LT_E_NOMEM. Owns: `scratch` the tree, `arena` the classes in it. */
lt_status lt_regex_parse(lt_arena *scratch, lt_arena *arena, lt_str pattern, lt_regex_tree *ret, lt_err *err);

/* --- The program: regex.c makes it, regex_run.c runs it ----------------------------------------------------------- */

typedef enum lt_regex_op {
  LT_RE_OP_CHAR,   /* a: the character */
  LT_RE_OP_CLASS,  /* a: index of the class */
  LT_RE_OP_SPLIT,  /* goes on at a and at b */
  LT_RE_OP_JUMP,   /* a */
  LT_RE_OP_ASSERT, /* a: lt_regex_assertion */
  LT_RE_OP_LOOK,   /* a: number of the look-around; b: 1 if it must not hold */
  LT_RE_OP_MATCH,
} lt_regex_op;

typedef struct lt_regex_instr {
  uint32_t op;
  uint32_t a;
  uint32_t b;
} lt_regex_instr;

/* One automaton: the pattern's own, or a look-around's. A look-ahead is run from the text's end to its start, so that
 * one run tells for every position whether it holds there. */
typedef struct lt_regex_machine {
  uint32_t start;
  bool backward;
  bool anchored; /* can only match from the text's start */
} lt_regex_machine;

struct lt_regex {
  const lt_regex_instr *code;
  const lt_regex_class **classes;
  const lt_regex_machine *machines; /* in the order they are run in: the pattern's own last */
  uint32_t code_count;
  uint32_t machine_count;
};

#endif
