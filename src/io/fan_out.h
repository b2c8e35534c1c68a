/* Runs several functions at once, each on its own fiber, while one fiber waits for all of them. Loop thread only. */
#ifndef LT_IO_FAN_OUT_H
#define LT_IO_FAN_OUT_H

#include "io/loop.h"

typedef struct lt_fan_out {
  lt_loop *loop;
  size_t running;
  lt_wait ended; /* woken when the last one has ended */
} lt_fan_out;

/* The fan-out must not be moved, and must stay alive while a function runs. */
void lt_fan_out_init(lt_fan_out *fan_out, lt_loop *loop);

/* Runs `fn` on a new fiber. Without memory for a fiber, calls `fn` directly. LT_YIELDS. */
void lt_fan_out_add(lt_fan_out *fan_out, lt_fiber_fn fn, void *arg) LT_YIELDS;

/* Likewise, but does not yield, and does not call `fn` without memory. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_fan_out_start(lt_fan_out *fan_out, lt_fiber_fn fn, void *arg, lt_err *err);

/* Waits until all functions have ended. `timeout_ms` UINT64_MAX: no limit. `cancel` may be NULL. Errors, while
 * functions may still run: LT_E_TIMEOUT, the cancel's reason. LT_YIELDS. */
lt_status lt_fan_out_wait(lt_fan_out *fan_out, lt_cancel *cancel, uint64_t timeout_ms) LT_YIELDS;

#endif
