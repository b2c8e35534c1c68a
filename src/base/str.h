/* Strings: pointer and length, by value, borrowed.
 *
 * An lt_str is not NUL-terminated and owns nothing: it points to bytes of another object, which must outlive it. Owned
 * bytes are in an lt_buf or an lt_arena.
 */
#ifndef LT_BASE_STR_H
#define LT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct lt_str {
  const char *p; /* may be NULL when n is 0 */
  size_t n;      /* bytes */
} lt_str;

#define LT_STR(literal) ((lt_str){"" literal "", sizeof(literal) - 1})
#define LT_STR_NULL     ((lt_str){NULL, 0})
/* For printf's "%.*s". */
#define LT_STR_ARG(s) (int)((s).n > 65536 ? 65536 : (s).n), ((s).p ? (s).p : "")

/* A view of a NUL-terminated string of our own or of libc's; never of a peer's bytes. */
static inline lt_str lt_str_of(const char *cstr) {
  return (lt_str){cstr, cstr ? strlen(cstr) : 0};
}

static inline lt_str lt_str_from(const void *p, size_t n) {
  return (lt_str){(const char *)p, n};
}

static inline bool lt_str_eq(lt_str a, lt_str b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool lt_str_eqc(lt_str a, const char *cstr) {
  return lt_str_eq(a, lt_str_of(cstr));
}

/* Whether they are equal but for the case of ASCII letters. */
bool lt_str_eq_fold(lt_str a, lt_str b);

/* Orders by bytes, then by length: memcmp's sign. */
int lt_str_cmp(lt_str a, lt_str b);

bool lt_str_starts(lt_str s, lt_str prefix);
bool lt_str_ends(lt_str s, lt_str suffix);

/* Whether all bytes are below 0x80, so that the text is UTF-8 for certain. */
bool lt_str_is_ascii(lt_str s);

/* The bytes from `from` up to, not including, `to`; both are clamped to the string. */
lt_str lt_str_sub(lt_str s, size_t from, size_t to);

/* Without ASCII white space at both ends. */
lt_str lt_str_trim(lt_str s);

/* The offset of the first `needle` at or after `from`, or SIZE_MAX. An empty needle is found at `from`. */
size_t lt_str_find(lt_str s, lt_str needle, size_t from);

/* FNV-1a, 64 bits, for hash tables with a bounded number of names. It does not resist chosen collisions. */
uint64_t lt_str_hash(lt_str s);

/* How many edits (insert, delete, replace, swap of neighbours; ASCII case ignored) turn `a` into `b`, at most `max`;
 * `max + 1` when there are more or when either string is longer than 64 bytes. For "did you mean". */
unsigned lt_str_distance(lt_str a, lt_str b, unsigned max);

#endif
