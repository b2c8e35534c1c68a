/* The regular expressions of JSON Schema (ECMA-262, matched anywhere in a text), in linear time.
 *
 * A server's pattern is applied to a model's text on the loop's thread, so no pattern may take long. The matcher keeps
 * the set of all possible states of the pattern at each position of the text (K. Thompson's construction) and never
 * backtracks. The time is at most length of text times length of pattern, and it is counted.
 *
 * There are no captures, and so no back-references (LT_E_UNSUPPORTED). Look-ahead and look-behind are supported.
 * Unicode property classes, \p{L}, are exact for ASCII. Every other character counts as a member of \p{L} and also of
 * \P{L}, so that a text is never refused wrongly. (?i) folds ASCII letters only.
 *
 * A compiled expression is immutable and may be used by any thread.
 */
#ifndef LT_JSON_REGEX_H
#define LT_JSON_REGEX_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

typedef struct lt_regex lt_regex;

/* Compiles `pattern` (WTF-8). Beyond ECMA-262: (?i) (?m) (?s) at the start and in groups, (?P<name>...).
 * Errors: LT_E_SYNTAX, LT_E_UNSUPPORTED, LT_E_LIMIT (too long, too deep, too many repetitions), LT_E_NOMEM.
 * Owns: the arena. Borrows nothing. */
lt_status lt_regex_new(lt_arena *arena, lt_str pattern, const lt_regex **ret, lt_err *err);

/* The number of instructions: a measure of its memory, and of its highest cost per character. */
size_t lt_regex_size(const lt_regex *regex);

/* Working memory that one thread uses for any number of texts and expressions. */
typedef struct lt_regex_work {
  void *p;
  size_t size_bytes;
} lt_regex_work;

#define LT_REGEX_WORK_INIT ((lt_regex_work){NULL, 0})
void lt_regex_work_release(lt_regex_work *work);

/* Whether the expression matches somewhere in `text` (WTF-8). Subtracts the executed instructions from `*steps`.
 * Errors: LT_E_LIMIT when `*steps` is used up, LT_E_NOMEM. */
lt_status lt_regex_test(const lt_regex *regex, lt_str text, lt_regex_work *work, uint64_t *steps, bool *ret_matches);

#endif
