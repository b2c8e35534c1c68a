/* One tool call of a program as its runner makes it, and as the result keeps it. Each runner embeds this as the first
 * member of its own struct; the result frees that struct. */
#ifndef LT_RUNNER_RUN_TOOL_CALL_H
#define LT_RUNNER_RUN_TOOL_CALL_H

#include "runner/run_request.h"

typedef struct lt_run_tool_call {
  struct lt_run_tool_call *next;
  lt_run_call record; /* what the result shows */
  char *long_input;   /* owned: what record.input is, unless that is short */
  lt_buf out;         /* the value, or the message of a failure */
  lt_status status;
  uint64_t seq;        /* number in the run (lt_invoke_options.seq); 0: none */
  bool kept;           /* `out` stays for the report; otherwise it is freed after the program has read it */
  bool is_recalled;    /* the record answers it */
  bool is_object;      /* the input is known to be JSON of an object: lt_invoke_options.is_object */
  int64_t interrupted; /* the journal's id of a call that was under way and is not repeatable; 0: none */
  uint32_t asking;     /* number of open approval requests; a plugin's calls may add several. Loop only */
  const lt_run_function
      *function; /* not NULL: a call of this function, not of a tool; `record` has its name and arguments */
} lt_run_tool_call;

/* Creates a call of `size` zeroed bytes with copies of both texts; NULL: no memory. */
lt_run_tool_call *lt_run_tool_call_new(size_t size, lt_str tool, lt_str input);
/* The report will not show the input. */
void lt_run_tool_call_free_input(lt_run_tool_call *call);
/* Frees a list of calls. */
void lt_run_tool_call_free_all(lt_run_tool_call *calls);
/* The tool calls of a list as the result shows them, without calls of functions. Borrows. */
const lt_run_call *lt_run_tool_call_link(lt_run_tool_call *calls);

#endif
