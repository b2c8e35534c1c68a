/* Numbers of JSON as they are written, compared and divided exactly: 0.3 is a multiple of 0.1, and 2^63 is not 2^63
 * + 1.
 *
 * A decimal borrows its digits from the JSON text. Nothing here allocates or fails.
 */
#ifndef LT_JSON_DECIMAL_H
#define LT_JSON_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* +-digits * 10^exponent. The digits are the text from `p` to `end` without the point in it; neither the first nor the
 * last is 0. None: zero. */
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
/* Whether `d` is a whole number of times `divisor`. True also for what cannot be told: divisors of more than 19 digits,
 * and 0. */
bool lt_decimal_is_multiple(const lt_decimal *d, const lt_decimal *divisor);
/* The same for equal values. */
uint64_t lt_decimal_hash(const lt_decimal *d);

#endif
