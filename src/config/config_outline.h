/* What a configuration file mentions, without its values: for a file whose variables are not set here. */
#ifndef LT_CONFIG_CONFIG_OUTLINE_H
#define LT_CONFIG_CONFIG_OUTLINE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

typedef struct lt_config_outline {
  const char **variables; /* names of the environment that it refers to, each once, NULL last; not those that every
                             process has (HOME, PATH, LANG, TERM, USER, PWD) */
  size_t variable_count;
  bool has_store; /* it says where the database is */
} lt_config_outline;

/* Adds what the file mentions to `outline`, which starts as zero. `is_foreign`: another client's file. Errors:
 * LT_E_NOTFOUND, LT_E_CONFIG, LT_E_LIMIT, LT_E_NOMEM. Owns: the arena. */
lt_status lt_config_outline_add(lt_arena *arena, const char *path, bool is_foreign, lt_config_outline *outline,
                                lt_err *err);

#endif
