/* What agent.c and turn.c keep of a prompt and of the agent. Internal to agent/. */
#ifndef LT_AGENT_OWN_H
#define LT_AGENT_OWN_H

#include "agent/approvals.h"
#include "agent/outbox.h"

typedef struct lt_turn_own lt_turn_own;

struct lt_agent {
  lt_agent_options options;
  lt_turn_own *turns; /* those that run */
  bool closing;
  lt_cancel close; /* fired then, for what is no turn ... */
  unsigned titles; /* ... titles that are being made */
  lt_wait ended;   /* woken whenever one has ended */
  /* The listing of code mode's system prompt, kept while the tools stay the same; prompt.c's. */
  lt_catalog *listed; /* what it is of: a reference; NULL: there is none */
  lt_buf listing;
};

/* Somebody who waits for a prompt's end; in their frame. */
typedef struct lt_turn_waiter {
  struct lt_turn_waiter *next;
  lt_wait wait;
} lt_turn_waiter;

struct lt_turn_own {
  lt_turn turn; /* what modes see */
  lt_mode mode; /* what its `mode` points to */
  lt_turn_own *next;
  lt_turn_waiter *waiters;
  lt_outbox outbox;
  lt_approvals approvals;
  lt_artifacts artifacts; /* the agent's, seen by this prompt */
  lt_run_request defaults;
  lt_str resolved_model;
  uint32_t program;  /* number of the output whose program runs; UINT32_MAX: none */
  uint32_t asking;   /* likewise, of the call that is asked about next: nothing happens between its event and that */
  lt_buf last_words; /* {promptId}: for an end when there is no memory for more */
  uint32_t requests; /* completions, those of llm() included */
  size_t streamed;   /* bytes of the last reply that have been told */
  bool is_prepared;
};

/* agent.c: the model that holds where none is named; NULL: there is none. */
const lt_model *lt_agent_default_model(const lt_agent *agent);

/* Tells of an event; nothing when there was no memory for it. */
void lt_turn_tell(const lt_turn *turn, const char *event, const lt_buf *data);

/* turn.c: a prompt from nothing; the strings are copied. Errors: LT_E_NOMEM. Owns: the caller, lt_turn_free. */
lt_status lt_turn_new(lt_agent *agent, const lt_prompt_row *row, const lt_model *model, const lt_mode *mode,
                      lt_turn_own **ret_own, lt_err *err);
void lt_turn_free(lt_turn_own *own);
/* Plugins prepare, the history is read, the mode runs; then everything is put out. LT_YIELDS. */
lt_status lt_turn_carry_out(lt_turn_own *own, lt_err *err) LT_YIELDS;
/* {inputTokens, outputTokens, totalTokens, requests, reasoningTokens?, estimated?, resolvedModel?} */
void lt_turn_put_usage(const lt_turn_own *own, lt_json_writer *w);

/* Counts what a completion has cost. */
void lt_turn_count(lt_turn *turn, const lt_completion *completion);

/* functions.c: llm() and llmJson() behind the configured functions, in the turn's arena. False: no memory. */
bool lt_turn_add_functions(lt_turn_own *own);

#endif
