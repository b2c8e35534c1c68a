/* A run's clock: its deadline, and the time that does not count towards it. */
#include "runner/python/python_clock.h"
#include "runner/python/python_run.h"
#include "sandbox/workers.h"

/* Whether the program only waits for an approval. A computation on another thread cannot be seen from here; the kernel
 * counts its processor time. */
static bool python_clock_should_pause(const lt_python_run *run) {
  uint32_t waiting = run->calls.waiting_for_approval;
  bool all_places_wait = waiting >= LT_RUN_OPEN_CALLS_MAX;
  return waiting > 0 && (all_places_wait || (waiting == run->calls.running && run->calls.queue == NULL));
}

void lt_python_clock_start(lt_python_run *run) {
  run->clock.deadline_ns = lt_workers_now() + lt_run_request_timeout_ms(run->request) * LT_NS_PER_MS;
}

void lt_python_clock_update(lt_python_run *run) {
  bool should_pause = python_clock_should_pause(run);
  bool is_paused = run->clock.paused_since_ns != 0;
  uint64_t now = lt_workers_now();
  if (should_pause == is_paused || (should_pause && now >= run->clock.deadline_ns)) {
    return;
  }
  run->clock.deadline_ns += should_pause ? 0 : now - run->clock.paused_since_ns;
  run->clock.paused_since_ns = should_pause ? now : 0;
  if (run->request->on_standing != NULL) {
    run->request->on_standing(run->request->arg, should_pause);
  }
  lt_wait_wake(&run->wait, LT_OK);
}

uint64_t lt_python_clock_left_ms(const lt_python_run *run) {
  uint64_t now = lt_workers_now();
  if (run->clock.paused_since_ns != 0) {
    return UINT64_MAX;
  }
  return run->clock.deadline_ns > now ? (run->clock.deadline_ns - now) / LT_NS_PER_MS + 1 : 0;
}
