/* A program's calls of tools and functions, and the memory that they hold. */
#ifndef LT_RUNNER_QUICKJS_PROGRAM_CALL_H
#define LT_RUNNER_QUICKJS_PROGRAM_CALL_H

#include "runner/quickjs/run_opens.h"
#include "runner/run_tool_call.h"
#include "sandbox/engine.h"

/* Opened on the worker, carried out on the loop, waited for on the worker. */
typedef struct lt_program_call {
  lt_run_tool_call made; /* first: the result frees it */
  lt_run_open open;
  struct lt_program_call *next_queued;
  uint64_t hash; /* lt_journal_hash; 0: the tape is off */
} lt_program_call;

typedef struct lt_program_calls {
  lt_run_tool_call *first; /* all calls, in the order in which they were made */
  lt_run_tool_call **last;
  lt_run_tool_call *next_known; /* from before the program was dropped: the next call that it opens again */
  lt_program_call *last_taken;
  uint32_t count;
  _Atomic size_t held_bytes; /* of inputs of calls not carried out, and of answers not taken and not kept */
  size_t kept_bytes;         /* loop only: bytes of inputs, results and messages in the records */
} lt_program_calls;

void lt_program_calls_init(lt_program_calls *calls);
/* The call of this `open`, which is not a timer; and the call of this `made`. */
lt_program_call *lt_program_call_of(lt_run_open *open);
lt_program_call *lt_program_call_made(lt_run_tool_call *made);

/* Reserve and return memory for a call's input or answer. False: no room. Any thread. */
bool lt_program_call_hold(lt_run *run, size_t bytes);
void lt_program_call_let_go(lt_run *run, size_t bytes);
/* On the worker: gives the program the outcome of a call. A text that is not kept stays until the next outcome is
 * given. */
void lt_program_call_give(lt_run *run, lt_program_call *call, lt_outcome *ret);
void lt_program_call_forget_taken(lt_run *run);
/* On the worker, under the lock: the program begins again and opens its calls again. Calls under way continue. */
void lt_program_calls_rewind(lt_run *run);

/* On the loop: a call has ended (`made.status`, `made.out`); the program can take it. */
void lt_program_call_end(lt_run *run, lt_program_call *call);

#endif
