#include "app/session.h"

#include <signal.h>

#include "cli/command.h"

static void on_signal(void *arg, int signum) {
  lt_session *s = arg;
  if (signum != SIGINT || s->plan.on_interrupt == NULL || !s->plan.on_interrupt(s, s->plan.arg)) {
    lt_cancel_fire(&s->cancel, LT_E_CANCELLED);
  }
}

/* False: what is wrong has been said. */
static bool passes(lt_session *s, lt_status (*look)(lt_session *session, void *arg, lt_err *err)) {
  lt_err err = LT_ERR_INIT;
  lt_status status = look != NULL ? look(s, s->plan.arg, &err) : LT_OK;
  if (status != LT_OK) {
    lt_console_line(&s->say, "lathe: ", lt_str_of(lt_err_msg(&err)));
    s->exit_code = status == LT_E_INVALID || status == LT_E_NOTFOUND ? LT_EXIT_USAGE : LT_EXIT_CONFIG;
  }
  return status == LT_OK;
}

/* Plugins set themselves up while the servers start. */
static lt_status open_all(lt_session *s, lt_err *err) LT_YIELDS {
  lt_servers_options servers = {
      .loop = s->loop,
      .door = s->door,
      .config = &s->config,
      .secrets = s->secrets,
      .say = &s->say,
      .cancel = &s->cancel,
  };
  LT_TRY(lt_servers_open(&servers, &s->servers, err));
  return lt_toolbox_load(s->toolbox, err);
}

static int do_work(lt_session *s) LT_YIELDS {
  lt_servers_await(s->servers);
  if (s->cancel.why == LT_OK) {
    lt_toolbox_ready(s->toolbox);
  }
  return s->cancel.why == LT_OK ? s->plan.work(s, s->plan.arg) : LT_EXIT_INTERRUPTED;
}

static void on_fiber(void *arg) {
  lt_session *s = arg;
  lt_err err = LT_ERR_INIT;
  if (open_all(s, &err) != LT_OK) {
    lt_console_line(&s->say, "lathe: ", lt_str_of(lt_err_msg(&err)));
    s->exit_code = LT_EXIT_FAILED;
  } else if (s->cancel.why != LT_OK || passes(s, s->plan.loaded)) { /* told to end, plugins are not all there */
    s->exit_code = do_work(s);
  }
  lt_toolbox_unload(s->toolbox);
  lt_servers_close(s->servers);
}

/* Everything that can be wrong with the configuration is found before anything is started. */
static lt_status open_toolbox(lt_session *s, lt_err *err) {
  lt_toolbox_options options = {
      .loop = s->loop,
      .door = s->door,
      .config = &s->config,
      .secrets = s->secrets,
      .say = &s->say,
      .cancel = &s->cancel,
  };
  lt_status status = lt_toolbox_open(&options, &s->toolbox, err);
  s->exit_code = status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
  return status;
}

/* A terminal that is closed ends what runs on it, in order; whoever is to outlive it (nohup) ignores that already. */
static lt_status heed_hangup(lt_session *s, lt_err *err) {
  struct sigaction now;
  bool ignored = sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
  return ignored ? LT_OK : lt_loop_on_signal(s->loop, SIGHUP, on_signal, s, err);
}

static lt_status start(lt_session *s, lt_err *err) {
  lt_door_options door = {.secrets = s->secrets, .on_warning = lt_console_warning, .arg = &s->say};
  lt_cancel_init(&s->cancel);
  LT_TRY(lt_loop_new(&s->loop, err));
  LT_TRY(lt_door_new(s->loop, &door, &s->door, err));
  LT_TRY(open_toolbox(s, err));
  LT_TRY(lt_loop_on_signal(s->loop, SIGINT, on_signal, s, err));
  LT_TRY(lt_loop_on_signal(s->loop, SIGTERM, on_signal, s, err));
  LT_TRY(heed_hangup(s, err));
  return lt_loop_spawn(s->loop, on_fiber, s, err);
}

static void run_session(lt_session *s) {
  lt_err err = LT_ERR_INIT;
  s->exit_code = LT_EXIT_FAILED;
  if (start(s, &err) == LT_OK) {
    lt_loop_run(s->loop);
  } else {
    lt_console_line(&s->say, "lathe: ", lt_str_of(lt_err_msg(&err)));
  }
  lt_toolbox_close(s->toolbox);
  lt_door_free(s->door);
  lt_loop_free(s->loop);
}

static lt_status read_config(lt_session *s, const lt_config_sources *sources, lt_err *err) {
  LT_TRY(lt_config_load(sources, &s->config, err));
  return lt_config_secrets(&s->config, &s->secrets, err);
}

int lt_session_follow(const lt_config_sources *sources, const lt_session_plan *plan) {
  lt_session s = {.plan = *plan, .exit_code = LT_EXIT_CONFIG};
  lt_err err = LT_ERR_INIT;
  if (read_config(&s, sources, &err) != LT_OK) {
    lt_console_line(&s.say, "lathe: ", lt_str_of(lt_err_msg(&err)));
  } else {
    s.say.secrets = s.secrets;
    for (size_t i = 0; s.config.warnings[i] != NULL; i++) {
      lt_console_warning(&s.say, lt_str_of(s.config.warnings[i]));
    }
    if (passes(&s, s.plan.check)) {
      run_session(&s);
    }
  }
  lt_secrets_free(s.secrets);
  lt_config_release(&s.config);
  return s.exit_code;
}

int lt_session_main(const lt_config_sources *sources, int (*work)(lt_session *session, void *arg), void *arg) {
  return lt_session_follow(sources, &(lt_session_plan){.work = work, .arg = arg});
}
