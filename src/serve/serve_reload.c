/* The configuration is read again (SIGHUP).
 *
 * Everything that can fail is done with the fresh configuration first; then the session's own gets the new values of
 * the keys that may change. Prompts that run borrow models and texts from the configuration before, so none is freed
 * until the end.
 */
#include "serve/serve_reload.h"

#include "app/origin.h"
#include "app/settings.h"
#include "base/mem.h"
#include "config/config_adopt.h"
#include "serve/serve_limits.h"

typedef struct lt_serve_config {
  struct lt_serve_config *next;
  lt_config config;
  lt_config before; /* the session's values, to be given back at the end */
  const lt_exposure_rule *exposures_before;
} lt_serve_config;

/* What the fresh configuration becomes. */
typedef struct reload_parts {
  lt_models models;
  const lt_mode_rounds *rounds;
  const lt_exposure_rule *exposures;
  lt_sources_change *sources;
  lt_policy *policy;
  lt_secrets *secrets; /* what was masked before, too: prompts that run have it */
} reload_parts;

static lt_status reload_change_agent(const lt_serve *serve, lt_config *fresh, const reload_parts *parts, lt_err *err) {
  lt_agent_options options = {
      .host = lt_toolbox_host(serve->session->toolbox),
      .models = parts->models.list,
      .model_count = parts->models.count,
      .model_modes = parts->models.modes,
      .default_model = parts->models.default_ref,
      .default_mode = parts->models.default_mode,
      .rounds = parts->rounds,
      .rounds_count = fresh->defaults.rounds_count,
      .instructions = lt_str_of(fresh->instructions.text != NULL ? fresh->instructions.text : ""),
      .listing_tokens = (size_t)fresh->listing_tokens,
      .defaults = {.timeout_ms = (uint64_t)fresh->timeout_ms,
                   .memory_bytes = (uint64_t)fresh->memory_mb * LT_MIB,
                   .max_output_bytes = (size_t)fresh->max_output_bytes},
      .origin = lt_origin_of(fresh),
  };
  return lt_agent_change(serve->agent, &options, err);
}

/* Where the folder's file was left out at the start because nobody had trusted it, it is still left out. A file that
 * counted and was changed since counts when it is trusted again. */
static lt_status reload_read(const lt_serve *serve, const lt_config_sources *sources, lt_config *ret_fresh,
                             reload_parts *ret_parts, lt_err *err) {
  lt_config_sources again = *sources;
  again.leaves_out_untrusted = lt_config_untrusted(&serve->session->config) != NULL;
  LT_TRY(lt_settings_load(&again, ret_fresh, err));
  LT_TRY(lt_models_fill(ret_fresh, &ret_parts->models, err));
  LT_TRY(lt_settings_rounds(ret_fresh, &ret_parts->rounds, err));
  LT_TRY(lt_settings_exposures(ret_fresh, &ret_parts->exposures, err));
  LT_TRY(lt_settings_policy(ret_fresh, &ret_parts->policy, err));
  if (ret_parts->policy == NULL) { /* no rules */
    LT_TRY(lt_policy_new(NULL, 0, NULL, 0, &ret_parts->policy, err));
  }
  lt_status status = lt_config_more_secrets(ret_fresh, serve->session->secrets, &ret_parts->secrets, err);
  if (status == LT_OK) {
    status = lt_sources_change_plan(serve->session->sources, ret_fresh, &ret_parts->sources, err);
  }
  if (status == LT_OK) {
    status = reload_change_agent(serve, ret_fresh, ret_parts, err);
  }
  if (status != LT_OK) {
    lt_sources_change_free(ret_parts->sources);
    lt_policy_free(ret_parts->policy);
    lt_secrets_free(ret_parts->secrets);
  }
  return status;
}

static void reload_on_kept(void *arg, const lt_config_key *key) {
  lt_report_warning(&((const lt_serve *)arg)->session->report, "%s has changed: that counts after a restart",
                    key->path);
}

static void reload_set_exposures(lt_session *session, const lt_exposure_rule *exposures) {
  session->exposures = exposures;
  lt_door_set_exposures(session->door, exposures, session->config.exposure_count);
}

static void reload_adopt(lt_serve *serve, lt_serve_config *one, const reload_parts *parts) {
  lt_session *session = serve->session;
  lt_secrets_replace(session->secrets, parts->secrets);
  lt_toolbox_replace_policy(session->toolbox, parts->policy);
  one->before = session->config;
  one->exposures_before = session->exposures;
  for (size_t i = 0; one->config.warnings[i] != NULL; i++) {
    lt_report_line(&session->report, LT_REPORT_WARNING, lt_str_of(one->config.warnings[i]));
  }
  lt_config_adopt(&session->config, &one->config, reload_on_kept, serve);
  reload_set_exposures(session, parts->exposures);
  lt_sources_change_carry_out(session->sources, parts->sources); /* with the configuration that is adopted now */
  lt_serve_limits_reload(serve);
  session->rounds = parts->rounds;
  serve->models = parts->models;
  lt_sampling_forget_models(session->answers.sampling);
  one->next = serve->configs;
  serve->configs = one;
  serve->config_count++;
}

lt_status lt_serve_reload(lt_serve *serve, const lt_config_sources *sources, lt_err *err) {
  reload_parts parts = {.policy = NULL};
  if (serve->config_count >= LT_SERVE_RELOADS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "it was read again %d times, which is enough for one process: restart it",
                   LT_SERVE_RELOADS_MAX);
  }
  lt_serve_config *one = lt_mem_zalloc(1, sizeof *one);
  if (one == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  lt_config_init(&one->config);
  lt_status status = reload_read(serve, sources, &one->config, &parts, err);
  if (status != LT_OK) {
    lt_config_release(&one->config);
    lt_mem_free(one);
    return status;
  }
  reload_adopt(serve, one, &parts);
  return LT_OK;
}

void lt_serve_reload_release(lt_serve *serve) {
  lt_sampling_forget_models(serve->session->answers.sampling);
  while (serve->configs != NULL) {
    lt_serve_config *one = serve->configs;
    lt_arena arena = serve->session->config.arena; /* it has grown since */
    serve->configs = one->next;
    serve->session->config = one->before;
    serve->session->config.arena = arena;
    reload_set_exposures(serve->session, one->exposures_before);
    lt_config_release(&one->config);
    lt_mem_free(one);
  }
}
