/* An environment of the library: what its threads share, and how a host's thread gets into it.
 *
 * The environment's own thread turns the loop, with the session on it. Threads of the host never touch the session:
 * they hand work to the loop and wait for it, or change what is shared under `lock`. A fiber may take the lock for a
 * moment, and never yields under it.
 *
 * An environment ends in this order: it is closing (whoever waits returns), runs are cancelled, the agent ends, the
 * last thread of the host has left, the last run has ended, the session closes, the loop's thread ends.
 */
#ifndef LT_EMBED_EMBED_ENV_H
#define LT_EMBED_EMBED_ENV_H

#include <pthread.h>

#include "app/modules.h"
#include "app/session.h"
#include "embed/embed_queue.h"
#include "embed/embed_table.h"

struct lt_embed_agent;
struct lt_embed_run;
struct lt_embed_provider;

struct lathe_env {
  unsigned forks; /* how many there were between this process and the first one, when it was opened */
  char *helper;   /* the path of lathe-exec */
  pthread_t thread;
  pthread_mutex_t lock;   /* of the members up to the next empty line */
  pthread_cond_t changed; /* a request is done, the last user has left, the loop may end */
  bool is_open, is_closing, may_end;
  bool is_empty;         /* the last user has left, after is_closing */
  lt_status open_status; /* of lathe_open ... */
  lt_err open_err;       /* ... and why it failed; the loop's thread before is_open, then lathe_open's */
  uint64_t numbered;     /* runs and calls so far */
  size_t seats;          /* runs whose end was not taken */
  lt_embed_queue queue;  /* for lathe_next */
  lt_embed_table runs;   /* lt_embed_run */
  lt_embed_table calls;  /* lt_embed_call */
  struct lt_embed_run *first_starting, *last_starting; /* runs that the loop's thread has yet to start ... */
  bool is_starting;                                    /* ... by starts_post, which is on its way */
  bool is_telling;                                     /* tell_post is on its way */
  uint64_t untold_since_us;                            /* when the first event came that nobody was told of */
  size_t untold;                                       /* events that have come since tell_post was last carried out */
  lt_embed_table turned;                               /* lt_embed_turned */

  _Atomic size_t running; /* runs that have not ended */
  _Atomic unsigned users; /* threads of the host that are inside, and whether it is closing */

  /* The loop's thread only. */
  lt_session session;
  lt_modules modules;
  struct lt_embed_provider *providers; /* of the host's tools */
  struct lt_embed_agent *agent;        /* NULL: no prompt so far */
  lt_cancel stop;                      /* fired when it closes */
  lt_wait ending;                      /* woken when it closes, a run has ended, and nobody is inside any more */
  bool is_left;                        /* nobody is inside any more */
  lt_post stop_post, left_post, starts_post, tell_post;
};

/* A thread of the host comes in. LATHE_E_INVALID: env is NULL; LATHE_E_FORKED; LATHE_E_CLOSED: it is being closed.
 * After LATHE_OK the caller calls lt_embed_env_leave. */
lathe_status lt_embed_env_enter(lathe_env *env, lathe_error *error);
/* ... and goes. Returns the status, and tells the host of a failure. */
lathe_status lt_embed_env_leave(lathe_env *env, lt_status status, const lt_err *err, lathe_error *error);

/* Work for the loop's thread, on a fiber. */
typedef lt_status lt_embed_work_fn(lathe_env *env, void *arg, lt_err *err) LT_YIELDS;
/* Has it done and waits until it is, on a thread of the host that is inside. Errors: the work's; LT_E_LIMIT,
 * LT_E_NOMEM: there is no fiber for it. */
lt_status lt_embed_env_do(lathe_env *env, lt_embed_work_fn *work, void *arg, lt_err *err);

/* Puts an event of a run into its queue. Where the loop's own thread turns the run, the host is told once of all events
 * of a turn, and of those of the turns that follow while each brings more, until LT_EMBED_TELL_US have passed at the
 * end of one. So a lone event is told of after the next turn, two events a turn later. If the host were told of each,
 * it would wake for the first one, and want the lock and a processor while the others are being made. Under the lock.
 */
void lt_embed_env_put(lathe_env *env, lt_embed_queue *queue, lt_embed_event *event, bool is_turned_at_home);
/* Puts an event into a queue, unless it is full or there is no memory (then: false). Takes the lock. */
bool lt_embed_env_say(lathe_env *env, lt_embed_queue *queue, lt_embed_event *event);

#endif
