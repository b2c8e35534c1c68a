#include "runner/quickjs/program_lane.h"

#include <stddef.h>

#include "base/mem.h"

/* Whoever finds a lane at rest, or puts it to rest, does so with one exchange, which is the last access of the former
 * owner: the next one may free it. */
enum { LANE_AT_REST, LANE_TURNED, LANE_HAS_NEWS };

typedef struct program_lane {
  lt_workers_task task; /* first: the workers hand it back as this */
  lt_lane lane;
  lt_workers *workers;
  _Atomic int state;
  bool has_begun; /* the workers have had it; only the thread that turns the lane looks at it */
} program_lane;

static program_lane *program_lane_of(lt_lane *lane) {
  return (program_lane *)(void *)((char *)lane - offsetof(program_lane, lane));
}

static void program_lane_free(program_lane *it) {
  lt_lane_release(&it->lane);
  lt_mem_free(it);
}

static void program_lane_submit(program_lane *it) {
  if (it->has_begun) {
    lt_workers_resume(it->workers, &it->task);
  } else {
    lt_workers_submit(it->workers, &it->task);
  }
}

static void on_program_lane_wake(lt_lane *lane) {
  program_lane *it = program_lane_of(lane);
  if (atomic_exchange(&it->state, LANE_HAS_NEWS) == LANE_AT_REST) {
    program_lane_submit(it);
  }
}

/* Until nothing is left to do, or it is the turn of other programs. */
static lt_workers_step on_program_lane_step(lt_workers_task *task) {
  program_lane *it = (program_lane *)(void *)task;
  it->has_begun = true;
  lt_lane_enter(&it->lane);
  do {
    atomic_store(&it->state, LANE_TURNED); /* before it looks: what comes later is news */
    (void)lt_lane_turn(&it->lane);
  } while (lt_lane_has_work(&it->lane) && !lt_workers_task_should_yield(it->workers, task, false));
  bool has_work = lt_lane_has_work(&it->lane), has_ended = it->lane.fibers == 0;
  lt_lane_leave(&it->lane);
  return has_work ? LT_STEP_AGAIN : has_ended ? LT_STEP_DONE : LT_STEP_PARK;
}

static void after_program_lane_step(lt_workers_task *task, lt_workers_step step) {
  program_lane *it = (program_lane *)(void *)task;
  int turned = LANE_TURNED;
  if (step == LT_STEP_DONE) {
    program_lane_free(it);
  } else if (!atomic_compare_exchange_strong(&it->state, &turned, LANE_AT_REST)) {
    program_lane_submit(it);
  }
}

/* --- The crew ----------------------------------------------------------------------------------------------------- */
static lt_program_lanes *program_lanes_of(lt_lane_crew *crew) {
  return (lt_program_lanes *)(void *)crew;
}

static lt_lane *program_lanes_new_lane(lt_lane_crew *self) {
  const lt_program_lanes *lanes = program_lanes_of(self);
  program_lane *it = lt_mem_zalloc(1, sizeof *it);
  if (it == NULL) {
    return NULL;
  }
  it->task.step = on_program_lane_step;
  it->task.after = after_program_lane_step;
  it->workers = lanes->workers;
  lt_lane_init_without_thread(&it->lane, lanes->loop, on_program_lane_wake);
  return &it->lane;
}

static void program_lanes_free_lane(lt_lane *lane) {
  program_lane_free(program_lane_of(lane));
}

static void program_lanes_begin_help(lt_lane_crew *self) {
  lt_workers_begin_help(program_lanes_of(self)->workers);
}

static bool program_lanes_help(lt_lane_crew *self) {
  return lt_workers_help(program_lanes_of(self)->workers);
}

static void program_lanes_end_help(lt_lane_crew *self) {
  lt_workers_end_help(program_lanes_of(self)->workers);
}

void lt_program_lanes_init(lt_program_lanes *lanes, lt_loop *loop, lt_workers *workers) {
  *lanes = (lt_program_lanes){.crew = {.new_lane = program_lanes_new_lane,
                                       .free_lane = program_lanes_free_lane,
                                       .begin_help = program_lanes_begin_help,
                                       .help = program_lanes_help,
                                       .end_help = program_lanes_end_help},
                              .loop = loop,
                              .workers = workers};
}
