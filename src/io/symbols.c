#include "io/symbols.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* A host may export functions of another version of what the library needs: Node.js has OpenSSL, nghttp2 and SQLite in
 * its executable. Bound deeply, the library takes those of its own dependencies. The dlopen of sanitizers refuses that.
 */
static int symbols_flags(void) {
  bool is_sanitized = dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") != NULL;
  return RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | (is_sanitized ? 0 : RTLD_DEEPBIND);
}

lt_status lt_symbols_open(const char *file, const lt_symbol *functions, size_t count, void *table, lt_err *err) {
  void *library = dlopen(file, symbols_flags());
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
