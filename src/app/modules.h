/* The modules that programs may import: those of the configuration, read from files, those of plugins, and saved
 * programs. */
#ifndef LT_APP_MODULES_H
#define LT_APP_MODULES_H

#include "app/session.h"
#include "runner/runner.h"

typedef struct lt_modules {
  lt_run_module *list;
  size_t count;
  lt_buf *sources; /* texts of the modules from files */
  size_t source_count;
} lt_modules;

/* Reads the files and adds the modules of plugins, whose texts are borrowed. On equal names the configuration's module
 * is used, with a warning. Errors: LT_E_CONFIG with the module's name; LT_E_NOMEM. The caller releases it in either
 * case. */
lt_status lt_modules_load(const lt_session *session, lt_modules *ret_modules, lt_err *err);
void lt_modules_release(lt_modules *modules);

#endif
