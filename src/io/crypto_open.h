/* Loads libcrypto (OpenSSL's, which libcurl needs, too) when it is first needed. Private to io/. */
#ifndef LT_IO_CRYPTO_OPEN_H
#define LT_IO_CRYPTO_OPEN_H

#include <openssl/evp.h>

#include "base/err.h"

#define LT_CRYPTO_FUNCTIONS(X) \
  X(CIPHER_CTX_new)            \
  X(CIPHER_CTX_free)           \
  X(CIPHER_CTX_ctrl)           \
  X(aes_256_gcm)               \
  X(EncryptInit_ex)            \
  X(EncryptUpdate)             \
  X(EncryptFinal_ex)           \
  X(DecryptInit_ex)            \
  X(DecryptUpdate)             \
  X(DecryptFinal_ex)

typedef struct lt_crypto {
#define LT_CRYPTO_MEMBER(name) __typeof__(EVP_##name) *name;
  LT_CRYPTO_FUNCTIONS(LT_CRYPTO_MEMBER)
#undef LT_CRYPTO_MEMBER
} lt_crypto;

/* Any thread. The library stays loaded. Errors: LT_E_UNSUPPORTED; the message names the package to install. */
lt_status lt_crypto_open(const lt_crypto **ret_crypto, lt_err *err);

#endif
