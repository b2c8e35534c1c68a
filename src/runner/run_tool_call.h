/* One tool call of a program as its runner makes it, and as the result keeps it. Each runner puts this first into a
 * struct of its own; the result frees it as memory of one piece. */
#ifndef LT_RUNNER_RUN_TOOL_CALL_H
#define LT_RUNNER_RUN_TOOL_CALL_H

#include "runner/run_request.h"

typedef struct lt_run_tool_call {
  struct lt_run_tool_call *next;
  lt_run_call record; /* what the result shows */
  lt_buf out;         /* the value, or the message of a failure */
  lt_status status;
  uint64_t seq;                    /* its number in the run (lt_invoke_options.seq); 0: it has none */
  bool kept;                       /* `out` stays for the report; otherwise it goes when the program has read it */
  bool is_recalled;                /* the record answers it */
  int64_t interrupted;             /* the journal's id of a call that was under way and is not repeated; 0: none */
  uint32_t asking;                 /* open approvals, several when a plugin makes calls for it; the loop's */
  const lt_run_function *function; /* a call of it instead of a tool's; `record` has its name and arguments */
} lt_run_tool_call;

/* A call with copies of these, in `size` bytes of zeros; NULL: no memory. */
lt_run_tool_call *lt_run_tool_call_new(size_t size, lt_str tool, lt_str input);
void lt_run_tool_call_free_input(lt_run_tool_call *call);
/* Frees a list of them. */
void lt_run_tool_call_free_all(lt_run_tool_call *calls);
/* The tool calls of a list as the result shows them, without calls of functions. Borrows. */
const lt_run_call *lt_run_tool_call_link(lt_run_tool_call *calls);

#endif
