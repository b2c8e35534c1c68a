/* Who calls: what the door needs to know of a run or a prompt, the same for all of its calls.
 *
 * Made by whoever starts the run (a command, the agent, a plugin that runs a program), borrowed by every call, which
 * all end before it goes. Loop thread only.
 */
#ifndef LT_TOOL_CALLER_H
#define LT_TOOL_CALLER_H

#include "io/loop.h"
#include "tool/catalog.h"
#include "tool/journal.h"
#include "tool/policy/policy.h"

/* --- Asking ------------------------------------------------------------------------------------------------------- */
typedef struct lt_approval {
  const lt_tool *tool;
  lt_str input;  /* JSON text of an object, as the tool will get it; secrets are masked */
  lt_str reason; /* why it is asked about: the rule's or the tool's own words; may be empty */
  uint64_t call; /* the call's number, as in its events */
  lt_str run;    /* whose call it is, and its number there, the same when the run is run again */
  uint64_t seq;
} lt_approval;

typedef struct lt_approver lt_approver;
struct lt_approver {
  /* Waits until somebody has decided. LT_OK: go on. LT_E_DENIED: no; why, in their words, is appended to `ret_reason`,
   * which may stay empty. Anything else: nobody could be asked, `err` says what to do. LT_YIELDS. */
  lt_status (*ask)(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_buf *ret_reason,
                   lt_err *err) LT_YIELDS;
};

/* --- The caller --------------------------------------------------------------------------------------------------- */
/* Of every call FINISHED is told, once and last; the others when it gets so far. */
typedef enum lt_call_stage { LT_CALL_STARTED, LT_CALL_ASKED, LT_CALL_FINISHED } lt_call_stage;
typedef struct lt_call_event {
  lt_call_stage stage;
  uint64_t call; /* its number at the door */
  lt_str run;    /* the caller's */
  uint64_t seq;  /* lt_invoke_options.seq */
  lt_str tool;   /* its id; of a call that failed perhaps no tool's */
  lt_str input;  /* JSON text; of a call that was refused as it came, perhaps no JSON */
  lt_status status;
  lt_str answer; /* FINISHED: the value (JSON text), or the message */
} lt_call_event;

typedef struct lt_caller lt_caller;
struct lt_caller {
  lt_str user; /* on whose behalf: "local" at the command line */
  /* The run's name, the same when it is run again: a prompt's id; below it, divided by slashes, the output whose
   * program it is, and so on ("<prompt>/<output>/2": the second program of a tool). */
  lt_str run;
  const lt_caller *parent; /* whose tool call this one's program is (interpreter.run-code); NULL: nobody's */
  lt_catalog *catalog;     /* the tools it sees; NULL: the door's */
  lt_str hidden;           /* the id of a tool that it neither sees nor may call; may be empty */
  const lt_policy *policy; /* NULL: no rules */
  lt_budget *budget;       /* shared with nested callers; NULL: no limits */
  lt_approver *approver;   /* NULL: what would be asked about is denied */
  lt_journal *journal;     /* NULL: none is kept */
  bool noted;              /* the journal keeps notes of its runs, so that they can be run again */
  bool recalled;           /* they may be on record already: they are run again */
  lt_artifacts *artifacts; /* NULL: nothing can be put aside */
  void *prompt;            /* the plugin host's; see plugin/host.h */
  /* Told of each call's stages on the loop; may be NULL. Must not yield. Secrets are masked. */
  void (*on_call)(void *arg, const lt_call_event *event);
  void *arg;
};

#endif
