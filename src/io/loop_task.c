/* The fibers of the loop. The stack and the timer of an ended fiber are kept for later fibers. */
#include "base/mem.h"
#include "io/loop_impl.h"

lt_loop_task *lt_loop_task_current(void) {
  lt_loop_task *task = (lt_loop_task *)(void *)lt_fiber_current();
  LT_CHECK(task != NULL);
  return task;
}

static void loop_task_put_spare(lt_loop *loop, lt_loop_task *task) {
  task->next = loop->spares;
  loop->spares = task;
  loop->spare_count++;
}

/* Owns: the task, the stack. Without memory the stack is freed. */
static void loop_task_add_spare(lt_loop *loop, void *stack, size_t stack_size) {
  lt_loop_task *task = lt_mem_zalloc(1, sizeof *task);
  if (task == NULL) {
    lt_fiber_stack_free(stack, stack_size);
    return;
  }
  task->stack = stack;
  task->stack_size = stack_size;
  task->loop = loop;
  uv_timer_init(&loop->uv, &task->timer);
  task->timer.data = task;
  loop_task_put_spare(loop, task);
}

/* In a rush several at once: while the kernel maps memory, other threads wait at their page faults. */
static lt_status loop_task_make_spares(lt_loop *loop, lt_err *err) {
  void *stacks[LT_LOOP_STACKS_AT_ONCE];
  size_t stack_size, count = loop->fibers < LT_LOOP_STACKS_KEEP ? 1 : LT_LOOP_STACKS_AT_ONCE;
  LT_TRY(lt_fiber_stacks_new(LT_LOOP_STACK_BYTES, count, stacks, &stack_size, err));
  for (size_t i = 0; i < count; i++) {
    loop_task_add_spare(loop, stacks[i], stack_size);
  }
  return loop->spares != NULL ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for a fiber");
}

lt_loop_task *lt_loop_task_take(lt_loop *loop, lt_fiber_fn fn, void *arg, lt_err *err) {
  if (loop->spares == NULL && loop_task_make_spares(loop, err) != LT_OK) {
    return NULL;
  }
  lt_loop_task *task = loop->spares;
  loop->spares = task->next;
  loop->spare_count--;
  loop->spare_least = loop->spare_count < loop->spare_least ? loop->spare_count : loop->spare_least;
  lt_fiber_init(&task->fiber, task->stack, task->stack_size, fn, arg);
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
  loop_task_put_spare(loop, task);
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
