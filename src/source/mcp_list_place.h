/* Where the list of a server's tools is kept between two processes: one file for each way to start a server. */
#ifndef LT_SOURCE_MCP_LIST_PLACE_H
#define LT_SOURCE_MCP_LIST_PLACE_H

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"

/* Appends the path: `$XDG_CACHE_HOME/lathe/servers/HASH.json`, else below `$HOME/.cache`. The hash is of everything
 * that may change the list: command, arguments, folder, variables, address and headers of the configuration, and
 * size and time of the files among command and arguments, so that a server that was edited is asked again. Blocks for a
 * few stat(2). Errors: LT_E_NOTFOUND: there is no such folder ($HOME is not set or relative); LT_E_NOMEM. */
lt_status lt_mcp_list_place(const lt_config_server *server, lt_buf *out, lt_err *err);

#endif
