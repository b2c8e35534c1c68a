/* Calls of tools and functions that a program makes: opened on the worker, carried out on the loop, waited for on the
 * worker. */
#include "base/mem.h"
#include "json/json.h"
#include "runner/quickjs/tape.h"

static lt_run_tool_call *call_of(lt_run_open *open) {
  return (lt_run_tool_call *)(void *)open;
}

/* --- On the worker ------------------------------------------------------------------------------------------------ */
void lt_run_add_open(lt_run *run, lt_run_open *open, void (*start)(void *arg)) {
  open->run = run;
  open->id = ++run->last_id * 2 - open->is_timer;
  open->post = (lt_post){.fn = start, .arg = open};
  open->here = true;
  open->place = LT_TAPE_NOWHERE;
  pthread_mutex_lock(&run->lock);
  run->open_count++;
  run->ticking_count += open->is_timer;
  pthread_mutex_unlock(&run->lock);
  lt_loop_post(run->loop, &open->post);
}

void lt_run_add_known(lt_run *run, lt_run_open *open, bool done, uint32_t place) {
  uint32_t id = ++run->last_id * 2 - open->is_timer;
  if (open->run == NULL) { /* else the loop has it, and may look at it */
    open->run = run;
    open->id = id;
  }
  pthread_mutex_lock(&run->lock);
  open->here = true;
  open->done |= done;
  open->place = done ? place : open->place;
  run->open_count++;
  run->ticking_count += open->is_timer && !open->done;
  if (open->done) {
    lt_run_list(run, open);
  }
  pthread_mutex_unlock(&run->lock);
}

/* Frees a text of our own that is shown to others as const. */
static void free_text(lt_str *text) {
  char *bytes = NULL;
  memcpy(&bytes, &text->p, sizeof bytes);
  lt_mem_free(bytes);
  *text = LT_STR_NULL;
}

static void call_free(lt_run_tool_call *call) {
  if (call != NULL) {
    free_text(&call->record.tool);
    free_text(&call->record.input);
    lt_buf_release(&call->out);
    lt_mem_free(call);
  }
}

static bool copy_text(lt_str text, lt_str *ret) {
  char *bytes = lt_mem_strdup(text);
  *ret = lt_str_from(bytes, text.n);
  return bytes != NULL;
}

lt_run_tool_call *lt_run_tool_call_new(lt_str tool, lt_str input) {
  lt_run_tool_call *call = lt_mem_zalloc(1, sizeof *call);
  if (call == NULL) {
    return NULL;
  }
  lt_buf_init(&call->out, LT_JSON_MAX_BYTES);
  if (!copy_text(tool, &call->record.tool) || !copy_text(input, &call->record.input)) {
    call_free(call);
    return NULL;
  }
  call->record.input_bytes = input.n;
  return call;
}

/* A string costs the program its bytes once, however many calls it is given to; here every call has a copy. */
bool lt_run_hold(lt_run *run, size_t bytes) {
  pthread_mutex_lock(&run->lock);
  bool fits = bytes <= LT_RUN_HELD_MAX_BYTES - run->held_bytes;
  run->held_bytes += fits ? bytes : 0;
  pthread_mutex_unlock(&run->lock);
  return fits;
}

void lt_run_let_go(lt_run *run, size_t bytes) {
  pthread_mutex_lock(&run->lock);
  run->held_bytes -= bytes;
  pthread_mutex_unlock(&run->lock);
}

static uint32_t say_no(lt_run *run, lt_outcome *ret, const char *what, unsigned long count, const char *unit) {
  lt_buf_clear(&run->reply);
  lt_buf_printf(&run->reply, "%s %lu %s", what, count, unit);
  ret->text = lt_buf_view(&run->reply);
  return 0;
}

void lt_run_link_call(lt_run *run, lt_run_tool_call *call) {
  *run->last_call = call;
  run->last_call = &call->next;
}

