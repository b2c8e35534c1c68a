/* Several things at once: each on a fiber of its own, and one fiber that waits for all of them. Loop thread only. */
#ifndef LT_IO_FAN_OUT_H
#define LT_IO_FAN_OUT_H

#include "io/loop.h"

typedef struct lt_fan_out {
  lt_loop *loop;
  size_t running;
  lt_wait ended; /* woken when the last one has ended */
} lt_fan_out;

/* Not to be moved, nor to go away while one runs. */
void lt_fan_out_init(lt_fan_out *fan_out, lt_loop *loop);

/* Runs `fn` on a fiber of its own; where there is no memory for one, here and now. LT_YIELDS. */
void lt_fan_out_add(lt_fan_out *fan_out, lt_fiber_fn fn, void *arg) LT_YIELDS;

/* Waits until all have ended: LT_OK. LT_E_TIMEOUT: some run still; UINT64_MAX waits without an end. Where `cancel` (may
 * be NULL) fires, its reason: some may run still. LT_YIELDS. */
lt_status lt_fan_out_wait(lt_fan_out *fan_out, lt_cancel *cancel, uint64_t timeout_ms) LT_YIELDS;

#endif
