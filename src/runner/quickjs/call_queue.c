#include "runner/quickjs/call_queue.h"

#include "json/json.h"
#include "runner/quickjs/run.h"

void lt_call_queue_init(lt_call_queue *queue) {
  *queue = (lt_call_queue){.last = &queue->first};
}

/* --- Functions of the host ---------------------------------------------------------------------------------------- */
typedef struct answer_check {
  lt_str text;
  bool is_json;
} answer_check;

static void on_answer_check(void *arg) {
  answer_check *check = arg;
  check->is_json = lt_json_check(check->text, NULL) == LT_OK;
}

/* Checks that a function's value is JSON or empty: the engine cannot distinguish invalid JSON from a lack of memory. */
static lt_status queue_check_answer(lt_run *run, lt_run_tool_call *made, lt_err *err) LT_YIELDS {
  answer_check check = {.text = lt_buf_view(&made->out), .is_json = true};
  lt_str name = made->function->name;
  if (made->out.status != LT_OK) {
    return lt_fail(err, made->out.status, "%.*s(): the answer is too long", LT_STR_ARG(name));
  }
  if (check.text.n > LT_CALL_INLINE_BYTES) {
    LT_TRY(lt_loop_offload(run->loop, on_answer_check, &check, err));
  } else if (check.text.n > 0) {
    on_answer_check(&check);
  }
  if (!check.is_json) {
    return lt_fail(err, LT_E_INTERNAL, "%.*s(): the answer is not JSON", LT_STR_ARG(name));
  }
  return LT_OK;
}

/* Afterwards `out` has the value, or a message that is not empty. */
static lt_status queue_call_function(lt_run *run, lt_run_tool_call *made, const lt_invoke_options *options) LT_YIELDS {
  const lt_run_function *function = made->function;
  LT_ERR_VAR(err);
  bool has_gone = lt_lane_go_home(run->loop);
  lt_status status = function->call(function->arg, made->record.input, options, &made->out, &err);
  lt_lane_go_back(run->loop, has_gone);
  bool has_message = status != LT_OK && made->out.status == LT_OK && made->out.n > 0;
  if (status == LT_OK) {
    status = queue_check_answer(run, made, &err);
  }
  if (status != LT_OK && !has_message) {
    lt_buf_clear(&made->out);
    lt_buf_addc(&made->out, lt_err_msg(&err)[0] != '\0' ? lt_err_msg(&err) : lt_status_text(status));
  }
  return status;
}

/* As the door does for recorded runs: a program that runs again gets the record, which has no secrets. */
static void queue_mask_answer(lt_run *run, lt_run_tool_call *made, lt_status status) {
  (status == LT_OK ? lt_secrets_mask_json_buf : lt_secrets_mask_buf)(lt_door_secrets(run->door), &made->out);
}

/* Records the call as the door records tool calls, so that a repeated program gets the same answer. */
static lt_status queue_call_recorded(lt_run *run, lt_program_call *call, const lt_invoke_options *options) LT_YIELDS {
  lt_journal *journal = run->tape.journal;
  lt_run_tool_call *made = &call->made;
  if (journal == NULL) {
    return queue_call_function(run, made, options);
  }
  const lt_journal_call what = {
      .user = options->caller->user,
      .run = options->caller->run,
      .seq = options->seq,
      .hash = call->hash,
      .tool = made->function->name,
      .input = made->record.input,
      .repeatable = made->function->repeatable,
  };
  int64_t id;
  LT_ERR_VAR(err);
  lt_status status = journal->begin(journal, &what, &id, &err);
  if (status != LT_OK) {
    lt_buf_addc(&made->out, lt_err_msg(&err));
    return status;
  }
  status = queue_call_function(run, made, options);
  queue_mask_answer(run, made, status);
  (void)journal->finish(journal, id, status, lt_buf_view(&made->out), NULL);
  return status;
}

/* --- Carrying out ------------------------------------------------------------------------------------------------- */
/* A call that was under way when the process ended and is not repeatable. */
static lt_status queue_say_interrupted(lt_run *run, lt_run_tool_call *made) LT_YIELDS {
  lt_journal *journal = run->tape.journal;
  lt_buf_addc(&made->out, LT_JOURNAL_INTERRUPTED);
  (void)journal->finish(journal, made->interrupted, LT_E_INTERRUPTED, LT_STR(LT_JOURNAL_INTERRUPTED), NULL);
  return LT_E_INTERRUPTED;
}

/* lt_invoke_options.on_approval of a call. */
static void on_call_approval(void *arg, bool is_waiting) {
  lt_program_call *call = arg;
  bool was_waiting = call->made.asking > 0;
  call->made.asking += is_waiting ? 1 : was_waiting ? -1u : 0;
  if (was_waiting != (call->made.asking > 0)) {
    lt_run_clock_ask(call->open.run, is_waiting);
  }
}

/* A cell gets the whole answer of a server, and a plugin's value. */
static bool queue_wants_whole(const lt_run *run, const lt_run_tool_call *made) {
  const lt_tool *tool = run->request->is_cell ? lt_catalog_find(run->catalog, made->record.tool) : NULL;
  return tool != NULL && !tool->of_plugin;
}

