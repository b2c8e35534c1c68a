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
  LT_EXIT_INTERRUPTED = 130, /* 128 + SIGINT, the convention of shells */
};

typedef struct lt_command {
  const char *name;    /* one word; of a command under another one both: "mcp install" */
  const char *summary; /* one line for `lathe --help` */
  /* The parts of `lathe NAME --help`: what the command does, its synopsis after "lathe NAME", its operand and options,
   * and notes. All texts but the synopsis end with a newline. */
  const char *about;
  const char *synopsis;
  const char *notes;
  const lt_option *options;
  size_t option_count;
  lt_command_operand operand, second, third, rest;
  size_t options_size; /* size of the struct that the rows' offsets point into */
  /* `options` has options_size bytes and belongs to the command until it returns. Returns the exit code. */
  int (*run)(void *options);
  const struct lt_command *const *inner; /* commands under this one ("mcp install"), NULL last; or NULL */
} lt_command;

/* One row for each command: NAME_command.c defines lt_NAME_command. */
#define LT_COMMANDS(ROW) \
  ROW(chat)              \
  ROW(run)               \
  ROW(call)              \
  ROW(eval)              \
  ROW(serve)             \
  ROW(mcp)               \
  ROW(replay)            \
  ROW(approve)           \
  ROW(reject)            \
  ROW(cancel)            \
  ROW(tools)             \
  ROW(servers)           \
  ROW(conversations)     \
  ROW(artifacts)         \
  ROW(store)             \
  ROW(config)            \
  ROW(completion)        \
  ROW(trust)             \
  ROW(login)             \
  ROW(logout)            \
  ROW(doctor)

#define LT_COMMAND_DECLARE(name) extern const lt_command lt_##name##_command;
LT_COMMANDS(LT_COMMAND_DECLARE)
/* Commands under another one. */
extern const lt_command lt_mcp_install_command, lt_mcp_import_command;

/* Finds a command by its name. NULL: unknown; a message on standard error says so. */
const lt_command *lt_commands_find(const char *name);
/* Reads its options and runs it; argv[0] is its name. Returns the exit code. */
int lt_commands_run(const lt_command *command, int argc, char **argv);
/* The command at this place in the table, from 0 on; NULL behind the last. */
const lt_command *lt_commands_at(size_t i);
/* Prints a line for each command. */
void lt_commands_print(FILE *to);

/* The rows of every command with a session; `sources` is the lt_config_sources in the command's options. */
#define LT_OPTION_CONFIG(options, sources)                                                                          \
  {                                                                                                                 \
    "--config", NULL, "FILE",                                                                                       \
        "the project's configuration, over ~/.config/lathe/lathe.yaml\n(default: $LATHE_CONFIG, else ./lathe.yaml " \
        "when it is trusted)",                                                                                      \
        LT_OPTION_IS_TEXT(options, sources.config_file)                                                             \
  }
#define LT_OPTION_STORE(options, sources)                                                  \
  {                                                                                        \
    "--store", NULL, "URL", "the database, sqlite:PATH, over what the configuration says", \
        LT_OPTION_IS_TEXT(options, sources.store)                                          \
  }
#define LT_OPTION_MCP_CONFIG(options, sources)                                            \
  {                                                                                       \
    "--mcp-config", NULL, "FILE", "servers in the form of other MCP clients (.mcp.json)", \
        LT_OPTION_IS_TEXT(options, sources.mcp_config_file)                               \
  }

#endif
