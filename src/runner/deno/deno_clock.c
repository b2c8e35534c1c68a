/* The run's clock: its deadline, and the time that does not count towards it (docs/internals/approvals.md). */
#include "runner/deno/deno_clock.h"
#include "runner/deno/deno_run.h"
#include "sandbox/workers.h"

/* Whether the program only waits for an approval. Computation meanwhile cannot be seen from here; the limit of
 * processor time applies while the clock stands. */
static bool deno_clock_should_pause(const lt_deno_run *run) {
  return run->calls.waiting_for_approval > 0 && run->calls.waiting_for_approval == run->calls.running &&
         run->stop_reason == LT_OK && !run->has_ended;
}

static void deno_clock_report(const lt_deno_run *run, bool stands) {
  if (run->request->on_standing != NULL) {
    run->request->on_standing(run->request->arg, stands);
  }
}

/* A clock that has run out does not stop. */
void lt_deno_clock_update(lt_deno_run *run) {
  bool should_pause = deno_clock_should_pause(run);
  uint64_t now = lt_workers_now();
  if (should_pause == (run->clock.paused_since_ns != 0) || (should_pause && now >= run->clock.deadline_ns)) {
    return;
  }
  run->clock.deadline_ns += should_pause ? 0 : now - run->clock.paused_since_ns;
  run->clock.paused_since_ns = should_pause ? now : 0;
  deno_clock_report(run, should_pause);
  lt_wait_wake(&run->wait, LT_OK);
}

uint64_t lt_deno_clock_left_ms(const lt_deno_run *run) {
  uint64_t now = lt_workers_now();
  bool stands = run->clock.paused_since_ns != 0;
  return stands ? UINT64_MAX : run->clock.deadline_ns > now ? (run->clock.deadline_ns - now) / 1000000 + 1 : 0;
}
