/* Calls of a program on the loop: at most so many at a time are under way, the others queue. */
#ifndef LT_RUNNER_QUICKJS_CALL_QUEUE_H
#define LT_RUNNER_QUICKJS_CALL_QUEUE_H

#include "runner/quickjs/program_call.h"
#include "sandbox/workers.h"

/* The loop's. */
typedef struct lt_call_queue {
  bool is_idle;           /* the run's own fiber waits and could carry out a call */
  uint32_t in_flight;     /* tool calls */
  lt_program_call *woken; /* for the run's own fiber: calls that come right after it must not overtake it */
  lt_program_call *first;
  lt_program_call **last;
} lt_call_queue;

void lt_call_queue_init(lt_call_queue *queue);
/* What lt_run_opens_add posts for a call (lt_run_open): carries it out, or queues it. */
void lt_call_queue_start(void *open);
bool lt_call_queue_has_waiting(const lt_call_queue *queue);
/* Carries out the next call on this fiber; false when there is none. LT_YIELDS. */
bool lt_call_queue_perform(lt_run *run) LT_YIELDS;
/* Calls that have not begun never will: they fail with that message. */
void lt_call_queue_drop(lt_run *run, lt_status why, const char *message);
/* Ends the program: its open calls are cancelled, it is woken if it waits. */
void lt_call_queue_stop_run(lt_run *run, lt_stop why);

#endif
