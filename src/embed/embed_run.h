/* Runs of programs, from lathe_start or lathe_run to their last event; and prompts, which are runs of another kind. */
#ifndef LT_EMBED_EMBED_RUN_H
#define LT_EMBED_EMBED_RUN_H

#include "embed/embed_env.h"
#include "embed/embed_record.h"

struct lt_embed_prompt;

typedef struct lt_embed_run {
  lt_embed_entry entry; /* first; in the table of runs until it ends */
  lathe_env *env;
  lt_embed_queue *queue; /* gets its events: the environment's, or that of lathe_run or lathe_turn, which has ... */
  lt_lane *lane;         /* ... the lane that the run is turned on; NULL: the loop's own thread turns it */
  bool goes_by_turns;    /* lathe_run_options.by_turns */
  bool keeps_signals;    /* lathe_run_options.keeps_signals */
  lt_lane_crew *crew;    /* whose lane that is; NULL: nobody's */
  bool has_listener;     /* somebody takes them; else nobody is asked or told anything but its end */
  void *data;
  struct lt_embed_prompt *prompt; /* owned; NULL: it is a program, with what follows */
  char *code, *input;             /* owned; `input` may be NULL */
  lt_lang lang;
  uint64_t timeout_ms, memory_bytes; /* 0: what is configured */
  lt_embed_event *end;               /* its last event, made at the start: to end needs no memory */
  lt_post start_post, cancel_post;
  struct lt_embed_run *next_starting; /* in the environment, under the lock */
  bool is_cancelling;                 /* under the lock: cancel_post is on its way */

  /* The loop's thread only. */
  bool has_no_fiber;       /* it could not begin */
  bool is_cancelled;       /* cancel_post has come */
  size_t asking;           /* calls that wait for the host */
  lt_embed_record *record; /* owned; NULL: there is no snapshot of it */
  lt_cancel cancel;
  lt_wait cancelled; /* woken by cancel_post */
  lt_approver approver;
} lt_embed_run;

/* Makes a run that is in no table yet. Its events go to the queue of the environment. NULL: no memory. Owns: the
 * caller, until it is started. */
lt_embed_run *lt_embed_run_new(lathe_env *env, void *data);
void lt_embed_run_free(lt_embed_run *run);
/* Fills in a program. The options are those of this library. Errors: those of lathe_start. */
lt_status lt_embed_run_fill(lt_embed_run *run, const lathe_run_options *options, lt_err *err);
/* Numbers the run and starts it. Owns: the loop, also after an error. Errors: LT_E_LIMIT. */
lt_status lt_embed_run_start(lt_embed_run *run, uint64_t *ret_number, lt_err *err);

/* Takes an event of a run that a thread of the host turns, by that thread, which holds the loop. NULL: there is none.
 * Owns: the caller. */
lt_embed_event *lt_embed_run_next(lathe_env *env, lt_embed_queue *queue);

/* Puts into an event which run it is of. */
void lt_embed_run_sign(const lt_embed_run *run, lt_embed_event *event);
/* The program that a caller of tools is part of; NULL: none, such as in a prompt or while a plugin prepares. */
lt_embed_run *lt_embed_run_of(const lt_caller *caller);

#endif
