/* The way in of `lathe mcp --http`: the gateway at /mcp of a server of its own. Who may ask is checked here: the host
 * that is asked for, the page that asks, and a token where the configuration has any. Internal. Loop thread only. */
#ifndef LT_GATEWAY_GATEWAY_LISTEN_H
#define LT_GATEWAY_GATEWAY_LISTEN_H

#include "gateway/gateway.h"

/* Where to listen, and what says so. */
typedef struct lt_gateway_listen_options {
  const char *address; /* "PORT", "ADDRESS:PORT" or "[ADDRESS]:PORT"; the port 0: any that is free */
  /* The gateway listens; the URL to use. Must not yield. */
  void (*on_listening)(void *arg, const char *url);
  void *arg;
} lt_gateway_listen_options;

/* Checks the address alone, and that one that others can reach has a token. Errors: LT_E_CONFIG, LT_E_INVALID. */
lt_status lt_gateway_listen_check(const lt_config *config, const lt_gateway_listen_options *options, lt_err *err);
/* Serves until the session's cancel fires. LT_YIELDS. Errors: those of lt_gateway_listen_check, and of
 * lt_http_server_open. */
lt_status lt_gateway_listen_serve(lt_gateway *gateway, lt_session *session, const lt_gateway_listen_options *options,
                                  lt_err *err) LT_YIELDS;

#endif
