/* A command's session (app/session.h) with its terminal parts: lines on standard error, signals, an exit code.
 *
 * The command's work is a fiber on the loop. SIGINT, SIGTERM and SIGHUP end the session.
 */
#ifndef LT_CLI_COMMAND_SESSION_H
#define LT_CLI_COMMAND_SESSION_H

#include "app/session.h"
#include "cli/activity.h"
#include "cli/console.h"

typedef struct lt_command_session lt_command_session;

/* The steps of a command that has a session. */
typedef struct lt_command_plan {
  int (*work)(lt_command_session *session, void *arg) LT_YIELDS; /* returns the command's exit code */
  /* Checks the configuration before anything starts; may be NULL. A failure prints a line on standard error. The exit
   * code is LT_EXIT_USAGE for LT_E_INVALID and LT_E_NOTFOUND, else LT_EXIT_CONFIG. */
  lt_status (*check)(lt_command_session *session, void *arg, lt_err *err);
  /* The same check after plugins are loaded, before the wait for servers; may be NULL. */
  lt_status (*loaded)(lt_command_session *session, void *arg, lt_err *err) LT_YIELDS;
  /* Handles SIGINT. False, or NULL here: SIGINT ends the session as SIGTERM does. Must not yield. */
  bool (*on_interrupt)(lt_command_session *session, void *arg);
  /* Handles SIGHUP. False, or NULL here: it ends the session. Must not yield. */
  bool (*on_hangup)(lt_command_session *session, void *arg);
  void *arg;
  bool has_clients;      /* what servers ask is asked by the command's own clients, which come later */
  bool is_service;       /* its messages are a log, as the configuration wants it (service_log.h) */
  bool asks_for_servers; /* what servers ask is asked at the terminal, where there is one */
} lt_command_plan;

struct lt_command_session {
  lt_session app;
  lt_console console;
  lt_activity *activity; /* NULL: none is shown */
  lt_command_plan plan;
  lt_responder *server_questions; /* NULL: servers may not ask */
  lt_cancel hurry;                /* fired by a second signal: the end is not to wait for anything */
  int exit_code;
};

/* Reads the configuration, opens the session, waits until each source of tools is ready or down, runs `work` and shuts
 * everything down. Returns the exit code of `work`, or LT_EXIT_CONFIG or LT_EXIT_FAILED with a line on standard error.
 */
int lt_command_session_run(const lt_config_sources *sources, const lt_command_plan *plan);

#endif
