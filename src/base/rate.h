/* A rate limit: so many each second, and so many at once after a pause. Pure: the caller has the clock.
 *
 * It is the "virtual scheduling" form of a token bucket (ITU-T I.371, annex A): one number, the time at which the
 * bucket is full again. Zero is a full bucket.
 */
#ifndef LT_BASE_RATE_H
#define LT_BASE_RATE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lt_rate {
  uint64_t full_us;
} lt_rate;

/* Takes one. False: the limit is reached, nothing is taken, and `ret_wait_ms` says when there is one again. Units:
 * `per_second` from 1 to 1,000,000, `burst` from 1; `now_ms` never goes back. */
bool lt_rate_take(lt_rate *rate, uint64_t now_ms, unsigned per_second, unsigned burst, uint64_t *ret_wait_ms);
/* Whether it has been left alone for so long that it is as good as new. */
bool lt_rate_is_full(const lt_rate *rate, uint64_t now_ms);

#endif
