/* The state that the parts of a check share. Internal to replay/. It stays one struct: the journal and the runner are
 * embedded in it and find it by their own address. */
#ifndef LT_REPLAY_REPLAY_CHECK_IMPL_H
#define LT_REPLAY_REPLAY_CHECK_IMPL_H

#include "replay/replay_check.h"

#define LT_REPLAY_RECORD_END "the record ends here"

/* A recorded program. Its end is withheld while it runs again, or answers for it. */
typedef struct lt_replay_check_program {
  struct lt_replay_check_program *next;
  lt_buf run;
  lt_buf text;        /* the note of its end */
  bool is_answered;   /* the record answers: nothing runs */
  bool is_compared;   /* its new end was compared with `text` */
  bool is_in_process; /* Python's or Deno's: its clock and its random numbers are not on record */
} lt_replay_check_program;

/* A call that is made again. */
typedef struct lt_replay_check_call {
  struct lt_replay_check_call *next;
  int64_t id; /* the journal's */
  uint64_t seq, hash;
  lt_status status;
  lt_buf run, answer;
} lt_replay_check_call;

struct lt_replay_check {
  lt_journal journal; /* first */
  lt_runner runner;
  lt_replay_observer observer;
  lt_replay_check_options options;
  lt_replay_check_program *programs;
  lt_replay_check_call *calls;
  lt_replay_check_counts counts;
  lt_buf fault, reasons;
  bool is_beyond;
};

/* The program of that run; NULL: unknown so far. */
lt_replay_check_program *lt_replay_check_find_program(const lt_replay_check *check, lt_str run);
/* From now on the record answers for the program; `why` is the reason. False: no memory. */
bool lt_replay_check_give(lt_replay_check *check, lt_str run, lt_str why);

/* Call this when a program has ended and was not cancelled. Reports a fault when its end was not compared. */
void lt_replay_check_ended(lt_replay_check *check, lt_str run);

/* --- The parts: replay_check.c, replay_check_runner.c, replay_check_observer.c ------------------------------------ */
void lt_replay_check_journal_init(lt_journal *journal);
void lt_replay_check_runner_init(lt_runner *runner);
void lt_replay_check_observer_init(lt_replay_observer *observer);

#endif
