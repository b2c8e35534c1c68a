#include "embed/embed_agent.h"

#include "app/agent_options.h"
#include "base/mem.h"
#include "embed/embed_prompt.h"

/* --- Prompts ------------------------------------------------------------------------------------------------------ */
static size_t embed_agent_bucket(lt_str id) {
  return lt_str_hash(id) % LT_EMBED_BUCKETS;
}

void lt_embed_agent_add(lt_embed_agent *agent, lt_embed_prompt *prompt) {
  lt_embed_prompt **bucket = &agent->prompts[embed_agent_bucket(lt_str_of(prompt->id))];
  prompt->next = *bucket;
  *bucket = prompt;
}

void lt_embed_agent_remove(lt_embed_agent *agent, lt_embed_prompt *prompt) {
  lt_embed_prompt **at = &agent->prompts[embed_agent_bucket(lt_str_of(prompt->id))];
  while (*at != prompt) {
    at = &(*at)->next;
  }
  *at = prompt->next;
}

lt_embed_prompt *lt_embed_agent_find(const lathe_env *env, lt_str run) {
  size_t slash = lt_str_find(run, LT_STR("/"), 0);
  lt_str id = slash != SIZE_MAX ? lt_str_sub(run, 0, slash) : run;
  lt_embed_prompt *prompt = env->agent != NULL ? env->agent->prompts[embed_agent_bucket(id)] : NULL;
  while (prompt != NULL && !lt_str_eqc(id, prompt->id)) {
    prompt = prompt->next;
  }
  return prompt;
}

static void embed_agent_on_event(void *arg, lt_str user, const char *event, lt_str data) {
  const lathe_env *env = arg;
  lt_json_doc doc;
  lt_str id;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  (void)user;
  if (lt_json_parse(&arena, data, &doc, NULL) == LT_OK &&
      lt_json_str(lt_json_get(lt_json_root(&doc), "promptId"), &arena, &id)) {
    lt_embed_prompt *prompt = lt_embed_agent_find(env, id);
    if (prompt != NULL) {
      lt_embed_prompt_take(prompt, event, lt_json_root(&doc), &arena);
    }
  }
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */
static lt_status embed_agent_fill(lt_embed_agent *agent, lt_err *err) {
  lt_session *session = &agent->env->session;
  lt_wait_init(&agent->unused, session->loop);
  LT_TRY(lt_models_fill(&session->config, &agent->models, err));
  LT_TRY(lt_http_new(session->loop, &agent->http, err));
  agent->journal = lt_store_journal_new(lt_toolbox_db(session->toolbox));
  if (agent->journal == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the agent");
  }
  lt_agent_options options = lt_agent_options_of(session, &agent->models, &agent->env->modules);
  options.http = agent->http;
  options.journal = lt_masked_records_journal(&agent->masked_journal, agent->journal, session->secrets);
  options.policy = lt_toolbox_policy(session->toolbox);
  options.model_modes = agent->models.modes;
  options.default_mode = agent->models.default_mode;
  options.leave_open = lt_toolbox_keeps(session->toolbox);
  options.on_event = embed_agent_on_event;
  options.arg = agent->env;
  return lt_agent_new(&options, &agent->agent, err);
}

static void embed_agent_free(lt_embed_agent *agent) {
  lt_store_journal_free(agent->journal);
  lt_http_free(agent->http);
  lt_mem_free(agent);
}

static lt_status embed_agent_fail_closing(lt_err *err) {
  return lt_fail(err, LT_E_CANCELLED, "the environment is being closed");
}

lt_status lt_embed_agent_open(lathe_env *env, lt_err *err) {
  if (env->agent != NULL) {
    return LT_OK;
  }
  if (env->stop.why != LT_OK) { /* nobody would end it */
    return embed_agent_fail_closing(err);
  }
  if (env->session.config.model_count == 0) {
    return lt_fail(err, LT_E_CONFIG, "a prompt needs a model: put it under `models` in the configuration");
  }
  lt_embed_agent *agent = lt_mem_zalloc(1, sizeof *agent);
  if (agent == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the agent");
  }
  agent->env = env;
  lt_status status = embed_agent_fill(agent, err);
  if (status != LT_OK) {
    embed_agent_free(agent);
    return status;
  }
  env->agent = agent;
  return LT_OK;
}

lt_status lt_embed_agent_enter(lt_embed_agent *agent, lt_err *err) {
  if (agent->agent == NULL || agent->env->stop.why != LT_OK) {
    return embed_agent_fail_closing(err);
  }
  agent->used++;
  return LT_OK;
}

void lt_embed_agent_leave(lt_embed_agent *agent) {
  agent->used--;
  lt_wait_wake(&agent->unused, LT_OK);
}

void lt_embed_agent_end(lathe_env *env) {
  lt_embed_agent *agent = env->agent;
  if (agent == NULL) {
    return;
  }
  while (agent->used > 0) {
    lt_wait_on(&agent->unused, UINT64_MAX);
  }
  lt_agent_free(agent->agent);
  agent->agent = NULL;
}

void lt_embed_agent_close(lathe_env *env) {
  if (env->agent != NULL) {
    embed_agent_free(env->agent);
    env->agent = NULL;
  }
}
