/* The two questions that rules ask of text: globs and paths; internal to tool/policy/. */
#ifndef LT_TOOL_POLICY_POLICY_TEXT_H
#define LT_TOOL_POLICY_POLICY_TEXT_H

#include "base/arena.h"
#include "base/str.h"

/* Whether the whole of `text` matches: "*" stands for any characters, "?" for one, all else for itself. Time: the
 * product of both lengths at worst. */
bool lt_policy_glob(lt_str pattern, lt_str text);

/* An absolute path without ".", ".." and repeated slashes, judged by its text alone. It has no slash at its end, so "/"
 * is "". False: the path is not absolute, has a NUL in it, or there is no memory. */
bool lt_policy_path(lt_arena *arena, lt_str path, lt_str *ret);

#endif
