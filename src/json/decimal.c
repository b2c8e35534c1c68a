#include "json/decimal.h"

#include "json/json_text.h"

/* Larger exponents become this one: no accepted text has enough digits to bring the value back into range. */
#define EXPONENT_MAX 1000000000

static int64_t decimal_read_exponent(const char *p, const char *end) {
  bool negative = *p == '-';
  p += *p == '-' || *p == '+';
  int64_t exponent = 0;
  for (; p < end; p++) {
    exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*p - '0') : exponent;
  }
  return negative ? -exponent : exponent;
}

/* Removes the zeros at both ends. The point moves with them. */
static void decimal_strip(lt_decimal *d, const char *point) {
  while (d->p < d->end && (*d->p == '0' || *d->p == '.')) {
    d->p++;
  }
  if (point != NULL) {
    d->exponent -= d->end - point - 1;
  }
  while (d->end > d->p && (d->end[-1] == '0' || d->end[-1] == '.')) {
    d->exponent += d->end[-1] == '0';
    d->end--;
  }
  d->count = d->end - d->p - (point != NULL && d->p < point && point < d->end);
}

lt_decimal lt_decimal_of(lt_str text) {
  bool negative = text.p[0] == '-';
  lt_decimal d = {.p = text.p + negative, .end = text.p + text.n, .negative = negative};
  const char *point = NULL;
  for (const char *p = d.p; p < d.end; p++) {
    if (*p == '.') {
      point = p;
    } else if (!lt_json_is_digit(*p)) {
      d.exponent = decimal_read_exponent(p + 1, d.end);
      d.end = p;
    }
  }
  decimal_strip(&d, point);
  if (d.count == 0) {
    d.exponent = 0;
    d.negative = false;
  }
  return d;
}

/* Returns the next digit; 0 after the last one. */
static char decimal_next_digit(const char **p, const char *end) {
  if (*p < end && **p == '.') {
    ++*p;
  }
  return *p < end ? *(*p)++ : '0';
}

/* Compares two numbers that are not zero. */
static int decimal_compare_sizes(const lt_decimal *a, const lt_decimal *b) {
  int64_t a_places = a->count + a->exponent;
  int64_t b_places = b->count + b->exponent;
  if (a_places != b_places) {
    return a_places < b_places ? -1 : 1;
  }
  const char *p = a->p;
  const char *q = b->p;
  while (p < a->end || q < b->end) {
    char x = decimal_next_digit(&p, a->end);
    char y = decimal_next_digit(&q, b->end);
    if (x != y) {
      return x < y ? -1 : 1;
    }
  }
  return 0;
}

int lt_decimal_cmp(const lt_decimal *a, const lt_decimal *b) {
  if (a->count == 0 || b->count == 0 || a->negative != b->negative) {
    int x = a->count == 0 ? 0 : a->negative ? -1 : 1;
    int y = b->count == 0 ? 0 : b->negative ? -1 : 1;
    return x < y ? -1 : x > y;
  }
  return a->negative ? decimal_compare_sizes(b, a) : decimal_compare_sizes(a, b);
}

bool lt_decimal_is_whole(const lt_decimal *d) {
  return d->exponent >= 0;
}

static uint64_t decimal_power_of_ten_mod(int64_t exponent, uint64_t mod) {
  __uint128_t result = 1 % mod;
  __uint128_t base = 10 % mod;
  for (; exponent > 0; exponent >>= 1) {
    result = exponent & 1 ? result * base % mod : result;
    base = base * base % mod;
  }
  return (uint64_t)result;
}

/* Both numbers are digits without zeros at the end, times a power of ten. A divisor with a higher power of ten does not
 * divide the number. */
bool lt_decimal_is_multiple(const lt_decimal *d, const lt_decimal *divisor) {
  if (d->count == 0 || divisor->count == 0 || divisor->count > 19) {
    return true;
  }
  if (d->exponent < divisor->exponent) {
    return false;
  }
  uint64_t mod = 0;
  const char *p = divisor->p;
  for (int64_t i = 0; i < divisor->count; i++) {
    mod = mod * 10 + (uint64_t)(decimal_next_digit(&p, divisor->end) - '0');
  }
  __uint128_t rest = 0;
  p = d->p;
  for (int64_t i = 0; i < d->count; i++) {
    rest = (rest * 10 + (unsigned)(decimal_next_digit(&p, d->end) - '0')) % mod;
  }
  return rest * decimal_power_of_ten_mod(d->exponent - divisor->exponent, mod) % mod == 0;
}

uint64_t lt_decimal_hash(const lt_decimal *d) {
  uint64_t hash = (uint64_t)d->exponent * 2 + d->negative;
  const char *p = d->p;
  while (p < d->end) {
    hash = (hash ^ (uint64_t)decimal_next_digit(&p, d->end)) * UINT64_C(1099511628211);
  }
  return hash;
}
