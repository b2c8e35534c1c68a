/* A session: what every command that calls tools needs, opened and closed as one: configuration, secrets, loop, door,
 * policy, MCP servers.
 *
 * The work itself is a fiber on the loop: lt_session_main runs it and returns its exit code when everything is closed.
 */
#ifndef LT_APP_SESSION_H
#define LT_APP_SESSION_H

#include "config/config.h"
#include "app/say.h"
#include "app/servers.h"
#include "app/toolbox.h"
#include "io/loop.h"
#include "tool/door.h"

typedef struct lt_session lt_session;

/* What a command makes of a session. */
typedef struct lt_session_plan {
  int (*work)(lt_session *session, void *arg) LT_YIELDS; /* its exit code is the command's */
  /* Looks at the configuration before anything is started; may be NULL. Its failure is a line on stderr, and the exit
   * code LT_EXIT_CONFIG, or LT_EXIT_USAGE for LT_E_INVALID and LT_E_NOTFOUND. */
  lt_status (*check)(lt_session *session, void *arg, lt_err *err);
  /* The same once plugins have said what they bring, before servers are waited for; may be NULL. */
  lt_status (*loaded)(lt_session *session, void *arg, lt_err *err) LT_YIELDS;
  /* SIGINT: false, and without it, ends the session as SIGTERM does. Must not yield. */
  bool (*on_interrupt)(lt_session *session, void *arg);
  void *arg;
} lt_session_plan;

struct lt_session {
  lt_config config;
  lt_secrets *secrets;
  lt_console say;
  lt_loop *loop;
  lt_door *door;
  lt_toolbox *toolbox;
  lt_servers *servers;
  lt_cancel cancel; /* fired by SIGINT, SIGTERM and SIGHUP */
  lt_session_plan plan;
  int exit_code;
};

/* Reads the configuration, opens the loop, starts all servers side by side, waits until each is ready or down, runs
 * `work` on a fiber and shuts everything down. Returns an exit code: work's, or LT_EXIT_CONFIG / LT_EXIT_FAILED with a
 * line on stderr. */
int lt_session_follow(const lt_config_sources *sources, const lt_session_plan *plan);
/* The same for a plan that is nothing but work. */
int lt_session_main(const lt_config_sources *sources, int (*work)(lt_session *session, void *arg) LT_YIELDS, void *arg);

#endif
