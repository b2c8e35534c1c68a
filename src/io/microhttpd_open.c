#include "io/microhttpd_open.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libmicrohttpd.so.12"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lt_mhd mhd;
static char failure[256]; /* why it could not be had; empty when it could */

static const struct {
  const char *name;
  size_t place;
} functions[] = {
#define LT_MHD_ENTRY(name) {"MHD_" #name, offsetof(lt_mhd, name)},
    LT_MHD_FUNCTIONS(LT_MHD_ENTRY)
#undef LT_MHD_ENTRY
};

static void load(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) {
    const char *why = dlerror();
    snprintf(failure, sizeof failure, "%s", why != NULL ? why : LIBRARY " cannot be loaded");
    return;
  }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    void *function = dlsym(library, functions[i].name);
    if (function == NULL) {
      snprintf(failure, sizeof failure, "%s has no %s", LIBRARY, functions[i].name);
      return;
    }
    memcpy((char *)&mhd + functions[i].place, &function, sizeof function);
  }
}

lt_status lt_mhd_open(const lt_mhd **ret_mhd, lt_err *err) {
  pthread_once(&once, load);
  if (failure[0] != '\0') {
    return lt_fail(
        err, LT_E_UNSUPPORTED,
        "an HTTP server needs libmicrohttpd, which cannot be used (%s): install it (Debian package libmicrohttpd12)",
        failure);
  }
  *ret_mhd = &mhd;
  return LT_OK;
}
