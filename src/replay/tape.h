/* The tape of a run: the answers that a program in the embedded engine needs to run again with the same outcome
 * (docs/internals/replay.md).
 *
 * All input of a program is on the tape: the outcomes of its calls and timers in the order in which they became ready,
 * the clock, modules, and the seed of random numbers. A call that the program opens again is compared with the recorded
 * call. When they differ, the program is stopped before it has an effect.
 *
 * Every run has a tape. A tape is on when the caller's runs are recorded (then the journal stores it), or when the
 * engine drops waiting programs (then it is in memory only). A tape that is off notes nothing and answers nothing, so
 * its user need not check.
 *
 * Two threads use a tape: the worker that runs the program's step, and the loop. Each function names its thread.
 */
#ifndef LT_REPLAY_TAPE_H
#define LT_REPLAY_TAPE_H

#include <pthread.h>
#include <stdatomic.h>

#include "io/lane.h"
#include "replay/notes.h"
#include "runner/run_tool_call.h"

#define LT_TAPE_NOWHERE UINT32_MAX /* the place of what was not ready to be taken */

typedef struct lt_tape_options {
  lt_lane *lane; /* of the run */
  lt_door *door;
  const lt_run_request *request;
  pthread_mutex_t *lock; /* the run's */
  uint64_t engine;       /* the engine's fingerprint */
  lt_str time_zone;      /* of a fresh run; empty: UTC */
  bool drops;            /* a waiting program is dropped, and run again when its answer is ready */
} lt_tape_options;

/* An outcome that became ready. Its index in the list is its place in the order. */
typedef struct lt_tape_ready {
  uint32_t id;
  bool is_gone; /* the program took it or dropped it */
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
  bool is_running;       /* the program runs; preparing its text is not on the tape */
  bool is_recalled;      /* an earlier process began the run */
  bool has_other_engine; /* that process had another version of the engine */
  lt_journal *journal;   /* NULL: in memory only */
  uint64_t seed;
  uint64_t origin_us;       /* since 1970 */
  lt_str time_zone;         /* the options', or the recorded one */
  lt_record record;         /* of an earlier process */
  lt_str fault;             /* how the program diverged from the record; empty: it did not */
  char *fault_text;         /* of LT_TAPE_FAULT_BYTES, once there is a fault */
  _Atomic bool is_unusable; /* something could not be noted */
  lt_post lost_post;        /* tells the loop that it could not */

  /* Under the run's lock. */
  lt_tape_ready *ready;
  size_t ready_count, ready_room;
  size_t to_come;   /* outcomes that were ready when the program began again and are not taken */
  uint32_t *places; /* by id: its index in `ready` */
  size_t places_room;

  /* The worker's. */
  lt_tape_tick *ticks;
  size_t tick_count, tick_room, next_tick;
  uint64_t polls;
  uint64_t now_us;                /* the guest's time since the run began */
  uint64_t worked_us, cpu_us;     /* during a replay: CPU time since the last tick, and at the last poll */
  size_t next_recorded;           /* in record.calls */
  size_t modules, modules_before; /* number noted in this pass, and in all passes */
} lt_tape;

/* `tape` is off until lt_tape_begin. Borrows what the options name. */
void lt_tape_init(lt_tape *tape, const lt_tape_options *options);
void lt_tape_release(lt_tape *tape);
/* On the loop, before the program is prepared. `*ret_ended`: the record has the run's end, and the result is filled.
 * LT_E_DIVERGED: the record is of another program. LT_YIELDS. */
lt_status lt_tape_begin(lt_tape *tape, lt_run_result *result, bool *ret_ended, lt_err *err) LT_YIELDS;
/* On the loop, after the last step: notes the result. */
void lt_tape_end(lt_tape *tape, const lt_run_result *result);

/* On the worker: the program begins, or begins again. */
void lt_tape_rewind(lt_tape *tape);
/* On the worker: counts a poll; the guest's clock may move. */
void lt_tape_poll(lt_tape *tape);
/* On the worker: the program shows a text, or opens a call. Notes the polls so far, so that the guest's time is the
 * same in the next run. */
void lt_tape_shown(lt_tape *tape);
/* Microseconds since the run began, by the real clock. */
uint64_t lt_tape_elapsed_us(const lt_tape *tape);
/* Nanoseconds since 1970, as the guest sees them. */
uint64_t lt_tape_now_ns(const lt_tape *tape);
/* On the worker: the recorded source of a module; false: none. */
bool lt_tape_find_module(const lt_tape *tape, lt_str name, lt_str *ret_source);
/* On the worker: the program was given a module that was not on record. */
void lt_tape_note_module(lt_tape *tape, lt_str name, lt_str source);

/* --- Calls, on the worker ----------------------------------------------------------------------------------------- */
/* The record of a call that the program opens. */
typedef struct lt_tape_answer {
  uint64_t hash;       /* its lt_journal_hash; 0: the tape is off */
  uint32_t place;      /* LT_TAPE_NOWHERE: it was not ready */
  bool is_recalled;    /* status and text are the recorded outcome */
  int64_t interrupted; /* the journal's id of a call that was under way and is not repeatable; 0: none */
  lt_status status;
  lt_str text; /* borrowed from the tape */
} lt_tape_answer;

/* The program opens the call with that number. False: it diverges from the record. */
bool lt_tape_open_call(lt_tape *tape, uint64_t seq, lt_str tool, lt_str input, lt_tape_answer *ret_answer);
/* The program opens `call` again, which it had opened with that hash before it was dropped. False: it diverges. */
bool lt_tape_reopen_call(lt_tape *tape, uint64_t seq, const lt_run_tool_call *call, uint64_t hash, lt_str tool,
                         lt_str input);
/* At the program's end: it diverges when it left out a recorded call. */
void lt_tape_check_end(lt_tape *tape);
/* The program diverges from its record; printf. Keeps only the first divergence, and none when the tape is off. */
void lt_tape_diverge(lt_tape *tape, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- The order of what is ready ----------------------------------------------------------------------------------- */
/* Under the lock: the place of a ready outcome; LT_TAPE_NOWHERE: not ready. */
uint32_t lt_tape_place(const lt_tape *tape, uint32_t id);
/* Under the lock, on the loop: appends an outcome. LT_TAPE_NOWHERE: no room, and the run cannot be repeated. */
uint32_t lt_tape_append(lt_tape *tape, uint32_t id);
/* On the loop, after lt_tape_append, without the lock: notes the outcome. */
void lt_tape_note_ready(lt_tape *tape, uint32_t place, lt_status status, lt_str text);
/* Under the lock, on the worker: the program took the outcome (the clock moves), or dropped it. */
void lt_tape_taken(lt_tape *tape, uint32_t place);
void lt_tape_dropped(lt_tape *tape, uint32_t place);

#endif
