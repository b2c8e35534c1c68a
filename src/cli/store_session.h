/* A command on the database alone: configuration, loop and store, without sources, plugins or models. A file of the
 * folder that is not trusted does not count. */
#ifndef LT_CLI_STORE_SESSION_H
#define LT_CLI_STORE_SESSION_H

#include "app/settings.h"
#include "cli/console.h"
#include "io/loop.h"
#include "store/store.h"

typedef struct lt_store_session {
  const char *command; /* its name, for messages */
  lt_config config;
  lt_console console;
  lt_loop *loop;
  lt_store *db;
} lt_store_session;

/* Reads the configuration and runs `work` on a fiber. When there is no database file, `work` is not called, and a
 * message says so; nothing is created. Returns an exit code; messages have been printed. */
int lt_store_session_run(const char *command, const lt_config_sources *sources,
                         lt_status (*work)(lt_store_session *session, void *arg, lt_err *err) LT_YIELDS, void *arg);
/* The same, but a missing database file is created. */
int lt_store_session_run_new(const char *command, const lt_config_sources *sources,
                             lt_status (*work)(lt_store_session *session, void *arg, lt_err *err) LT_YIELDS, void *arg);
/* Prints "lathe COMMAND: " and the message, and that --help says more. Returns LT_EXIT_USAGE. */
int lt_store_session_refuse(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
