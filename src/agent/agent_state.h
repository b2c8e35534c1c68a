/* The agent's state, and functions of agent.c that other files of agent/ use. Internal to agent/. */
#ifndef LT_AGENT_AGENT_STATE_H
#define LT_AGENT_AGENT_STATE_H

#include "agent/agent.h"
#include "agent/tool_definitions.h"
#include "agent/turn.h"

typedef struct lt_turn_state lt_turn_state;

/* The fiber that looks for other processes' decisions (decision_watch.h). */
typedef struct lt_decision_watch {
  bool is_running;
  int64_t version; /* lt_store_decision_version of the last look; 0: none yet */
  lt_wait wait;
} lt_decision_watch;

struct lt_agent {
  lt_agent_options options;
  const lt_mode *const *modes; /* the built-in ones */
  size_t mode_count;
  lt_turn_state *turns; /* running prompts */
  lt_turn_state *turns_by_id[LT_AGENT_BUCKETS];
  bool is_draining;       /* no further prompts are taken; those that run may end (lt_agent_drain) */
  bool closing;           /* the agent ends and accepts no further prompts */
  bool leaving;           /* the agent ends without ending its prompts: nothing more is recorded */
  lt_cancel close;        /* fired when the agent ends */
  unsigned titles;        /* model requests for titles under way */
  unsigned deferred_ends; /* ends that are not stored yet (deferred_end.h) */
  lt_wait beat;           /* ends the heartbeat (heartbeat.h) */
  bool is_beating;
  lt_decision_watch watch;
  lt_wait ended;            /* woken whenever a prompt, a title or a deferred end is finished */
  lt_tool_text listing;     /* of code mode's system prompt */
  lt_tool_text definitions; /* of classic mode's requests */
  lt_buf system_text;       /* the last system prompt without context items; empty: none is kept ... */
  lt_buf system_message;    /* ... and its message: most prompts have the same one, which is long */
  /* The list of tools that was stored last, and its name. */
  uint64_t kept; /* the list's lt_catalog_number; 0: none */
  char kept_tools[LT_BLOB_HASH_BYTES + 1];
  bool is_kept_stored;
  uint64_t hashed; /* the lt_catalog_number of the list that has this hash; 0: none */
  uint64_t tools_hash;
};

/* A call has begun to wait: the watch looks more often from now on. */
static inline void lt_agent_wake_watch(lt_agent *agent) {
  if (agent->watch.is_running) {
    lt_wait_wake(&agent->watch.wait, LT_OK);
  }
}

/* The default model; NULL: none is configured. */
const lt_model *lt_agent_default_model(const lt_agent *agent);
/* The id of the mode of a prompt that names neither a mode nor a model. Borrowed from the options. */
lt_str lt_agent_default_mode(const lt_agent *agent);
/* The model with that ref; NULL: unknown. */
const lt_model *lt_agent_find_model(const lt_agent *agent, lt_str ref);
/* Whether the prompt runs in this process. */
bool lt_agent_runs(const lt_agent *agent, lt_str prompt);
/* LT_E_NOTFOUND: `Prompt "..." not found or no longer active`. */
lt_status lt_agent_fail_inactive(lt_str prompt, lt_err *err);
/* Starts a stored prompt, or ends it as failed. The agent owns `turn_state` in either case. LT_YIELDS. */
lt_status lt_agent_launch(lt_turn_state *turn_state, const char *event, lt_err *err) LT_YIELDS;

#endif