lt_run_tool_call *lt_run_make_call(lt_run *run, lt_str tool, lt_str input, lt_outcome *ret) {
  if (!lt_run_hold(run, input.n)) {
    say_no(run, ret, "too much at once: the inputs and answers of open tool calls may have",
           LT_RUN_HELD_MAX_BYTES / LT_MIB, "MiB together; wait for some before starting more");
    return NULL;
  }
  lt_run_tool_call *call = lt_run_tool_call_new(tool, input);
  if (call == NULL) {
    lt_run_let_go(run, input.n);
    ret->text = LT_STR("no memory for another tool call");
  }
  return call;
}

static uint32_t open_call(lt_run *run, lt_str tool, const lt_run_function *function, lt_str input, lt_outcome *ret) {
  if (run->call_count >= LT_RUN_CALLS_MAX) {
    return say_no(run, ret, "too many tool calls: a program may make", LT_RUN_CALLS_MAX, "of them");
  }
  if (run->tape != NULL) {
    return lt_run_open_again(run, tool, function, input, ret);
  }
  lt_run_tool_call *call = lt_run_make_call(run, tool, input, ret);
  if (call == NULL) {
    return 0;
  }
  call->function = function;
  run->call_count++;
  lt_run_link_call(run, call);
  lt_run_add_open(run, &call->open, lt_run_start_call);
  return call->open.id;
}

uint32_t lt_run_open_call(lt_run *run, lt_str tool, lt_str input, lt_outcome *ret) {
  return open_call(run, tool, NULL, input, ret);
}

/* The prelude asks for what is bound and gives an array; a guest gone mad need not, nor one with an
 * Array.prototype.toJSON of its own. */
uint32_t lt_run_open_function(lt_run *run, uint32_t index, lt_str args, lt_outcome *ret) {
  if (index >= run->request->function_count || !lt_str_starts(args, LT_STR("[")) ||
      lt_json_check(args, NULL) != LT_OK) {
    ret->text = LT_STR("a function of the host takes arguments that JSON can hold");
    return 0;
  }
  const lt_run_function *function = &run->request->functions[index];
  return open_call(run, function->name, function, args, ret);
}

/* Out of the list of what is done. Under the lock. */
static void unlink_ready(lt_run *run, lt_run_open **place) {
  lt_run_open *open = *place;
  *place = open->next_ready;
  if (*place == NULL) {
    run->last_ready = place;
  }
  run->open_count--;
  run->ready_count--;
}

bool lt_run_drop_open(lt_run *run, lt_run_open *open) {
  pthread_mutex_lock(&run->lock);
  lt_run_open **place = &run->ready;
  while (*place != NULL && *place != open) {
    place = &(*place)->next_ready;
  }
  bool was_ready = *place != NULL;
  if (run->tape != NULL) {
    lt_tape_dropped(run->tape, lt_tape_place(run->tape, open->id));
  }
  if (was_ready) {
    unlink_ready(run, place);
  } else {
    open->dropped = true;
    run->open_count--;
    run->ticking_count -= open->is_timer;
  }
  pthread_mutex_unlock(&run->lock);
  return was_ready;
}

/* What is done and answers what is waited for; NULL when there is none. Under the lock. */
static lt_run_open *take_ready(lt_run *run, uint32_t id) {
  for (lt_run_open **place = &run->ready; *place != NULL; place = &(*place)->next_ready) {
    lt_run_open *open = *place;
    if (id == 0 || open->id == id) {
      unlink_ready(run, place);
      if (run->tape != NULL) {
        lt_tape_taken(run->tape, open->place);
      }
      return open;
    }
  }
  return NULL;
}

/* Outcomes too large to be kept go when the program has read them. */
static void drop_last_taken(lt_run *run) {
  lt_run_tool_call *call = run->last_taken;
  if (call != NULL && !call->kept && (run->tape == NULL || !run->tape->drops)) {
    lt_run_let_go(run, call->out.n);
    lt_buf_release(&call->out);
  }
  run->last_taken = NULL;
}

