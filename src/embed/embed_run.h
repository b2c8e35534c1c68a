/* Runs of programs, from lathe_start or lathe_run to their last event. */
#ifndef LT_EMBED_EMBED_RUN_H
#define LT_EMBED_EMBED_RUN_H

#include "embed/embed_env.h"

typedef struct lt_embed_run {
  lt_embed_entry entry; /* first; in the table of runs until it ends */
  lathe_env *env;
  lt_embed_queue *queue; /* gets its events: the environment's, or that of lathe_run */
  bool has_listener;     /* somebody takes them; else nobody is asked or told anything but its end */
  void *data;
  char *code, *input; /* owned; `input` may be NULL */
  lt_lang lang;
  uint64_t timeout_ms, memory_bytes; /* 0: what is configured */
  lt_embed_event *end;               /* its last event, made at the start: to end needs no memory */
  lt_post start_post, cancel_post;
  bool is_cancelling; /* under the lock: cancel_post is on its way */

  /* The loop's thread only. */
  bool has_no_fiber; /* it could not begin */
  bool is_cancelled; /* cancel_post has come */
  lt_cancel cancel;
  lt_wait cancelled; /* woken by cancel_post */
  lt_approver approver;
} lt_embed_run;

/* Puts into an event which run it is of. */
void lt_embed_run_sign(const lt_embed_run *run, lt_embed_event *event);
/* The run that a caller of tools is part of; NULL: none, such as while a plugin prepares. */
lt_embed_run *lt_embed_run_of(const lt_caller *caller);

#endif
