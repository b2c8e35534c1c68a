#include "app/session.h"

#include "app/unmatched_rules.h"

lt_status lt_session_configure(lt_session *s, const lt_config_sources *sources, lt_err *err) {
  lt_cancel_init(&s->cancel);
  s->helper = s->helper != NULL ? s->helper : "/proc/self/exe";
  LT_TRY(lt_settings_load(sources, &s->config, err));
  LT_TRY(lt_settings_rounds(&s->config, &s->rounds, err));
  LT_TRY(lt_settings_exposures(&s->config, &s->exposures, err));
  LT_TRY(lt_config_secrets(&s->config, &s->secrets, err));
  s->report.secrets = s->secrets;
  for (size_t i = 0; s->config.warnings[i] != NULL; i++) {
    lt_report_line(&s->report, LT_REPORT_WARNING, lt_str_of(s->config.warnings[i]));
  }
  return LT_OK;
}

static void session_on_telemetry_warning(void *arg, lt_str line) {
  const lt_session *s = arg;
  lt_report_line(&s->report, LT_REPORT_WARNING, line);
}

static lt_status session_open_telemetry(lt_session *s, lt_err *err) {
  const lt_telemetry_options options = {.loop = s->loop,
                                        .config = &s->config,
                                        .secrets = s->secrets,
                                        .warn = session_on_telemetry_warning,
                                        .warn_arg = s};
  if (s->is_embedded && s->config.telemetry.endpoint == NULL) {
    return LT_OK;
  }
  LT_TRY(lt_telemetry_open(&options, &s->telemetry, err));
  s->monitor.next = lt_telemetry_monitor(s->telemetry);
  lt_toolbox_set_sampler(s->toolbox, lt_telemetry_sampler(s->telemetry));
  return LT_OK;
}

static void session_on_door_warning(void *arg, lt_str message) {
  const lt_session *s = arg;
  lt_report_line(&s->report, LT_REPORT_WARNING, message);
}

lt_status lt_session_start(lt_session *s, lt_err *err) {
  const lt_door_options door = {.secrets = s->secrets,
                                .exposures = s->exposures,
                                .exposure_count = s->config.exposure_count,
                                .monitor = &s->monitor,
                                .on_warning = session_on_door_warning,
                                .arg = s};
  LT_TRY(lt_loop_new(&s->loop, err));
  LT_TRY(lt_door_new(s->loop, &door, &s->door, err));
  const lt_toolbox_options toolbox = {
      .loop = s->loop,
      .door = s->door,
      .config = &s->config,
      .secrets = s->secrets,
      .report = &s->report,
      .monitor = &s->monitor,
      .cancel = &s->cancel,
      .is_reloadable = s->is_service,
      .is_embedded = s->is_embedded,
      .helper = s->helper,
  };
  return lt_toolbox_open(&toolbox, &s->toolbox, err);
}

lt_status lt_session_open(lt_session *s, lt_err *err) {
  const lt_sources_options sources = {
      .loop = s->loop,
      .door = s->door,
      .config = &s->config,
      .secrets = s->secrets,
      .responder = &s->answers.base,
      .report = &s->report,
      .cancel = &s->cancel,
      .is_empty = s->without_sources,
      .is_embedded = s->is_embedded,
      .helper = s->helper,
      .start = s->start,
      .only = s->start_only,
  };
  LT_TRY(session_open_telemetry(s, err));
  LT_TRY(lt_server_answers_init(&s->answers, s->loop, &s->config, s->secrets, s->asked, s->is_asked_later, err));
  lt_sampling_monitor(s->answers.sampling, &s->monitor);
  LT_TRY(lt_sources_open(&sources, &s->sources, err));
  return lt_toolbox_load(s->toolbox, err);
}

/* Without its sources a session does not know their tools. */
static void session_warn_of_unmatched_rules(const lt_session *s) {
  const lt_unmatched_rules_options options = {
      .door = s->door,
      .host = lt_toolbox_host(s->toolbox),
      .config = &s->config,
      .policy = lt_toolbox_policy(s->toolbox),
      .report = &s->report,
  };
  if (!s->without_sources) {
    lt_unmatched_rules_warn(&options);
  }
}

void lt_session_await(lt_session *s) {
  lt_sources_await(s->sources);
  if (s->cancel.why == LT_OK) {
    lt_toolbox_ready(s->toolbox);
    session_warn_of_unmatched_rules(s);
  }
}

void lt_session_close(lt_session *s) {
  lt_toolbox_unload(s->toolbox);
  lt_sources_close(s->sources);
  s->sources = NULL;
  lt_server_answers_release(&s->answers);
  lt_telemetry_close(s->telemetry);
  s->telemetry = NULL;
  s->monitor.next = NULL;
}

void lt_session_release(lt_session *s) {
  lt_toolbox_close(s->toolbox);
  lt_door_free(s->door);
  lt_loop_free(s->loop);
  lt_secrets_free(s->secrets);
  lt_config_release(&s->config);
}