static void give(lt_run *run, lt_run_open *open, lt_outcome *ret) {
  ret->id = open->id;
  if (open->is_timer) {
    ret->ok = true;
    ret->text = LT_STR("null");
    lt_run_timer_taken(run, open);
    return;
  }
  lt_run_tool_call *call = call_of(open);
  run->last_taken = call;
  ret->ok = call->status == LT_OK;
  ret->text = lt_buf_view(&call->out);
}

bool lt_run_wait_for(lt_run *run, uint32_t id, lt_outcome *ret) {
  drop_last_taken(run);
  for (;;) {
    if (lt_workers_task_should_stop(
            &run->task)) { /* also where there is an answer: whoever is stopped does not go on */
      return false;
    }
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
    if (nothing) {
      return false;
    }
    if (run->tape != NULL && run->tape->drops) {
      run->tape->dropping = true; /* it ends at its next poll */
      return false;
    }
    run->step = LT_STEP_PARK;
    lt_fiber_yield();
  }
}

static bool is_waited_for(const lt_run *run, const lt_run_open *open) {
  return run->waiting == LT_WAIT_ANY || (run->waiting == LT_WAIT_ONE && open->id == run->waiting_id);
}

/* Whether the parked program can go on. Under the lock. */
static bool has_answer(const lt_run *run) {
  const lt_run_open *open = run->ready;
  while (open != NULL && !is_waited_for(run, open)) {
    open = open->next_ready;
  }
  return open != NULL;
}

void lt_run_parked(lt_run *run) {
  pthread_mutex_lock(&run->lock);
  bool go_on = has_answer(run) || atomic_load(&run->task.stop) != LT_STOP_NOT;
  run->parked = !go_on;
  lt_run_timers_catch_up(run);
  lt_run_set_clock(run); /* it may begin to stand; it stood only while the program was parked */
  pthread_mutex_unlock(&run->lock);
  if (go_on) {
    lt_run_submit(run);
  }
}

/* --- On the loop -------------------------------------------------------------------------------------------------- */
/* What is last; something is there. */
static const lt_run_open *last_ready(const lt_run *run) {
  return (const lt_run_open *)(const void *)((const char *)run->last_ready - offsetof(lt_run_open, next_ready));
}

/* What has no place goes last, and so does most of what has one. */
void lt_run_list(lt_run *run, lt_run_open *open) {
  lt_run_open **place = run->last_ready;
  if (open->place != LT_TAPE_NOWHERE && run->ready != NULL && last_ready(run)->place > open->place) {
    place = &run->ready;
    while (*place != NULL && (*place)->place < open->place) {
      place = &(*place)->next_ready;
    }
  }
  open->next_ready = *place;
  *place = open;
  if (open->next_ready == NULL) {
    run->last_ready = &open->next_ready;
  }
  run->ready_count++;
}

/* Onto the tape, before the program can take it. */
static void record_done(lt_run *run, lt_run_open *open) {
  const lt_run_tool_call *call = open->is_timer ? NULL : call_of(open);
  pthread_mutex_lock(&run->lock);
  open->place = open->dropped ? LT_TAPE_NOWHERE : lt_tape_append(run, open->id);
  pthread_mutex_unlock(&run->lock);
  lt_tape_note_ready(run, open->place, call != NULL ? call->status : LT_OK,
                     call != NULL ? lt_buf_view(&call->out) : LT_STR_NULL);
}

/* A program that is begun again has not opened it yet, perhaps: then it is there when it does. */
static bool list_done(lt_run *run, lt_run_open *open) {
  open->done = true;
  if (open->here) {
    run->ticking_count -= open->is_timer;
    lt_run_list(run, open);
  }
  return open->here;
}

