#include "runner/quickjs/tape.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "base/mem.h"
#include "base/utf8.h"

static uint64_t real_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Of the real clock, which may be set back. */
uint64_t lt_tape_elapsed_us(const lt_tape *tape) {
  uint64_t now = real_us();
  return now > tape->origin_us ? now - tape->origin_us : 0;
}

/* --- Noting ------------------------------------------------------------------------------------------------------- */
/* A note that could not be written is missed when the run is run again: it goes another way then, and is stopped. Its
 * end is the truth all the same. */
static void note(lt_run *run, const lt_note *what) {
  lt_tape *tape = run->tape;
  if (tape->journal != NULL && (!atomic_load(&tape->unusable) || what->kind == LT_NOTE_END)) {
    tape->journal->note(tape->journal, run->request->caller->run, what, NULL, NULL);
  }
}

/* A note made on the worker, on its way to the loop: before everything that the program does afterwards. */
typedef struct posted_note {
  lt_post post;
  lt_run *run;
  lt_note note;
} posted_note;

static void on_note_post(void *arg) {
  posted_note *p = arg;
  note(p->run, &p->note);
  lt_mem_free(p);
}

static void post_note(lt_run *run, const lt_note *what) {
  if (run->tape->journal == NULL) {
    return;
  }
  posted_note *p = lt_mem_alloc(sizeof *p + what->text.n);
  if (p == NULL) {
    atomic_store(&run->tape->unusable, true);
    return;
  }
  char *bytes = (char *)(p + 1);
  memcpy(bytes, what->text.n > 0 ? what->text.p : "", what->text.n);
  *p = (posted_note){.run = run, .note = *what};
  p->note.text = lt_str_from(bytes, what->text.n);
  p->post = (lt_post){.fn = on_note_post, .arg = p};
  lt_loop_post(run->loop, &p->post);
}

/* --- The order of what was there ---------------------------------------------------------------------------------- */
static bool grow(void *array, size_t *room, size_t wanted, size_t each) {
  if (wanted <= *room) {
    return true;
  }
  size_t more = wanted < 16 ? 16 : 2 * wanted;
  void *old;
  memcpy(&old, array, sizeof old);
  void *bigger = lt_mem_realloc(old, more * each);
  if (bigger == NULL) {
    return false;
  }
  memcpy(array, &bigger, sizeof bigger);
  *room = more;
  return true;
}

static bool set_place(lt_tape *tape, uint32_t id, uint32_t place) {
  size_t before = tape->places_room;
  if (!grow(&tape->places, &tape->places_room, (size_t)id + 1, sizeof *tape->places)) {
    return false;
  }
  for (size_t i = before; i < tape->places_room; i++) {
    tape->places[i] = LT_TAPE_NOWHERE;
  }
  tape->places[id] = place;
  return true;
}

uint32_t lt_tape_place(const lt_tape *tape, uint32_t id) {
  return id < tape->places_room ? tape->places[id] : LT_TAPE_NOWHERE;
}

static uint32_t append(lt_tape *tape, const lt_tape_ready *ready) {
  uint32_t place = (uint32_t)tape->ready_count;
  if (tape->ready_count >= LT_TAPE_READY_MAX || ready->id > 2 * (LT_RUN_CALLS_MAX + LT_TAPE_READY_MAX) ||
      !grow(&tape->ready, &tape->ready_room, tape->ready_count + 1, sizeof *tape->ready) ||
      !set_place(tape, ready->id, place)) {
    atomic_store(&tape->unusable, true);
    return LT_TAPE_NOWHERE;
  }
  tape->ready[tape->ready_count++] = *ready;
  return place;
}

uint32_t lt_tape_append(lt_run *run, uint32_t id) {
  uint64_t now = lt_tape_elapsed_us(run->tape);
  const lt_tape *tape = run->tape;
  uint64_t last = tape->ready_count > 0 ? tape->ready[tape->ready_count - 1].time_us : 0;
  return append(run->tape, &(lt_tape_ready){.id = id, .time_us = now > last ? now : last});
}

