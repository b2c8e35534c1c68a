/* What programs may import: the configuration's modules, read from their files, and those of plugins. */
#ifndef LT_APP_MODULES_H
#define LT_APP_MODULES_H

#include "config/config.h"
#include "app/say.h"
#include "runner/runner.h"

typedef struct lt_modules {
  lt_run_module *list;
  size_t count;
  lt_buf *sources; /* of those that were read from files */
  size_t source_count;
} lt_modules;

/* Reads the files and adds `more`, whose texts are borrowed. Of two with one name the configuration's is the one, which
 * `say` is told. Errors: LT_E_CONFIG with the module's name; LT_E_NOMEM. The caller releases it in either case. */
lt_status lt_modules_load(const lt_config *config, const lt_run_module *more, size_t more_count, const lt_console *say,
                          lt_modules *ret_modules, lt_err *err);
void lt_modules_release(lt_modules *modules);

#endif
