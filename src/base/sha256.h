/* SHA-256 (FIPS 180-4) of a text in memory: the fingerprint of a file that a person trusts. A second text with the same
 * fingerprint cannot be made. */
#ifndef LT_BASE_SHA256_H
#define LT_BASE_SHA256_H

#include <stdint.h>

#include "base/str.h"

#define LT_SHA256_HEX_CHARS 64

/* By value: lower-case hexadecimal digits, with a NUL behind. */
typedef struct lt_sha256_hex {
  char text[LT_SHA256_HEX_CHARS + 1];
} lt_sha256_hex;

lt_sha256_hex lt_sha256(lt_str data);

#endif
