#include "agent/heartbeat.h"

#include "base/limits.h"

static bool heartbeat_is_needed(const lt_agent *agent) {
  return agent->turns != NULL || agent->deferred_ends > 0;
}

/* A beat that cannot be written is made up for by the next one. */
static void heartbeat_on_fiber(void *arg) {
  lt_agent *agent = arg;
  while (heartbeat_is_needed(agent)) {
    if (lt_wait_on(&agent->beat, LT_LEASE_BEAT_MS) == LT_E_TIMEOUT && heartbeat_is_needed(agent)) {
      (void)lt_store_beat(agent->options.db, NULL);
    }
  }
  agent->is_beating = false;
  lt_wait_wake(&agent->ended, LT_OK);
}

void lt_heartbeat_start(lt_agent *agent) {
  if (agent->is_beating) {
    return;
  }
  lt_wait_init(&agent->beat, agent->options.loop);
  agent->is_beating = lt_loop_spawn(agent->options.loop, heartbeat_on_fiber, agent, NULL) == LT_OK;
}

void lt_heartbeat_check(lt_agent *agent) {
  if (agent->is_beating && !heartbeat_is_needed(agent)) {
    lt_wait_wake(&agent->beat, LT_OK);
  }
}
