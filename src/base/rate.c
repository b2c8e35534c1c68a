#include "base/rate.h"

#define US_PER_MS     1000
#define US_PER_SECOND 1000000

bool lt_rate_take(lt_rate *rate, uint64_t now_ms, unsigned per_second, unsigned burst, uint64_t *ret_wait_ms) {
  uint64_t now_us = now_ms * US_PER_MS, step_us = US_PER_SECOND / per_second;
  uint64_t full_us = rate->full_us > now_us ? rate->full_us : now_us;
  uint64_t ahead_us = full_us - now_us, most_us = (burst - 1) * step_us;
  if (ahead_us > most_us) {
    *ret_wait_ms = (ahead_us - most_us + US_PER_MS - 1) / US_PER_MS;
    return false;
  }
  rate->full_us = full_us + step_us;
  return true;
}

bool lt_rate_is_full(const lt_rate *rate, uint64_t now_ms) {
  return rate->full_us <= now_ms * US_PER_MS;
}
