#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static uint64_t clock_us(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t lt_clock_monotonic_ms(void) {
  return clock_us(CLOCK_MONOTONIC) / 1000;
}

uint64_t lt_clock_monotonic_us(void) {
  return clock_us(CLOCK_MONOTONIC);
}

uint64_t lt_clock_wall_us(void) {
  return clock_us(CLOCK_REALTIME);
}

void lt_clock_stamp(char ret_stamp[LT_CLOCK_STAMP_BYTES]) {
  uint64_t us = lt_clock_wall_us();
  time_t seconds = (time_t)(us / 1000000);
  struct tm utc;
  gmtime_r(&seconds, &utc);
  size_t n = strftime(ret_stamp, LT_CLOCK_STAMP_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
  snprintf(ret_stamp + n, LT_CLOCK_STAMP_BYTES - n, ".%03uZ", (unsigned)(us / 1000 % 1000));
}
