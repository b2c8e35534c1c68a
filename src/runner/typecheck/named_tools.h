/* The tools that a program's text names, so that a runner describes those only. */
#ifndef LT_RUNNER_TYPECHECK_NAMED_TOOLS_H
#define LT_RUNNER_TYPECHECK_NAMED_TOOLS_H

#include "tool/catalog.h"

/* A tool, and a word of the text that names it. */
typedef struct lt_named_tool {
  const lt_tool *tool;
  lt_str word;
} lt_named_tool;

typedef struct lt_named_tools {
  lt_named_tool *list; /* each word once, in the order of the text */
  size_t count;
} lt_named_tools;

/* Gathers the words of `source` for which `find` returns a tool. The words point into `source`. Owns: the caller,
 * lt_named_tools_release. Errors: LT_E_NOMEM. */
lt_status lt_named_tools_gather(lt_str source, const lt_tool *(*find)(void *arg, lt_str word), void *arg,
                                lt_named_tools *ret_named, lt_err *err);
void lt_named_tools_release(lt_named_tools *named);

#endif
