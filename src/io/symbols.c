#include "io/symbols.h"

#include <dlfcn.h>
#include <string.h>

lt_status lt_symbols_open(const char *file, const lt_symbol *functions, size_t count, void *table, lt_err *err) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) {
    const char *why = dlerror();
    return lt_fail(err, LT_E_UNSUPPORTED, "%s", why != NULL ? why : file);
  }
  for (size_t i = 0; i < count; i++) {
    void *function = dlsym(library, functions[i].name);
    if (function == NULL) {
      return lt_fail(err, LT_E_UNSUPPORTED, "%s has no %s", file, functions[i].name);
    }
    memcpy((char *)table + functions[i].place, &function, sizeof function);
  }
  return LT_OK;
}
