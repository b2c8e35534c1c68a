/* Work of the loop's own thread that may take long, and the thread that turns the loop when it does. */
#include <errno.h>

#include "io/loop_impl.h"

/* While the loop's own thread is out, it does not hold the loop, so it does not look at `step_out`. */
bool lt_loop_step_out(lt_loop *loop, void (*fn)(void *arg), void *arg) {
  if (!pthread_equal(loop->own_thread, pthread_self()) || !loop->runs_steps || atomic_load(&loop->is_out) ||
      loop->step_out != NULL) {
    return false;
  }
  loop->step_out = fn;
  loop->step_out_arg = arg;
  return true;
}

/* Who stands in may sleep in the poll. */
static void loop_step_in(lt_loop *loop) {
  atomic_store(&loop->is_out, false);
  if (pthread_mutex_trylock(&loop->turn) != 0) {
    uv_async_send(&loop->wake);
    pthread_mutex_lock(&loop->turn);
  }
  loop->holder = loop->own_thread;
  uv_update_time(&loop->uv);
}

bool lt_loop_run_step_out(lt_loop *loop) {
  void (*fn)(void *arg) = loop->step_out;
  if (fn == NULL) {
    return false;
  }
  loop->step_out = NULL;
  atomic_store(&loop->is_out, true);
  pthread_mutex_unlock(&loop->turn);
  fn(loop->step_out_arg);
  loop_step_in(loop);
  return true;
}

/* --- The thread that stands in ------------------------------------------------------------------------------------ */
static void loop_stand_in_turn(lt_loop *loop) {
  loop->holder = pthread_self();
  atomic_store(&loop->is_stood_in, true);
  while (atomic_load(&loop->is_out) && lt_loop_turn(loop)) {
  }
  atomic_store(&loop->is_stood_in, false);
}

/* A wake that comes too late finds the loop held, or turns it until its own thread is back. */
static void *loop_stand_in_thread(void *arg) {
  lt_loop *loop = arg;
  while (!atomic_load(&loop->ends_stand_in)) {
    if (sem_wait(&loop->stand_in_wake) == 0 && pthread_mutex_trylock(&loop->turn) == 0) {
      loop_stand_in_turn(loop);
      pthread_mutex_unlock(&loop->turn);
    }
  }
  return NULL;
}

/* The thread lives as long as the loop: the processes that it starts end with it (PR_SET_PDEATHSIG). */
void lt_loop_stand_in(lt_loop *loop) {
  if (!loop->has_stand_in) {
    loop->has_stand_in = pthread_create(&loop->stand_in, NULL, loop_stand_in_thread, loop) == 0;
  }
  if (!atomic_load(&loop->is_stood_in)) {
    sem_post(&loop->stand_in_wake);
  }
}

void lt_loop_end_stand_in(lt_loop *loop) {
  if (loop->has_stand_in) {
    atomic_store(&loop->ends_stand_in, true);
    sem_post(&loop->stand_in_wake);
    pthread_join(loop->stand_in, NULL);
  }
}