/* Wakes the program if this is what it waits for. */
void lt_run_ready(lt_run *run, lt_run_open *open) {
  bool wake = false, moved = false;
  if (run->tape != NULL) {
    record_done(run, open);
  }
  pthread_mutex_lock(&run->lock);
  if (!open->dropped && list_done(run, open)) {
    wake = run->parked && is_waited_for(run, open);
    run->parked = run->parked && !wake;
    moved = lt_run_set_clock(run);
  }
  pthread_mutex_unlock(&run->lock);
  if (moved) {
    lt_run_follow_clock(run);
  }
  if (wake) {
    lt_run_submit(run);
  }
}

static bool keep(lt_run *run, size_t bytes) {
  bool fits = bytes <= LT_RUN_RECORD_BYTES && bytes <= LT_RUN_RECORDS_MAX_BYTES - run->kept_bytes;
  run->kept_bytes += fits ? bytes : 0;
  return fits;
}

/* The report has no calls of functions. */
static void keep_input(lt_run *run, lt_run_tool_call *call) {
  lt_run_let_go(run, call->record.input_bytes);
  if (call->function != NULL || !keep(run, call->record.input_bytes)) {
    free_text(&call->record.input);
  }
}

/* Fails a call whose answer has no room; its message is short. */
static void keep_outcome(lt_run *run, lt_run_tool_call *call) {
  lt_run_call *record = &call->record;
  record->result_bytes = call->out.n;
  call->kept = call->function == NULL && keep(run, call->out.n);
  if (!call->kept && !lt_run_hold(run, call->out.n)) {
    call->status = LT_E_LIMIT;
    lt_buf_release(&call->out);
    lt_buf_printf(&call->out, "the inputs and answers of open tool calls have more than %lu MiB together",
                  LT_RUN_HELD_MAX_BYTES / LT_MIB);
    call->kept = true;
  }
  lt_str text = lt_buf_view(&call->out);
  if (call->status == LT_OK) {
    record->result = call->kept ? text : LT_STR_NULL;
  } else {
    record->error = call->kept ? text : LT_STR("the tool failed with a message that was too long to keep");
  }
}

/* What ended because the program did has no outcome. */
static bool was_cut_short(const lt_run *run, lt_status status) {
  return run->cancel.why != LT_OK && status != LT_OK && status != LT_E_TOOL;
}

static void finish(lt_run *run, lt_run_tool_call *call) {
  if (call->preset) {
    lt_run_let_go(run, call->record.input_bytes);
    lt_run_ready(run, &call->open);
    return;
  }
  call->record.finished = !was_cut_short(run, call->status);
  keep_input(run, call);
  keep_outcome(run, call);
  lt_run_ready(run, &call->open);
}

/* A call that is not to be made any more, or cannot be. */
static void refuse(lt_run *run, lt_run_tool_call *call, lt_status why, const char *message) {
  call->status = why;
  lt_buf_addc(&call->out, message);
  finish(run, call);
}

typedef struct json_check {
  lt_str text;
  bool ok;
} json_check;

static void check_json(void *arg) {
  json_check *check = arg;
  check->ok = lt_json_check(check->text, NULL) == LT_OK;
}

/* What a function gave is JSON, or nothing: checked here, since an engine could not tell it from what has no room. */
static lt_status check_answer(lt_run *run, lt_run_tool_call *call, lt_err *err) LT_YIELDS {
  json_check check = {.text = lt_buf_view(&call->out), .ok = true};
  if (call->out.status != LT_OK) {
    return lt_fail(err, call->out.status, "%.*s(): the answer is too long", LT_STR_ARG(call->function->name));
  }
  if (check.text.n > LT_CALL_INLINE_BYTES) {
    LT_TRY(lt_loop_offload(run->loop, check_json, &check, err));
  } else if (check.text.n > 0) {
    check_json(&check);
  }
  return check.ok ? LT_OK
                  : lt_fail(err, LT_E_INTERNAL, "%.*s(): the answer is not JSON", LT_STR_ARG(call->function->name));
}

