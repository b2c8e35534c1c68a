/* The run's clock: its deadline, and the time that does not count towards it (docs/internals/approvals.md). */
#include "runner/deno/deno_clock.h"
#include "runner/deno/deno_run.h"
#include "sandbox/workers.h"

/* What the process does meanwhile cannot be seen from here: its limit of CPU time holds while the clock stands. */
static bool deno_clock_only_asks(const lt_deno_run *run) {
  return run->asking > 0 && run->asking == run->in_flight && run->stopped == LT_OK && !run->ended;
}

static void deno_clock_tell(const lt_deno_run *run, bool stands) {
  if (run->request->on_standing != NULL) {
    run->request->on_standing(run->request->arg, stands);
  }
}

/* Over is over: a clock that has run out does not begin to stand. */
void lt_deno_set_clock(lt_deno_run *run) {
  bool stand = deno_clock_only_asks(run);
  uint64_t now = lt_workers_now();
  if (stand == (run->stands_since_ns != 0) || (stand && now >= run->deadline_ns)) {
    return;
  }
  run->deadline_ns += stand ? 0 : now - run->stands_since_ns;
  run->stands_since_ns = stand ? now : 0;
  deno_clock_tell(run, stand);
  lt_wait_wake(&run->wait, LT_OK);
}

uint64_t lt_deno_left_ms(const lt_deno_run *run) {
  uint64_t now = lt_workers_now();
  bool stands = run->stands_since_ns != 0;
  return stands ? UINT64_MAX : run->deadline_ns > now ? (run->deadline_ns - now) / 1000000 + 1 : 0;
}
