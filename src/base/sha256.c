#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES 64

/* FIPS 180-4, section 4.2.2. */
static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t sha256_rotate(uint32_t x, unsigned bits) {
  return x >> bits | x << (32 - bits);
}

static uint32_t sha256_word(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The message schedule, FIPS 180-4, section 6.2.2, step 1. */
static void sha256_schedule(const unsigned char *block, uint32_t w[64]) {
  for (size_t t = 0; t < 16; t++) {
    w[t] = sha256_word(block + 4 * t);
  }
  for (size_t t = 16; t < 64; t++) {
    uint32_t a = w[t - 15], b = w[t - 2];
    uint32_t low = sha256_rotate(a, 7) ^ sha256_rotate(a, 18) ^ a >> 3;
    uint32_t high = sha256_rotate(b, 17) ^ sha256_rotate(b, 19) ^ b >> 10;
    w[t] = high + w[t - 7] + low + w[t - 16];
  }
}

/* Steps 2 to 4. v holds the working variables a to h. */
static void sha256_block(uint32_t hash[8], const unsigned char *block) {
  uint32_t w[64], v[8];
  sha256_schedule(block, w);
  memcpy(v, hash, sizeof v);
  for (size_t t = 0; t < 64; t++) {
    uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    uint32_t of_e = sha256_rotate(v[4], 6) ^ sha256_rotate(v[4], 11) ^ sha256_rotate(v[4], 25);
    uint32_t of_a = sha256_rotate(v[0], 2) ^ sha256_rotate(v[0], 13) ^ sha256_rotate(v[0], 22);
    uint32_t first = v[7] + of_e + choice + sha256_constants[t] + w[t];
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += first;
    v[0] = first + of_a + majority;
  }
  for (size_t i = 0; i < 8; i++) {
    hash[i] += v[i];
  }
}

/* The last bytes, a one bit, zeros, and the length in bits: one block or two (FIPS 180-4, section 5.1.1). */
static void sha256_end(uint32_t hash[8], lt_str rest, size_t total_bytes) {
  unsigned char last[2 * BLOCK_BYTES] = {0};
  size_t size = rest.n < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES;
  if (rest.n > 0) {
    memcpy(last, rest.p, rest.n);
  }
  last[rest.n] = 0x80;
  for (size_t i = 0; i < 8; i++) {
    last[size - 1 - i] = (unsigned char)(((uint64_t)total_bytes * 8) >> (8 * i));
  }
  for (size_t at = 0; at < size; at += BLOCK_BYTES) {
    sha256_block(hash, last + at);
  }
}

lt_sha256_hex lt_sha256(lt_str data) {
  uint32_t hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  lt_sha256_hex hex;
  size_t whole = data.n - data.n % BLOCK_BYTES;
  for (size_t at = 0; at < whole; at += BLOCK_BYTES) {
    sha256_block(hash, (const unsigned char *)data.p + at);
  }
  sha256_end(hash, lt_str_sub(data, whole, data.n), data.n);
  for (size_t i = 0; i < 8; i++) {
    snprintf(hex.text + 8 * i, 9, "%08x", (unsigned)hash[i]);
  }
  return hex;
}
