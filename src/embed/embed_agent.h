/* The agent of an environment, which is made for its first prompt. The loop's thread only. */
#ifndef LT_EMBED_EMBED_AGENT_H
#define LT_EMBED_EMBED_AGENT_H

#include "agent/agent.h"
#include "app/models.h"
#include "embed/embed_env.h"
#include "tool/masked_records.h"

struct lt_embed_prompt;

typedef struct lt_embed_agent {
  lathe_env *env;
  lt_models models;
  lt_http *http;
  lt_journal *journal;
  lt_masked_journal masked_journal;
  lt_agent *agent;                                   /* NULL: it has ended */
  size_t used;                                       /* fibers inside of it */
  lt_wait unused;                                    /* woken when one leaves */
  struct lt_embed_prompt *prompts[LT_EMBED_BUCKETS]; /* those that run, by the hash of their id */
} lt_embed_agent;

/* Makes the environment's agent unless it is there. Errors: LT_E_CONFIG: the configuration has no models, or a default
 * that does not exist; LT_E_CANCELLED: the environment is being closed; LT_E_NOMEM. */
lt_status lt_embed_agent_open(lathe_env *env, lt_err *err);
/* A fiber that calls functions of the agent which yield: it does not end before the fiber leaves. Errors:
 * LT_E_CANCELLED: it ends, or has. */
lt_status lt_embed_agent_enter(lt_embed_agent *agent, lt_err *err);
void lt_embed_agent_leave(lt_embed_agent *agent);
/* Ends it, and with it the prompts that run; those of a store that outlives the process are left to the next process.
 * The environment is stopping. LT_YIELDS. */
void lt_embed_agent_end(lathe_env *env) LT_YIELDS;
/* Frees what is left of it. Every prompt has ended. */
void lt_embed_agent_close(lathe_env *env);

/* Has the prompt's events given to it (lt_embed_prompt_take) until it is removed. */
void lt_embed_agent_add(lt_embed_agent *agent, struct lt_embed_prompt *prompt);
void lt_embed_agent_remove(lt_embed_agent *agent, struct lt_embed_prompt *prompt);
/* The prompt with an id, or that a run below it is of ("ID/2/1", lt_caller.run). NULL: none. Borrows. */
struct lt_embed_prompt *lt_embed_agent_find(const lathe_env *env, lt_str run);

#endif
