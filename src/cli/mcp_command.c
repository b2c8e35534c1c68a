/* lathe mcp: Lathe as an MCP server, over standard input and output or over HTTP. */
#include <unistd.h>

#include "cli/command_session.h"
#include "cli/commands.h"
#include "gateway/gateway_listen.h"
#include "gateway/gateway_stdio.h"

typedef struct mcp_options {
  lt_config_sources sources;
  const char *http; /* where to listen; NULL: standard input and output */
} mcp_options;

static const lt_option mcp_option_rows[] = {
    LT_OPTION_CONFIG(mcp_options, sources),
    LT_OPTION_MCP_CONFIG(mcp_options, sources),
    LT_OPTION_STORE(mcp_options, sources),
    {.name = "--http",
     .argument = "ADDRESS:PORT",
     .help = "serve over HTTP there, such as 127.0.0.1:8421; port 0: any that is free",
     LT_OPTION_IS_TEXT(mcp_options, http)},
};

static void mcp_on_listening(void *arg, const char *url) {
  const lt_command_session *s = arg;
  lt_console_line(&s->console, "lathe mcp: listening at ", lt_str_of(url));
}

static lt_gateway_listen_options mcp_listen_options(const mcp_options *opt, lt_command_session *s) {
  return (lt_gateway_listen_options){.address = opt->http, .on_listening = mcp_on_listening, .arg = s};
}

static lt_status mcp_serve(lt_command_session *s, const mcp_options *opt, lt_gateway *gateway, lt_err *err) LT_YIELDS {
  const lt_gateway_listen_options listen = mcp_listen_options(opt, s);
  return opt->http != NULL ? lt_gateway_listen_serve(gateway, &s->app, &listen, err)
                           : lt_gateway_stdio_serve(gateway, &s->app, STDIN_FILENO, STDOUT_FILENO, err);
}

static int mcp_work(lt_command_session *s, void *arg) LT_YIELDS {
  const mcp_options *opt = arg;
  LT_ERR_VAR(err);
  lt_gateway *gateway = NULL;
  lt_status status = lt_gateway_open(&s->app, NULL, &gateway, &err);
  if (status == LT_OK) {
    status = mcp_serve(s, opt, gateway, &err);
  }
  lt_gateway_close(gateway);
  if (status != LT_OK) {
    lt_console_line(&s->console, "lathe mcp: ", lt_str_of(lt_err_msg(&err)));
    return status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
  }
  return LT_EXIT_OK;
}

static lt_status mcp_check(lt_command_session *s, void *arg, lt_err *err) {
  const mcp_options *opt = arg;
  const lt_gateway_listen_options listen = mcp_listen_options(opt, s);
  return opt->http != NULL ? lt_gateway_listen_check(&s->app.config, &listen, err) : LT_OK;
}

static int mcp_command(void *arg) {
  mcp_options *opt = arg;
  const lt_command_plan plan = {.work = mcp_work, .check = mcp_check, .has_clients = true, .arg = opt};
  return lt_command_session_run(&opt->sources, &plan);
}

static const lt_command *const mcp_inner_commands[] = {&lt_mcp_install_command, &lt_mcp_import_command, NULL};

const lt_command lt_mcp_command = {
    .name = "mcp",
    .summary = "Be an MCP server: programs that call the tools of all configured servers",
    .about =
        "Be an MCP server for another agent, over standard input and output, or over HTTP. It has four tools:\n"
        "search_tools, execute_code, continue_run and read_output. Programs of execute_code call the tools of all\n"
        "configured servers, under the rules of the configuration.\n",
    .synopsis = "[options]",
    .operand = {.rule = "only options are wanted, or one of install and import"},
    .options = mcp_option_rows,
    .option_count = sizeof mcp_option_rows / sizeof mcp_option_rows[0],
    .options_size = sizeof(mcp_options),
    .notes =
        "A call that waits for approval is decided with lathe approve and lathe reject. Messages are on standard\n"
        "error. It ends when its input ends; with --http, on SIGINT or SIGTERM.\n"
        "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration.\n"
        "\n"
        "  claude mcp add lathe -- lathe mcp --config /path/to/lathe.yaml\n",
    .run = mcp_command,
    .inner = mcp_inner_commands,
};
