#include "replay/tape.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/utf8.h"
#include "replay/recorded_run.h"
#include "replay/result_note.h"

/* Reads the real clock, which may be set back. */
uint64_t lt_tape_elapsed_us(const lt_tape *tape) {
  uint64_t now = lt_clock_wall_us();
  return now > tape->origin_us ? now - tape->origin_us : 0;
}

/* --- Noting ------------------------------------------------------------------------------------------------------- */
/* After a lost note a repeated run diverges and is stopped. The note of the end stays valid. */
static void tape_note(lt_tape *tape, const lt_note *what) {
  if (tape->journal != NULL && (!atomic_load(&tape->is_unusable) || what->kind == LT_NOTE_END)) {
    tape->journal->note(tape->journal, tape->options.request->caller->run, what, NULL, NULL);
  }
}

/* On the loop. */
static void tape_lose(lt_tape *tape, lt_status why) {
  atomic_store(&tape->is_unusable, true);
  if (tape->journal != NULL && tape->journal->lose != NULL) {
    tape->journal->lose(tape->journal, tape->options.request->caller->run, why);
  }
}

static void on_lost_post(void *arg) {
  tape_lose(arg, LT_E_NOMEM);
}

/* On the worker. Like a note, it arrives before all later effects of the program. */
static void tape_post_loss(lt_tape *tape) {
  if (!atomic_exchange(&tape->is_unusable, true)) {
    tape->lost_post = (lt_post){.fn = on_lost_post, .arg = tape};
    lt_lane_post(tape->options.lane, &tape->lost_post);
  }
}

/* A note from the worker on its way to the loop. It arrives before all later effects of the program. */
typedef struct posted_note {
  lt_post post;
  lt_tape *tape;
  lt_note note;
} posted_note;

static void on_note_post(void *arg) {
  posted_note *p = arg;
  tape_note(p->tape, &p->note);
  lt_mem_free(p);
}

static void tape_post_note(lt_tape *tape, const lt_note *what) {
  if (tape->journal == NULL) {
    return;
  }
  posted_note *p = lt_mem_alloc(sizeof *p + what->text.n);
  if (p == NULL) {
    tape_post_loss(tape);
    return;
  }
  char *bytes = (char *)(p + 1);
  memcpy(bytes, what->text.n > 0 ? what->text.p : "", what->text.n);
  *p = (posted_note){.tape = tape, .note = *what};
  p->note.text = lt_str_from(bytes, what->text.n);
  p->post = (lt_post){.fn = on_note_post, .arg = p};
  lt_lane_post(tape->options.lane, &p->post);
}

