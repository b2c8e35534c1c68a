/* Fibers with a stack and a timer, kept for the next ones when they end. */
#include "base/mem.h"
#include "io/loop_impl.h"

lt_task *lt_task_current(void) {
  lt_task *task = (lt_task *)(void *)lt_fiber_current();
  LT_CHECK(task != NULL);
  return task;
}

static lt_task *task_new(lt_loop *loop, lt_err *err) {
  lt_task *task = lt_mem_zalloc(1, sizeof *task);
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

lt_task *lt_task_take(lt_loop *loop, lt_fiber_fn fn, void *arg, lt_err *err) {
  lt_task *task = loop->spares;
  if (task != NULL) {
    loop->spares = task->next;
    loop->spare_count--;
  } else {
    task = task_new(loop, err);
  }
  if (task != NULL) {
    lt_fiber_init(&task->fiber, task->stack, task->stack_size, fn, arg);
  }
  return task;
}

static void on_closed(uv_handle_t *handle) {
  lt_task *task = handle->data;
  lt_fiber_stack_free(task->stack, task->stack_size);
  lt_mem_free(task);
}

void lt_task_give(lt_task *task) {
  lt_loop *loop = task->loop;
  lt_fiber_release(&task->fiber);
  if (loop->spare_count >= LT_LOOP_STACKS_KEEP) {
    uv_close((uv_handle_t *)&task->timer, on_closed);
    return;
  }
  task->next = loop->spares;
  loop->spares = task;
  loop->spare_count++;
}

void lt_task_close_spares(lt_loop *loop) {
  while (loop->spares != NULL) {
    lt_task *task = loop->spares;
    loop->spares = task->next;
    uv_close((uv_handle_t *)&task->timer, on_closed);
  }
  loop->spare_count = 0;
}
