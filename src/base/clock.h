/* What time it is on this machine. A program has clocks of its own (sandbox/), and so has a loop (io/loop.h). */
#ifndef LT_BASE_CLOCK_H
#define LT_BASE_CLOCK_H

#include <stdint.h>

#define LT_CLOCK_STAMP_BYTES 25 /* with the NUL */

/* Since an unknown moment; never goes back. For measuring. */
uint64_t lt_clock_monotonic_ms(void);
/* Since 1970, UTC; may go back when the clock is set. */
uint64_t lt_clock_wall_us(void);
/* The wall clock as "2026-01-31T12:00:00.000Z". */
void lt_clock_stamp(char ret_stamp[LT_CLOCK_STAMP_BYTES]);

#endif
