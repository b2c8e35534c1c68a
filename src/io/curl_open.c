#include "io/curl_open.h"

#include "io/library_on_demand.h"

static lt_curl curl;

static const lt_symbol functions[] = {
#define LT_CURL_ENTRY(name) {"curl_" #name, offsetof(lt_curl, name)},
    LT_CURL_FUNCTIONS(LT_CURL_ENTRY)
#undef LT_CURL_ENTRY
};

static lt_status curl_open_init(lt_err *err) {
  bool is_well = curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return is_well ? LT_OK : lt_fail(err, LT_E_UNSUPPORTED, "it cannot be initialised");
}

static lt_library library = {
    .file = "libcurl.so.4",
    .needed_for = "HTTP needs libcurl",
    .package = "libcurl4",
    .functions = functions,
    .count = sizeof functions / sizeof functions[0],
    .table = &curl,
    .init = curl_open_init,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

lt_status lt_curl_open(const lt_curl **ret_curl, lt_err *err) {
  LT_TRY(lt_library_open(&library, err));
  *ret_curl = &curl;
  return LT_OK;
}
