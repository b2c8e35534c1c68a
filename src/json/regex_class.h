/* Character classes of regular expressions: a mutable set while a pattern is parsed, and an immutable class for
 * matching.
 */
#ifndef LT_JSON_REGEX_CLASS_H
#define LT_JSON_REGEX_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct lt_regex_range {
  uint32_t from;
  uint32_t to; /* inclusive */
} lt_regex_range;

typedef struct lt_regex_class {
  uint64_t ascii[2];
  const lt_regex_range *ranges; /* of 0x80 and above: sorted, apart from each other */
  uint32_t count;
  bool any_other; /* true: every character beyond ASCII is a member */
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
/* Adds \d \w \s or their complements \D \W \S. False when `name` is none of the six. */
bool lt_regex_set_add_escape(lt_regex_set *set, char name);
/* \p{name}, or \P{name} with `negated`. False when it is not known. */
bool lt_regex_set_add_property(lt_regex_set *set, lt_str name, bool negated);
/* Adds the other case of ASCII letters. */
void lt_regex_set_fold(lt_regex_set *set);
/* Makes the class of the set, or of its complement when `negated`. Errors: the set's status, LT_E_NOMEM. Owns: `arena`.
 * */
lt_status lt_regex_set_finish(lt_regex_set *set, bool negated, lt_arena *arena, const lt_regex_class **ret);
bool lt_regex_class_has(const lt_regex_class *class, uint32_t c);

#endif
