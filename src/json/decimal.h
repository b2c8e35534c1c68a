/* Decimal numbers of JSON text, compared and divided exactly: 0.3 is a multiple of 0.1, and 2^63 is not 2^63 + 1.
 *
 * A decimal borrows its digits from the JSON text. Nothing here allocates or fails.
 */
#ifndef LT_JSON_DECIMAL_H
#define LT_JSON_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* +-digits * 10^exponent. The digits are the text from `p` to `end` without the decimal point; the first and the last
 * digit are not 0. Zero has no digits. */
typedef struct lt_decimal {
  const char *p;
  const char *end;
  int64_t exponent;
  int64_t count; /* of digits */
  bool negative; /* never for zero */
} lt_decimal;

/* `text` is a JSON number. */
lt_decimal lt_decimal_of(lt_str text);
/* Orders by value: memcmp's sign. */
int lt_decimal_cmp(const lt_decimal *a, const lt_decimal *b);
bool lt_decimal_is_whole(const lt_decimal *d);
/* Whether `d` is an integer multiple of `divisor`. Also true where that is not computed: for divisors of more than 19
 * digits, and for 0. */
bool lt_decimal_is_multiple(const lt_decimal *d, const lt_decimal *divisor);
/* A hash; equal values have the same hash. */
uint64_t lt_decimal_hash(const lt_decimal *d);

#endif
