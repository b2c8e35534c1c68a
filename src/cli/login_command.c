/* lathe login: a person agrees in a browser that Lathe uses an MCP server for them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/login_server.h"
#include "cli/pasted_lines.h"
#include "io/process.h"
#include "mcp/mcp_client.h"
#include "mcp/mcp_login.h"
#include "source/mcp_authorization.h"

typedef struct login_options {
  const char *server;
  lt_config_sources sources;
  int64_t timeout_ms;
  bool no_browser;
} login_options;

static const lt_option login_option_rows[] = {
    LT_OPTION_CONFIG(login_options, sources),
    LT_OPTION_MCP_CONFIG(login_options, sources),
    {"--no-browser", NULL, NULL, "only print the address, also where a browser could be opened",
     LT_OPTION_IS_FLAG(login_options, no_browser)},
    {"--timeout", NULL, "MS", "how long to wait for the person (default: 10 minutes)",
     LT_OPTION_IS_NUMBER(login_options, timeout_ms, LT_MCP_AUTH_LOGIN_MS, 1, LT_MCP_AUTH_LOGIN_MAX_MS)},
};

typedef struct login_job {
  const login_options *opt;
  lt_command_session *session;
  const lt_config_server *server;
  lt_mcp_auth *auth;
  lt_mcp_login *login;
  lt_process *opener; /* of a browser */
} login_job;

/* --- Talking to the server ---------------------------------------------------------------------------------------- */

/* Starts the server and closes it. LT_YIELDS. LT_OK: it works, with so many tools. */
static lt_status login_try_server(const login_job *j, size_t *ret_tools, lt_err *err) LT_YIELDS {
  const lt_mcp_options options = {
      .name = lt_str_of(j->server->name),
      .url = j->server->url,
      .transport = strcmp(j->server->type, "sse") == 0 ? LT_MCP_OLD_SSE : LT_MCP_ANY_HTTP,
      .headers = j->server->headers,
      .auth = j->auth,
      .start_timeout_ms = (uint64_t)j->server->start_timeout_ms,
      .secrets = j->session->app.secrets,
  };
  lt_mcp *mcp = NULL;
  LT_TRY(lt_mcp_open(j->session->app.loop, &options, &mcp, err));
  lt_mcp_wake(mcp, 0, &j->session->app.cancel);
  lt_status status = j->session->app.cancel.why == LT_OK ? lt_mcp_wait_ready(mcp, err)
                                                         : lt_fail(err, LT_E_CANCELLED, "the login was given up");
  if (status == LT_OK) {
    (void)lt_mcp_tools(mcp, ret_tools);
  }
  lt_mcp_close(mcp);
  return status;
}

/* What the server says to somebody without a token leads to its authorization server. */
static lt_status login_hear_challenge(const login_job *j, lt_err *err) LT_YIELDS {
  size_t tools = 0;
  lt_mcp_auth_set_anonymous(j->auth, true);
  lt_status status = login_try_server(j, &tools, err);
  lt_mcp_auth_set_anonymous(j->auth, false);
  return lt_mcp_auth_is_challenged(j->auth) ? LT_OK : status;
}

/* --- The person --------------------------------------------------------------------------------------------------- */

static void login_on_step(void *arg, lt_str line) {
  const login_job *j = arg;
  lt_console_line(&j->session->console, "", line);
}

static void login_on_pasted(void *arg, lt_str line) {
  const login_job *j = arg;
  (void)lt_mcp_login_offer(j->login, line);
}

static bool login_has_display(void) {
  const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
  return (x != NULL && x[0] != '\0') || (wayland != NULL && wayland[0] != '\0');
}

/* The browser stays when Lathe ends, so it is not a child of ours. Where it cannot be opened, there is the address. */
static void login_open_browser(login_job *j) {
  if (j->opt->no_browser || !isatty(STDERR_FILENO) || !login_has_display()) {
    return;
  }
  const char *argv[] = {"sh", "-c", "exec setsid -f xdg-open \"$0\" </dev/null >/dev/null 2>&1",
                        lt_mcp_login_address(j->login).p, NULL};
  const lt_process_options options = {.file = "sh", .argv = argv, .line_max = LT_KIB};
  (void)lt_process_open(j->session->app.loop, &options, &j->opener, NULL);
}

