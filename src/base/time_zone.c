#include "base/time_zone.h"

#include <string.h>

/* Lines "name number", an empty line, and the rules in the order of their numbers. A rule is "offset;step,offset;...":
 * the steps between changes (base 36) and the offsets (the first in seconds and base 36, the others in base 10) in
 * quarters of an hour, or behind a "~" in seconds and base 36. A "!" is behind daylight saving. */
extern const char lt_time_zone_data[], lt_time_zone_end[];

#define QUARTER_S   900
#define DAY_S       86400
#define LAST_YEAR   2037 /* the packed changes end there */
#define CYCLE_YEARS 28   /* after so many years the calendar is the same, but for centuries */

/* --- Numbers ------------------------------------------------------------------------------------------------------ */
static int zone_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : 36;
}

static int64_t zone_read_digits(lt_str text, size_t *at, int base) {
  int64_t value = 0;
  bool is_negative = *at < text.n && text.p[*at] == '-';
  for (*at += is_negative; *at < text.n && zone_digit(text.p[*at]) < base; ++*at) {
    value = value * base + zone_digit(text.p[*at]);
  }
  return is_negative ? -value : value;
}

static int64_t zone_read_time(lt_str text, size_t *at, int base) {
  if (*at < text.n && text.p[*at] == '~') {
    ++*at;
    return zone_read_digits(text, at, 36);
  }
  return zone_read_digits(text, at, base) * QUARTER_S;
}

/* --- The calendar ------------------------------------------------------------------------------------------------- */
static bool zone_is_leap(int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970 to a year's first day. */
static int64_t zone_days_to(int64_t year) {
  int64_t before = year - 1;
  return before * 365 + before / 4 - before / 100 + before / 400 - 719162;
}

static int64_t zone_year_of(int64_t seconds) {
  int64_t year = 1970 + seconds / DAY_S / 366;
  while (zone_days_to(year + 1) * DAY_S <= seconds) {
    year++;
  }
  return year;
}

/* A year after the packed ones has the changes of the last packed year with the same calendar. */
static int64_t zone_packed_moment(int64_t seconds) {
  if (seconds < zone_days_to(LAST_YEAR + 1) * DAY_S) {
    return seconds;
  }
  int64_t year = zone_year_of(seconds), start = zone_days_to(year);
  for (int64_t other = LAST_YEAR; other > LAST_YEAR - CYCLE_YEARS; other--) {
    if (zone_is_leap(other) == zone_is_leap(year) && (zone_days_to(other) - start) % 7 == 0) {
      return seconds + (zone_days_to(other) - start) * DAY_S;
    }
  }
  return seconds;
}

/* --- Zones -------------------------------------------------------------------------------------------------------- */
static lt_str zone_take_line(lt_str *rest) {
  const char *end = memchr(rest->p, '\n', rest->n);
  size_t n = end != NULL ? (size_t)(end - rest->p) : rest->n;
  lt_str line = lt_str_sub(*rest, 0, n);
  *rest = lt_str_sub(*rest, n + (end != NULL), rest->n);
  return line;
}

static char zone_lower(char c) {
  return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool zone_has_name(lt_str line, lt_str name) {
  if (line.n < name.n + 2 || line.p[name.n] != ' ') {
    return false;
  }
  size_t i = 0;
  while (i < name.n && zone_lower(name.p[i]) == zone_lower(line.p[i])) {
    i++;
  }
  return i == name.n;
}

/* What is behind the empty line that ends the names. `rest` is what is behind one of them. */
static lt_str zone_rules(lt_str rest) {
  size_t end = lt_str_find(lt_str_from(rest.p - 1, rest.n + 1), LT_STR("\n\n"), 0);
  return lt_str_sub(rest, end + 1, rest.n);
}

/* Each program starts with this, most with no name. */
bool lt_time_zone_find(lt_str name, lt_time_zone *ret_zone) {
  lt_str rest = lt_str_from(lt_time_zone_data, (size_t)(lt_time_zone_end - lt_time_zone_data));
  lt_str line = name.n > 0 ? zone_take_line(&rest) : LT_STR("");
  while (line.n > 0 && !zone_has_name(line, name)) {
    line = zone_take_line(&rest);
  }
  if (line.n == 0) {
    return false;
  }
  size_t at = name.n + 1;
  int64_t number = zone_read_digits(line, &at, 10);
  ret_zone->name = lt_str_sub(line, 0, name.n);
  rest = zone_rules(rest);
  while (number-- > 0) {
    (void)zone_take_line(&rest);
  }
  ret_zone->rule = zone_take_line(&rest);
  return true;
}

int32_t lt_time_zone_offset_s(lt_str rule, int64_t seconds) {
  size_t at = 0;
  int64_t offset = zone_read_digits(rule, &at, 36), moment = zone_packed_moment(seconds), change = 0;
  while (at < rule.n && rule.p[at] == ';') {
    at++;
    change += zone_read_time(rule, &at, 36);
    if (change > moment) {
      break;
    }
    at++; /* the comma */
    offset = zone_read_time(rule, &at, 10);
    at += at < rule.n && rule.p[at] == '!';
  }
  return (int32_t)offset;
}
