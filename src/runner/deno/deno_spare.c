/* One Deno ahead: it has started, has our own code in it, and waits for the word that its program is there, blocked and
 * without costing processor time. A fiber looks after it as long as it is there: what has died meanwhile, or is not fit
 * for the programs that come, is replaced when the next one has ended. */
#include <signal.h>

#include "runner/deno/deno_folder.h"
#include "runner/deno/deno_source.h"
#include "runner/deno/deno_spare.h"
#include "runner/deno/deno_start.h"
#include "runner/deno/deno_state.h"

/* --- A room ------------------------------------------------------------------------------------------------------- */
lt_status lt_deno_fill_room(lt_deno *deno, lt_deno_room *room, lt_err *err) {
  LT_TRY(lt_deno_make_secret(room, err));
  LT_TRY(lt_deno_write_boot(deno, room, err));
  return lt_deno_start(deno, room, err);
}

void lt_deno_leave_room(lt_deno *deno, lt_deno_room *room) {
  if (room->process != NULL) {
    lt_process_signal(room->process, SIGKILL);
    lt_process_close(room->process);
    room->process = NULL;
  }
  lt_deno_remove_folder(deno->loop, room);
}

/* --- The spare ---------------------------------------------------------------------------------------------------- */
static bool deno_spare_is_alive(const lt_deno_room *room) {
  return room->process != NULL && !lt_process_exited(room->process);
}

/* Its processor time is the last resort behind the deadline, so that more of it does no harm. */
static bool deno_spare_fits(const lt_deno_room *room, const lt_deno_limits *limits) {
  return room->limits.memory_bytes == limits->memory_bytes && room->limits.cpu_seconds >= limits->cpu_seconds;
}

static lt_deno_room deno_spare_take_out(lt_deno *deno) {
  lt_deno_room room = deno->spare;
  deno->spare = (lt_deno_room){.lock = -1};
  return room;
}

bool lt_deno_take_spare(lt_deno *deno, const lt_run_request *request, lt_deno_room *ret_room) {
  lt_deno_limits limits = lt_deno_limits_of(request);
  if (!deno_spare_is_alive(&deno->spare) || !deno_spare_fits(&deno->spare, &limits) || request->module_count > 0) {
    return false;
  }
  *ret_room = deno_spare_take_out(deno);
  return true;
}

/* --- Who looks after it ------------------------------------------------------------------------------------------- */
static void deno_spare_drop(lt_deno *deno) LT_YIELDS {
  lt_deno_room room = deno_spare_take_out(deno); /* nobody is to take it meanwhile */
  lt_deno_leave_room(deno, &room);
}

/* What goes wrong is told to whoever runs the next program, which is started as if there were no spare. */
static void deno_spare_renew(lt_deno *deno) LT_YIELDS {
  deno->due = false;
  if (deno_spare_is_alive(&deno->spare) && deno_spare_fits(&deno->spare, &deno->wanted)) {
    return;
  }
  deno_spare_drop(deno);
  lt_deno_room room = {.lock = -1, .limits = deno->wanted, .way = deno->way, .ahead = true};
  if (lt_deno_make_folder(&room, NULL) == LT_OK && lt_deno_fill_room(deno, &room, NULL) == LT_OK) {
    deno->spare = room;
  } else {
    lt_deno_leave_room(deno, &room);
  }
}

static uint64_t deno_spare_left_ms(const lt_deno *deno) {
  uint64_t gone = lt_loop_now_ms(deno->loop) - deno->used_ms;
  return gone < deno->ahead_ms ? deno->ahead_ms - gone : 0;
}

static void deno_spare_keep(void *arg) {
  lt_deno *deno = arg;
  lt_wait wait;
  lt_wait_init(&wait, deno->loop);
  deno->keeper = &wait;
  while (deno->closer == NULL && (deno->due || deno->spare.process != NULL)) {
    if (deno->due) {
      deno_spare_renew(deno);
    } else if (deno_spare_left_ms(deno) == 0) {
      deno_spare_drop(deno);
    } else {
      lt_wait_on(&wait, deno_spare_left_ms(deno));
    }
  }
  deno_spare_drop(deno);
  deno->keeper = NULL;
  deno->keeping = false;
  if (deno->closer != NULL) {
    lt_wait_wake(deno->closer, LT_OK);
  }
}

/* Over a port the bridge would have to be open already. */
void lt_deno_keep_spare(lt_deno *deno, const lt_deno_limits *limits) {
  if (deno->ahead_ms == 0 || deno->way == LT_DENO_TCP) {
    return;
  }
  deno->wanted = *limits;
  deno->due = true;
  deno->used_ms = lt_loop_now_ms(deno->loop);
  if (deno->keeper != NULL) {
    lt_wait_wake(deno->keeper, LT_OK);
  } else if (!deno->keeping) {
    deno->keeping = lt_loop_spawn(deno->loop, deno_spare_keep, deno, NULL) == LT_OK;
  }
}

void lt_deno_end_spare(lt_deno *deno) {
  lt_wait wait;
  lt_wait_init(&wait, deno->loop);
  deno->closer = &wait;
  if (deno->keeper != NULL) {
    lt_wait_wake(deno->keeper, LT_OK);
  }
  while (deno->keeping) {
    lt_wait_on(&wait, UINT64_MAX);
  }
  deno->closer = NULL;
}
