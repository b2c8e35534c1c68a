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
  ROW(repl)              \
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
  ROW(save)              \
  ROW(programs)          \
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
/* Finds a command under another one by the word behind its name, such as "install". NULL: there is none. */
const lt_command *lt_commands_find_inner(const lt_command *command, const char *word);
/* Whether it is under another one ("mcp install"). */
bool lt_commands_is_inner(const lt_command *command);
/* Calls `each` for every command, in the table's order, with those under it behind it. */
void lt_commands_for_each(void (*each)(const lt_command *command, FILE *to), FILE *to);
/* Prints a line for each command that is not under another one. */
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
