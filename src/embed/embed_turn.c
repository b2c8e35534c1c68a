#include "embed/embed_turn.h"

#include "base/mem.h"
#include "embed/embed_error.h"

/* What a run has that is turned, in the environment's table until the event of its end is taken, or it is let go. */
typedef struct lt_embed_turned {
  lt_embed_entry entry; /* first; the number is that of the run */
  lt_embed_run *run;    /* until it has ended */
  lt_embed_queue queue;
  lt_lane lane;
  bool is_being_turned; /* a thread is in lathe_turn or lathe_detach; under the lock */
} lt_embed_turned;

/* --- Starting and leaving ----------------------------------------------------------------------------------------- */
static void embed_turn_on_left(lt_lane *lane) {
  lt_mem_free((char *)lane - offsetof(lt_embed_turned, lane));
}

static void embed_turn_free(lt_embed_turned *turned) {
  lt_embed_queue_release(&turned->queue);
  lt_lane_release(&turned->lane);
  lt_mem_free(turned);
}

lt_status lt_embed_turn_start(lt_embed_run *run, uint64_t *ret_number, lt_err *err) {
  lathe_env *env = run->env;
  lt_embed_turned *turned = lt_mem_zalloc(1, sizeof *turned);
  if (turned == NULL) {
    lt_embed_run_free(run);
    return lt_fail(err, LT_E_NOMEM, "no memory for a run");
  }
  (void)lt_embed_queue_init(&turned->queue, false, NULL); /* without a descriptor nothing fails */
  lt_lane_init(&turned->lane, env->session.loop);
  turned->run = run;
  turned->queue.lane = run->lane = &turned->lane;
  run->queue = &turned->queue;
  lt_status status = lt_embed_run_start(run, ret_number, err);
  if (status != LT_OK) {
    embed_turn_free(turned);
    return status;
  }
  pthread_mutex_lock(&env->lock);
  lt_embed_table_add(&env->turned, &turned->entry, *ret_number);
  pthread_mutex_unlock(&env->lock);
  return LT_OK;
}

/* The events that were not taken are the environment's. True: that of the end is among them. Under the lock. */
static bool embed_turn_hand_events_over(lathe_env *env, lt_embed_queue *queue) {
  bool has_ended = false;
  for (lt_embed_event *event; (event = lt_embed_queue_take(queue)) != NULL;) {
    has_ended = event->base.type == LATHE_EVENT_END;
    lt_embed_queue_put(&env->queue, event);
  }
  return has_ended;
}

/* By who holds the loop. Owns: the loop. */
static void embed_turn_let_go(lathe_env *env, lt_embed_turned *turned) {
  pthread_mutex_lock(&env->lock);
  lt_embed_table_remove(&env->turned, &turned->entry);
  if (!embed_turn_hand_events_over(env, &turned->queue)) {
    turned->run->queue = &env->queue;
    turned->run->lane = NULL;
  }
  pthread_mutex_unlock(&env->lock);
  lt_embed_queue_release(&turned->queue);
  lt_lane_move_home(&turned->lane, embed_turn_on_left);
}

bool lt_embed_turn_let_all_go(lathe_env *env) {
  bool has_any = false;
  for (lt_embed_entry *entry; (entry = lt_embed_table_first(&env->turned)) != NULL;) {
    has_any = true;
    embed_turn_let_go(env, (lt_embed_turned *)(void *)entry);
  }
  return has_any;
}

/* --- Turning ------------------------------------------------------------------------------------------------------ */
typedef struct embed_turn_limits {
  int work_ms, wait_ms; /* -1: none */
} embed_turn_limits;

/* False: a limit was reached. */
static bool embed_turn_lane(lt_lane *lane, const embed_turn_limits *limits) {
  if (lt_lane_turn(lane)) {
    return !lt_lane_is_due(lane);
  }
  if (limits->wait_ms == 0) {
    return false;
  }
  lt_lane_set_due(lane, limits->wait_ms);
  lt_lane_sleep(lane);
  bool goes_on = !lt_lane_is_due(lane);
  lt_lane_set_due(lane, limits->work_ms);
  return goes_on;
}

static lt_embed_event *embed_turn_until_event(lathe_env *env, lt_embed_turned *turned,
                                              const embed_turn_limits *limits) {
  lt_embed_event *event = lt_embed_run_next(env, &turned->queue);
  bool goes_on = true;
  lt_lane_set_due(&turned->lane, limits->work_ms);
  while (event == NULL && goes_on) {
    goes_on = embed_turn_lane(&turned->lane, limits);
    event = lt_embed_run_next(env, &turned->queue);
  }
  return event;
}

/* Finds a run that this thread may turn, and keeps others from it. */
static lt_status embed_turn_take(lathe_env *env, uint64_t number, lt_embed_turned **ret_turned, lt_err *err) {
  pthread_mutex_lock(&env->lock);
  lt_embed_turned *turned = (lt_embed_turned *)(void *)lt_embed_table_find(&env->turned, number);
  bool is_free = turned != NULL && !turned->is_being_turned;
  if (is_free) {
    turned->is_being_turned = true;
  }
  pthread_mutex_unlock(&env->lock);
  *ret_turned = turned;
  if (turned == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "there is no run %llu that is to be turned", (unsigned long long)number);
  }
  return is_free ? LT_OK : lt_fail(err, LT_E_INVALID, "another thread turns the run %llu", (unsigned long long)number);
}

/* After the event of its end nothing is left of it. */
static void embed_turn_give_back(lathe_env *env, lt_embed_turned *turned, bool has_ended) {
  pthread_mutex_lock(&env->lock);
  turned->is_being_turned = false;
  if (has_ended) {
    lt_embed_table_remove(&env->turned, &turned->entry);
  }
  pthread_mutex_unlock(&env->lock);
  if (has_ended) {
    embed_turn_free(turned);
  }
}

lathe_status lathe_turn(lathe_env *env, uint64_t run, int work_ms, int wait_ms, const lathe_event **ret_event) {
  LT_ERR_VAR(err);
  lt_embed_turned *turned;
  const embed_turn_limits limits = {.work_ms = work_ms, .wait_ms = wait_ms};
  if (ret_event == NULL) {
    return LATHE_E_INVALID;
  }
  *ret_event = NULL;
  lathe_status entered = lt_embed_env_enter(env, NULL);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_status status = embed_turn_take(env, run, &turned, &err);
  if (status == LT_OK) {
    lt_lane_enter(&turned->lane);
    lt_embed_event *event = embed_turn_until_event(env, turned, &limits);
    lt_lane_leave(&turned->lane);
    embed_turn_give_back(env, turned, event != NULL && event->base.type == LATHE_EVENT_END);
    status = event != NULL ? LT_OK : LT_E_TIMEOUT;
    *ret_event = event != NULL ? &event->base : NULL;
  }
  return lt_embed_env_leave(env, status, &err, NULL);
}

lathe_status lathe_detach(lathe_env *env, uint64_t run, lathe_error *error) {
  LT_ERR_VAR(err);
  lt_embed_turned *turned;
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_status status = embed_turn_take(env, run, &turned, &err);
  if (status == LT_OK) {
    lt_loop *loop = env->session.loop;
    lt_lane_enter(&turned->lane);
    embed_turn_let_go(env, turned);
    lt_lane_let_go(loop);
  }
  return lt_embed_env_leave(env, status, &err, error);
}
