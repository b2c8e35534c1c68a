#include "io/library_on_demand.h"

#include <dlfcn.h>
#include <string.h>

/* A host may export functions of another version of what the library needs: Node.js has OpenSSL, nghttp2 and SQLite in
 * its executable. Bound deeply, the library takes those of its own dependencies. The dlopen of sanitizers refuses that.
 */
static int library_flags(void) {
  bool is_sanitized = dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") != NULL;
  return RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | (is_sanitized ? 0 : RTLD_DEEPBIND);
}

static lt_status library_load(const lt_library *library, lt_err *err) {
  void *opened = dlopen(library->file, library_flags());
  if (opened == NULL) {
    const char *why = dlerror();
    return lt_fail(err, LT_E_UNSUPPORTED, "%s", why != NULL ? why : library->file);
  }
  for (size_t i = 0; i < library->count; i++) {
    void *function = dlsym(opened, library->functions[i].name);
    if (function == NULL) {
      return lt_fail(err, LT_E_UNSUPPORTED, "%s has no %s", library->file, library->functions[i].name);
    }
    memcpy((char *)library->table + library->functions[i].place, &function, sizeof function);
  }
  return library->init != NULL ? library->init(err) : LT_OK;
}

lt_status lt_library_open(lt_library *library, lt_err *err) {
  LT_ERR_VAR(why);
  pthread_mutex_lock(&library->lock);
  library->is_open = library->is_open || library_load(library, &why) == LT_OK;
  bool is_open = library->is_open;
  pthread_mutex_unlock(&library->lock);
  return is_open ? LT_OK
                 : lt_fail(err, LT_E_UNSUPPORTED, "%s, which cannot be used (%s): install it (Debian package %s)",
                           library->needed_for, lt_err_msg(&why), library->package);
}
