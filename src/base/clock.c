#include "base/clock.h"

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

static char *clock_put_digits(char *to, unsigned value, unsigned digits, char after) {
  for (unsigned i = digits; i > 0; i--, value /= 10) {
    to[i - 1] = (char)('0' + value % 10);
  }
  to[digits] = after;
  return to + digits + 1;
}

/* By hand: each record has one, and strftime and snprintf take twenty times as long. */
void lt_clock_stamp(char ret_stamp[LT_CLOCK_STAMP_BYTES]) {
  uint64_t us = lt_clock_wall_us();
  time_t seconds = (time_t)(us / 1000000);
  struct tm utc;
  gmtime_r(&seconds, &utc);
  char *to = clock_put_digits(ret_stamp, (unsigned)utc.tm_year + 1900, 4, '-');
  to = clock_put_digits(to, (unsigned)utc.tm_mon + 1, 2, '-');
  to = clock_put_digits(to, (unsigned)utc.tm_mday, 2, 'T');
  to = clock_put_digits(to, (unsigned)utc.tm_hour, 2, ':');
  to = clock_put_digits(to, (unsigned)utc.tm_min, 2, ':');
  to = clock_put_digits(to, (unsigned)utc.tm_sec, 2, '.');
  *clock_put_digits(to, (unsigned)(us / 1000 % 1000), 3, 'Z') = '\0';
}
