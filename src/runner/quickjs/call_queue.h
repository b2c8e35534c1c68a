/* Carries out a program's calls on the loop. A limited number is under way at a time; the others queue. */
#ifndef LT_RUNNER_QUICKJS_CALL_QUEUE_H
#define LT_RUNNER_QUICKJS_CALL_QUEUE_H

#include "runner/quickjs/program_call.h"
#include "sandbox/workers.h"

/* Used on the loop only. */
typedef struct lt_call_queue {
  bool is_idle;           /* the run's own fiber waits and is free to carry out a call */
  uint32_t in_flight;     /* tool calls */
  lt_program_call *woken; /* the call for the run's own fiber: later calls must not overtake it */
  lt_program_call *first;
  lt_program_call **last;
} lt_call_queue;

void lt_call_queue_init(lt_call_queue *queue);
/* Carries out a call (lt_run_open), or queues it. lt_run_opens_add posts this function to the loop. */
void lt_call_queue_start(void *open);
bool lt_call_queue_has_waiting(const lt_call_queue *queue);
/* Carries out the next call on this fiber; false: the queue is empty. LT_YIELDS. */
bool lt_call_queue_perform(lt_run *run) LT_YIELDS;
/* Fails all calls that have not begun, with this message. */
void lt_call_queue_drop(lt_run *run, lt_status why, const char *message);
/* Stops the program: cancels its open calls, and wakes it if it waits. */
void lt_call_queue_stop_run(lt_run *run, lt_stop why);

#endif
