/* The spare: a Deno process that has run the start of boot.js and waits for a program. It is blocked in `read` and
 * takes no processor time. A fiber owns it. A spare that has died, or does not fit the last program, is replaced when
 * that program has ended. */
#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_instance.h"
#include "runner/deno/deno_spare.h"
#include "runner/deno/deno_start.h"
#include "runner/deno/deno_state.h"

/* --- The spare ---------------------------------------------------------------------------------------------------- */

static bool deno_spare_is_alive(const lt_deno_instance *instance) {
  return instance->process != NULL && !lt_process_exited(instance->process);
}

/* A spare with more processor time fits, too: that limit only backs up the deadline. */
static bool deno_spare_fits(const lt_deno_instance *instance, const lt_deno_limits *limits) {
  return instance->limits.memory_bytes == limits->memory_bytes && instance->limits.cpu_seconds >= limits->cpu_seconds;
}

static lt_deno_instance deno_spare_take_out(lt_deno *deno) {
  lt_deno_instance instance = deno->spare;
  deno->spare = (lt_deno_instance){.lock = -1};
  return instance;
}

bool lt_deno_spare_take(lt_deno *deno, const lt_run_request *request, lt_deno_instance *ret_room) {
  lt_deno_limits limits = lt_deno_start_limits_of(request);
  if (!deno_spare_is_alive(&deno->spare) || !deno_spare_fits(&deno->spare, &limits) || request->module_count > 0) {
    return false;
  }
  *ret_room = deno_spare_take_out(deno);
  return true;
}

/* --- The spare's fiber -------------------------------------------------------------------------------------------- */

static void deno_spare_drop(lt_deno *deno) LT_YIELDS {
  lt_deno_instance instance = deno_spare_take_out(deno); /* first, because the release yields */
  lt_deno_instance_release(deno, &instance);
}

/* Starts a new spare unless the present one fits. Errors are dropped: the next program starts its own Deno and reports
 * them. */
static void deno_spare_renew(lt_deno *deno) LT_YIELDS {
  deno->is_spare_due = false;
  if (deno_spare_is_alive(&deno->spare) && deno_spare_fits(&deno->spare, &deno->spare_limits)) {
    return;
  }
  deno_spare_drop(deno);
  lt_deno_instance instance = {
      .lock = -1, .limits = deno->spare_limits, .transport = deno->transport, .is_spare = true};
  if (lt_deno_folder_make(&instance, NULL) == LT_OK && lt_deno_instance_start(deno, &instance, NULL) == LT_OK) {
    deno->spare = instance;
  } else {
    lt_deno_instance_release(deno, &instance);
  }
}

static uint64_t deno_spare_left_ms(const lt_deno *deno) {
  uint64_t gone = lt_loop_now_ms(deno->loop) - deno->last_run_ms;
  return gone < deno->spare_ms ? deno->spare_ms - gone : 0;
}

static void deno_spare_on_fiber(void *arg) {
  lt_deno *deno = arg;
  lt_wait wait;
  lt_wait_init(&wait, deno->loop);
  deno->spare_wait = &wait;
  while (deno->close_wait == NULL && (deno->is_spare_due || deno->spare.process != NULL)) {
    if (deno->is_spare_due) {
      deno_spare_renew(deno);
    } else if (deno_spare_left_ms(deno) == 0) {
      deno_spare_drop(deno);
    } else {
      lt_wait_on(&wait, deno_spare_left_ms(deno));
    }
  }
  deno_spare_drop(deno);
  deno->spare_wait = NULL;
  deno->has_spare_fiber = false;
  if (deno->close_wait != NULL) {
    lt_wait_wake(deno->close_wait, LT_OK);
  }
}

/* No spare over TCP: the bridge would have to be open already. */
void lt_deno_spare_schedule(lt_deno *deno, const lt_deno_limits *limits) {
  if (deno->spare_ms == 0 || deno->transport == LT_DENO_TCP) {
    return;
  }
  deno->spare_limits = *limits;
  deno->is_spare_due = true;
  deno->last_run_ms = lt_loop_now_ms(deno->loop);
  if (deno->spare_wait != NULL) {
    lt_wait_wake(deno->spare_wait, LT_OK);
  } else if (!deno->has_spare_fiber) {
    deno->has_spare_fiber = lt_loop_spawn(deno->loop, deno_spare_on_fiber, deno, NULL) == LT_OK;
  }
}

void lt_deno_spare_close(lt_deno *deno) {
  lt_wait wait;
  lt_wait_init(&wait, deno->loop);
  deno->close_wait = &wait;
  if (deno->spare_wait != NULL) {
    lt_wait_wake(deno->spare_wait, LT_OK);
  }
  while (deno->has_spare_fiber) {
    lt_wait_on(&wait, UINT64_MAX);
  }
  deno->close_wait = NULL;
}
