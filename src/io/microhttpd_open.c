#include "io/microhttpd_open.h"

#include <pthread.h>

#include "io/symbols.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lt_mhd mhd;
static lt_err failure; /* why the library cannot be used */

static const lt_symbol functions[] = {
#define LT_MHD_ENTRY(name) {"MHD_" #name, offsetof(lt_mhd, name)},
    LT_MHD_FUNCTIONS(LT_MHD_ENTRY)
#undef LT_MHD_ENTRY
};

static void microhttpd_open_load(void) {
  (void)lt_symbols_open("libmicrohttpd.so.12", functions, sizeof functions / sizeof functions[0], &mhd, &failure);
}

lt_status lt_microhttpd_open(const lt_mhd **ret_mhd, lt_err *err) {
  pthread_once(&once, microhttpd_open_load);
  if (failure.status != LT_OK) {
    return lt_fail(
        err, LT_E_UNSUPPORTED,
        "an HTTP server needs libmicrohttpd, which cannot be used (%s): install it (Debian package libmicrohttpd12)",
        lt_err_msg(&failure));
  }
  *ret_mhd = &mhd;
  return LT_OK;
}
