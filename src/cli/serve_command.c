/* lathe serve: agents over HTTP, for applications. */
#include <string.h>

#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/serve_tokens.h"
#include "cli/service_log.h"
#include "cli/store_session.h"
#include "serve/serve.h"

typedef struct serve_options {
  const char *what; /* NULL: serve; "token" */
  const char *action;
  const char *user;
  const char *listen;
  const char *page;
  lt_config_sources sources;
} serve_options;

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
  const serve_options *opt = arg;
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

static int serve_work(lt_command_session *s, void *arg) LT_YIELDS {
  const serve_options *opt = arg;
  lt_serve *serve = NULL;
  lt_err err = LT_ERR_INIT;
  const lt_serve_options how = {.listen = opt->listen, .page = opt->page};
  lt_status status = lt_serve_open(&s->app, &how, &serve, &err);
  if (status != LT_OK) {
    static const lt_report_fact none = {.name = NULL};
    lt_service_log_write(&s->console, &s->app.config.server, LT_REPORT_ERROR, lt_str_of(lt_err_msg(&err)), &none);
    return status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
  }
  serve_until_signal(s);
  lt_serve_finish(serve, &s->hurry);
  lt_serve_close(serve);
  return LT_EXIT_OK;
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
  const lt_command_plan plan = {.work = serve_work, .check = serve_check, .arg = opt, .is_service = true};
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