void lt_tape_note_ready(lt_run *run, uint32_t place, lt_status status, lt_str text) {
  lt_buf failure;
  if (place == LT_TAPE_NOWHERE || run->tape->journal == NULL) {
    return;
  }
  pthread_mutex_lock(&run->lock);
  const lt_tape_ready ready = run->tape->ready[place];
  pthread_mutex_unlock(&run->lock);
  lt_buf_init(&failure, 2 * LT_RUN_ERROR_BYTES);
  if (status != LT_OK) {
    lt_buf_printf(&failure, "%s ", lt_status_name(status));
    lt_buf_add(&failure, lt_str_sub(text, 0, LT_RUN_ERROR_BYTES));
  }
  note(run,
       &(lt_note){.kind = LT_NOTE_READY, .number = ready.id, .time_us = ready.time_us, .text = lt_buf_view(&failure)});
  lt_buf_release(&failure);
}

void lt_tape_dropped(lt_tape *tape, uint32_t place) {
  if (place != LT_TAPE_NOWHERE && !tape->ready[place].gone) {
    tape->ready[place].gone = true;
    tape->to_come -= tape->to_come > 0;
  }
}

static void go_on_to(lt_tape *tape, uint64_t time_us) {
  tape->now_us = time_us > tape->now_us ? time_us : tape->now_us;
  tape->worked_us = 0;
}

void lt_tape_taken(lt_tape *tape, uint32_t place) {
  if (place != LT_TAPE_NOWHERE) {
    lt_tape_dropped(tape, place);
    go_on_to(tape, tape->ready[place].time_us);
  }
}

/* --- The clock ---------------------------------------------------------------------------------------------------- */
uint64_t lt_tape_now_ns(const lt_tape *tape) {
  return (tape->origin_us + tape->now_us) * 1000;
}

static bool add_tick(lt_tape *tape, uint64_t polls, uint64_t time_us) {
  if (!grow(&tape->ticks, &tape->tick_room, tape->tick_count + 1, sizeof *tape->ticks)) {
    atomic_store(&tape->unusable, true);
    return false;
  }
  tape->ticks[tape->tick_count++] = (lt_tape_tick){.polls = polls, .time_us = time_us};
  return true;
}

/* The longer a program runs, the less often. */
static uint64_t step_at(uint64_t time_us) {
  uint64_t step = time_us / 16;
  return step < LT_TAPE_TICK_US ? LT_TAPE_TICK_US : step > LT_TAPE_TICK_MAX_US ? LT_TAPE_TICK_MAX_US : step;
}

/* Whether what is on record comes later: then there was no tick here the first time. */
static bool is_on_record(lt_run *run) {
  lt_tape *tape = run->tape;
  pthread_mutex_lock(&run->lock);
  bool to_come = tape->to_come > 0;
  pthread_mutex_unlock(&run->lock);
  return to_come || tape->next_recorded < tape->record.call_count;
}

/* ... unless it does not come: an answer that nobody takes. By the time that the program has worked, whatever else the
 * machine does; the first time it cannot have been so long. */
static bool has_worked_on(lt_tape *tape) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  uint64_t cpu = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
  uint64_t took = cpu - tape->cpu_us; /* of another thread: anything */
  tape->cpu_us = cpu;
  tape->worked_us += took < LT_TAPE_POLL_US ? took : LT_TAPE_POLL_US;
  return tape->worked_us > LT_TAPE_WORK_US + 4 * step_at(tape->now_us);
}

static void tick(lt_run *run, uint64_t time_us) {
  lt_tape *tape = run->tape;
  if (add_tick(tape, tape->polls, time_us)) {
    tape->next_tick = tape->tick_count;
    go_on_to(tape, time_us);
    post_note(run, &(lt_note){.kind = LT_NOTE_TICK, .number = tape->polls, .time_us = time_us});
  }
}

void lt_tape_poll(lt_run *run) {
  lt_tape *tape = run->tape;
  tape->polls++;
  if (tape->next_tick < tape->tick_count) {
    if (tape->ticks[tape->next_tick].polls == tape->polls) {
      go_on_to(tape, tape->ticks[tape->next_tick++].time_us);
    }
    return;
  }
  if (is_on_record(run) && !has_worked_on(tape)) {
    return;
  }
  uint64_t elapsed = lt_tape_elapsed_us(tape);
  if (elapsed >= tape->now_us + step_at(elapsed)) {
    tick(run, elapsed);
  }
}

