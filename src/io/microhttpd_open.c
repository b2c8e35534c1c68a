#include "io/microhttpd_open.h"

#include "io/library_on_demand.h"

static lt_mhd mhd;

static const lt_symbol functions[] = {
#define LT_MHD_ENTRY(name) {"MHD_" #name, offsetof(lt_mhd, name)},
    LT_MHD_FUNCTIONS(LT_MHD_ENTRY)
#undef LT_MHD_ENTRY
};

static lt_library library = {
    .file = "libmicrohttpd.so.12",
    .needed_for = "an HTTP server needs libmicrohttpd",
    .package = "libmicrohttpd12",
    .functions = functions,
    .count = sizeof functions / sizeof functions[0],
    .table = &mhd,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

lt_status lt_microhttpd_open(const lt_mhd **ret_mhd, lt_err *err) {
  LT_TRY(lt_library_open(&library, err));
  *ret_mhd = &mhd;
  return LT_OK;
}
