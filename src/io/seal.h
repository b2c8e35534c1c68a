/* Encrypts a small text with a key: AES-256-GCM (NIST SP 800-38D), by libcrypto, which is loaded for it. A sealed text
 * is 12 random bytes, the ciphertext, and a tag of 16 bytes. Any thread; nothing here suspends. The first call takes
 * milliseconds. */
#ifndef LT_IO_SEAL_H
#define LT_IO_SEAL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define LT_SEAL_KEY_BYTES 32

/* Appends the sealed text. `bound_to` is not part of it, but must be the same when it is opened. `key` has
 * LT_SEAL_KEY_BYTES. Errors: LT_E_UNSUPPORTED (no libcrypto), LT_E_INTERNAL, LT_E_IO (no random bytes), LT_E_LIMIT,
 * LT_E_NOMEM. */
lt_status lt_seal_close(const char *key, lt_str bound_to, lt_str text, lt_buf *out, lt_err *err);
/* Appends the text. Errors: LT_E_DENIED (another key, another `bound_to`, or it was changed), and those above. */
lt_status lt_seal_open(const char *key, lt_str bound_to, lt_str sealed, lt_buf *out, lt_err *err);

#endif
