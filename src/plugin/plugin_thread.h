/* A plugin's own thread and its queue of calls.
 *
 * The thread runs one call after another. It never uses the lt_host, because it may outlive the host. When Lathe
 * abandons the thread, `loop` becomes NULL under the lock; the thread posts to the loop only under that lock.
 */
#ifndef LT_PLUGIN_PLUGIN_THREAD_H
#define LT_PLUGIN_PLUGIN_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "base/arena.h"
#include "io/loop.h"
#include "lathe_plugin.h"

struct lt_plugin;

typedef struct lt_plugin_thread {
  /* Used by the loop only. */
  bool has_started;
  bool has_ended;
  pthread_t id;
  lt_wait end_wait; /* woken when the thread has ended, and while the plugin ends after each request and call */
  lt_post ended_post;

  pthread_mutex_t lock;
  pthread_cond_t changed; /* only the plugin's thread waits on it */
  /* Protected by the lock. */
  lt_loop *loop; /* NULL: Lathe has ended and abandoned the thread */
  bool should_end;
  lathe_call *queue, **last;
  unsigned queued_count;
  lathe_call *running;
  uint64_t running_since_ms;
} lt_plugin_thread;

/* A thread's current call, for messages. */
typedef struct lt_plugin_thread_activity {
  lt_str name; /* the call's name, in the arena */
  uint64_t since_ms;
  bool is_abandoned; /* no fiber waits for the call any more */
} lt_plugin_thread_activity;

lt_status lt_plugin_thread_start(struct lt_plugin *plugin, lt_err *err);
/* Puts a call at the end of the queue. The thread holds a reference until the call has returned. */
lt_status lt_plugin_thread_submit(lathe_call *call, lt_err *err);
/* Removes a call from the queue. False: the call has begun. */
bool lt_plugin_thread_drop(lathe_call *call);
/* False: the thread runs no call. */
bool lt_plugin_thread_busy(struct lt_plugin *plugin, lt_arena *arena, lt_plugin_thread_activity *ret_activity);
/* The call that the thread runs or will run next, or NULL. Borrows: until the loop knows that the call has returned. */
lathe_call *lt_plugin_thread_running(struct lt_plugin *plugin);
/* Ends the thread when its queue is empty; abandons it after `timeout_ms`. Returns when the plugin has no open call and
 * no open request. LT_YIELDS. */
void lt_plugin_thread_end(struct lt_plugin *plugin, uint64_t timeout_ms) LT_YIELDS;

#endif
