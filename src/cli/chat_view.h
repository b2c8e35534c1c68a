/* Shows a running prompt to a person.
 *
 * Only the answer goes to standard output, piece by piece; a terminal that has styles gets it as rendered Markdown.
 * Programs, calls, timings and what happens now go to standard error. Without a terminal, or with NO_COLOR, these are
 * plain lines and the answer is as it was written. Text from models and tools is cleaned before a terminal gets it.
 * With `json`, every event is a line on standard output instead. Loop thread only.
 */
#ifndef LT_CLI_CHAT_VIEW_H
#define LT_CLI_CHAT_VIEW_H

#include "cli/activity.h"
#include "cli/console.h"
#include "cli/program_view.h"
#include "io/loop.h"
#include "store/store.h"
#include "text/markdown.h"

typedef enum lt_chat_end {
  LT_CHAT_UNFINISHED,
  LT_CHAT_COMPLETED,
  LT_CHAT_INCOMPLETE, /* completed without a whole answer */
  LT_CHAT_CANCELLED,
  LT_CHAT_FAILED
} lt_chat_end;

/* What the prompts of this process took. */
typedef struct lt_chat_usage {
  int64_t prompts, requests, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens;
  bool has_cost;
  double cost; /* in US dollars */
} lt_chat_usage;

typedef struct lt_chat_view {
  lt_loop *loop;
  lt_console *console;
  bool json;
  bool out_is_terminal, err_is_terminal, dims;
  lt_markdown *markdown; /* of the answer; NULL: it is shown as it is written */
  bool mid_line;         /* the last line of the answer has no end yet */
  bool write_failed;     /* a write to standard output failed; nothing more is written, and no output counts as shown */
  /* Called after the outputs of a prompt up to this change were written (lt_agent_shown). NULL: not called. */
  void (*on_shown)(void *arg, lt_str prompt, uint64_t change);
  void *arg;
  char held_prompt[LT_STORE_ID_BYTES + 1]; /* of outputs that are held for the terminal ... */
  uint64_t held_change;                    /* ... up to this change; 0: none are */
  lt_chat_end end;                         /* of the last prompt */
  uint64_t began_ms;
  lt_chat_usage usage;
  lt_activity *activity; /* what happens now; NULL: it is not shown */
  lt_program_view program;
  const char *idle;           /* what is said to happen while no step is pending */
  bool running;               /* a prompt runs */
  unsigned held;              /* number of open questions on the terminal */
  struct lt_chat_step *steps; /* pending outputs, newest first */
} lt_chat_view;

typedef struct lt_chat_view_options {
  lt_loop *loop;
  lt_console *console;
  lt_activity *activity; /* NULL: what happens now is not shown */
  bool json, verbose;    /* `verbose`: long programs are not folded */
} lt_chat_view_options;

/* Borrows what is in the options. The console calls the view before it writes a line. Errors: LT_E_NOMEM. */
lt_status lt_chat_view_init(lt_chat_view *view, const lt_chat_view_options *options, lt_err *err);
void lt_chat_view_release(lt_chat_view *view);

/* Begin and finish a prompt. After the finish no end of the prompt is shown. */
void lt_chat_view_begin(lt_chat_view *view);
void lt_chat_view_finish(lt_chat_view *view);
/* Hides what happens now while a question is open on the terminal. Calls are counted. */
void lt_chat_view_hold(lt_chat_view *view);
void lt_chat_view_unhold(lt_chat_view *view);

/* An event of the agent (agent/agent.h). */
void lt_chat_view_event(lt_chat_view *view, const char *event, lt_str data);

/* Shows a text as an answer is shown, on standard error. */
void lt_chat_view_show_text(lt_chat_view *view, lt_str text);
/* An event of a call of the prompt. */
void lt_chat_view_call(lt_chat_view *view, const lt_call_event *event);

/* A line on standard error, dimmed if the terminal can. `text` is cleaned already. */
void lt_chat_view_note(lt_chat_view *view, lt_str text);

#endif
