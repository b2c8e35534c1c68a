#include "cli/store_session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"

typedef struct store_session_job {
  lt_store_session session;
  lt_status (*work)(lt_store_session *session, void *arg, lt_err *err) LT_YIELDS;
  void *arg;
  bool should_create; /* a missing database */
  int exit_code;
} store_session_job;

static lt_status store_session_work(store_session_job *job, lt_err *err) LT_YIELDS {
  lt_store_session *s = &job->session;
  LT_TRY(lt_store_new(s->loop, s->config.store, &s->db, err));
  const char *path = lt_store_path(s->db);
  bool is_missing = !job->should_create && strcmp(path, ":memory:") != 0 && access(path, F_OK) != 0;
  lt_status status =
      is_missing ? lt_fail(err, LT_E_NOTFOUND, "there is no database yet: %s is made when something is stored", path)
                 : job->work(s, job->arg, err);
  lt_store_close(s->db);
  return status;
}

static void store_session_print_error(const lt_store_session *s, const lt_err *err) {
  LT_AUTO_BUF(before, LT_KIB);
  lt_buf_printf(&before, "lathe %s: ", s->command);
  lt_console_line(&s->console, before.status == LT_OK ? before.p : "lathe: ", lt_str_of(lt_err_msg(err)));
}

static void store_session_on_fiber(void *arg) {
  store_session_job *job = arg;
  LT_ERR_VAR(err);
  lt_status status = store_session_work(job, &err);
  if (status != LT_OK) {
    store_session_print_error(&job->session, &err);
  }
  job->exit_code = status == LT_OK          ? LT_EXIT_OK
                   : status == LT_E_CONFIG  ? LT_EXIT_CONFIG
                   : status == LT_E_INVALID ? LT_EXIT_USAGE
                                            : LT_EXIT_FAILED;
}

static void store_session_start(store_session_job *job) {
  lt_store_session *s = &job->session;
  LT_ERR_VAR(err);
  job->exit_code = LT_EXIT_FAILED;
  if (lt_loop_new(&s->loop, &err) == LT_OK && lt_loop_spawn(s->loop, store_session_on_fiber, job, &err) == LT_OK) {
    lt_loop_run(s->loop);
  } else {
    store_session_print_error(s, &err);
  }
  lt_loop_free(s->loop);
}

static int store_session_run(store_session_job job, const lt_config_sources *given) {
  job.exit_code = LT_EXIT_CONFIG;
  LT_ERR_VAR(err);
  lt_config_sources sources = *given;
  sources.leaves_out_untrusted = true; /* what a stranger's folder says of the store does not count */
  if (lt_settings_load(&sources, &job.session.config, &err) == LT_OK) {
    store_session_start(&job);
  } else {
    lt_console_line(&job.session.console, "lathe: ", lt_str_of(lt_err_msg(&err)));
  }
  lt_config_release(&job.session.config);
  return job.exit_code;
}

int lt_store_session_run(const char *command, const lt_config_sources *sources,
                         lt_status (*work)(lt_store_session *session, void *arg, lt_err *err) LT_YIELDS, void *arg) {
  return store_session_run((store_session_job){.session = {.command = command}, .work = work, .arg = arg}, sources);
}

int lt_store_session_run_new(const char *command, const lt_config_sources *sources,
                             lt_status (*work)(lt_store_session *session, void *arg, lt_err *err) LT_YIELDS,
                             void *arg) {
  const store_session_job job = {.session = {.command = command}, .work = work, .arg = arg, .should_create = true};
  return store_session_run(job, sources);
}

int lt_store_session_refuse(const char *command, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "lathe %s: ", command);
  vfprintf(stderr, format, args);
  fprintf(stderr, "; see lathe %s --help\n", command);
  va_end(args);
  return LT_EXIT_USAGE;
}
