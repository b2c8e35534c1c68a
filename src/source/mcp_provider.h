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
 * approval (lt_invoke_options.on_approval). `before` may be NULL: else it is a provider of the same name, whose place
 * at the door this one takes, with its tools until the first list is there (lt_mcp_provider_await). Errors: LT_E_NOMEM,
 * LT_E_LIMIT. Owns: the caller, lt_mcp_provider_end and lt_mcp_provider_free. Borrows: the door, until
 * lt_mcp_provider_end. */
lt_status lt_mcp_provider_open(lt_loop *loop, lt_door *door, const lt_mcp_options *options,
                               const lt_mcp_provider *before, lt_mcp_provider **ret_provider, lt_err *err);

/* lt_mcp_wait_ready of the client. A server that could not list its tools has none afterwards, not those of `before`.
 * LT_YIELDS. */
lt_status lt_mcp_provider_await(lt_mcp_provider *provider, lt_err *err) LT_YIELDS;

/* The MCP client, to wait until the server is ready and to read its description. Borrows. */
lt_mcp *lt_mcp_provider_client(lt_mcp_provider *provider);

/* The run of the call that a question is asked for: the only one that it can be for. Empty: it cannot be told. Borrows:
 * until the next yield. */
lt_str lt_mcp_provider_run_of(const lt_mcp_provider *provider, const lt_mcp_ask *ask);

/* Takes the provider off the door: nobody can call its tools any more. Calls in flight go on. Does not yield. */
void lt_mcp_provider_leave(lt_mcp_provider *provider);
/* lt_mcp_provider_leave, waits for the calls in flight until `hurry` fires (NULL: not at all), then shuts the server
 * down; calls that are still in flight fail. Catalogs may go on pointing to the provider. LT_YIELDS. */
void lt_mcp_provider_end(lt_mcp_provider *provider, lt_cancel *hurry) LT_YIELDS;
/* Frees a provider that has ended and that no catalog has. NULL is allowed. */
void lt_mcp_provider_free(lt_mcp_provider *provider);

#endif