/* Somebody has seen it, and is to see the same again: a tick that does not go on. */
void lt_tape_shown(lt_run *run) {
  const lt_tape *tape = run->tape;
  uint64_t last = tape->tick_count > 0 ? tape->ticks[tape->tick_count - 1].polls : 0;
  if (tape->journal != NULL && tape->next_tick == tape->tick_count && tape->polls > last) {
    tick(run, tape->now_us);
  }
}

/* --- Modules ------------------------------------------------------------------------------------------------------ */
bool lt_tape_find_module(const lt_tape *tape, lt_str name, lt_str *ret_source) {
  const lt_record *record = &tape->record;
  for (size_t i = 0; i < record->note_count; i++) {
    lt_str text = record->notes[i].text;
    if (record->notes[i].kind == LT_NOTE_MODULE && text.n > name.n && lt_str_starts(text, name) &&
        text.p[name.n] == '\n') {
      *ret_source = lt_str_sub(text, name.n + 1, text.n);
      return true;
    }
  }
  return false;
}

void lt_tape_note_module(lt_run *run, lt_str name, lt_str source) {
  lt_tape *tape = run->tape;
  lt_buf text;
  if (++tape->modules <= tape->modules_before) {
    return; /* before the program was dropped */
  }
  tape->modules_before++;
  if (lt_secrets_in(lt_door_secrets(run->door), source)) {
    return; /* not stored: the one that is configured then has to do */
  }
  lt_buf_init(&text, 2 * LT_RUN_CODE_MAX_BYTES);
  lt_buf_add(&text, name);
  lt_buf_byte(&text, '\n');
  lt_buf_add(&text, source);
  if (text.status == LT_OK) {
    post_note(run, &(lt_note){.kind = LT_NOTE_MODULE, .text = lt_buf_view(&text)});
  } else {
    atomic_store(&run->tape->unusable, true);
  }
  lt_buf_release(&text);
}

/* --- Another way -------------------------------------------------------------------------------------------------- */
void lt_tape_diverge(lt_run *run, const char *fmt, ...) {
  lt_tape *tape = run->tape;
  va_list args;
  va_start(args, fmt);
  if (tape->fault.n == 0) {
    int n = vsnprintf(tape->fault_text, sizeof tape->fault_text, fmt, args);
    size_t room = sizeof tape->fault_text - 1;
    tape->fault = lt_utf8_cut(lt_str_from(tape->fault_text, (size_t)n < room ? (size_t)n : room), room);
  }
  va_end(args);
}

/* As much of a text as is told. */
#define SHOWN(text) LT_STR_ARG(lt_utf8_cut(text, LT_RECORD_SHOWN_BYTES))

void lt_tape_diverge_call(lt_run *run, uint32_t id, lt_str tool, lt_str input, lt_str old_tool, lt_str old_input) {
  lt_tape_diverge(run, "call %u is %.*s %.*s, and on record it is %.*s %.*s", id / 2, SHOWN(tool), SHOWN(input),
                  SHOWN(old_tool), SHOWN(old_input));
}

void lt_tape_diverge_missing(lt_run *run, const char *what, const lt_recorded_call *call) {
  lt_tape_diverge(run, "%s: call %u, %.*s %.*s", what, (unsigned)call->seq, SHOWN(call->tool), SHOWN(call->input));
}

void lt_tape_check_end(lt_run *run) {
  lt_tape *tape = run->tape;
  if (tape->next_recorded < tape->record.call_count) {
    lt_tape_diverge_missing(run, "it ended without a call that is on record", &tape->record.calls[tape->next_recorded]);
  }
}

/* --- From the beginning ------------------------------------------------------------------------------------------- */
static void forget_values(lt_run *run) {
  lt_tape *tape = run->tape;
  lt_stored_values_free(run->own_values);
  run->own_values = NULL;
  run->values = run->request->values;
  if (run->values != NULL && tape->values.n > 0) {
    (void)lt_stored_values_read(run->values, lt_buf_view(&tape->values), NULL);
  }
}

