#include "io/crypto_open.h"

#include "io/library_on_demand.h"

static lt_crypto crypto;

static const lt_symbol functions[] = {
#define LT_CRYPTO_ENTRY(name) {"EVP_" #name, offsetof(lt_crypto, name)},
    LT_CRYPTO_FUNCTIONS(LT_CRYPTO_ENTRY)
#undef LT_CRYPTO_ENTRY
};

static lt_library library = {
    .file = "libcrypto.so.3",
    .needed_for = "encryption needs libcrypto",
    .package = "libssl3",
    .functions = functions,
    .count = sizeof functions / sizeof functions[0],
    .table = &crypto,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

lt_status lt_crypto_open(const lt_crypto **ret_crypto, lt_err *err) {
  LT_TRY(lt_library_open(&library, err));
  *ret_crypto = &crypto;
  return LT_OK;
}
