/* lathe serve: agents over HTTP, for applications. */
#include <string.h>
#include <unistd.h>

#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/serve_tokens.h"
#include "cli/service_log.h"
#include "cli/store_session.h"
#include "io/service_manager.h"
#include "serve/serve.h"

typedef struct serve_options {
  const char *what; /* NULL: serve; "token" */
  const char *action;
  const char *user;
  const char *listen;
  const char *page;
  lt_config_sources sources;
} serve_options;

/* The server that runs. */
typedef struct serve_job {
  serve_options *options;
  lt_serve *serve; /* NULL: it does not listen yet, or any more */
} serve_job;

static const lt_option serve_option_rows[] = {
    {"--listen", NULL, "HOST:PORT",
     "where to listen, or unix:PATH (default: server.listen, else 127.0.0.1:8420; port 0: any)",
     LT_OPTION_IS_TEXT(serve_options, listen)},
    {"--page", NULL, "FOLDER", "serve the page's files from FOLDER, for work on them (src/serve/page)",
     LT_OPTION_IS_TEXT(serve_options, page)},
    LT_OPTION_CONFIG(serve_options, sources),
    LT_OPTION_MCP_CONFIG(serve_options, sources),
};

static lt_status serve_check(lt_command_session *s, void *arg, lt_err *err) {
  const serve_options *opt = ((const serve_job *)arg)->options;
  const lt_serve_options how = {.listen = opt->listen};
  lt_status status = lt_serve_check_listen(&s->app.config, &how, err);
  if (status == LT_E_CONFIG && opt->listen != NULL) {
    return lt_fail(err, LT_E_INVALID, "--listen: %s", lt_err_msg(err));
  }
  LT_TRY(status);
  return lt_serve_check_proxy(&s->app.config, err);
}

/* SIGTERM and SIGINT fire the session's cancel. */
static void serve_until_signal(lt_command_session *s) LT_YIELDS {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, s->app.loop);
  lt_cancel_add(&s->app.cancel, &node, &wait);
  (void)lt_wait_on(&wait, UINT64_MAX);
  lt_cancel_remove(&s->app.cancel, &node);
}

/* A terminal that is closed ends its programs. A service has none: there it is told to read its configuration again. */
static bool serve_on_hangup(lt_command_session *s, void *arg) {
  static const lt_report_fact none = {.name = NULL};
  const serve_job *job = arg;
  LT_ERR_VAR(err);
  if (isatty(STDIN_FILENO) || isatty(STDERR_FILENO)) {
    return false;
  }
  if (job->serve == NULL) {
    return true; /* it has just been read */
  }
  lt_service_manager_tell_reload();
  if (lt_serve_reload(job->serve, &job->options->sources, &err) == LT_OK) {
    lt_report_note(&s->app.report, LT_REPORT_INFO, "configuration reloaded", &none);
  } else {
    const lt_report_fact why[] = {{.name = "error", .text = lt_str_of(lt_err_msg(&err))}, none};
    lt_report_note(&s->app.report, LT_REPORT_ERROR, "configuration not reloaded: the one before stays in force", why);
  }
  lt_service_manager_tell("READY=1");
  return true;
}

static void serve_on_watchdog(void *timer) {
  lt_service_manager_tell("WATCHDOG=1");
  lt_timer_start(*(lt_timer **)timer, lt_service_manager_watchdog_ms());
}

/* A loop that turns no more does not tell. NULL in `timer`: nobody wants to know. */
static lt_status serve_watch(lt_command_session *s, lt_timer **timer, lt_err *err) {
  *timer = NULL;
  if (lt_service_manager_watchdog_ms() == 0) {
    return LT_OK;
  }
  LT_TRY(lt_timer_new(s->app.loop, serve_on_watchdog, timer, timer, err));
  serve_on_watchdog(timer);
  return LT_OK;
}

static void serve_run(lt_command_session *s, serve_job *job) LT_YIELDS {
  lt_service_manager_tell("READY=1");
  serve_until_signal(s);
  lt_service_manager_tell("STOPPING=1");
  lt_serve *serve = job->serve;
  job->serve = NULL;
  lt_serve_finish(serve, &s->hurry);
  lt_serve_close(serve);
}

static int serve_work(lt_command_session *s, void *arg) LT_YIELDS {
  static const lt_report_fact none = {.name = NULL};
  serve_job *job = arg;
  lt_timer *watchdog = NULL;
  LT_ERR_VAR(err);
  const lt_serve_options how = {.listen = job->options->listen, .page = job->options->page};
  lt_status status = serve_watch(s, &watchdog, &err);
  if (status == LT_OK) {
    status = lt_serve_open(&s->app, &how, &job->serve, &err);
  }
  if (status == LT_OK) {
    serve_run(s, job);
  } else {
    lt_service_log_write(&s->console, &s->app.config.server, LT_REPORT_ERROR, lt_str_of(lt_err_msg(&err)), &none);
  }
  lt_timer_free(watchdog);
  return status == LT_OK ? LT_EXIT_OK : status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
}

static int serve_command(void *arg) {
  serve_options *opt = arg;
  if (opt->what != NULL && strcmp(opt->what, "token") != 0) {
    return lt_store_session_refuse("serve",
                                   "only options are wanted, or: token add USER, token list, token remove USER");
  }
  if (opt->what != NULL) {
    return lt_serve_tokens_run(&opt->sources, opt->action, opt->user);
  }
  opt->sources.leaves_out_untrusted = true; /* it goes on without a folder's own file, and says so */
  serve_job job = {.options = opt};
  const lt_command_plan plan = {
      .work = serve_work, .check = serve_check, .on_hangup = serve_on_hangup, .arg = &job, .is_service = true};
  return lt_command_session_run(&opt->sources, &plan);
}

const lt_command lt_serve_command = {
    .name = "serve",
    .summary = "Serve agents to applications over HTTP",
    .about = "Serve agents to applications over HTTP, and print the address on standard error.\n",
    .synopsis = "[token add USER | token list | token remove USER] [options]",
    .operand = {"token", "say who may use the server", "say token add USER, token list, or token remove USER", false,
                LT_OPERAND_IS(serve_options, what)},
    .second = {"add|list|remove",
               "add prints a new token, once; remove takes all tokens of a user, or one as list names it", NULL, false,
               LT_OPERAND_IS(serve_options, action)},
    .third = {"USER", "a name; remove: also a line of list", NULL, false, LT_OPERAND_IS(serve_options, user)},
    .options = serve_option_rows,
    .option_count = sizeof serve_option_rows / sizeof serve_option_rows[0],
    .options_size = sizeof(serve_options),
    .notes =
        "Without tokens, everybody who reaches the address is the user \"local\"; with one, each request needs a "
        "token. An address that other machines reach needs one.\n"
        "GET /openapi.json describes the API. SIGTERM ends it after server.graceMs at most: prompts that run then are "
        "continued by the next process. A second signal ends it at once.\n"
        "Exit code: 0 ended by a signal, 1 failed, 2 usage, 3 configuration.\n"
        "\n"
        "  lathe serve --config lathe.yaml\n",
    .run = serve_command,
};
