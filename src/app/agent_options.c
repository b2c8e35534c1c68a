#include "app/agent_options.h"

#include "app/origin.h"

static lt_runner *agent_options_runner_of(void *arg, lt_lang lang, lt_err *err) {
  return lt_toolbox_runner(((lt_session *)arg)->toolbox, NULL, lang, err);
}

lt_agent_options lt_agent_options_of(lt_session *session, const lt_models *models, const lt_modules *modules) {
  lt_config *config = &session->config;
  return (lt_agent_options){
      .loop = session->loop,
      .door = session->door,
      .db = lt_toolbox_db(session->toolbox),
      .host = lt_toolbox_host(session->toolbox),
      .artifacts = lt_toolbox_artifacts(session->toolbox),
      .secrets = session->secrets,
      .monitor = &session->monitor,
      .sampler = lt_telemetry_sampler(session->telemetry),
      .models = models->list,
      .model_count = models->room,
      .default_model = models->default_ref,
      .rounds = session->rounds,
      .rounds_count = config->defaults.rounds_count,
      .instructions = lt_str_of(config->instructions.text != NULL ? config->instructions.text : ""),
      .listing_tokens = (size_t)config->listing_tokens,
      .defaults = {.timeout_ms = (uint64_t)config->timeout_ms,
                   .memory_bytes = (uint64_t)config->memory_mb * LT_MIB,
                   .max_output_bytes = (size_t)config->max_output_bytes,
                   .modules = modules->list,
                   .module_count = modules->count},
      .origin = lt_origin_of(config),
      .runner = agent_options_runner_of,
      .runner_arg = session,
  };
}
