/* Calls of tools and functions that a program makes: what they are, and the memory that they hold. */
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
  lt_run_tool_call *first; /* all that were made, in order */
  lt_run_tool_call **last;
  lt_run_tool_call *next_known; /* of an earlier pass: the next that the program opens again */
  lt_program_call *last_taken;
  uint32_t count;
  size_t held_bytes; /* under the lock: inputs of calls not carried out, answers not taken that are not kept */
  size_t kept_bytes; /* the loop's: inputs, results and messages in the records */
} lt_program_calls;

void lt_program_calls_init(lt_program_calls *calls);
/* The call that a run_open is, which is no timer; and the one whose records the result has. */
lt_program_call *lt_program_call_of(lt_run_open *open);
lt_program_call *lt_program_call_made(lt_run_tool_call *made);

/* A call's input or answer has room, or has it no more. Any thread. */
bool lt_program_call_hold(lt_run *run, size_t bytes);
void lt_program_call_let_go(lt_run *run, size_t bytes);
/* On the worker: the program has the outcome of what it waited for. An outcome too large to be kept goes with the next
 * one. */
void lt_program_call_give(lt_run *run, lt_program_call *call, lt_outcome *ret);
void lt_program_call_forget_taken(lt_run *run);
/* On the worker, under the lock: the program opens its calls again; those under way go on. */
void lt_program_calls_rewind(lt_run *run);

/* On the loop: a call has ended (`made.status`, `made.out`); the program can take it. */
void lt_program_call_end(lt_run *run, lt_program_call *call);

#endif
