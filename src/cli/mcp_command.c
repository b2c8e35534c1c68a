/* lathe mcp: Lathe as an MCP server, over standard input and output. */
#include <unistd.h>

#include "cli/command_session.h"
#include "cli/commands.h"
#include "gateway/gateway_stdio.h"

typedef struct mcp_options {
  lt_config_sources sources;
} mcp_options;

static const lt_option mcp_option_rows[] = {
    LT_OPTION_CONFIG(mcp_options, sources),
    LT_OPTION_MCP_CONFIG(mcp_options, sources),
    LT_OPTION_STORE(mcp_options, sources),
};

static int mcp_work(lt_command_session *s, void *arg) LT_YIELDS {
  (void)arg;
  lt_err err = LT_ERR_INIT;
  lt_gateway *gateway = NULL;
  lt_status status = lt_gateway_open(&s->app, &gateway, &err);
  if (status == LT_OK) {
    status = lt_gateway_stdio_serve(gateway, &s->app, STDIN_FILENO, STDOUT_FILENO, &err);
  }
  lt_gateway_close(gateway);
  if (status != LT_OK) {
    lt_console_line(&s->console, "lathe mcp: ", lt_str_of(lt_err_msg(&err)));
    return status == LT_E_CONFIG ? LT_EXIT_CONFIG : LT_EXIT_FAILED;
  }
  return LT_EXIT_OK;
}

static int mcp_command(void *arg) {
  const mcp_options *opt = arg;
  const lt_command_plan plan = {.work = mcp_work, .has_clients = true};
  return lt_command_session_run(&opt->sources, &plan);
}

static const lt_command *const mcp_inner_commands[] = {&lt_mcp_install_command, &lt_mcp_import_command, NULL};

const lt_command lt_mcp_command = {
    .name = "mcp",
    .summary = "Be an MCP server: programs that call the tools of all configured servers",
    .about =
        "Be an MCP server for another agent, over standard input and output. It has four tools: search_tools,\n"
        "execute_code, continue_run and read_output. Programs of execute_code call the tools of all configured\n"
        "servers, under the rules of the configuration.\n",
    .synopsis = "[options]",
    .operand = {.rule = "only options are wanted, or one of install and import"},
    .options = mcp_option_rows,
    .option_count = sizeof mcp_option_rows / sizeof mcp_option_rows[0],
    .options_size = sizeof(mcp_options),
    .notes =
        "A call that waits for approval is decided with lathe approve and lathe reject. Messages are on standard\n"
        "error. It ends when its input ends.\n"
        "Exit code: 0 ok, 1 failed, 2 usage, 3 configuration.\n"
        "\n"
        "  claude mcp add lathe -- lathe mcp --config /path/to/lathe.yaml\n",
    .run = mcp_command,
    .inner = mcp_inner_commands,
};
