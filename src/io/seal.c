#include "io/seal.h"

#include <limits.h>

#include "base/random.h"
#include "io/crypto_open.h"

enum { SEAL_NONCE_BYTES = 12, SEAL_TAG_BYTES = 16 };

static const unsigned char *seal_bytes(const char *p) {
  return (const unsigned char *)(p != NULL ? p : "");
}

static bool seal_encrypt(const lt_crypto *c, EVP_CIPHER_CTX *ctx, const char *key, lt_str bound_to, lt_str text,
                         unsigned char *to) {
  int n = 0;
  unsigned char *body = to + SEAL_NONCE_BYTES;
  return c->EncryptInit_ex(ctx, c->aes_256_gcm(), NULL, seal_bytes(key), to) == 1 &&
         c->EncryptUpdate(ctx, NULL, &n, seal_bytes(bound_to.p), (int)bound_to.n) == 1 &&
         c->EncryptUpdate(ctx, body, &n, seal_bytes(text.p), (int)text.n) == 1 &&
         c->EncryptFinal_ex(ctx, body + n, &n) == 1 &&
         c->CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, SEAL_TAG_BYTES, body + text.n) == 1;
}

static bool seal_decrypt(const lt_crypto *c, EVP_CIPHER_CTX *ctx, const char *key, lt_str bound_to, lt_str sealed,
                         unsigned char *to) {
  int n = 0, size = (int)(sealed.n - SEAL_NONCE_BYTES - SEAL_TAG_BYTES);
  const unsigned char *from = seal_bytes(sealed.p), *body = from + SEAL_NONCE_BYTES;
  unsigned char tag[SEAL_TAG_BYTES];
  memcpy(tag, body + size, sizeof tag);
  return c->DecryptInit_ex(ctx, c->aes_256_gcm(), NULL, seal_bytes(key), from) == 1 &&
         c->DecryptUpdate(ctx, NULL, &n, seal_bytes(bound_to.p), (int)bound_to.n) == 1 &&
         c->DecryptUpdate(ctx, to, &n, body, size) == 1 &&
         c->CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, SEAL_TAG_BYTES, tag) == 1 &&
         c->DecryptFinal_ex(ctx, to + n, &n) == 1;
}

static lt_status seal_begin(const lt_crypto **ret_crypto, EVP_CIPHER_CTX **ret_ctx, size_t n, lt_err *err) {
  LT_TRY(n < INT_MAX / 2 ? LT_OK : lt_fail(err, LT_E_LIMIT, "too much to encrypt at once"));
  LT_TRY(lt_crypto_open(ret_crypto, err));
  *ret_ctx = (*ret_crypto)->CIPHER_CTX_new();
  return *ret_ctx != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory to encrypt");
}

lt_status lt_seal_close(const char *key, lt_str bound_to, lt_str text, lt_buf *out, lt_err *err) {
  const lt_crypto *crypto;
  EVP_CIPHER_CTX *ctx;
  LT_TRY(seal_begin(&crypto, &ctx, text.n, err));
  size_t size = SEAL_NONCE_BYTES + text.n + SEAL_TAG_BYTES;
  char *to = lt_buf_reserve(out, size);
  lt_status status = out->status;
  if (to == NULL) {
    lt_fail(err, status, "no memory to encrypt");
  } else if (!lt_random_fill(to, SEAL_NONCE_BYTES)) {
    status = lt_fail(err, LT_E_IO, "there are no random bytes");
  } else if (!seal_encrypt(crypto, ctx, key, bound_to, text, (unsigned char *)to)) {
    status = lt_fail(err, LT_E_INTERNAL, "libcrypto cannot encrypt");
  } else {
    lt_buf_commit(out, size);
  }
  crypto->CIPHER_CTX_free(ctx);
  return status;
}

lt_status lt_seal_open(const char *key, lt_str bound_to, lt_str sealed, lt_buf *out, lt_err *err) {
  const lt_crypto *crypto;
  EVP_CIPHER_CTX *ctx;
  if (sealed.n < SEAL_NONCE_BYTES + SEAL_TAG_BYTES) {
    return lt_fail(err, LT_E_DENIED, "the encrypted text is damaged");
  }
  LT_TRY(seal_begin(&crypto, &ctx, sealed.n, err));
  size_t size = sealed.n - SEAL_NONCE_BYTES - SEAL_TAG_BYTES;
  char *to = lt_buf_reserve(out, size + 1);
  lt_status status = out->status;
  if (to == NULL) {
    lt_fail(err, status, "no memory to decrypt");
  } else if (!seal_decrypt(crypto, ctx, key, bound_to, sealed, (unsigned char *)to)) {
    status = lt_fail(err, LT_E_DENIED, "it was encrypted with another key, or has been changed");
  } else {
    lt_buf_commit(out, size);
  }
  crypto->CIPHER_CTX_free(ctx);
  return status;
}