static lt_status queue_carry_out(lt_run *run, lt_program_call *call) LT_YIELDS {
  lt_run_tool_call *made = &call->made;
  const lt_invoke_options options = {.cancel = &run->cancel,
                                     .caller = run->request->caller,
                                     .seq = made->seq,
                                     .is_object = made->is_object,
                                     .wants_whole = queue_wants_whole(run, made),
                                     .on_approval = on_call_approval,
                                     .arg = call};
  if (made->is_recalled) {
    return made->status;
  }
  if (made->interrupted != 0) {
    return queue_say_interrupted(run, made);
  }
  return made->function != NULL
             ? queue_call_recorded(run, call, &options)
             : lt_door_call(run->door, made->record.tool, made->record.input, &options, &made->out, NULL);
}

static void queue_perform(lt_run *run, lt_program_call *call) LT_YIELDS {
  call->made.status = queue_carry_out(run, call);
  if (call->made.asking > 0) { /* its open questions have no effect any more */
    call->made.asking = 1;
    on_call_approval(call, false);
  }
  bool is_stopped = run->is_finished || atomic_load(&run->task.stop) != LT_STOP_NOT;
  if (run->cancel.why != LT_OK && !is_stopped) { /* the program must not continue after its call was cancelled */
    lt_call_queue_stop_run(run, LT_STOP_CANCEL);
  }
  run->queue.in_flight--;
  lt_program_call_end(run, call);
}

/* Fails a call without making it. */
static void queue_refuse(lt_run *run, lt_program_call *call, lt_status why, const char *message) {
  call->made.status = why;
  lt_buf_addc(&call->made.out, message);
  lt_program_call_end(run, call);
}

/* --- The queue ---------------------------------------------------------------------------------------------------- */
bool lt_call_queue_has_waiting(const lt_call_queue *queue) {
  return queue->first != NULL || queue->woken != NULL;
}

/* Takes the next queued call and counts it as in flight; NULL: none, or too many are in flight. */
static lt_program_call *queue_take(lt_call_queue *queue) {
  lt_program_call *call = queue->first;
  if (call == NULL || queue->in_flight >= LT_RUN_OPEN_CALLS_MAX) {
    return NULL;
  }
  queue->first = call->next_queued;
  if (queue->first == NULL) {
    queue->last = &queue->first;
  }
  queue->in_flight++;
  return call;
}

bool lt_call_queue_perform(lt_run *run) {
  lt_program_call *call = run->queue.woken != NULL ? run->queue.woken : queue_take(&run->queue);
  run->queue.woken = NULL;
  if (call != NULL) {
    queue_perform(run, call);
  }
  return call != NULL;
}

/* A fiber for further calls while the run's own fiber is busy with one. */
static void on_call_fiber(void *arg) {
  lt_program_call *call = arg;
  lt_run *run = call->open.run;
  queue_perform(run, call);
  while (lt_call_queue_perform(run)) {
  }
  lt_wait_wake(&run->wait, LT_OK);
}

void lt_call_queue_start(void *open) {
  lt_program_call *call = lt_program_call_of(open);
  lt_run *run = call->open.run;
  lt_call_queue *queue = &run->queue;
  if (run->cancel.why != LT_OK) {
    queue_refuse(run, call, run->cancel.why, "the program has ended");
    return;
  }
  *queue->last = call;
  queue->last = &call->next_queued;
  if (queue->is_idle) {
    queue->is_idle = false;
    queue->woken = queue_take(queue);
    lt_wait_wake(&run->wait, LT_OK);
    return;
  }
  call = queue_take(queue);
  if (call != NULL && lt_lane_spawn(run->lane, on_call_fiber, call, NULL) != LT_OK) {
    queue->in_flight--;
    queue_refuse(run, call, LT_E_NOMEM, "no memory for another tool call");
  }
}

void lt_call_queue_drop(lt_run *run, lt_status why, const char *message) {
  lt_call_queue *queue = &run->queue;
  if (queue->woken != NULL) {
    lt_program_call *woken = queue->woken;
    queue->woken = NULL;
    queue->in_flight--;
    queue_refuse(run, woken, why, message);
  }
  while (queue->first != NULL) {
    lt_program_call *call = queue->first;
    queue->first = call->next_queued;
    queue_refuse(run, call, why, message);
  }
  queue->last = &queue->first;
}

void lt_call_queue_stop_run(lt_run *run, lt_stop why) {
  lt_workers_task_stop(&run->task, why);
  lt_cancel_fire(&run->cancel, why == LT_STOP_TIMEOUT ? LT_E_TIMEOUT : LT_E_CANCELLED);
  lt_call_queue_drop(run, run->cancel.why, "the program has ended");
  pthread_mutex_lock(&run->lock);
  bool wakes = run->opens.is_parked || lt_run_box_forget(run);
  run->opens.is_parked = false;
  bool has_moved = lt_run_clock_update(run);
  pthread_mutex_unlock(&run->lock);
  if (has_moved) {
    lt_run_clock_follow(run);
  }
  if (wakes) {
    lt_run_rests_wake(run);
    lt_run_box_resume(run);
  }
}
