#include "io/edit_open.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libedit.so.2"

static const struct {
  const char *name;
  size_t place;
} functions[] = {
#define LT_EDIT_ENTRY(name) {#name, offsetof(lt_edit, name)},
    LT_EDIT_FUNCTIONS(LT_EDIT_ENTRY)
#undef LT_EDIT_ENTRY
};

lt_status lt_edit_open(const lt_edit **ret_edit, lt_err *err) {
  static lt_edit edit;
  static bool loaded;
  if (loaded) {
    *ret_edit = &edit;
    return LT_OK;
  }
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) {
    return lt_fail(err, LT_E_UNSUPPORTED, "editing lines needs libedit: install it (Debian package libedit2)");
  }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    void *function = dlsym(library, functions[i].name);
    if (function == NULL) {
      return lt_fail(err, LT_E_UNSUPPORTED, "%s has no %s", LIBRARY, functions[i].name);
    }
    memcpy((char *)&edit + functions[i].place, &function, sizeof function);
  }
  loaded = true;
  *ret_edit = &edit;
  return LT_OK;
}