/* Afterwards `out` has the value, or a message that is not empty. */
static lt_status call_function(lt_run *run, lt_run_tool_call *call, const lt_invoke_options *options) LT_YIELDS {
  const lt_run_function *function = call->function;
  lt_err err = LT_ERR_INIT;
  lt_status status = function->call(function->arg, call->record.input, options, &call->out, &err);
  bool said = status != LT_OK && call->out.status == LT_OK && call->out.n > 0;
  status = status == LT_OK ? check_answer(run, call, &err) : status;
  if (status != LT_OK && !said) {
    lt_buf_clear(&call->out);
    lt_buf_addc(&call->out, lt_err_msg(&err)[0] != '\0' ? lt_err_msg(&err) : lt_status_text(status));
  }
  return status;
}

/* Without secrets, as what the door gives where runs are noted. */
static void mask_answer(lt_run *run, lt_run_tool_call *call, lt_status status) {
  const lt_secrets *secrets = lt_door_secrets(run->door);
  if (lt_secrets_in(secrets, lt_buf_view(&call->out))) {
    lt_buf masked;
    lt_buf_init(&masked, LT_JSON_MAX_BYTES);
    (status == LT_OK ? lt_secrets_mask_json : lt_secrets_mask)(secrets, lt_buf_view(&call->out), &masked);
    lt_buf_release(&call->out);
    call->out = masked;
  }
}

/* As the door records tools, so that a program that is run again gets the same. */
static lt_status call_recorded(lt_run *run, lt_run_tool_call *call, const lt_invoke_options *options) LT_YIELDS {
  lt_journal *journal = run->tape->journal;
  const lt_caller *caller = options->caller;
  const lt_journal_call what = {
      .user = caller->user,
      .run = caller->run,
      .seq = options->seq,
      .hash = call->hash,
      .tool = call->function->name,
      .input = lt_secrets_in(lt_door_secrets(run->door), call->record.input) ? LT_STR("[]") : call->record.input,
      .repeatable = call->function->repeatable,
  };
  int64_t id;
  lt_err err = LT_ERR_INIT;
  lt_status status = journal->begin(journal, &what, &id, &err);
  if (status != LT_OK) {
    lt_buf_addc(&call->out, lt_err_msg(&err));
    return status;
  }
  status = call_function(run, call, options);
  mask_answer(run, call, status);
  (void)journal->finish(journal, id, status, lt_buf_view(&call->out), NULL);
  return status;
}

/* What was under way when the process ended, and must not be done twice. */
static lt_status say_interrupted(lt_run *run, lt_run_tool_call *call) LT_YIELDS {
  lt_journal *journal = run->tape->journal;
  lt_buf_addc(&call->out, LT_JOURNAL_INTERRUPTED);
  (void)journal->finish(journal, call->interrupted, LT_E_INTERRUPTED, LT_STR(LT_JOURNAL_INTERRUPTED), NULL);
  return LT_E_INTERRUPTED;
}

static lt_status carry_out(lt_run *run, lt_run_tool_call *call) LT_YIELDS {
  const lt_invoke_options options = {.cancel = &run->cancel,
                                     .caller = run->request->caller,
                                     .seq = call->open.id / 2,
                                     .on_approval = lt_run_on_approval,
                                     .arg = call};
  if (call->preset) {
    return call->status;
  }
  if (call->interrupted != 0) {
    return say_interrupted(run, call);
  }
  if (call->function == NULL) {
    return lt_door_call(run->door, call->record.tool, call->record.input, &options, &call->out, NULL);
  }
  return run->tape != NULL && run->tape->journal != NULL ? call_recorded(run, call, &options)
                                                         : call_function(run, call, &options);
}

