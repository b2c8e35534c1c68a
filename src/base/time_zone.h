/* Time zones of the tz database: is there one of that name, and how far is it from UTC at a moment?
 *
 * The zones are part of the program (scripts/intl-data.mjs packs them at build time). The machine's own are not read:
 * they differ from machine to machine, and a program must run the same again. Pure.
 */
#ifndef LT_BASE_TIME_ZONE_H
#define LT_BASE_TIME_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct lt_time_zone {
  lt_str name; /* as the tz database writes it */
  lt_str rule; /* for lt_time_zone_offset_s */
} lt_time_zone;

/* Finds a zone ("Europe/Berlin", in any case; also UTC and old names). Its texts are the program's own bytes. False:
 * there is none. */
bool lt_time_zone_find(lt_str name, lt_time_zone *ret_zone);
/* Seconds east of UTC, at a moment in seconds since 1970. 0 for an empty rule. */
int32_t lt_time_zone_offset_s(lt_str rule, int64_t seconds);

#endif
