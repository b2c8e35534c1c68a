#include "front/session.h"

#include <signal.h>

#include "front/command.h"

static void on_signal(void *arg, int signum) {
  (void)signum;
  lt_cancel_fire(&((lt_session *)arg)->cancel, LT_E_CANCELLED);
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
  LT_TRY(lt_toolbox_load(s->toolbox, err));
  lt_servers_await(s->servers);
  if (s->cancel.why == LT_OK) {
    lt_toolbox_ready(s->toolbox);
  }
  return LT_OK;
}

static void on_fiber(void *arg) {
  lt_session *s = arg;
  lt_err err = LT_ERR_INIT;
  if (open_all(s, &err) != LT_OK) {
    lt_say_line(&s->say, "lathe: ", lt_str_of(lt_err_msg(&err)));
    s->exit_code = LT_EXIT_FAILED;
  } else {
    s->exit_code = s->cancel.why == LT_OK ? s->work(s, s->arg) : LT_EXIT_INTERRUPTED;
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

static lt_status start(lt_session *s, lt_err *err) {
  lt_door_options door = {.secrets = s->secrets, .on_warning = lt_say_warning, .arg = &s->say};
  lt_cancel_init(&s->cancel);
  LT_TRY(lt_loop_new(&s->loop, err));
  LT_TRY(lt_door_new(s->loop, &door, &s->door, err));
  LT_TRY(open_toolbox(s, err));
  LT_TRY(lt_loop_on_signal(s->loop, SIGINT, on_signal, s, err));
  LT_TRY(lt_loop_on_signal(s->loop, SIGTERM, on_signal, s, err));
  return lt_loop_spawn(s->loop, on_fiber, s, err);
}

static void run_session(lt_session *s) {
  lt_err err = LT_ERR_INIT;
  s->exit_code = LT_EXIT_FAILED;
  if (start(s, &err) == LT_OK) {
    lt_loop_run(s->loop);
  } else {
    lt_say_line(&s->say, "lathe: ", lt_str_of(lt_err_msg(&err)));
  }
  lt_toolbox_close(s->toolbox);
  lt_door_free(s->door);
  lt_loop_free(s->loop);
}

int lt_session_main(const lt_config_sources *sources, int (*work)(lt_session *session, void *arg), void *arg) {
  lt_session s = {.work = work, .arg = arg, .exit_code = LT_EXIT_CONFIG};
  lt_err err = LT_ERR_INIT;
  if (lt_config_load(sources, &s.config, &err) != LT_OK || lt_config_secrets(&s.config, &s.secrets, &err) != LT_OK) {
    lt_say_line(&s.say, "lathe: ", lt_str_of(lt_err_msg(&err)));
  } else {
    s.say.secrets = s.secrets;
    for (size_t i = 0; s.config.warnings[i] != NULL; i++) {
      lt_say_warning(&s.say, lt_str_of(s.config.warnings[i]));
    }
    run_session(&s);
  }
  lt_secrets_free(s.secrets);
  lt_config_release(&s.config);
  return s.exit_code;
}
