/* Commands of the command line, and the one table of them.
 *
 * A command is one file, NAME_command.c, which ends in a const lt_command, and one row in LT_COMMANDS: main.c, the help
 * and "did you mean" look in the table only (docs/guide/extending.md shows one).
 */
#ifndef LT_CLI_COMMANDS_H
#define LT_CLI_COMMANDS_H

#include "cli/command_options.h"

/* Exit codes. */
enum {
  LT_EXIT_OK = 0,
  LT_EXIT_FAILED = 1,
  LT_EXIT_USAGE = 2,
  LT_EXIT_CONFIG = 3,
  LT_EXIT_TIMEOUT = 124,
  LT_EXIT_INTERRUPTED = 130, /* 128 + SIGINT, as shells have it */
};

typedef struct lt_command {
  const char *name;
  const char *summary; /* one line for `lathe --help` */
  /* `lathe NAME --help`: what it does, how it is written behind "lathe NAME", its operand and options (from their
   * table), and what else there is to know. Texts end with a newline, the synopsis does not. */
  const char *about;
  const char *synopsis;
  const char *notes;
  const lt_option *options;
  size_t option_count;
  lt_command_operand operand;
  size_t options_size; /* of what the rows' offsets point into */
  /* `options`: as read, of options_size bytes, and the command's own until it returns. Returns the exit code. */
  int (*run)(void *options);
} lt_command;

/* One row for each command: NAME_command.c defines lt_NAME_command. */
#define LT_COMMANDS(ROW) \
  ROW(chat)              \
  ROW(run)               \
  ROW(eval)              \
  ROW(replay)            \
  ROW(tools)             \
  ROW(config)

#define LT_COMMAND_DECLARE(name) extern const lt_command lt_##name##_command;
LT_COMMANDS(LT_COMMAND_DECLARE)

/* Finds a command by its name. NULL: there is none, as a message on standard error says. */
const lt_command *lt_commands_find(const char *name);
/* Reads its options and runs it; argv[0] is its name. Returns the exit code. */
int lt_commands_run(const lt_command *command, int argc, char **argv);
/* Prints a line for each command. */
void lt_commands_print(FILE *to);

/* The rows that every command with a session has; `sources` is the lt_config_sources in its options. */
#define LT_OPTION_CONFIG(options, sources)                                                                        \
  {                                                                                                               \
    "--config", NULL, "FILE", "configuration (default: $LATHE_CONFIG, ./lathe.yaml, ~/.config/lathe/lathe.yaml)", \
        LT_OPTION_IS_TEXT(options, sources.config_file)                                                           \
  }
#define LT_OPTION_MCP_CONFIG(options, sources)                                            \
  {                                                                                       \
    "--mcp-config", NULL, "FILE", "servers in the form of other MCP clients (.mcp.json)", \
        LT_OPTION_IS_TEXT(options, sources.mcp_config_file)                               \
  }

#endif