/* --- The order of what is ready ---------------------------------------------------------------------------------- */
static bool tape_grow(void *array, size_t *room, size_t wanted, size_t each) {
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

static bool tape_set_place(lt_tape *tape, uint32_t id, uint32_t place) {
  size_t before = tape->places_room;
  if (!tape_grow(&tape->places, &tape->places_room, (size_t)id + 1, sizeof *tape->places)) {
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

static uint32_t tape_append(lt_tape *tape, const lt_tape_ready *ready) {
  uint32_t place = (uint32_t)tape->ready_count;
  bool has_room = tape->ready_count < LT_TAPE_READY_MAX && ready->id <= 2 * (LT_RUN_CALLS_MAX + LT_TAPE_READY_MAX);
  if (!has_room || !tape_grow(&tape->ready, &tape->ready_room, tape->ready_count + 1, sizeof *tape->ready) ||
      !tape_set_place(tape, ready->id, place)) {
    tape_lose(tape, has_room ? LT_E_NOMEM : LT_E_LIMIT);
    return LT_TAPE_NOWHERE;
  }
  tape->ready[tape->ready_count++] = *ready;
  return place;
}

uint32_t lt_tape_append(lt_tape *tape, uint32_t id) {
  if (!tape->is_on) {
    return LT_TAPE_NOWHERE;
  }
  uint64_t now = lt_tape_elapsed_us(tape);
  uint64_t last = tape->ready_count > 0 ? tape->ready[tape->ready_count - 1].time_us : 0;
  return tape_append(tape, &(lt_tape_ready){.id = id, .time_us = now > last ? now : last});
}

void lt_tape_note_ready(lt_tape *tape, uint32_t place, lt_status status, lt_str text) {
  if (place == LT_TAPE_NOWHERE || tape->journal == NULL) {
    return;
  }
  pthread_mutex_lock(tape->options.lock);
  const lt_tape_ready ready = tape->ready[place];
  pthread_mutex_unlock(tape->options.lock);
  LT_AUTO_BUF(failure, 2 * LT_RUN_ERROR_BYTES);
  if (status != LT_OK) {
    lt_notes_put_failure(&failure, status, lt_str_sub(text, 0, LT_RUN_ERROR_BYTES));
  }
  if (failure.status != LT_OK) {
    tape_lose(tape, failure.status);
    return;
  }
  tape_note(
      tape,
      &(lt_note){.kind = LT_NOTE_READY, .number = ready.id, .time_us = ready.time_us, .text = lt_buf_view(&failure)});
}

void lt_tape_dropped(lt_tape *tape, uint32_t place) {
  if (place != LT_TAPE_NOWHERE && !tape->ready[place].is_gone) {
    tape->ready[place].is_gone = true;
    tape->to_come -= tape->to_come > 0;
  }
}

static void tape_go_on_to(lt_tape *tape, uint64_t time_us) {
  tape->now_us = time_us > tape->now_us ? time_us : tape->now_us;
  tape->worked_us = 0;
}

void lt_tape_taken(lt_tape *tape, uint32_t place) {
  if (place != LT_TAPE_NOWHERE) {
    lt_tape_dropped(tape, place);
    tape_go_on_to(tape, tape->ready[place].time_us);
  }
}

/* --- The clock ---------------------------------------------------------------------------------------------------- */
uint64_t lt_tape_now_ns(const lt_tape *tape) {
  return (tape->origin_us + tape->now_us) * 1000;
}

static bool tape_add_tick(lt_tape *tape, uint64_t polls, uint64_t time_us) {
  if (!tape_grow(&tape->ticks, &tape->tick_room, tape->tick_count + 1, sizeof *tape->ticks)) {
    return false;
  }
  tape->ticks[tape->tick_count++] = (lt_tape_tick){.polls = polls, .time_us = time_us};
  return true;
}

/* The longer a program runs, the longer its steps are. */
static uint64_t tape_step_at(uint64_t time_us) {
  uint64_t step = time_us / 16;
  return step < LT_TAPE_TICK_US ? LT_TAPE_TICK_US : step > LT_TAPE_TICK_MAX_US ? LT_TAPE_TICK_MAX_US : step;
}

/* Whether the record continues: then the first run had no tick here. */
static bool tape_has_more_record(lt_tape *tape) {
  pthread_mutex_lock(tape->options.lock);
  bool to_come = tape->to_come > 0;
  pthread_mutex_unlock(tape->options.lock);
  return to_come || tape->next_recorded < tape->record.call_count;
}

/* The rest of the record never comes when the program does not take an answer. This is measured by the program's CPU
 * time, not by the real clock: the first run cannot have computed for so long without a tick. */
static bool tape_has_worked_on(lt_tape *tape) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  uint64_t cpu = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
  uint64_t took = cpu - tape->cpu_us; /* after a change of thread it may be any number */
  tape->cpu_us = cpu;
  tape->worked_us += took < LT_TAPE_POLL_US ? took : LT_TAPE_POLL_US;
  return tape->worked_us > LT_TAPE_WORK_US + 4 * tape_step_at(tape->now_us);
}

static void tape_tick(lt_tape *tape, uint64_t time_us) {
  if (!tape_add_tick(tape, tape->polls, time_us)) {
    tape_post_loss(tape);
    return;
  }
  tape->next_tick = tape->tick_count;
  tape_go_on_to(tape, time_us);
  tape_post_note(tape, &(lt_note){.kind = LT_NOTE_TICK, .number = tape->polls, .time_us = time_us});
}

void lt_tape_poll(lt_tape *tape) {
  if (!tape->is_running) {
    return;
  }
  tape->polls++;
  if (tape->next_tick < tape->tick_count) {
    if (tape->ticks[tape->next_tick].polls == tape->polls) {
      tape_go_on_to(tape, tape->ticks[tape->next_tick++].time_us);
    }
    return;
  }
  if (tape_has_more_record(tape) && !tape_has_worked_on(tape)) {
    return;
  }
  uint64_t elapsed = lt_tape_elapsed_us(tape);
  if (elapsed >= tape->now_us + tape_step_at(elapsed)) {
    tape_tick(tape, elapsed);
  }
}

/* Others have seen the guest's time, and a repeated run must show the same time: notes a tick that does not move the
 * clock. */
void lt_tape_shown(lt_tape *tape) {
  uint64_t last = tape->tick_count > 0 ? tape->ticks[tape->tick_count - 1].polls : 0;
  if (tape->journal != NULL && tape->next_tick == tape->tick_count && tape->polls > last) {
    tape_tick(tape, tape->now_us);
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

void lt_tape_note_module(lt_tape *tape, lt_str name, lt_str source) {
  if (tape->journal == NULL || ++tape->modules <= tape->modules_before) {
    return; /* noted before the program was dropped */
  }
  tape->modules_before++;
  if (lt_secrets_in(lt_door_secrets(tape->options.door), source)) {
    return; /* not stored: a repeated run gets the module that is configured then */
  }
  LT_AUTO_BUF(text, 2 * LT_RUN_CODE_MAX_BYTES);
  lt_buf_add(&text, name);
  lt_buf_byte(&text, '\n');
  lt_buf_add(&text, source);
  if (text.status == LT_OK) {
    tape_post_note(tape, &(lt_note){.kind = LT_NOTE_MODULE, .text = lt_buf_view(&text)});
  } else {
    tape_post_loss(tape);
  }
}

/* --- Divergence --------------------------------------------------------------------------------------------------- */
static lt_str tape_fault_text(const lt_tape *tape, char text[LT_TAPE_FAULT_BYTES], const char *fmt, va_list args) {
  const size_t room = LT_TAPE_FAULT_BYTES - 1;
  int n = vsnprintf(text, LT_TAPE_FAULT_BYTES, fmt, args);
  if (tape->has_other_engine && (size_t)n < room) {
    n += snprintf(text + n, LT_TAPE_FAULT_BYTES - (size_t)n, " (another version of the engine began the program)");
  }
  return lt_utf8_cut(lt_str_from(text, (size_t)n < room ? (size_t)n : room), room);
}

void lt_tape_diverge(lt_tape *tape, const char *fmt, ...) {
  if (!tape->is_on || tape->fault.n > 0) {
    return;
  }
  va_list args;
  va_start(args, fmt);
  tape->fault_text = lt_mem_alloc(LT_TAPE_FAULT_BYTES);
  tape->fault = tape->fault_text != NULL ? tape_fault_text(tape, tape->fault_text, fmt, args)
                                         : LT_STR("what it does is not in the record (there is no memory to say more)");
  va_end(args);
}

/* The part of a text that a message shows. */
#define SHOWN(text) LT_STR_ARG(lt_utf8_cut(text, LT_RECORD_SHOWN_BYTES))

static void tape_diverge_call(lt_tape *tape, uint64_t seq, lt_str tool, lt_str input, lt_str old_tool,
                              lt_str old_input) {
  lt_tape_diverge(tape, "call %u is %.*s %.*s, and on record it is %.*s %.*s", (unsigned)seq, SHOWN(tool), SHOWN(input),
                  SHOWN(old_tool), SHOWN(old_input));
}

static void tape_diverge_missing(lt_tape *tape, const char *what, const lt_recorded_call *call) {
  lt_tape_diverge(tape, "%s: call %u, %.*s %.*s", what, (unsigned)call->seq, SHOWN(call->tool), SHOWN(call->input));
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
/* The first recorded call that the program has not made yet; NULL: none. */
static const lt_recorded_call *tape_next_call(const lt_tape *tape) {
  return tape->next_recorded < tape->record.call_count ? &tape->record.calls[tape->next_recorded] : NULL;
}

void lt_tape_check_end(lt_tape *tape) {
  const lt_recorded_call *next = tape_next_call(tape);
  if (next != NULL) {
    tape_diverge_missing(tape, "it ended without a call that is on record", next);
  }
}

/* The record of the call was read when it was first opened. */
bool lt_tape_reopen_call(lt_tape *tape, uint64_t seq, const lt_run_tool_call *call, uint64_t hash, lt_str tool,
                         lt_str input) {
  const lt_recorded_call *next = tape_next_call(tape);
  tape->next_recorded += next != NULL && next->seq == seq;
  if (call->seq != seq || hash != lt_journal_hash(tool, input)) {
    tape_diverge_call(tape, seq, tool, input, call->record.tool, call->record.input);
  }
  return tape->fault.n == 0;
}

/* The record of the next opened call; NULL: the call had not begun. */
static const lt_recorded_call *tape_take_call(lt_tape *tape, uint64_t seq) {
  const lt_recorded_call *next = tape_next_call(tape);
  if (next != NULL && next->seq < seq) {
    tape_diverge_missing(tape, "it did not make a call that is on record", next);
  }
  if (next == NULL || next->seq != seq) {
    return NULL;
  }
  tape->next_recorded++;
  return next;
}

/* The recorded outcome, if there is one. */
static void tape_find_answer(const lt_tape *tape, uint32_t id, const lt_recorded_call *recorded,
                             lt_tape_answer *answer) {
  answer->place = lt_tape_place(tape, id);
  const lt_tape_ready *ready = answer->place != LT_TAPE_NOWHERE ? &tape->ready[answer->place] : NULL;
  if (recorded != NULL && recorded->finished) {
    answer->status = recorded->status;
    answer->text = recorded->answer;
    answer->is_recalled = true;
  } else if (ready != NULL && ready->status != LT_OK) {
    answer->status = ready->status;
    answer->text = ready->text;
    answer->is_recalled = true;
  } else if (recorded != NULL && !recorded->repeatable) {
    answer->interrupted = recorded->id;
  }
}

bool lt_tape_open_call(lt_tape *tape, uint64_t seq, lt_str tool, lt_str input, lt_tape_answer *ret_answer) {
  *ret_answer = (lt_tape_answer){.place = LT_TAPE_NOWHERE};
  if (!tape->is_on || tape->fault.n > 0) {
    return tape->fault.n == 0;
  }
  ret_answer->hash = lt_journal_hash(tool, input);
  const lt_recorded_call *recorded = tape_take_call(tape, seq);
  if (recorded != NULL && recorded->hash != ret_answer->hash) {
    tape_diverge_call(tape, seq, tool, input, recorded->tool, recorded->input);
  }
  if (tape->fault.n > 0) {
    return false;
  }
  pthread_mutex_lock(tape->options.lock);
  tape_find_answer(tape, (uint32_t)seq * 2, recorded, ret_answer);
  pthread_mutex_unlock(tape->options.lock);
  return true;
}

/* --- From the beginning ------------------------------------------------------------------------------------------- */
void lt_tape_rewind(lt_tape *tape) {
  pthread_mutex_lock(tape->options.lock);
  for (size_t i = 0; i < tape->ready_count; i++) {
    tape->ready[i].is_gone = false;
  }
  tape->to_come = tape->ready_count;
  pthread_mutex_unlock(tape->options.lock);
  tape->is_running = tape->is_on;
  tape->polls = tape->now_us = tape->worked_us = 0;
  tape->next_tick = tape->next_recorded = tape->modules = 0;
}

/* --- From the record ---------------------------------------------------------------------------------------------- */
static bool tape_load(lt_tape *tape) {
  for (size_t i = 0; i < tape->record.note_count; i++) {
    const lt_note *n = &tape->record.notes[i];
    if (n->kind == LT_NOTE_READY) {
      lt_tape_ready ready = {.id = (uint32_t)n->number, .time_us = n->time_us};
      ready.status = lt_notes_read_failure(n->text, &ready.text);
      if (tape_append(tape, &ready) == LT_TAPE_NOWHERE) {
        return false;
      }
    } else if (n->kind == LT_NOTE_TICK && !tape_add_tick(tape, n->number, n->time_us)) {
      return false;
    }
  }
  return true;
}

static lt_program_identity tape_identity(const lt_tape *tape) {
  return (lt_program_identity){.runner = LT_STR("quickjs"),
                               .engine = tape->options.engine,
                               .program = lt_str_hash(tape->options.request->code),
                               .time_zone = tape->time_zone};
}

/* Another version of the engine need not behave in another way. It is remembered to explain a difference. */
static lt_status tape_check_identity(lt_tape *tape, const lt_note *begun, lt_err *err) {
  lt_program_identity now = tape_identity(tape), recorded = {0};
  bool is_read = lt_notes_read_identity(begun->text, &recorded);
  if (!is_read || !lt_str_eq(recorded.runner, now.runner) || recorded.program != now.program) {
    return lt_fail(err, LT_E_DIVERGED, "another program is on record here");
  }
  tape->has_other_engine = recorded.engine != now.engine;
  tape->time_zone = recorded.time_zone;
  return LT_OK;
}

static lt_status tape_recall(lt_tape *tape, lt_run_result *result, bool *ret_ended, lt_err *err) LT_YIELDS {
  const lt_run_request *request = tape->options.request;
  LT_TRY(tape->journal->recall(tape->journal, request->caller->run, &tape->record, err));
  const lt_note *begun = lt_notes_find(&tape->record, LT_NOTE_BEGIN);
  const lt_note *ended = lt_notes_find(&tape->record, LT_NOTE_END);
  if (begun == NULL) {
    return LT_OK;
  }
  LT_TRY(tape_check_identity(tape, begun, err));
  lt_recorded_run_count(tape->options.door, request, &tape->record);
  tape->seed = begun->number;
  tape->origin_us = begun->time_us;
  tape->is_recalled = true;
  if (ended != NULL) {
    *ret_ended = true;
    return lt_result_note_read(ended->text, result, request->values, err);
  }
  return tape_load(tape) ? LT_OK : lt_fail(err, LT_E_NOMEM, "no memory for what is on record of the program");
}

/* --- Lifetime ----------------------------------------------------------------------------------------------------- */
static uint64_t tape_fresh_seed(void) {
  uint64_t seed = 0;
  while (seed == 0) {
    if (!lt_random_fill(&seed, sizeof seed)) {
      seed = lt_clock_wall_us();
    }
  }
  return seed >> 1 | 1; /* a number that SQL can hold, and not 0 */
}

static void tape_begin_fresh(lt_tape *tape) {
  char text[LT_NOTES_IDENTITY_BYTES];
  const lt_program_identity identity = tape_identity(tape);
  tape->seed = tape_fresh_seed();
  tape->origin_us = lt_clock_wall_us();
  tape_note(tape, &(lt_note){.kind = LT_NOTE_BEGIN,
                             .number = tape->seed,
                             .time_us = tape->origin_us,
                             .text = lt_notes_put_identity(&identity, text)});
}

void lt_tape_init(lt_tape *tape, const lt_tape_options *options) {
  *tape = (lt_tape){.options = *options, .time_zone = options->time_zone};
}

lt_status lt_tape_begin(lt_tape *tape, lt_run_result *result, bool *ret_ended, lt_err *err) {
  const lt_caller *caller = tape->options.request->caller;
  bool is_noted = caller != NULL && caller->noted && caller->journal != NULL && caller->journal->note != NULL;
  tape->is_on = is_noted || tape->options.drops;
  if (!tape->is_on) {
    return LT_OK;
  }
  tape->journal = is_noted ? caller->journal : NULL;
  if (is_noted && caller->recalled) {
    LT_TRY(tape_recall(tape, result, ret_ended, err));
  }
  if (tape->seed == 0) {
    tape_begin_fresh(tape);
  }
  return LT_OK;
}

/* The end of a cancelled program is not noted, because the program can continue, but for a cell that its model has
 * ended. A diverged program does not change its record. */
static bool tape_has_end(const lt_tape *tape, const lt_run_result *result) {
  const lt_run_request *request = tape->options.request;
  bool is_closed = request->is_cell && request->cancel != NULL && request->cancel->why == LT_E_CLOSED;
  return result->status != LT_E_DIVERGED && (result->status != LT_E_CANCELLED || is_closed);
}

/* A result that contains a secret is not stored: a repeated run computes it again from the tape. */
void lt_tape_end(lt_tape *tape, const lt_run_result *result) {
  if (tape->journal == NULL || !tape_has_end(tape, result)) {
    return;
  }
  LT_AUTO_BUF(text, 2 * LT_JSON_MAX_BYTES);
  lt_result_note_write(result, tape->options.request->values, &text);
  if (text.status == LT_OK && !lt_secrets_in(lt_door_secrets(tape->options.door), lt_buf_view(&text))) {
    tape_note(tape, &(lt_note){.kind = LT_NOTE_END, .time_us = lt_tape_elapsed_us(tape), .text = lt_buf_view(&text)});
  }
}

void lt_tape_release(lt_tape *tape) {
  lt_record_release(&tape->record);
  lt_mem_free(tape->ready);
  lt_mem_free(tape->places);
  lt_mem_free(tape->ticks);
  lt_mem_free(tape->fault_text);
}
