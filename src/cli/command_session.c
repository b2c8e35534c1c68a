#include "cli/command_session.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "app/trust.h"
#include "cli/commands.h"
#include "cli/server_questions.h"
#include "cli/service_log.h"
#include "cli/trust_question.h"

/* --- Lines -------------------------------------------------------------------------------------------------------- */
static void command_session_on_line(void *arg, lt_report_kind kind, lt_str line) {
  static const lt_report_fact none = {.name = NULL};
  lt_command_session *s = arg;
  if (s->plan.is_service && kind != LT_REPORT_PROGRESS) {
    lt_service_log_write(&s->console, &s->app.config.server, kind, line, &none);
  } else if (kind == LT_REPORT_PROGRESS && s->activity != NULL) {
    lt_activity_say(s->activity, line, true);
  } else if (kind != LT_REPORT_PROGRESS || isatty(STDERR_FILENO)) { /* a terminal that cannot erase keeps the line */
    lt_console_lines(&s->console, kind == LT_REPORT_WARNING ? "warning: " : "", line);
  }
}

static void command_session_on_note(void *arg, lt_report_kind kind, lt_str message, const lt_report_fact *facts) {
  lt_command_session *s = arg;
  if (s->plan.is_service) {
    lt_service_log_write(&s->console, &s->app.config.server, kind, message, facts);
  }
}

static void command_session_print_error(const lt_command_session *s, const lt_err *err) {
  lt_console_line(&s->console, "lathe: ", lt_str_of(lt_err_msg(err)));
}

/* --- Signals ------------------------------------------------------------------------------------------------------ */
static void command_session_on_signal(void *arg, int signum) {
  lt_command_session *s = arg;
  bool (*handle)(lt_command_session * session, void *arg) = signum == SIGINT   ? s->plan.on_interrupt
                                                            : signum == SIGHUP ? s->plan.on_hangup
                                                                               : NULL;
  if (handle == NULL || !handle(s, s->plan.arg)) {
    lt_cancel_fire(s->app.cancel.why == LT_OK ? &s->app.cancel : &s->hurry, LT_E_CANCELLED);
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
  LT_ERR_VAR(err);
  lt_status status = check != NULL ? check(s, s->plan.arg, &err) : LT_OK;
  if (status != LT_OK) {
    command_session_print_error(s, &err);
    s->exit_code = status == LT_E_INVALID || status == LT_E_NOTFOUND ? LT_EXIT_USAGE : LT_EXIT_CONFIG;
  }
  return status == LT_OK;
}

static int command_session_do_work(lt_command_session *s) LT_YIELDS {
  lt_session_await(&s->app);
  lt_activity_say(s->activity, LT_STR(""), false);
  return s->app.cancel.why == LT_OK ? s->plan.work(s, s->plan.arg) : LT_EXIT_INTERRUPTED;
}

static void command_session_on_fiber(void *arg) {
  lt_command_session *s = arg;
  LT_ERR_VAR(err);
  s->activity = lt_activity_new(s->app.loop, &s->console);
  s->server_questions = s->plan.asks_for_servers ? lt_server_questions_new(s->app.loop, &s->console) : NULL;
  s->app.is_asked_later = s->plan.has_clients;
  s->app.asked = s->app.asked != NULL ? s->app.asked : s->server_questions;
  if (lt_session_open(&s->app, &err) != LT_OK) {
    command_session_print_error(s, &err);
    s->exit_code = LT_EXIT_FAILED;
  } else if (s->app.cancel.why != LT_OK ||
             command_session_passes_check(s, s->plan.loaded)) { /* after a cancel some plugins are missing */
    s->exit_code = command_session_do_work(s);
  }
  lt_session_close(&s->app);
  lt_server_questions_free(s->server_questions);
  s->server_questions = NULL;
  lt_activity_free(s->activity);
  s->activity = NULL;
}

static lt_status command_session_start(lt_command_session *s, lt_err *err) {
  LT_TRY(lt_session_start(&s->app, err));
  LT_TRY(command_session_heed_signals(s, err));
  return lt_loop_spawn(s->app.loop, command_session_on_fiber, s, err);
}

static void command_session_run(lt_command_session *s) {
  LT_ERR_VAR(err);
  lt_status status = command_session_start(s, &err);
  if (status == LT_OK) {
    lt_loop_run(s->app.loop);
  } else {
    command_session_print_error(s, &err);
    s->exit_code = status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
  }
}

/* --- The configuration, and a question about it ------------------------------------------------------------------- */

/* The path and hash of a file that the person has just accepted. */
typedef struct accepted_file {
  lt_config_file file;
  char path[PATH_MAX];
  lt_sha256_hex hash;
} accepted_file;

/* A "yes" that cannot be kept counts for this command. */
static void command_session_keep_trust(const lt_command_session *s, const lt_config_file *file) {
  LT_ERR_VAR(err);
  if (lt_trust_add(file, &err) != LT_OK) {
    lt_report_warning(&s->app.report, "the answer counts for this command only: %s", lt_err_msg(&err));
  }
}

/* Whether the file now counts. */
static bool command_session_ask_trust(lt_command_session *s, accepted_file *ret_accepted) {
  const lt_config_file *file = lt_config_untrusted(&s->app.config);
  lt_trust_answer answer = file != NULL ? lt_trust_question_ask(file) : LT_TRUST_NOBODY;
  s->exit_code = answer == LT_TRUST_INTERRUPTED ? LT_EXIT_INTERRUPTED : LT_EXIT_CONFIG;
  if (answer == LT_TRUST_ALWAYS) {
    command_session_keep_trust(s, file);
  }
  if (answer != LT_TRUST_ALWAYS && answer != LT_TRUST_ONCE) {
    return false;
  }
  snprintf(ret_accepted->path, sizeof ret_accepted->path, "%s", file->path);
  snprintf(ret_accepted->hash.text, sizeof ret_accepted->hash.text, "%s", file->hash);
  ret_accepted->file = (lt_config_file){.path = ret_accepted->path, .hash = ret_accepted->hash.text};
  return true;
}

/* The answer is for the text that was shown: a file that was replaced meanwhile is asked about again. */
static lt_status command_session_configure(lt_command_session *s, const lt_config_sources *given, lt_err *err) {
  accepted_file accepted;
  lt_config_sources sources = *given;
  for (;;) {
    lt_status status = lt_session_configure(&s->app, &sources, err);
    if (status != LT_E_DENIED || !command_session_ask_trust(s, &accepted)) {
      return status;
    }
    lt_report report = s->app.report;
    lt_session_release(&s->app);
    s->app = (lt_session){.report = report, .is_service = s->plan.is_service};
    sources.accepted = &accepted.file;
    *err = LT_ERR_INIT;
  }
}

int lt_command_session_run(const lt_config_sources *sources, const lt_command_plan *plan) {
  lt_command_session s = {.plan = *plan, .exit_code = LT_EXIT_CONFIG};
  lt_cancel_init(&s.hurry);
  LT_ERR_VAR(err);
  s.app.is_service = plan->is_service;
  s.app.report = (lt_report){.on_line = command_session_on_line, .on_note = command_session_on_note, .arg = &s};
  lt_status status = command_session_configure(&s, sources, &err);
  s.console.secrets = s.app.secrets;
  if (status != LT_OK && s.exit_code != LT_EXIT_INTERRUPTED) {
    command_session_print_error(&s, &err);
  } else if (status == LT_OK && command_session_passes_check(&s, s.plan.check)) {
    command_session_run(&s);
  }
  lt_session_release(&s.app);
  return s.exit_code;
}
