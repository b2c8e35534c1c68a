#include "io/curl_open.h"

#include <pthread.h>

#include "io/symbols.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lt_curl curl;
static lt_err failure; /* why the library cannot be used */

static const lt_symbol functions[] = {
#define LT_CURL_ENTRY(name) {"curl_" #name, offsetof(lt_curl, name)},
    LT_CURL_FUNCTIONS(LT_CURL_ENTRY)
#undef LT_CURL_ENTRY
};

static void curl_open_load(void) {
  size_t count = sizeof functions / sizeof functions[0];
  if (lt_symbols_open("libcurl.so.4", functions, count, &curl, &failure) == LT_OK &&
      curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    lt_fail(&failure, LT_E_UNSUPPORTED, "it cannot be initialised");
  }
}

lt_status lt_curl_open(const lt_curl **ret_curl, lt_err *err) {
  pthread_once(&once, curl_open_load);
  if (failure.status != LT_OK) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "HTTP needs libcurl, which cannot be used (%s): install it (Debian package libcurl4)",
                   lt_err_msg(&failure));
  }
  *ret_curl = &curl;
  return LT_OK;
}
