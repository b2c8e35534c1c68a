/* The caller of tools: what the door needs to know of a run or a prompt, the same for all of its calls.
 *
 * Who starts the run makes it (a command, the agent, a plugin that runs a program). Every call borrows it; all of them
 * end before it goes. Loop thread only.
 */
#ifndef LT_TOOL_CALLER_H
#define LT_TOOL_CALLER_H

#include "io/loop.h"
#include "tool/catalog.h"
#include "tool/journal.h"
#include "tool/policy/policy.h"

/* --- Approvals ---------------------------------------------------------------------------------------------------- */
typedef struct lt_approval {
  const lt_tool *tool;
  lt_str input;  /* JSON text of an object, as the tool will get it; secrets are masked */
  lt_str reason; /* why an approval is needed, in the rule's or the tool's words; may be empty */
  uint64_t call; /* the call's number, as in its events */
  lt_str run;    /* the caller's; the same when the run is run again */
  uint64_t seq;  /* the call's number in the run; the same when the run is run again */
} lt_approval;

typedef struct lt_approver lt_approver;
struct lt_approver {
  /* Waits until a person has decided. LT_OK: approved. LT_E_DENIED: rejected; the person's reason, if any, is appended
   * to `ret_reason`. Anything else: nobody could be asked, and `err` says what to do. LT_YIELDS. */
  lt_status (*ask)(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_buf *ret_reason,
                   lt_err *err) LT_YIELDS;
};

/* --- The caller --------------------------------------------------------------------------------------------------- */
/* Every call has one FINISHED event, its last. STARTED and ASKED come only when the call gets so far. */
typedef enum lt_call_stage { LT_CALL_STARTED, LT_CALL_ASKED, LT_CALL_FINISHED } lt_call_stage;
typedef struct lt_call_event {
  lt_call_stage stage;
  uint64_t call; /* the call's number at the door; 0: it was answered from the record */
  lt_str run;    /* the caller's */
  uint64_t seq;  /* lt_invoke_options.seq */
  lt_str tool;   /* the id that was called; of a call that failed perhaps no tool's */
  lt_str input;  /* JSON text; of a call that was refused, the text as it came, perhaps no JSON */
  lt_status status;
  lt_str answer; /* FINISHED: the value (JSON text), or the message */
} lt_call_event;

typedef struct lt_caller lt_caller;
struct lt_caller {
  lt_str user; /* the user it acts for: "local" at the command line */
  /* The run's name, the same when it is run again: a prompt's id, then, divided by slashes, the output that runs the
   * program, and so on ("<prompt>/<output>/2": the second program of a tool). */
  lt_str run;
  const lt_caller *parent; /* the caller whose tool call runs this program (interpreter.run-code); NULL: none */
  lt_catalog *catalog;     /* the tools it sees; NULL: the door's (lt_door_catalog_of) */
  lt_str hidden;           /* the id of a tool that it neither sees nor may call; may be empty */
  const lt_policy *policy; /* NULL: no rules */
  lt_budget *budget;       /* shared with nested callers; NULL: no limits */
  lt_approver *approver;   /* NULL: calls that need an approval are denied */
  lt_journal *journal;     /* NULL: none is kept */
  bool noted;              /* the journal keeps notes of its runs, so that they can be run again */
  bool recalled;           /* its runs may be recorded already: they are run again */
  lt_artifacts *artifacts; /* NULL: artifacts cannot be kept */
  void *prompt;            /* the plugin host's; see plugin/host.h */
  /* Receives each call's events, on the loop; may be NULL. Must not yield. Secrets are masked. */
  void (*on_call)(void *arg, const lt_call_event *event);
  void *arg;
};

#endif
