/* Tests of text for rules: globs and paths. */
#ifndef LT_TOOL_POLICY_POLICY_TEXT_H
#define LT_TOOL_POLICY_POLICY_TEXT_H

#include "base/arena.h"
#include "base/str.h"

/* Whether the whole `text` matches the glob: "*" stands for any characters, "?" for one character, and other characters
 * for themselves. The worst time is the product of both lengths. */
bool lt_policy_glob(lt_str pattern, lt_str text);

/* Whether a glob matches any text that begins with `prefix` and goes on. */
bool lt_policy_may_begin(lt_str pattern, lt_str prefix);
/* The number of edits from a text that the glob matches to `text`; UINT_MAX: more than `limit`, or one of them is over
 * LT_POLICY_NEAR_MAX_BYTES. */
unsigned lt_policy_distance(lt_str pattern, lt_str text, unsigned limit);
/* The number of bytes that stand for themselves. */
size_t lt_policy_literal_bytes(lt_str pattern);

/* Normalises an absolute path by its text alone: removes ".", ".." and repeated slashes. The result has no slash at its
 * end, so "/" becomes "". False: the path is not absolute, contains a NUL, or memory is missing. */
bool lt_policy_path(lt_arena *arena, lt_str path, lt_str *ret);

#endif
