/* The tape of a run: what it needs to be run again, and to come to the same (docs/internals/replay.md). Internal to
 * runner/.
 *
 * A program sees the world through answers only: of its calls and timers, in the order in which they were there for it
 * to take; of the clock; of modules; of chance. The tape has these. Whatever the program opens again is compared with
 * what it opened the first time; when it differs, the program is stopped before it can have an effect.
 *
 * A run has a tape when its caller's runs are noted (it goes to the journal, and comes from there), or when the engine
 * drops programs that wait (it is in memory only). Others have none, and pay nothing.
 */
#ifndef LT_RUNNER_QUICKJS_TAPE_H
#define LT_RUNNER_QUICKJS_TAPE_H

#include "runner/quickjs/program.h"

/* Kinds of notes (lt_note.kind) of a program's run. */
enum {
  LT_NOTE_BEGIN = 1, /* number: the seed; time_us: since 1970; text: fingerprint of the engine, hash of the program */
  /* number: id of a call or timer that is there to be taken; text: of a failure, status and message. Of a program in a
   * process: number of a call that failed before it could be recorded */
  LT_NOTE_READY,
  LT_NOTE_TICK,   /* number: polls; the guest's clock goes on to time_us then */
  LT_NOTE_MODULE, /* text: name, line feed, source */
  LT_NOTE_END,    /* text: result (result_note.c) */
  LT_NOTE_FOLDER, /* text: the folder that a program in a process works in */
  LT_NOTE_OPEN,   /* number: of a call of such a program; time_us: its lt_journal_hash */
};

#define LT_TAPE_NOWHERE UINT32_MAX /* not among what was there to be taken */

/* What was there to be taken, by its place in that order. */
typedef struct lt_tape_ready {
  uint32_t id;
  bool gone; /* taken, or not wanted any more */
  uint64_t time_us;
  lt_status status; /* text: the message of a failure; empty where the journal's record of the call has it */
  lt_str text;
} lt_tape_ready;

typedef struct lt_tape_tick {
  uint64_t polls;
  uint64_t time_us;
} lt_tape_tick;

typedef struct lt_tape {
  lt_journal *journal; /* NULL: in memory only */
  bool drops;          /* a program that waits is dropped, and run again when it can go on */
  bool dropping;       /* it is on its way out */
  bool begun;          /* the program runs; what is done to its text before is not on the tape */
  uint64_t seed;
  uint64_t origin_us; /* since 1970 */
  lt_record record;   /* what is on record from an earlier process */
  lt_buf values;      /* what store() had kept before, as JSON; with `drops` */
  lt_str fault;       /* how it went another way; empty: it did not */
  char fault_text[800];
  _Atomic bool unusable; /* something could not be noted */

  /* Under the run's lock. */
  bool behind; /* timers may have been set in an earlier process */
  lt_post catch_up_post;
  lt_tape_ready *ready;
  size_t ready_count, ready_room;
  size_t to_come;   /* of those that were there when the program was begun again, not gone yet */
  uint32_t *places; /* by id: its place in `ready` */
  size_t places_room;

  /* The worker's. */
  lt_tape_tick *ticks;
  size_t tick_count, tick_room, next_tick;
  uint64_t polls;
  uint64_t now_us;                /* the guest's time since the run began */
  uint64_t worked_us, cpu_us;     /* on the way through a record: since the clock went on; at the last poll */
  size_t next_recorded;           /* in record.calls */
  lt_run_tool_call *next_known;   /* the next call of an earlier pass */
  size_t said, said_before;       /* texts in this pass, and in all */
  size_t modules, modules_before; /* likewise modules that were noted */
} lt_tape;

/* Status and message of a note's text: `E_DENIED no`. LT_OK: it is no such text. */
lt_status lt_tape_read_failure(lt_str text, lt_str *ret_message);

/* On the loop, before the program is prepared. Gives the run a tape if it is to have one. `*ret_ended`: its end is on
 * record, and the result is filled. LT_E_DIVERGED: it cannot be run by its record. LT_YIELDS. */
lt_status lt_tape_begin(lt_run *run, bool *ret_ended, lt_err *err) LT_YIELDS;
/* On the loop, behind the last step: notes the result. */
void lt_tape_end(lt_run *run);
void lt_tape_free(lt_tape *tape); /* NULL is allowed */
/* told.c; on the loop, behind everything: tells the caller of the end of calls that were answered by the record. */
void lt_run_tell_recalled(const lt_run *run);
/* ... as they are in a result: those that have a number (open.id). */
void lt_recorded_run_report(const lt_door *door, const lt_caller *caller, const lt_record *record,
                            const lt_run_result *result);
/* Before any call is made: what is on record counts in the caller's budgets. */
void lt_recorded_run_count(const lt_door *door, const lt_run_request *request, const lt_record *record);

/* On the worker: the program is at its beginning (again). */
void lt_tape_rewind(lt_run *run);
/* On the worker: another poll; the clock may go on. */
void lt_tape_poll(lt_run *run);
/* On the worker: the program shows something; until here the clock has not gone on. */
void lt_tape_shown(lt_run *run);
/* Microseconds since the run began, by the real clock. */
uint64_t lt_tape_elapsed_us(const lt_tape *tape);
/* Nanoseconds since 1970, as the guest sees them. */
uint64_t lt_tape_now_ns(const lt_tape *tape);
/* On the worker: a module as it is on record; false: it is not. */
bool lt_tape_find_module(const lt_tape *tape, lt_str name, lt_str *ret_source);
/* On the worker: the program has been given one that was not. */
void lt_tape_note_module(lt_run *run, lt_str name, lt_str source);
/* On the worker: the program does something else than the first time; printf. The first one counts. */
void lt_tape_diverge(lt_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* ... it calls this as its call `id`, and that is on record; it does not make that one. */
void lt_tape_diverge_call(lt_run *run, uint32_t id, lt_str tool, lt_str input, lt_str old_tool, lt_str old_input);
void lt_tape_diverge_missing(lt_run *run, const char *what, const lt_recorded_call *call);
/* At the program's end: whether it made all calls that are on record. */
void lt_tape_check_end(lt_run *run);

/* Under the lock: the place of what is there to be taken, LT_TAPE_NOWHERE when it is not. */
uint32_t lt_tape_place(const lt_tape *tape, uint32_t id);
/* Under the lock, on the loop: puts it at the end. LT_TAPE_NOWHERE: no room, and the run cannot be run again. */
uint32_t lt_tape_append(lt_run *run, uint32_t id);
/* On the loop, behind that, without the lock: notes it. */
void lt_tape_note_ready(lt_run *run, uint32_t place, lt_status status, lt_str text);
/* Under the lock, on the worker: it has been taken (the clock goes on), or is not wanted any more. */
void lt_tape_taken(lt_tape *tape, uint32_t place);
void lt_tape_dropped(lt_tape *tape, uint32_t place);

/* result_note.c: a result (and what store() keeps; may be NULL) as the text of its note, and back; `result` is
 * initialised. */
void lt_result_note_write(const lt_run_result *result, const lt_stored_values *values, lt_buf *out);
lt_status lt_result_note_read(lt_str note, lt_run_result *result, lt_stored_values *values, lt_err *err);

#endif
