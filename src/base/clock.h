/* The system's clocks. The clocks that a sandboxed program sees are in sandbox/guest.h; the loop's time is in
 * io/loop.h. Nothing here suspends. */
#ifndef LT_BASE_CLOCK_H
#define LT_BASE_CLOCK_H

#include <stdint.h>

#define LT_CLOCK_STAMP_BYTES 25 /* with the NUL */

/* Time since an arbitrary moment. It never goes back. For measuring durations. */
uint64_t lt_clock_monotonic_ms(void);
uint64_t lt_clock_monotonic_us(void);
/* Time since 1970-01-01 UTC. It may go back when the clock is set. */
uint64_t lt_clock_wall_us(void);
/* The wall clock as "2026-01-31T12:00:00.000Z". */
void lt_clock_stamp(char ret_stamp[LT_CLOCK_STAMP_BYTES]);

#endif
