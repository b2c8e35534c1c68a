#include "cli/command_session.h"

#include <signal.h>
#include <unistd.h>

#include "cli/commands.h"

/* --- Lines -------------------------------------------------------------------------------------------------------- */
static void command_session_on_line(void *arg, lt_report_kind kind, lt_str line) {
  const lt_command_session *s = arg;
  if (kind != LT_REPORT_PROGRESS || isatty(STDERR_FILENO)) {
    lt_console_lines(&s->console, kind == LT_REPORT_WARNING ? "warning: " : "", line);
  }
}

static void command_session_print_error(const lt_command_session *s, const lt_err *err) {
  lt_console_line(&s->console, "lathe: ", lt_str_of(lt_err_msg(err)));
}

/* --- Signals ------------------------------------------------------------------------------------------------------ */
static void command_session_on_signal(void *arg, int signum) {
  lt_command_session *s = arg;
  if (signum != SIGINT || s->plan.on_interrupt == NULL || !s->plan.on_interrupt(s, s->plan.arg)) {
    lt_cancel_fire(&s->app.cancel, LT_E_CANCELLED);
  }
}

/* A closed terminal ends its processes in order. A process under nohup already ignores that signal. */
static lt_status command_session_heed_hangup(lt_command_session *s, lt_err *err) {
  struct sigaction now;
  bool is_ignored = sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
  return is_ignored ? LT_OK : lt_loop_on_signal(s->app.loop, SIGHUP, command_session_on_signal, s, err);
}

static lt_status command_session_heed_signals(lt_command_session *s, lt_err *err) {
  LT_TRY(lt_loop_on_signal(s->app.loop, SIGINT, command_session_on_signal, s, err));
  LT_TRY(lt_loop_on_signal(s->app.loop, SIGTERM, command_session_on_signal, s, err));
  return command_session_heed_hangup(s, err);
}

/* --- Running the command ------------------------------------------------------------------------------------------ */
/* False: the failure has been printed. */
static bool command_session_passes_check(lt_command_session *s,
                                         lt_status (*check)(lt_command_session *session, void *arg, lt_err *err)) {
  lt_err err = LT_ERR_INIT;
  lt_status status = check != NULL ? check(s, s->plan.arg, &err) : LT_OK;
  if (status != LT_OK) {
    command_session_print_error(s, &err);
    s->exit_code = status == LT_E_INVALID || status == LT_E_NOTFOUND ? LT_EXIT_USAGE : LT_EXIT_CONFIG;
  }
  return status == LT_OK;
}

static int command_session_do_work(lt_command_session *s) LT_YIELDS {
  lt_session_await(&s->app);
  return s->app.cancel.why == LT_OK ? s->plan.work(s, s->plan.arg) : LT_EXIT_INTERRUPTED;
}

static void command_session_on_fiber(void *arg) {
  lt_command_session *s = arg;
  lt_err err = LT_ERR_INIT;
  if (lt_session_open(&s->app, &err) != LT_OK) {
    command_session_print_error(s, &err);
    s->exit_code = LT_EXIT_FAILED;
  } else if (s->app.cancel.why != LT_OK ||
             command_session_passes_check(s, s->plan.loaded)) { /* after a cancel some plugins are missing */
    s->exit_code = command_session_do_work(s);
  }
  lt_session_close(&s->app);
}

static lt_status command_session_start(lt_command_session *s, lt_err *err) {
  LT_TRY(lt_session_start(&s->app, err));
  LT_TRY(command_session_heed_signals(s, err));
  return lt_loop_spawn(s->app.loop, command_session_on_fiber, s, err);
}

static void command_session_run(lt_command_session *s) {
  lt_err err = LT_ERR_INIT;
  lt_status status = command_session_start(s, &err);
  if (status == LT_OK) {
    lt_loop_run(s->app.loop);
  } else {
    command_session_print_error(s, &err);
    s->exit_code = status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
  }
}

int lt_command_session_run(const lt_config_sources *sources, const lt_command_plan *plan) {
  lt_command_session s = {.plan = *plan, .exit_code = LT_EXIT_CONFIG};
  lt_err err = LT_ERR_INIT;
  s.app.report = (lt_report){.on_line = command_session_on_line, .arg = &s};
  lt_status status = lt_session_configure(&s.app, sources, &err);
  s.console.secrets = s.app.secrets;
  if (status != LT_OK) {
    command_session_print_error(&s, &err);
  } else if (command_session_passes_check(&s, s.plan.check)) {
    command_session_run(&s);
  }
  lt_session_release(&s.app);
  return s.exit_code;
}
