/* The tape of a run: what the embedded engine's program needs to be run again with the same outcome
 * (docs/internals/replay.md).
 *
 * A program sees the world through answers only: of its calls and timers, in the order in which they were ready to be
 * taken; of the clock; of modules; of random numbers. The tape has these. What the program opens again is compared with
 * what it opened the first time; when it differs, the program is stopped before it can have an effect.
 *
 * Every run has a tape. It is on when the caller's runs are noted (then it goes to the journal, and comes from there),
 * or when the engine drops programs that wait (then it is in memory only). One that is off notes nothing and answers
 * nothing: its user need not ask which it is.
 *
 * Two threads use it: the worker that runs the program's step, and the loop. Each function says which.
 */
#ifndef LT_REPLAY_TAPE_H
#define LT_REPLAY_TAPE_H

#include <pthread.h>
#include <stdatomic.h>

#include "replay/notes.h"
#include "runner/run_tool_call.h"

#define LT_TAPE_NOWHERE UINT32_MAX /* the place of what was not ready to be taken */

typedef struct lt_tape_options {
  lt_loop *loop;
  lt_door *door;
  const lt_run_request *request;
  pthread_mutex_t *lock; /* the run's */
  uint64_t engine;       /* the engine's fingerprint */
  bool drops;            /* a program that waits is dropped, and run again when it can go on */
} lt_tape_options;

/* One answer that was ready to be taken, by its place in that order. */
typedef struct lt_tape_ready {
  uint32_t id;
  bool is_gone; /* taken, or not wanted any more */
  uint64_t time_us;
  lt_status status; /* text: the message of a failure; empty where the journal's record of the call has it */
  lt_str text;
} lt_tape_ready;

typedef struct lt_tape_tick {
  uint64_t polls;
  uint64_t time_us;
} lt_tape_tick;

typedef struct lt_tape {
  lt_tape_options options;
  bool is_on;
  bool is_running;     /* the program runs; what is done to its text before is not on the tape */
  bool is_recalled;    /* an earlier process began the run */
  lt_journal *journal; /* NULL: in memory only */
  uint64_t seed;
  uint64_t origin_us; /* since 1970 */
  lt_record record;   /* of an earlier process */
  lt_str fault;       /* how the program diverged; empty: it did not */
  char fault_text[800];
  _Atomic bool is_unusable; /* something could not be noted */

  /* Under the run's lock. */
  lt_tape_ready *ready;
  size_t ready_count, ready_room;
  size_t to_come;   /* answers that were ready when the program was begun again and are not gone yet */
  uint32_t *places; /* by id: its place in `ready` */
  size_t places_room;

  /* The worker's. */
  lt_tape_tick *ticks;
  size_t tick_count, tick_room, next_tick;
  uint64_t polls;
  uint64_t now_us;            /* the guest's time since the run began */
  uint64_t worked_us, cpu_us; /* while a record is followed: CPU time since the clock went on, and at the last poll */
  size_t next_recorded;       /* in record.calls */
  size_t modules, modules_before; /* noted in this pass, and in all */
} lt_tape;

/* `tape` is off until lt_tape_begin. Borrows what the options name. */
void lt_tape_init(lt_tape *tape, const lt_tape_options *options);
void lt_tape_release(lt_tape *tape);
/* On the loop, before the program is prepared. `*ret_ended`: the run's end is on record, and the result is filled.
 * LT_E_DIVERGED: it cannot be run by its record. LT_YIELDS. */
lt_status lt_tape_begin(lt_tape *tape, lt_run_result *result, bool *ret_ended, lt_err *err) LT_YIELDS;
/* On the loop, after the last step: notes the result. */
void lt_tape_end(lt_tape *tape, const lt_run_result *result);

/* On the worker: the program is at its beginning (again). */
void lt_tape_rewind(lt_tape *tape);
/* On the worker: another poll; the clock may go on. */
void lt_tape_poll(lt_tape *tape);
/* On the worker: the program shows something; until here the clock has not gone on. */
void lt_tape_shown(lt_tape *tape);
/* Microseconds since the run began, by the real clock. */
uint64_t lt_tape_elapsed_us(const lt_tape *tape);
/* Nanoseconds since 1970, as the guest sees them. */
uint64_t lt_tape_now_ns(const lt_tape *tape);
/* On the worker: a module as it is on record; false: it is not. */
bool lt_tape_find_module(const lt_tape *tape, lt_str name, lt_str *ret_source);
/* On the worker: the program was given a module that was not on record. */
void lt_tape_note_module(lt_tape *tape, lt_str name, lt_str source);

/* --- Calls, on the worker ----------------------------------------------------------------------------------------- */
/* What the record has of a call that the program opens. */
typedef struct lt_tape_answer {
  uint64_t hash;       /* its lt_journal_hash; 0: the tape is off */
  uint32_t place;      /* LT_TAPE_NOWHERE: it was not ready to be taken */
  bool is_recalled;    /* status and text are its outcome */
  int64_t interrupted; /* the journal's id of a call that was under way and must not be repeated; 0: none */
  lt_status status;
  lt_str text; /* borrowed from the tape */
} lt_tape_answer;

/* The program opens the call with that number. False: it diverges from the record. */
bool lt_tape_open_call(lt_tape *tape, uint64_t seq, lt_str tool, lt_str input, lt_tape_answer *ret_answer);
/* The program opens `call` again, which it had opened with that hash before it was dropped. False: it diverges. */
bool lt_tape_reopen_call(lt_tape *tape, uint64_t seq, const lt_run_tool_call *call, uint64_t hash, lt_str tool,
                         lt_str input);
/* At the program's end: whether it made all calls that are on record. */
void lt_tape_check_end(lt_tape *tape);
/* The program diverges from its record; printf. Only the first divergence counts; where the tape is off none does. */
void lt_tape_diverge(lt_tape *tape, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- The order of what is ready ----------------------------------------------------------------------------------- */
/* Under the lock: the place of what is ready to be taken, LT_TAPE_NOWHERE when it is not. */
uint32_t lt_tape_place(const lt_tape *tape, uint32_t id);
/* Under the lock, on the loop: appends it. LT_TAPE_NOWHERE: no room, and the run cannot be run again. */
uint32_t lt_tape_append(lt_tape *tape, uint32_t id);
/* On the loop, after that, without the lock: notes it. */
void lt_tape_note_ready(lt_tape *tape, uint32_t place, lt_status status, lt_str text);
/* Under the lock, on the worker: it has been taken (the clock goes on), or is not wanted any more. */
void lt_tape_taken(lt_tape *tape, uint32_t place);
void lt_tape_dropped(lt_tape *tape, uint32_t place);

#endif