static void forget_said(lt_run *run) {
  run->output_bytes = run->log_bytes = 0;
  run->result->done = run->result->output_cut = run->result->log_cut = false;
  run->tape->said = run->tape->modules = 0;
}

/* What is under way stays so, and waits for the program to open it again. */
static void forget_opened(lt_run *run) {
  pthread_mutex_lock(&run->lock);
  for (lt_run_tool_call *call = run->calls; call != NULL; call = call->next) {
    call->open.here = false;
  }
  lt_run_timers_forget(run);
  run->ready = NULL;
  run->last_ready = &run->ready;
  run->open_count = run->ready_count = run->ticking_count = 0;
  for (size_t i = 0; i < run->tape->ready_count; i++) {
    run->tape->ready[i].gone = false;
  }
  run->tape->to_come = run->tape->ready_count;
  run->waiting = LT_WAIT_NOTHING;
  pthread_mutex_unlock(&run->lock);
  run->last_id = run->call_count = 0;
  run->last_taken = NULL;
}

void lt_tape_rewind(lt_run *run) {
  lt_tape *tape = run->tape;
  forget_values(run);
  forget_said(run);
  forget_opened(run);
  lt_engine_result_release(&run->engine);
  lt_engine_result_init(&run->engine);
  tape->begun = true;
  tape->polls = tape->now_us = tape->worked_us = 0;
  tape->next_tick = 0;
  tape->next_recorded = 0;
  tape->next_known = run->calls;
  run->program.seed = tape->seed;
}

/* --- From the record ---------------------------------------------------------------------------------------------- */
static const lt_note *find_note(const lt_record *record, uint32_t kind) {
  for (size_t i = 0; i < record->note_count; i++) {
    if (record->notes[i].kind == kind) {
      return &record->notes[i];
    }
  }
  return NULL;
}

lt_status lt_run_status_of(lt_str name) {
  for (int i = 0; i <= LT_E_INTERNAL; i++) {
    if (lt_str_eqc(name, lt_status_name((lt_status)i))) {
      return (lt_status)i;
    }
  }
  return LT_E_TOOL;
}

lt_status lt_tape_read_failure(lt_str text, lt_str *ret_message) {
  size_t space = lt_str_find(text, LT_STR(" "), 0);
  if (space == SIZE_MAX) {
    return LT_OK;
  }
  *ret_message = lt_str_sub(text, space + 1, text.n);
  return lt_run_status_of(lt_str_sub(text, 0, space));
}

static lt_tape_ready ready_of(const lt_note *n) {
  lt_tape_ready ready = {.id = (uint32_t)n->number, .time_us = n->time_us};
  ready.status = lt_tape_read_failure(n->text, &ready.text);
  return ready;
}

static bool load(lt_tape *tape) {
  for (size_t i = 0; i < tape->record.note_count; i++) {
    const lt_note *n = &tape->record.notes[i];
    if (n->kind == LT_NOTE_READY) {
      const lt_tape_ready ready = ready_of(n);
      if (append(tape, &ready) == LT_TAPE_NOWHERE) {
        return false;
      }
    } else if (n->kind == LT_NOTE_TICK && !add_tick(tape, n->number, n->time_us)) {
      return false;
    }
  }
  return true;
}

/* The engine's fingerprint and the program's hash, in hexadecimal digits. */
static lt_str identity(const lt_run *run, char text[40]) {
  lt_image_header head;
  memcpy(&head, lt_image_base().p, sizeof head);
  int n = snprintf(text, 40, "%016llx %016llx", (unsigned long long)head.fingerprint,
                   (unsigned long long)lt_str_hash(run->request->code));
  return lt_str_from(text, (size_t)n);
}

static lt_status check_identity(const lt_run *run, const lt_note *begun, lt_err *err) {
  char text[40];
  lt_str now = identity(run, text);
  if (lt_str_eq(now, begun->text)) {
    return LT_OK;
  }
  bool same_engine = begun->text.n > 16 && lt_str_starts(begun->text, lt_str_sub(now, 0, 16));
  return lt_fail(
      err, LT_E_DIVERGED,
      same_engine ? "another program is on record here" : "the program was begun by another version of the engine");
}

