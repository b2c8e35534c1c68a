/* A command's session (app/session.h) with what belongs to a terminal: its lines on standard error, signals, an exit
 * code.
 *
 * The command's work is a fiber on the loop. SIGINT, SIGTERM and SIGHUP end the session.
 */
#ifndef LT_CLI_COMMAND_SESSION_H
#define LT_CLI_COMMAND_SESSION_H

#include "app/session.h"
#include "cli/console.h"

typedef struct lt_command_session lt_command_session;

/* What a command makes of a session. */
typedef struct lt_command_plan {
  int (*work)(lt_command_session *session, void *arg) LT_YIELDS; /* its exit code is the command's */
  /* Looks at the configuration before anything is started; may be NULL. Its failure is a line on stderr, and the exit
   * code LT_EXIT_CONFIG, or LT_EXIT_USAGE for LT_E_INVALID and LT_E_NOTFOUND. */
  lt_status (*check)(lt_command_session *session, void *arg, lt_err *err);
  /* The same once plugins are loaded, before servers are waited for; may be NULL. */
  lt_status (*loaded)(lt_command_session *session, void *arg, lt_err *err) LT_YIELDS;
  /* SIGINT: false, and without it, ends the session as SIGTERM does. Must not yield. */
  bool (*on_interrupt)(lt_command_session *session, void *arg);
  void *arg;
} lt_command_plan;

struct lt_command_session {
  lt_session app;
  lt_console console;
  lt_command_plan plan;
  int exit_code;
};

/* Reads the configuration, opens the session, waits until each source of tools is ready or down, runs `work` and shuts
 * everything down. Returns an exit code: work's, or LT_EXIT_CONFIG or LT_EXIT_FAILED with a line on stderr. */
int lt_command_session_run(const lt_config_sources *sources, const lt_command_plan *plan);

#endif
