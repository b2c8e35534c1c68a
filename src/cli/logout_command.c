/* lathe logout: what lathe login got is revoked, where that is possible, and deleted. */
#include "cli/command_session.h"
#include "cli/commands.h"
#include "cli/login_server.h"
#include "source/mcp_authorization.h"

typedef struct logout_options {
  const char *server;
  lt_config_sources sources;
} logout_options;

static const lt_option logout_option_rows[] = {
    LT_OPTION_CONFIG(logout_options, sources),
    LT_OPTION_MCP_CONFIG(logout_options, sources),
};

typedef struct logout_job {
  const logout_options *opt;
  const lt_config_server *server;
} logout_job;

static lt_status logout_run(const lt_command_session *s, const logout_job *j, lt_err *err) LT_YIELDS {
  lt_mcp_auth *auth = NULL;
  bool is_revoked = false;
  LT_TRY(lt_mcp_authorization_open(s->app.loop, j->server, &auth, err));
  lt_status status = lt_mcp_auth_forget(auth, &is_revoked, err);
  lt_mcp_auth_free(auth);
  lt_login_server_forget_tools(j->server);
  if (status == LT_OK) {
    lt_console_format(&s->console, "logged out of \"%s\": its tokens are deleted%s", j->server->name,
                      is_revoked ? ", and revoked" : "; the authorization server has not revoked them");
  }
  return status;
}

static int logout_work(lt_command_session *s, void *arg) LT_YIELDS {
  const logout_job *j = arg;
  LT_ERR_VAR(err);
  lt_status status = logout_run(s, j, &err);
  if (status == LT_E_NOTFOUND) {
    lt_console_format(&s->console, "nobody is logged in to \"%s\"", j->server->name);
    return LT_EXIT_OK;
  }
  if (status != LT_OK) {
    lt_console_format(&s->console, "lathe logout: %s", lt_err_msg(&err));
  }
  return status == LT_OK ? LT_EXIT_OK : status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
}

static lt_status logout_check(lt_command_session *s, void *arg, lt_err *err) {
  logout_job *j = arg;
  s->app.without_sources = true;
  return lt_login_server_find(&s->app.config, j->opt->server, &j->server, err);
}

static int logout_command(void *arg) {
  const logout_options *opt = arg;
  logout_job j = {.opt = opt};
  const lt_command_plan plan = {.work = logout_work, .check = logout_check, .arg = &j};
  return lt_command_session_run(&opt->sources, &plan);
}

const lt_command lt_logout_command = {
    .name = "logout",
    .summary = "Forget the login to an MCP server",
    .about = "Forget the login to a server: its tokens are revoked, where the authorization server can, and deleted.\n",
    .synopsis = "SERVER [options]",
    .operand = {"SERVER", "its name in the configuration", "give one SERVER", true,
                LT_OPERAND_IS(logout_options, server)},
    .options = logout_option_rows,
    .option_count = sizeof logout_option_rows / sizeof logout_option_rows[0],
    .options_size = sizeof(logout_options),
    .notes = "Exit code: 0 ok, also if nobody was logged in; 1 failed, 2 usage, 3 configuration.\n",
    .run = logout_command,
};
