/* Tool calls and timers of a program: opened on the worker, carried out on the loop, waited for on the worker. */
#include "base/mem.h"
#include "runner/program.h"

/* --- On the worker ---------------------------------------------------------------------------- */
static void start_on_loop(void *arg);

static lt_run_open *open_new(lt_run *run) {
  lt_run_open *open = lt_mem_zalloc(1, sizeof *open);
  if (open == NULL) {
    return NULL;
  }
  open->run = run;
  open->id = ++run->call_count;
  open->post = (lt_post){.fn = start_on_loop, .arg = open};
  lt_buf_init(&open->out, LT_JSON_MAX_BYTES);
  return open;
}

static void add(lt_run *run, lt_run_open *open) {
  pthread_mutex_lock(&run->lock);
  *run->last_call = open;
  run->last_call = &open->next_call;
  run->open_count++;
  pthread_mutex_unlock(&run->lock);
  lt_loop_post(run->loop, &open->post);
}

/* Tool name and input, copied behind each other. */
static bool copy_request(lt_run_open *open, lt_str tool, lt_str input) {
  char *bytes = lt_mem_alloc(tool.n + input.n + 1);
  if (bytes == NULL) {
    return false;
  }
  memcpy(bytes, tool.p, tool.n);
  if (input.n > 0) {
    memcpy(bytes + tool.n, input.p, input.n);
  }
  open->record.tool = lt_str_from(bytes, tool.n);
  open->record.input = lt_str_from(bytes + tool.n, input.n);
  return true;
}

uint32_t lt_run_open_call(lt_run *run, lt_str tool, lt_str input, lt_outcome *ret) {
  if (run->call_count >= LT_RUN_CALLS_MAX) {
    ret->text = LT_STR("too many tool calls: a program may make 100000");
    return 0;
  }
  lt_run_open *open = open_new(run);
  if (open == NULL || !copy_request(open, tool, input)) {
    lt_mem_free(open);
    ret->text = LT_STR("no memory for another tool call");
    return 0;
  }
  add(run, open);
  return open->id;
}

uint32_t lt_run_open_timer(lt_run *run, uint64_t ms) {
  lt_run_open *open = open_new(run);
  if (open == NULL) {
    return 0; /* nobody will wait for it in vain: lt_run_wait_for finds nothing */
  }
  open->is_timer = true;
  open->ms = ms;
  add(run, open);
  return open->id;
}

/* The ready call that answers what is waited for, taken off the list; NULL when there is none. Under the lock. */
static lt_run_open *take_ready(lt_run *run, uint32_t id) {
  for (lt_run_open **place = &run->ready; *place != NULL; place = &(*place)->next_ready) {
    lt_run_open *open = *place;
    if (id != 0 && open->id != id) {
      continue;
    }
    *place = open->next_ready;
    if (*place == NULL) {
      run->last_ready = place;
    }
    open->taken = true;
    run->open_count--;
    return open;
  }
  return NULL;
}

/* Outcomes too large to be kept go when the program has read them. */
static void drop_last_taken(lt_run *run) {
  if (run->last_taken != NULL && run->last_taken->record.result.n == 0 && run->last_taken->record.error.n == 0) {
    lt_buf_release(&run->last_taken->out);
  }
  run->last_taken = NULL;
}

static void give(lt_run *run, lt_run_open *open, lt_outcome *ret) {
  run->last_taken = open;
  ret->id = open->id;
  ret->ok = open->status == LT_OK;
  ret->text = open->is_timer ? LT_STR("null") : lt_buf_view(&open->out);
}

bool lt_run_wait_for(lt_run *run, uint32_t id, lt_outcome *ret) {
  drop_last_taken(run);
  for (;;) {
    pthread_mutex_lock(&run->lock);
    lt_run_open *open = take_ready(run, id);
    bool nothing = open == NULL && run->open_count == 0;
    run->waiting = open != NULL || nothing ? LT_WAIT_NOTHING : id == 0 ? LT_WAIT_ANY : LT_WAIT_ONE;
    run->waiting_id = id;
    pthread_mutex_unlock(&run->lock);
    if (open != NULL) {
      give(run, open, ret);
      return true;
    }
    if (nothing || lt_task_should_stop(&run->task)) {
      return false;
    }
    run->step = LT_STEP_PARK;
    lt_fiber_yield();
  }
}

/* Whether the parked program can go on. Under the lock. */
static bool has_answer(const lt_run *run) {
  for (const lt_run_open *open = run->ready; open != NULL; open = open->next_ready) {
    if (run->waiting == LT_WAIT_ANY || open->id == run->waiting_id) {
      return true;
    }
  }
  return false;
}

void lt_run_parked(lt_run *run) {
  pthread_mutex_lock(&run->lock);
  bool go_on = has_answer(run) || atomic_load(&run->task.stop) != LT_STOP_NOT;
  run->parked = !go_on;
  pthread_mutex_unlock(&run->lock);
  if (go_on) {
    lt_workers_submit(run->workers, &run->task);
  }
}