static lt_status login_wait_for_person(login_job *j, lt_err *err) LT_YIELDS {
  lt_console_line(&j->session->console, "", LT_STR("open this address in a browser, and agree:"));
  lt_console_output(&j->session->console, lt_mcp_login_address(j->login));
  lt_pasted_lines *pasted = lt_pasted_lines_open(j->session->app.loop, login_on_pasted, j);
  if (pasted != NULL) {
    lt_console_line(&j->session->console, "",
                    LT_STR("If the browser runs on another machine, it ends at a page that cannot be opened: paste the "
                           "address of that page here."));
  }
  login_open_browser(j);
  lt_status status = lt_mcp_login_finish(j->login, (uint64_t)j->opt->timeout_ms, err);
  lt_pasted_lines_close(pasted);
  lt_process_close(j->opener);
  return status;
}

/* --- The command -------------------------------------------------------------------------------------------------- */

static lt_status login_run(login_job *j, lt_err *err) LT_YIELDS {
  size_t tools = 0;
  const lt_mcp_login_options options = {
      .auth = j->auth, .cancel = &j->session->app.cancel, .on_step = login_on_step, .arg = j};
  LT_TRY(login_hear_challenge(j, err));
  LT_TRY(lt_mcp_login_begin(&options, &j->login, err));
  lt_status status = login_wait_for_person(j, err);
  lt_mcp_login_end(j->login);
  LT_TRY(status);
  lt_login_server_forget_tools(j->server);
  LT_TRY(login_try_server(j, &tools, err));
  lt_console_format(&j->session->console, "logged in to \"%s\": %zu tool%s", j->server->name, tools,
                    tools == 1 ? "" : "s");
  return LT_OK;
}

static int login_exit_code(lt_status status) {
  return status == LT_OK            ? LT_EXIT_OK
         : status == LT_E_CONFIG    ? LT_EXIT_CONFIG
         : status == LT_E_TIMEOUT   ? LT_EXIT_TIMEOUT
         : status == LT_E_CANCELLED ? LT_EXIT_INTERRUPTED
                                    : LT_EXIT_FAILED;
}

static int login_work(lt_command_session *s, void *arg) LT_YIELDS {
  login_job *j = arg;
  LT_ERR_VAR(err);
  j->session = s;
  lt_status status = lt_mcp_authorization_open(s->app.loop, j->server, &j->auth, &err);
  if (status == LT_OK) {
    status = login_run(j, &err);
  }
  lt_mcp_auth_free(j->auth);
  if (status != LT_OK) {
    lt_console_format(&s->console, "lathe login: %s", lt_err_msg(&err));
  }
  return login_exit_code(status);
}

static lt_status login_check(lt_command_session *s, void *arg, lt_err *err) {
  login_job *j = arg;
  s->app.without_sources = true;
  LT_TRY(lt_login_server_find(&s->app.config, j->opt->server, &j->server, err));
  LT_TRY(lt_mcp_authorization_check_url(j->server, err));
  if (j->server->oauth.grant == LT_CONFIG_GRANT_CREDENTIALS) {
    return lt_fail(err, LT_E_INVALID, "server \"%s\" needs no login: its client acts for itself (oauth.grant)",
                   j->server->name);
  }
  return LT_OK;
}

static int login_command(void *arg) {
  const login_options *opt = arg;
  login_job j = {.opt = opt};
  const lt_command_plan plan = {.work = login_work, .check = login_check, .arg = &j};
  return lt_command_session_run(&opt->sources, &plan);
}

const lt_command lt_login_command = {
    .name = "login",
    .summary = "Log in to an MCP server, in a browser",
    .about =
        "Log in to a server of mcpServers that has a url (OAuth 2.1). The address to open is printed, and opened "
        "where\n"
        "there is a display. The browser comes back to a port of this machine; if it runs on another machine, paste "
        "the\n"
        "address that it ends at.\n",
    .synopsis = "SERVER [options]",
    .operand = {"SERVER", "its name in the configuration", "give one SERVER", true,
                LT_OPERAND_IS(login_options, server)},
    .options = login_option_rows,
    .option_count = sizeof login_option_rows / sizeof login_option_rows[0],
    .options_size = sizeof(login_options),
    .notes =
        "Standard output: the address. Tokens are kept in $XDG_STATE_HOME/lathe/tokens, for this user only, and\n"
        "encrypted where LATHE_TOKEN_KEY is set (openssl rand -hex 32). They are renewed by themselves.\n"
        "\n"
        "Exit code: 0 logged in, 1 failed or refused, 2 usage, 3 configuration, 124 nobody came, 130 interrupted.\n",
    .run = login_command,
};
