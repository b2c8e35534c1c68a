/* Tests of text for rules: globs and paths; internal to tool/policy/. */
#ifndef LT_TOOL_POLICY_POLICY_TEXT_H
#define LT_TOOL_POLICY_POLICY_TEXT_H

#include "base/arena.h"
#include "base/str.h"

/* Whether the whole `text` matches the glob: "*" stands for any characters, "?" for one character, and other characters
 * for themselves. The worst time is the product of both lengths. */
bool lt_policy_glob(lt_str pattern, lt_str text);

/* Normalises an absolute path by its text alone: removes ".", ".." and repeated slashes. The result has no slash at its
 * end, so "/" becomes "". False: the path is not absolute, contains a NUL, or memory is missing. */
bool lt_policy_path(lt_arena *arena, lt_str path, lt_str *ret);

#endif
