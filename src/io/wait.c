/* Waiting, and work on other threads. */
#include "io/loop_impl.h"

void lt_wait_init(lt_wait *wait, lt_loop *loop) {
  *wait = (lt_wait){.loop = loop};
}

/* The fiber may be in a later wait when this timer fires. Then the tokens differ. */
static void wait_on_timeout(uv_timer_t *timer) {
  lt_loop_task *task = timer->data;
  if (task->wait != NULL && task->wait->token == task->timed) {
    lt_loop_ready(task->loop, task);
  }
}

/* The timeout counts from now. The current turn of the loop may have begun long ago. */
static void wait_start_timer(lt_loop_task *task, uint64_t timeout_ms) {
  uv_update_time(&task->loop->uv);
  uv_timer_start(&task->timer, wait_on_timeout, timeout_ms, 0);
}

static void wait_park(lt_wait *wait, uint64_t timeout_ms) LT_YIELDS {
  lt_loop_task *task = lt_loop_task_current();
  LT_CHECK(wait->fiber == NULL && task->loop == wait->loop);
  wait->fiber = &task->fiber;
  wait->token = ++wait->loop->waits;
  task->wait = wait;
  if (timeout_ms != UINT64_MAX) {
    task->timed = wait->token;
    wait_start_timer(task, timeout_ms);
  }
  lt_fiber_yield();
  if (timeout_ms != UINT64_MAX) {
    uv_timer_stop(&task->timer);
  }
  task->wait = NULL;
  wait->fiber = NULL;
}

lt_status lt_wait_on(lt_wait *wait, uint64_t timeout_ms) {
  if (!wait->signalled && timeout_ms > 0) {
    wait_park(wait, timeout_ms);
  }
  if (!wait->signalled) {
    return LT_E_TIMEOUT;
  }
  wait->signalled = false;
  return wait->status;
}

void lt_wait_wake(lt_wait *wait, lt_status status) {
  LT_CHECK(pthread_equal(wait->loop->holder, pthread_self()));
  /* The first wake counts. But a failure replaces a success, because a cancel must not be lost after a wake that only
   * means "check again". */
  if (!wait->signalled || wait->status == LT_OK) {
    wait->status = status;
  }
  wait->signalled = true;
  if (wait->fiber != NULL) {
    lt_loop_ready(wait->loop, (lt_loop_task *)(void *)wait->fiber);
  }
}

void lt_loop_sleep(lt_loop *loop, uint64_t ms) {
  if (ms == 0) { /* let the others run */
    lt_loop_ready(loop, lt_loop_task_current());
    lt_fiber_yield();
    return;
  }
  lt_wait wait;
  lt_wait_init(&wait, loop);
  lt_wait_on(&wait, ms);
}

/* --- Work on other threads ---------------------------------------------------------------------------------------- */

typedef struct offloaded_job {
  uv_work_t req;
  lt_wait wait;
  void (*fn)(void *arg);
  void *arg;
} offloaded_job;

static void wait_job_run(uv_work_t *req) {
  offloaded_job *job = req->data;
  job->fn(job->arg);
}

static void wait_job_done(uv_work_t *req, int status) {
  (void)status; /* not cancelled, because the job is in the frame of the waiting fiber */
  offloaded_job *job = req->data;
  lt_wait_wake(&job->wait, LT_OK);
}

lt_status lt_loop_offload(lt_loop *loop, void (*fn)(void *arg), void *arg, lt_err *err) {
  offloaded_job job = {.fn = fn, .arg = arg};
  job.req.data = &job;
  lt_wait_init(&job.wait, loop);
  int rc = uv_queue_work(&loop->uv, &job.req, wait_job_run, wait_job_done);
  if (rc != 0) {
    return lt_fail(err, lt_loop_status(rc), "cannot hand work to another thread: %s", uv_strerror(rc));
  }
  return lt_wait_on(&job.wait, UINT64_MAX);
}
