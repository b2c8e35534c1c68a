/* Commands: one file each, one const entry each; main.c has the table. */
#ifndef LT_CLI_COMMAND_H
#define LT_CLI_COMMAND_H

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
  const char *help;    /* the whole of `lathe NAME --help` */
  /* argv[0] is the command's name. Returns the exit code. */
  int (*run)(int argc, char **argv);
} lt_command;

extern const lt_command lt_chat_command;
extern const lt_command lt_config_command;
extern const lt_command lt_eval_command;
extern const lt_command lt_replay_command;
extern const lt_command lt_run_command;
extern const lt_command lt_tools_command;

#endif
