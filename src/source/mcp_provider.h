/* An MCP server as a provider of tools: keeps the door's list up to date, calls tools, turns answers into values.
 *
 * Loop thread only.
 */
#ifndef LT_SOURCE_MCP_PROVIDER_H
#define LT_SOURCE_MCP_PROVIDER_H

#include "mcp/mcp_client.h"
#include "tool/door.h"

typedef struct lt_mcp_provider lt_mcp_provider;

/* Opens the server and adds it to the door, at first without tools; the list of tools follows later. Does not yield.
 * The options' name is the namespace. Their on_tools, on_warning, offers and on_ask (each may be NULL) are
 * called with the options' arg, after the door has been updated. While a question is open, its call waits as for an
 * approval (lt_invoke_options.on_approval). Errors: LT_E_NOMEM, LT_E_LIMIT. Owns: the caller,
 * lt_mcp_provider_close. Borrows: the door, until lt_mcp_provider_close. */
lt_status lt_mcp_provider_open(lt_loop *loop, lt_door *door, const lt_mcp_options *options,
                               lt_mcp_provider **ret_provider, lt_err *err);

/* The MCP client, to wait until the server is ready and to read its description. Borrows. */
lt_mcp *lt_mcp_provider_client(lt_mcp_provider *provider);

/* The run of the call that a question is asked for: the only one that it can be for. Empty: it cannot be told. Borrows:
 * until the next yield. */
lt_str lt_mcp_provider_run_of(const lt_mcp_provider *provider, const lt_mcp_ask *ask);

/* Takes its tools off the door, shuts the server down and frees it; calls in flight fail. LT_YIELDS. NULL is allowed.
 */
void lt_mcp_provider_close(lt_mcp_provider *provider) LT_YIELDS;

#endif
