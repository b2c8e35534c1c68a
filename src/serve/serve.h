/* `lathe serve`: agents over HTTP. This directory translates requests into calls of app/ and agent/, and their results
 * into answers; it decides nothing about prompts.
 *
 * One process has one store, one set of sources, and any number of users. Everything that a request can reach is in one
 * table of routes (serve_routes.h). What readers of events get comes from the store (serve_events.h). Loop thread only.
 */
#ifndef LT_SERVE_SERVE_H
#define LT_SERVE_SERVE_H

#include "app/session.h"

typedef struct lt_serve lt_serve;

/* Where to listen. Another address than loopback needs tokens, or a proxy that says who asks. Borrows: as long as the
 * server. */
typedef struct lt_serve_options {
  const char *listen; /* as io/listen_address.h has it; NULL: server.listen, else LT_SERVE_PORT; port 0: any free one */
  const char *page;   /* a folder with the page's files, for those who work on it; NULL: the embedded ones */
} lt_serve_options;

/* Whether it can be a user's name: letters, digits and ._@+-, so that it stands in lines, headers and messages as it
 * is; at most LT_SERVE_USER_BYTES. */
bool lt_serve_is_user_name(lt_str name);

/* Checks the address alone. LT_E_CONFIG. */
lt_status lt_serve_check_listen(const lt_config *config, const lt_serve_options *options, lt_err *err);
/* Checks server.proxy alone. LT_E_CONFIG. */
lt_status lt_serve_check_proxy(const lt_config *config, lt_err *err);
/* Opens the agent, resumes what belongs to this configuration, and listens. `session` is open. Errors: LT_E_CONFIG
 * (also: others reach the address, and there is no token), LT_E_IO (the address is in use), LT_E_UNSUPPORTED
 * (libmicrohttpd is missing), LT_E_NOMEM, the store's. LT_YIELDS. Owns: the caller, lt_serve_close. Borrows: the
 * session. */
lt_status lt_serve_open(lt_session *session, const lt_serve_options *options, lt_serve **ret_serve,
                        lt_err *err) LT_YIELDS;
/* Reads the configuration again, and carries on with it; warns of keys that count only after a restart. Prompts that
 * run go on with their models and bounds, under the new rules. Does not yield. Errors: lt_settings_load's, LT_E_LIMIT;
 * then nothing has changed. */
lt_status lt_serve_reload(lt_serve *serve, const lt_config_sources *sources, lt_err *err);
/* Takes no further prompts (503), and lets those that run go on for server.graceMs at most, or until `hurry` is fired.
 * Everything else is served meanwhile. LT_YIELDS. */
void lt_serve_finish(lt_serve *serve, lt_cancel *hurry) LT_YIELDS;
/* Ends all connections, and leaves running prompts to the next process. NULL is allowed. LT_YIELDS. */
void lt_serve_close(lt_serve *serve) LT_YIELDS;

#endif
