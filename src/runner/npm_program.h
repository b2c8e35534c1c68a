/* Finds a program that npm installs as a script for Node: where the configuration says, in PATH, in node_modules/.bin
 * beside build/. The search follows the script to the program that it starts, so that Node is neither needed nor waited
 * for. */
#ifndef LT_RUNNER_NPM_PROGRAM_H
#define LT_RUNNER_NPM_PROGRAM_H

#include <stddef.h>

#if defined(__aarch64__)
#define LT_NPM_CPU "arm64"
#else
#define LT_NPM_CPU "x64"
#endif

/* Where npm keeps the program that a script starts; the script is `up` folders below node_modules. */
typedef struct lt_npm_place {
  unsigned up;
  const char *below;
} lt_npm_place;

/* `configured`: a path, or a name that is looked up in PATH; NULL: `name` is looked up everywhere. NULL: there is no
 * such program. Owns: the caller, lt_mem_free. */
char *lt_npm_program_find(const char *configured, const char *name, const lt_npm_place *places, size_t count);

#endif