static void perform(lt_run *run, lt_run_tool_call *call) LT_YIELDS {
  call->status = carry_out(run, call);
  if (call->asking > 0) { /* whoever was asked has no say any more */
    call->asking = 1;
    lt_run_on_approval(call, false);
  }
  bool stopped = run->finished || atomic_load(&run->task.stop) != LT_STOP_NOT;
  if (run->cancel.why != LT_OK && !stopped) { /* before the program could go on with what its cancel has done */
    lt_run_stop(run, LT_STOP_CANCEL);
  }
  run->in_flight--;
  finish(run, call);
}

/* The next queued call, counted as in flight; NULL when there is none or enough are in flight. */
static lt_run_tool_call *take_queued(lt_run *run) {
  lt_run_tool_call *call = run->queued;
  if (call == NULL || run->in_flight >= LT_RUN_OPEN_CALLS_MAX) {
    return NULL;
  }
  run->queued = call->next_queued;
  if (run->queued == NULL) {
    run->last_queued = &run->queued;
  }
  run->in_flight++;
  return call;
}

bool lt_run_perform_queued(lt_run *run) {
  lt_run_tool_call *call = run->own != NULL ? run->own : take_queued(run);
  run->own = NULL;
  if (call != NULL) {
    perform(run, call);
  }
  return call != NULL;
}

/* A fiber for calls beyond the one that the run's own fiber is busy with. */
static void on_call_fiber(void *arg) {
  lt_run_tool_call *call = arg;
  lt_run *run = call->open.run;
  perform(run, call);
  while (lt_run_perform_queued(run)) {
  }
  lt_wait_wake(&run->wait, LT_OK);
}

void lt_run_start_call(void *arg) {
  lt_run_tool_call *call = arg;
  lt_run *run = call->open.run;
  if (run->cancel.why != LT_OK) {
    refuse(run, call, run->cancel.why, "the program has ended");
    return;
  }
  *run->last_queued = call;
  run->last_queued = &call->next_queued;
  if (run->idle) {
    run->idle = false;
    run->own = take_queued(run);
    lt_wait_wake(&run->wait, LT_OK);
    return;
  }
  call = take_queued(run);
  if (call != NULL && lt_loop_spawn(run->loop, on_call_fiber, call, NULL) != LT_OK) {
    run->in_flight--;
    refuse(run, call, LT_E_NOMEM, "no memory for another tool call");
  }
}

void lt_run_drop_queued(lt_run *run, lt_status why, const char *message) {
  if (run->own != NULL) {
    lt_run_tool_call *own = run->own;
    run->own = NULL;
    run->in_flight--;
    refuse(run, own, why, message);
  }
  while (run->queued != NULL) {
    lt_run_tool_call *call = run->queued;
    run->queued = call->next_queued;
    refuse(run, call, why, message);
  }
  run->last_queued = &run->queued;
}

void lt_run_stop(lt_run *run, lt_stop why) {
  lt_workers_task_stop(&run->task, why);
  lt_cancel_fire(&run->cancel, why == LT_STOP_TIMEOUT ? LT_E_TIMEOUT : LT_E_CANCELLED);
  lt_run_drop_queued(run, run->cancel.why, "the program has ended");
  pthread_mutex_lock(&run->lock);
  bool wake = run->parked;
  run->parked = false;
  bool moved = lt_run_set_clock(run);
  pthread_mutex_unlock(&run->lock);
  if (moved) {
    lt_run_follow_clock(run);
  }
  if (wake) {
    lt_run_submit(run);
  }
}

const lt_run_call *lt_run_tool_call_link(lt_run_tool_call *calls) {
  const lt_run_call *first = NULL;
  const lt_run_call **last = &first;
  for (lt_run_tool_call *call = calls; call != NULL; call = call->next) {
    if (call->function == NULL) {
      *last = &call->record;
      last = &call->record.next;
    }
  }
  return first;
}

void lt_run_tool_call_free_all(lt_run_tool_call *calls) {
  while (calls != NULL) {
    lt_run_tool_call *call = calls;
    calls = call->next;
    call_free(call);
  }
}