static lt_status recall(lt_run *run, bool *ret_ended, lt_err *err) LT_YIELDS {
  lt_tape *tape = run->tape;
  LT_TRY(tape->journal->recall(tape->journal, run->request->caller->run, &tape->record, err));
  const lt_note *begun = find_note(&tape->record, LT_NOTE_BEGIN);
  const lt_note *ended = find_note(&tape->record, LT_NOTE_END);
  if (begun == NULL) {
    return LT_OK;
  }
  LT_TRY(check_identity(run, begun, err));
  lt_recorded_run_count(run->door, run->request, &tape->record);
  tape->seed = begun->number;
  tape->origin_us = begun->time_us;
  tape->behind = true;
  if (ended != NULL) {
    *ret_ended = true;
    return lt_result_note_read(ended->text, run->result, run->values, err);
  }
  return load(tape) ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for what is on record of the program");
}

/* --- Being there -------------------------------------------------------------------------------------------------- */
static uint64_t fresh_seed(void) {
  uint64_t seed = 0;
  while (seed == 0) {
    if (getrandom(&seed, sizeof seed, 0) < 0 && errno != EINTR) {
      seed = real_us();
    }
  }
  return seed >> 1 | 1; /* a number that SQL can hold, and not 0 */
}

static void begin_fresh(lt_run *run) {
  lt_tape *tape = run->tape;
  char text[40];
  tape->seed = fresh_seed();
  tape->origin_us = real_us();
  note(run, &(lt_note){
                .kind = LT_NOTE_BEGIN, .number = tape->seed, .time_us = tape->origin_us, .text = identity(run, text)});
}

/* What store() has kept so far, for a program that is dropped: also for one that is on record. */
static lt_status keep_values(lt_run *run, lt_err *err) {
  lt_tape *tape = run->tape;
  if (tape->drops && run->values != NULL) {
    lt_json_writer w = lt_json_writer_on(&tape->values);
    lt_stored_values_write(run->values, &w);
  }
  return tape->values.status == LT_OK ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for the program's values");
}

lt_status lt_tape_begin(lt_run *run, bool *ret_ended, lt_err *err) {
  const lt_caller *caller = run->request->caller;
  bool noted = caller != NULL && caller->noted && caller->journal != NULL && caller->journal->note != NULL;
  bool drops = lt_quickjs_drops(run->quickjs);
  if (!noted && !drops) {
    return LT_OK;
  }
  lt_tape *tape = run->tape = lt_mem_zalloc(1, sizeof *tape);
  if (tape == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  tape->journal = noted ? caller->journal : NULL;
  tape->drops = drops;
  lt_buf_init(&tape->values, 2 * LT_RUN_STORE_MAX_BYTES);
  if (noted && caller->recalled) {
    LT_TRY(recall(run, ret_ended, err));
  }
  if (tape->seed == 0) {
    begin_fresh(run);
  }
  return *ret_ended ? LT_OK : keep_values(run, err);
}

/* Who was cancelled has not ended by itself, and who went another way has spoilt nothing. A result with a secret in it
 * is not stored: the program comes to it once more by the rest of its tape. */
void lt_tape_end(lt_run *run) {
  lt_tape *tape = run->tape;
  lt_buf text;
  if (tape == NULL || tape->journal == NULL || run->result->status == LT_E_CANCELLED ||
      run->result->status == LT_E_DIVERGED) {
    return;
  }
  lt_buf_init(&text, 2 * LT_JSON_MAX_BYTES);
  lt_result_note_write(run->result, run->request->values, &text);
  if (text.status == LT_OK && !lt_secrets_in(lt_door_secrets(run->door), lt_buf_view(&text))) {
    note(run, &(lt_note){.kind = LT_NOTE_END, .time_us = lt_tape_elapsed_us(tape), .text = lt_buf_view(&text)});
  }
  lt_buf_release(&text);
}

void lt_tape_free(lt_tape *tape) {
  if (tape == NULL) {
    return;
  }
  lt_record_release(&tape->record);
  lt_buf_release(&tape->values);
  lt_mem_free(tape->ready);
  lt_mem_free(tape->places);
  lt_mem_free(tape->ticks);
  lt_mem_free(tape);
}