/* --- On the loop ------------------------------------------------------------------------------ */
/* Wakes the program if this is what it waits for. */
static void mark_ready(lt_run *run, lt_run_open *open) {
  pthread_mutex_lock(&run->lock);
  open->done = true;
  open->next_ready = NULL;
  *run->last_ready = open;
  run->last_ready = &open->next_ready;
  bool wake = run->parked && has_answer(run);
  run->parked = run->parked && !wake;
  pthread_mutex_unlock(&run->lock);
  if (wake) {
    lt_workers_submit(run->workers, &run->task);
  }
}

static void keep_record(lt_run *run, lt_run_open *open) {
  lt_run_call *record = &open->record;
  lt_str text = lt_buf_view(&open->out);
  record->finished = open->status == LT_OK || run->cancel.why != open->status; /* else cut short by our own end */
  if (open->status != LT_OK) {
    record->error = text;
    return;
  }
  record->result_bytes = text.n;
  if (text.n <= LT_RUN_RECORD_BYTES && run->kept_bytes + text.n <= LT_RUN_RECORDS_MAX_BYTES) {
    record->result = text;
    run->kept_bytes += text.n;
  }
}

/* A call that is not to be made any more, or cannot be. */
static void refuse(lt_run *run, lt_run_open *open, lt_status why, const char *message) {
  open->status = why;
  lt_buf_addc(&open->out, message);
  keep_record(run, open);
  mark_ready(run, open);
}

static void perform_timer(lt_run *run, lt_run_open *open) {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, run->loop);
  lt_cancel_add(&run->cancel, &node, &wait);
  lt_wait_on(&wait, open->ms);
  lt_cancel_remove(&run->cancel, &node);
}

static void perform(lt_run *run, lt_run_open *open) {
  if (open->is_timer) {
    perform_timer(run, open);
  } else {
    lt_invoke_options options = {.cancel = &run->cancel};
    open->status = lt_door_call(run->door, open->record.tool, open->record.input, &options, &open->out, NULL);
    keep_record(run, open);
  }
  run->in_flight--;
  mark_ready(run, open);
}

/* The next queued call, counted as in flight; NULL when there is none or enough are in flight. */
static lt_run_open *take_queued(lt_run *run) {
  lt_run_open *open = run->queued;
  if (open == NULL || run->in_flight >= LT_RUN_OPEN_CALLS_MAX) {
    return NULL;
  }
  run->queued = open->next_queued;
  if (run->queued == NULL) {
    run->last_queued = &run->queued;
  }
  run->in_flight++;
  return open;
}

bool lt_run_perform_queued(lt_run *run) {
  lt_run_open *open = take_queued(run);
  if (open != NULL) {
    perform(run, open);
  }
  return open != NULL;
}

/* A fiber for calls beyond the one that the run's own fiber is busy with. */
static void on_call_fiber(void *arg) {
  lt_run_open *open = arg;
  lt_run *run = open->run;
  perform(run, open);
  while (lt_run_perform_queued(run)) {
  }
  lt_wait_wake(&run->wait, LT_OK);
}

static void start_on_loop(void *arg) {
  lt_run_open *open = arg;
  lt_run *run = open->run;
  if (run->cancel.why != LT_OK) {
    refuse(run, open, run->cancel.why, "the program has ended");
    return;
  }
  *run->last_queued = open;
  run->last_queued = &open->next_queued;
  if (run->idle) {
    run->idle = false;
    lt_wait_wake(&run->wait, LT_OK);
    return;
  }
  open = take_queued(run);
  if (open != NULL && lt_loop_spawn(run->loop, on_call_fiber, open, NULL) != LT_OK) {
    run->in_flight--;
    refuse(run, open, LT_E_NOMEM, "no memory for another tool call");
  }
}

void lt_run_drop_queued(lt_run *run) {
  while (run->queued != NULL) {
    lt_run_open *open = run->queued;
    run->queued = open->next_queued;
    refuse(run, open, LT_E_CANCELLED, "the program has ended");
  }
  run->last_queued = &run->queued;
}

void lt_run_stop(lt_run *run, lt_stop why) {
  lt_task_stop(&run->task, why);
  lt_cancel_fire(&run->cancel, why == LT_STOP_TIMEOUT ? LT_E_TIMEOUT : LT_E_CANCELLED);
  lt_run_drop_queued(run);
  pthread_mutex_lock(&run->lock);
  bool wake = run->parked;
  run->parked = false;
  pthread_mutex_unlock(&run->lock);
  if (wake) {
    lt_workers_submit(run->workers, &run->task);
  }
}

const lt_run_call *lt_run_link_calls(lt_run_open *calls) {
  const lt_run_call *first = NULL;
  const lt_run_call **last = &first;
  for (lt_run_open *open = calls; open != NULL; open = open->next_call) {
    if (!open->is_timer) {
      *last = &open->record;
      last = &open->record.next;
    }
  }
  return first;
}

void lt_run_calls_release(lt_run_open *calls) {
  while (calls != NULL) {
    lt_run_open *open = calls;
    calls = open->next_call;
    char *request = NULL;
    memcpy(&request, &open->record.tool.p, sizeof request); /* our own allocation, shown to others as const */
    lt_mem_free(request);
    lt_buf_release(&open->out);
    lt_mem_free(open);
  }
}
