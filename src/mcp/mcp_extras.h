/* What a server offers beside tools: resources, templates of resources, prompts. Private to the client's files. */
#ifndef LT_MCP_MCP_EXTRAS_H
#define LT_MCP_MCP_EXTRAS_H

#include "mcp/mcp_client_impl.h"

/* Whether they are wanted, and not known or no longer right, of the session that there is. */
bool lt_mcp_extras_are_due(const lt_mcp *mcp);
/* Asks the session for them, and keeps them. A failure is a warning: then the server offers nothing. LT_YIELDS. */
void lt_mcp_extras_read(lt_mcp *mcp) LT_YIELDS;
/* Takes those of the last time: JSON text, empty for none. */
void lt_mcp_extras_load(lt_mcp *mcp, lt_str extras);
/* The server could not be started, or is being closed: who waits for them goes on. */
void lt_mcp_extras_wake(lt_mcp *mcp);

#endif
