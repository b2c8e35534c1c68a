/* What a running prompt is made of, beside what its mode sees (turn.h). Internal to agent/. */
#ifndef LT_AGENT_TURN_STATE_H
#define LT_AGENT_TURN_STATE_H

#include "agent/agent_state.h"
#include "agent/approvals.h"
#include "agent/modes/mode_table.h"
#include "agent/outbox.h"
#include "agent/turn_record.h"

struct lt_turn_state {
  lt_turn turn; /* what modes see */
  lt_mode mode; /* what its `mode` points to */
  lt_turn_state *next;
  struct agent_waiter *waiters; /* those who wait for its end: agent.c's */
  lt_outbox outbox;
  lt_approvals approvals;
  lt_artifacts artifacts; /* the agent's, seen by this prompt */
  lt_journal journal;     /* likewise */
  lt_turn_record record;
  lt_str divergence;       /* how it diverged from the record; empty: it has not */
  lt_str refusal;          /* why a prompt of an earlier process cannot be carried out again; empty: it can */
  lt_run_request defaults; /* limits, modules and functions of its programs */
  lt_str resolved_model;   /* as the provider named it; empty: it has not */
  lt_str last_data;  /* what an earlier prompt left for its programs (prompt_data.h), in turn.history; empty: nothing */
  lt_buf bare_end;   /* {promptId}: the end's event where there is no memory for more */
  uint32_t requests; /* completions, those of llm() included */
  size_t streamed;   /* bytes of the last reply that went out as prompt.stream */
  bool is_prepared;
};

/* Hands an event to the agent's listener; does nothing when there was no memory for it. */
void lt_turn_send_event(const lt_turn *turn, const char *event, const lt_buf *data);
/* Adds what a completion has cost, a failed one included. */
void lt_turn_count_usage(lt_turn *turn, const lt_completion *completion);
/* Appends the id of a call's output: the name of its run below the prompt's, with dots, and the call's number. */
void lt_turn_put_call_id(const lt_turn *turn, lt_str run, uint64_t seq, lt_buf *out);
/* The prompt diverges from its record: it is cancelled, and no further effect happens. The first reason is kept.
 * Returns LT_E_DIVERGED. */
lt_status lt_turn_diverge(lt_turn *turn, lt_str why, lt_err *err);

#endif
