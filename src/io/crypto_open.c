#include "io/crypto_open.h"

#include <pthread.h>

#include "io/symbols.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lt_crypto crypto;
static lt_err failure; /* why the library cannot be used */

static const lt_symbol functions[] = {
#define LT_CRYPTO_ENTRY(name) {"EVP_" #name, offsetof(lt_crypto, name)},
    LT_CRYPTO_FUNCTIONS(LT_CRYPTO_ENTRY)
#undef LT_CRYPTO_ENTRY
};

static void crypto_open_load(void) {
  (void)lt_symbols_open("libcrypto.so.3", functions, sizeof functions / sizeof functions[0], &crypto, &failure);
}

lt_status lt_crypto_open(const lt_crypto **ret_crypto, lt_err *err) {
  pthread_once(&once, crypto_open_load);
  if (failure.status != LT_OK) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "encryption needs libcrypto, which cannot be used (%s): install it (Debian package libssl3)",
                   lt_err_msg(&failure));
  }
  *ret_crypto = &crypto;
  return LT_OK;
}
