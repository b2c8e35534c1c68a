/* What agent.c and turn.c keep of a prompt and of the agent. Internal to agent/. */
#ifndef LT_AGENT_TURN_STATE_H
#define LT_AGENT_TURN_STATE_H

#include "agent/approvals.h"
#include "agent/outbox.h"
#include "agent/record.h"

typedef struct lt_turn_state lt_turn_state;

struct lt_agent {
  lt_agent_options options;
  lt_turn_state *turns; /* those that run */
  bool closing;
  bool leaving;    /* ... and prompts are left as they are: nothing is recorded any more */
  lt_cancel close; /* fired then, for what is no turn ... */
  unsigned titles; /* ... titles that are being made, ... */
  unsigned late;   /* ... and ends that are to be stored */
  lt_wait ended;   /* woken whenever one has ended */
  /* The listing of code mode's system prompt, kept while the tools stay the same; prompt.c's. */
  lt_catalog *listed; /* what it is of: a reference; NULL: there is none */
  lt_buf listing;
  /* The tools as they were last kept beside a prompt; check.c's. */
  lt_catalog *kept; /* a reference; NULL: none were */
  char kept_tools[LT_BLOB_HASH_BYTES + 1];
};

/* Somebody who waits for a prompt's end; in their frame. */
typedef struct lt_turn_waiter {
  struct lt_turn_waiter *next;
  lt_wait wait;
} lt_turn_waiter;

struct lt_turn_state {
  lt_turn turn; /* what modes see */
  lt_mode mode; /* what its `mode` points to */
  lt_turn_state *next;
  lt_turn_waiter *waiters;
  lt_outbox outbox;
  lt_approvals approvals;
  lt_artifacts artifacts; /* the agent's, seen by this prompt */
  lt_journal journal;     /* likewise */
  lt_turn_record record;
  lt_str divergence; /* how it has gone another way than on record; empty: it has not */
  lt_str refusal;    /* why a prompt of an earlier process cannot be carried out again; empty: it can */
  lt_run_request defaults;
  lt_str resolved_model;
  lt_str last_data;  /* what an earlier prompt has left (last_data.c); empty: nothing */
  lt_buf last_words; /* {promptId}: for an end when there is no memory for more */
  uint32_t requests; /* completions, those of llm() included */
  size_t streamed;   /* bytes of the last reply that have been told */
  bool is_prepared;
};

/* agent.c: the model that holds where none is named; NULL: there is none. */
const lt_model *lt_agent_default_model(const lt_agent *agent);
/* The model of that ref, as prompts choose it; NULL: there is none. */
const lt_model *lt_agent_find_model(const lt_agent *agent, lt_str ref);
/* Whether the prompt runs here. */
bool lt_agent_runs(const lt_agent *agent, lt_str prompt);
/* Starts a prompt that is stored, or ends it as failed; takes it over in either case. LT_YIELDS. */
lt_status lt_agent_launch(lt_turn_state *own, const char *event, lt_err *err) LT_YIELDS;

/* Tells of an event; nothing when there was no memory for it. */
void lt_turn_tell(const lt_turn *turn, const char *event, const lt_buf *data);

/* turn.c: a prompt from nothing; the strings are copied. Errors: LT_E_NOMEM. Owns: the caller, lt_turn_free. */
lt_status lt_turn_new(lt_agent *agent, const lt_prompt_row *row, const lt_model *model, const lt_mode *mode,
                      lt_turn_state **ret_own, lt_err *err);
void lt_turn_free(lt_turn_state *own);
/* Plugins prepare, the history is read, the mode runs; then everything is put out. LT_YIELDS. */
lt_status lt_turn_carry_out(lt_turn_state *own, lt_err *err) LT_YIELDS;
/* {inputTokens, outputTokens, totalTokens, requests, reasoningTokens?, estimated?, resolvedModel?} */
void lt_turn_put_usage(const lt_turn_state *own, lt_json_writer *w);

/* late.c: stores how the turn ended (turn->state) as soon as it can be stored, in the background. False: nobody will,
 * there is no memory for it or the agent ends. */
bool lt_deferred_end_start(const lt_turn *turn, lt_str usage, lt_str error);

/* turn_journal.c: makes the turn's own; NULL: the agent has none. */
lt_journal *lt_turn_make_journal(lt_turn_state *own);
/* turn_calls.c: what the turn's caller has. */
void lt_turn_on_call(void *turn, const lt_call_event *event);
lt_status lt_turn_put_artifact(lt_artifacts *self, const lt_artifact *artifact, lt_buf *ret_id, lt_err *err) LT_YIELDS;
/* Appends the id of the output that a call is: its run's name below the prompt's, with dots, and its number. */
void lt_turn_put_call_id(const lt_turn *turn, lt_str run, uint64_t seq, lt_buf *out);

/* last_data.c: what the last prompt has left to this one is there for its programs. */
lt_status lt_prompt_data_find(lt_turn *turn, lt_err *err);
/* What the program of this output, which is done, leaves to later prompts; before the output's end. */
lt_status lt_prompt_data_keep(lt_turn *turn, uint32_t number, lt_err *err);

/* What is done this time is not what was done then: nothing more may come of it. The first reason is the one.
 * LT_E_DIVERGED. */
lt_status lt_turn_diverge(lt_turn *turn, lt_str why, lt_err *err);

/* Counts what a completion has cost. */
void lt_turn_count(lt_turn *turn, const lt_completion *completion);

/* functions.c: llm() and llmJson() behind the configured functions, in the turn's arena. False: no memory. */
bool lt_llm_functions_add(lt_turn_state *own);

#endif
