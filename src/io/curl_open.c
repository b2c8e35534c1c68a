#include "io/curl_open.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lt_curl curl;
static char failure[256]; /* why it could not be had; empty when it could */

static const struct {
  const char *name;
  size_t place;
} functions[] = {
#define LT_CURL_ENTRY(name) {"curl_" #name, offsetof(lt_curl, name)},
    LT_CURL_FUNCTIONS(LT_CURL_ENTRY)
#undef LT_CURL_ENTRY
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
    memcpy((char *)&curl + functions[i].place, &function, sizeof function);
  }
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    snprintf(failure, sizeof failure, "%s cannot be initialised", LIBRARY);
  }
}

lt_status lt_curl_open(const lt_curl **ret_curl, lt_err *err) {
  pthread_once(&once, load);
  if (failure[0] != '\0') {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "HTTP needs libcurl, which cannot be used (%s): install it (Debian package libcurl4)", failure);
  }
  *ret_curl = &curl;
  return LT_OK;
}
