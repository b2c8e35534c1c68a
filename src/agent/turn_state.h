/* The state of a running prompt, including the parts that its mode does not see (turn.h). Internal to agent/. */
#ifndef LT_AGENT_TURN_STATE_H
#define LT_AGENT_TURN_STATE_H

#include "agent/agent_state.h"
#include "agent/approvals.h"
#include "agent/conversation_summary.h"
#include "agent/deferred_start.h"
#include "agent/modes/mode_table.h"
#include "agent/outbox.h"
#include "agent/program_draft.h"
#include "agent/recorded_tools.h"
#include "agent/turn_edits.h"
#include "agent/turn_record.h"

struct lt_turn_state {
  lt_turn turn; /* the part that modes see */
  lt_mode mode; /* turn.mode points here */
  lt_turn_state *next, *prev;
  lt_turn_state *next_by_id;    /* of those whose ids have the same hash */
  struct agent_waiter *waiters; /* waiters for its end; used by agent.c */
  lt_approvals approvals;
  lt_artifacts artifacts; /* a wrapper of the agent's */
  lt_journal journal;     /* a wrapper of the agent's */
  lt_turn_record record;
  lt_recorded_tools recorded_tools;
  lt_str divergence;                  /* how the prompt diverged from its record; empty: it did not */
  lt_str refusal;                     /* why the prompt of an earlier process cannot be resumed; empty: it can */
  lt_run_request defaults;            /* limits, modules and functions of its programs */
  lt_str resolved_model;              /* the provider's name of the model; empty: unknown */
  lt_str last_data;                   /* data of an earlier prompt (prompt_data.h), borrows turn.history; empty: none */
  lt_buf bare_end;                    /* {promptId}: sent as the end's event when there is no memory for more */
  uint32_t requests;                  /* number of completions, including those of llm() */
  lt_turn_edit *edits;                /* in the turn's arena */
  size_t streamed;                    /* bytes of the last reply, masked, that were sent as prompt.stream */
  lt_buf held_text;                   /* what has arrived of it and is not sent yet */
  lt_incomplete incomplete;           /* why the prompt ends without a whole answer */
  uint64_t began_us;                  /* when it started in this process */
  int64_t earlier_us;                 /* that it had begun before, in another process, as far as its trace says */
  lt_trace_context trace_parent;      /* the span that the prompt's is below; may be not set */
  lt_conversation_summary summary;    /* of the earliest prompts of the conversation; empty: none */
  lt_summary_plan summary_plan;       /* the one to be made before the first request */
  struct conversation_search *search; /* the tool, in the turn's arena; NULL: it was not needed yet */
  bool is_shortened;                  /* the model is not shown all of the conversation */
  bool is_first;                      /* this prompt has begun the conversation, so there is no history to read */
  bool is_prepared;
  bool has_saved;      /* a program of the prompt has saved one: the next program sees other tools */
  bool sends_no_media; /* the model has refused images or documents of this prompt's requests */
  /* From here on each has a function that sets what it needs: a new prompt does not clear their kilobytes. */
  lt_outbox outbox;
  lt_deferred_start deferred_start;
  lt_program_drafts drafts;
};

/* Hands an event to the agent's listener; does nothing when `data` failed for lack of memory. */
void lt_turn_send_event(const lt_turn *turn, const char *event, const lt_buf *data);
/* Adds tokens. */
void lt_turn_add_usage(lt_turn *turn, const lt_usage *usage);
/* Reports prompt.retrying, for readers who wait: nothing depends on it, and it is not stored. `turn` is an lt_turn. */
void lt_turn_report_retry(void *turn, const lt_retry_notice *notice);
/* Adds the usage of a completion, also of a failed one. */
void lt_turn_count_usage(lt_turn *turn, const lt_completion *completion);
/* Appends the id of a call's output: the name of its run below the prompt's, with dots, and the call's number. */
void lt_turn_put_call_id(const lt_turn *turn, lt_str run, uint64_t seq, lt_buf *out);
/* Cancels the prompt because it diverged from its record; it has no further effect. Keeps the first reason. Returns
 * LT_E_DIVERGED. */
lt_status lt_turn_diverge(lt_turn *turn, lt_str why, lt_err *err);

#endif
