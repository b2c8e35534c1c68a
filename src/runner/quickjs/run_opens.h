/* The open calls and timers of a program, in the order in which they become ready. */
#ifndef LT_RUNNER_QUICKJS_RUN_OPENS_H
#define LT_RUNNER_QUICKJS_RUN_OPENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fiber.h"
#include "base/status.h"
#include "base/str.h"
#include "io/loop.h"

typedef struct lt_run lt_run;

/* A call of a tool or a function, or a timer. Made by the worker, carried out on the loop, taken by the worker. */
typedef struct lt_run_open {
  struct lt_run_open *next_ready;
  lt_run *run;
  uint32_t id; /* of timers odd, of calls even */
  bool is_timer;
  lt_post post;
  /* Under the lock. */
  bool is_dropped; /* the program has dropped it */
  bool is_opened;  /* the program has opened it in this pass */
  bool is_ready;   /* the program can take its outcome */
  uint32_t place;  /* in the tape's order; LT_TAPE_NOWHERE: not on the tape */
} lt_run_open;

typedef enum lt_run_wait { LT_WAIT_NOTHING, LT_WAIT_ANY, LT_WAIT_ONE } lt_run_wait;

typedef struct lt_run_opens {
  uint32_t last_number; /* worker only: the number of the last opened call or timer */
  /* Under the lock. */
  lt_run_open *ready;
  lt_run_open **last_ready;
  uint32_t open_count;    /* opened and not taken */
  uint32_t ready_count;   /* of these, ready */
  uint32_t ticking_count; /* of these, timers that are not ready */
  lt_run_wait waiting;
  uint32_t waiting_id;
  bool is_parked;
  void (*on_parked)(lt_run *run); /* called under the lock when a step has parked */
} lt_run_opens;

static inline bool lt_run_opens_is_timer(uint32_t id) {
  return id % 2 == 1;
}

/* The number of the next call or timer that the program opens; for a call, its number in the run. */
uint32_t lt_run_opens_next(const lt_run *run);

void lt_run_opens_init(lt_run *run);
/* On the worker: counts a new call or timer, and posts `start_on_loop` to the loop. */
void lt_run_opens_add(lt_run *run, lt_run_open *open, void (*start_on_loop)(void *arg));
/* The same for a call or timer on the tape: ready already (at `place`), or under way. */
void lt_run_opens_add_known(lt_run *run, lt_run_open *open, bool is_ready, uint32_t place);
/* On the loop: marks it as ready; `status` and `text` are for the tape. Wakes the program if it waits for it. */
void lt_run_opens_ready(lt_run *run, lt_run_open *open, lt_status status, lt_str text);
/* On the worker: the program drops it. True: it was ready, and the caller owns it now. */
bool lt_run_opens_drop(lt_run *run, lt_run_open *open);
/* On the worker: waits until the call or timer with that id (0: any) is ready, and takes it. NULL: the program is
 * stopped or dropped, or nothing is open. */
lt_run_open *lt_run_opens_wait(lt_run *run, uint32_t id) LT_YIELDS;
/* Call this after a step that parked: the program continues at once when its answer has arrived meanwhile. */
void lt_run_opens_park(lt_run *run);
/* On the worker, under the lock: the program begins again, and nothing is open. */
void lt_run_opens_rewind(lt_run *run);

#endif
