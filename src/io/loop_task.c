/* The fibers of the loop. The stack and the timer of an ended fiber are kept for later fibers. */
#include "base/mem.h"
#include "io/loop_impl.h"

lt_loop_task *lt_loop_task_current(void) {
  lt_loop_task *task = (lt_loop_task *)(void *)lt_fiber_current();
  LT_CHECK(task != NULL);
  return task;
}

static lt_loop_task *loop_task_new(lt_loop *loop, lt_err *err) {
  lt_loop_task *task = lt_mem_zalloc(1, sizeof *task);
  if (task == NULL) {
    lt_fail(err, LT_E_NOMEM, "no memory for a fiber");
    return NULL;
  }
  if (lt_fiber_stack_new(LT_LOOP_STACK_BYTES, &task->stack, &task->stack_size, err) != LT_OK) {
    lt_mem_free(task);
    return NULL;
  }
  task->loop = loop;
  uv_timer_init(&loop->uv, &task->timer);
  task->timer.data = task;
  return task;
}

lt_loop_task *lt_loop_task_take(lt_loop *loop, lt_fiber_fn fn, void *arg, lt_err *err) {
  lt_loop_task *task = loop->spares;
  if (task != NULL) {
    loop->spares = task->next;
    loop->spare_count--;
    loop->spare_least = loop->spare_count < loop->spare_least ? loop->spare_count : loop->spare_least;
  } else {
    task = loop_task_new(loop, err);
  }
  if (task != NULL) {
    lt_fiber_init(&task->fiber, task->stack, task->stack_size, fn, arg);
  }
  return task;
}

static void loop_task_on_closed(uv_handle_t *handle) {
  lt_loop_task *task = handle->data;
  lt_fiber_stack_free(task->stack, task->stack_size);
  lt_mem_free(task);
}

static void loop_task_close_spare(lt_loop *loop) {
  lt_loop_task *task = loop->spares;
  loop->spares = task->next;
  loop->spare_count--;
  uv_close((uv_handle_t *)&task->timer, loop_task_on_closed);
}

static bool loop_task_has_too_many(const lt_loop *loop) {
  return loop->spare_count > LT_LOOP_STACKS_KEEP;
}

/* Unmapping memory is slow in a process with threads on several cores, and bursts of fibers repeat. So only spares that
 * were not needed since the last trim are freed, a few at a time. */
static void loop_task_on_trim(uv_timer_t *timer) {
  lt_loop *loop = timer->data;
  for (unsigned i = 0; i < LT_LOOP_STACKS_TRIM && i < loop->spare_least && loop_task_has_too_many(loop); i++) {
    loop_task_close_spare(loop);
  }
  loop->spare_least = loop->spare_count;
  if (!loop_task_has_too_many(loop)) {
    uv_timer_stop(timer);
  }
}

static void loop_task_watch_spares(lt_loop *loop) {
  if (loop_task_has_too_many(loop) && !uv_is_active((uv_handle_t *)&loop->trim)) {
    loop->spare_least = loop->spare_count;
    (void)lt_loop_now_ms(loop); /* the timer counts from it */
    uv_timer_start(&loop->trim, loop_task_on_trim, LT_LOOP_TRIM_MS, LT_LOOP_TRIM_MS);
  }
}

void lt_loop_task_give(lt_loop_task *task) {
  lt_loop *loop = task->loop;
  lt_fiber_release(&task->fiber);
  if (loop->spare_count >= LT_LOOP_STACKS_MAX) {
    uv_close((uv_handle_t *)&task->timer, loop_task_on_closed);
    return;
  }
  task->next = loop->spares;
  loop->spares = task;
  loop->spare_count++;
  loop_task_watch_spares(loop);
}

void lt_loop_task_open_spares(lt_loop *loop) {
  uv_timer_init(&loop->uv, &loop->trim);
  uv_unref((uv_handle_t *)&loop->trim);
  loop->trim.data = loop;
}

void lt_loop_task_close_spares(lt_loop *loop) {
  while (loop->spares != NULL) {
    loop_task_close_spare(loop);
  }
  uv_close((uv_handle_t *)&loop->trim, NULL);
}
