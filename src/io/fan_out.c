#include "io/fan_out.h"

#include "base/mem.h"

typedef struct fan_out_task {
  lt_fan_out *fan_out;
  lt_fiber_fn fn;
  void *arg;
} fan_out_task;

void lt_fan_out_init(lt_fan_out *fan_out, lt_loop *loop) {
  *fan_out = (lt_fan_out){.loop = loop};
  lt_wait_init(&fan_out->ended, loop);
}

static void on_fan_out_fiber(void *arg) {
  const fan_out_task task = *(fan_out_task *)arg;
  lt_mem_free(arg);
  task.fn(task.arg);
  if (--task.fan_out->running == 0) {
    lt_wait_wake(&task.fan_out->ended, LT_OK);
  }
}

lt_status lt_fan_out_start(lt_fan_out *fan_out, lt_fiber_fn fn, void *arg, lt_err *err) {
  fan_out_task *task = lt_mem_zalloc(1, sizeof *task);
  if (task == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a fiber");
  }
  *task = (fan_out_task){.fan_out = fan_out, .fn = fn, .arg = arg};
  lt_status status = lt_loop_spawn(fan_out->loop, on_fan_out_fiber, task, err);
  if (status != LT_OK) {
    lt_mem_free(task);
    return status;
  }
  fan_out->running++;
  return LT_OK;
}

void lt_fan_out_add(lt_fan_out *fan_out, lt_fiber_fn fn, void *arg) {
  if (lt_fan_out_start(fan_out, fn, arg, NULL) != LT_OK) {
    fn(arg);
  }
}

lt_status lt_fan_out_wait(lt_fan_out *fan_out, lt_cancel *cancel, uint64_t timeout_ms) {
  lt_cancel_node node;
  lt_status status = LT_OK;
  lt_cancel_add(cancel, &node, &fan_out->ended);
  while (fan_out->running > 0 && status == LT_OK) {
    status = lt_wait_on(&fan_out->ended, timeout_ms);
  }
  lt_cancel_remove(cancel, &node);
  (void)lt_wait_on(&fan_out->ended, 0); /* this wait's cancel must not wake the next wait */
  return fan_out->running == 0 ? LT_OK : status;
}
