/* The configured MCP servers of a session: started side by side, and ended side by side. */
#ifndef LT_APP_SERVERS_H
#define LT_APP_SERVERS_H

#include "config/config.h"
#include "app/say.h"
#include "io/loop.h"
#include "tool/door.h"

typedef struct lt_servers lt_servers;

typedef struct lt_servers_options {
  lt_loop *loop;
  lt_door *door;
  const lt_config *config;
  const lt_secrets *secrets;
  lt_console *say;   /* told of servers that cannot be started */
  lt_cancel *cancel; /* ends the waiting */
} lt_servers_options;

/* Starts all that are not disabled, in the background. Borrows everything in the options. Errors: LT_E_NOMEM. Owns: the
 * caller, lt_servers_close. */
lt_status lt_servers_open(const lt_servers_options *options, lt_servers **ret_servers, lt_err *err);
/* Waits until each is ready or down, or the cancel fires; one that is down is a warning. LT_YIELDS. */
void lt_servers_await(lt_servers *servers) LT_YIELDS;
/* Ends them, and whoever still waits for one. LT_YIELDS. NULL is allowed. */
void lt_servers_close(lt_servers *servers) LT_YIELDS;

#endif
