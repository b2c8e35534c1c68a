/* What the agent keeps while it runs, and what its own files ask of agent.c. Internal to agent/. */
#ifndef LT_AGENT_AGENT_STATE_H
#define LT_AGENT_AGENT_STATE_H

#include "agent/agent.h"
#include "agent/modes/code_prompt.h"

typedef struct lt_turn_state lt_turn_state;

struct lt_agent {
  lt_agent_options options;
  const lt_mode *const *modes; /* the built-in ones */
  size_t mode_count;
  lt_turn_state *turns;    /* the prompts that run */
  bool closing;            /* the agent ends: it takes no further prompts ... */
  bool leaving;            /* ... and leaves those that run as they are: nothing is recorded any more */
  lt_cancel close;         /* fired when the agent ends */
  unsigned titles;         /* titles that are being made */
  unsigned deferred_ends;  /* ends that are still to be stored (deferred_end.h) */
  lt_wait ended;           /* woken whenever a prompt, a title or a deferred end is finished */
  lt_code_listing listing; /* of code mode's system prompt */
  /* The tools as they were last kept beside a prompt. */
  lt_catalog *kept; /* a reference; NULL: none were */
  char kept_tools[LT_BLOB_HASH_BYTES + 1];
};

/* The model that holds where none is named; NULL: there is none. */
const lt_model *lt_agent_default_model(const lt_agent *agent);
/* The model of that ref, as prompts choose it; NULL: there is none. */
const lt_model *lt_agent_find_model(const lt_agent *agent, lt_str ref);
/* Whether the prompt runs in this process. */
bool lt_agent_runs(const lt_agent *agent, lt_str prompt);
/* Starts a prompt that is stored, or ends it as failed. Owns: the agent, in either case. LT_YIELDS. */
lt_status lt_agent_launch(lt_turn_state *own, const char *event, lt_err *err) LT_YIELDS;

#endif
