/* The caller of tools: the properties of a run or a prompt that the door needs for its calls.
 *
 * The starter of the run makes the caller: a command, the agent, or a plugin that runs a program. Every call borrows
 * it; the caller outlives its calls. Loop thread only.
 */
#ifndef LT_TOOL_CALLER_H
#define LT_TOOL_CALLER_H

#include "io/loop.h"
#include "tool/catalog.h"
#include "tool/decision.h"
#include "tool/journal.h"
#include "tool/policy/policy.h"
#include "trace/trace_context.h"

/* --- Approvals ---------------------------------------------------------------------------------------------------- */
typedef struct lt_approval {
  const lt_tool *tool;
  lt_str input;   /* JSON text of the tool's input, an object; secrets are masked */
  lt_str reason;  /* the rule's or the tool's reason; may be empty */
  uint64_t call;  /* the call's number, as in its events */
  lt_str run;     /* the caller's run */
  uint64_t seq;   /* the call's number in the run; the same when the run is repeated */
  bool is_masked; /* `input` stands for an input with secrets: equal texts may be different inputs */
  /* Why the last decision about this call, or a remembered one, cannot be used; empty: it is asked about for the first
   * time. A remembered decision counts only then. */
  lt_str refusal;
} lt_approval;

typedef struct lt_approver lt_approver;
struct lt_approver {
  /* Waits for a person's decision. LT_OK: `ret_decision` has it, with its texts in `arena`. Any error: nobody decided,
   * and `err` says what to do. A decision whose edited input cannot be used is answered by asking again, with
   * what->refusal. LT_YIELDS. */
  lt_status (*ask)(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                   lt_decision *ret_decision, lt_err *err) LT_YIELDS;
};

/* --- The caller --------------------------------------------------------------------------------------------------- */
/* FINISHED is the last event of every call. STARTED and ASKED come only for calls that reach these steps, PROGRESS only
 * for a caller that wants it. */
typedef enum lt_call_stage { LT_CALL_STARTED, LT_CALL_ASKED, LT_CALL_PROGRESS, LT_CALL_FINISHED } lt_call_stage;
/* Who has carried out a call, as far as its provider tells. */
typedef struct lt_call_peer {
  bool is_mcp;        /* an MCP server; else the rest is empty */
  bool is_process;    /* ... behind pipes, not HTTP */
  char protocol[24];  /* the version of MCP; "": not known */
  char address[256];  /* the host of its url; "": none, or too long */
  unsigned port;      /* of its url; 0: none */
  int64_t error_code; /* of the JSON-RPC error that it answered with; 0: none */
} lt_call_peer;

/* For spans: where the call is in a trace, and when what has happened (lt_clock_monotonic_us; 0: it has not). */
typedef struct lt_call_trace {
  lt_trace_context self, parent; /* the call's own span, and the one that it is below; may be not set */
  uint64_t begun_us, ended_us;
  uint64_t asked_us, decided_us; /* from the first question to a person to the last answer */
  lt_call_peer peer;
} lt_call_trace;

typedef struct lt_call_event {
  lt_call_stage stage;
  uint64_t call;       /* the call's number at the door; 0: answered from the record */
  lt_str run;          /* the caller's run */
  uint64_t seq;        /* lt_invoke_options.seq */
  lt_str tool;         /* the called id; for a failed call it may be unknown */
  lt_str input;        /* JSON text; for a refused call the original text, which may be no JSON */
  lt_str edited_input; /* with what a person replaced the input; empty: with nothing */
  lt_status status;
  lt_str answer; /* FINISHED: the value (JSON text), or the message; PROGRESS: what the server says, may be empty */
  double progress, progress_total; /* PROGRESS; the total is 0 when the server does not know it */
  bool is_known;                   /* FINISHED: there is a tool of this id */
  uint64_t took_us;                /* FINISHED: since STARTED, so without a wait for an approval; 0: it never started */
  const lt_call_trace *trace;      /* FINISHED: at the door; else, and for an answer from the record, NULL */
} lt_call_event;

typedef struct lt_caller lt_caller;
struct lt_caller {
  lt_str user; /* the user of the run: "local" at the command line */
  /* The run's name, the same when the run is repeated: a prompt's id, then, after slashes, the number of the output
   * that runs the program, and so on ("<prompt>/<output>/2": the second program of a tool). */
  lt_str run;
  const lt_caller *parent; /* the caller whose tool call runs this program (interpreter.run-code); NULL: none */
  lt_catalog *catalog;     /* the tools that it sees; NULL: the door's (lt_door_catalog_of) */
  const lt_catalog_source *own_tools; /* for the preparation of its catalog: tools of nobody else; NULL: none */
  lt_str hidden;                      /* the id of a tool that it cannot see or call; may be empty */
  const lt_policy *policy;            /* NULL: no rules */
  lt_budget *budget;                  /* shared with nested callers; NULL: no limits */
  lt_approver *approver;              /* NULL: calls that need an approval are denied */
  lt_journal *journal;                /* NULL: none is kept */
  bool noted;                         /* notes of its runs are written to the journal, so that they can be repeated */
  bool recalled;                      /* its runs may have records: they are repeated */
  lt_artifacts *artifacts;            /* NULL: artifacts cannot be stored */
  void *prompt;                       /* used by the plugin host; see plugin/host.h */
  lt_trace_context trace;             /* the span that its calls are part of; not set: they are not traced */
  /* Receives each call's events, on the loop; may be NULL. Must not yield. Secrets are masked. */
  void (*on_call)(void *arg, const lt_call_event *event);
  bool wants_progress; /* servers are asked to tell the progress of calls */
  void *arg;
};

#endif
