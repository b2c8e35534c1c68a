/* What is known of a server, for people: `lathe servers` shows it. Loop thread only. */
#ifndef LT_MCP_MCP_FACTS_H
#define LT_MCP_MCP_FACTS_H

#include "mcp/mcp_client.h"

/* Of now, or of the last time that the server ran. */
typedef struct lt_mcp_facts {
  const char *transport; /* "stdio", "http" or "sse" */
  lt_str server_version; /* "name version", as the server calls itself; may be empty */
  uint64_t listed_ms;    /* wall clock: when it gave its list of tools; 0: the list is not known */
  uint64_t start_ms;     /* from its start to its list; 0: not known */
  size_t tool_count;
  lt_str why;      /* it could not be started the last time, also while it is tried again; empty: nothing is known */
  bool is_refused; /* `why` is that it does not let us in */
} lt_mcp_facts;

/* Borrows: until the next turn of the loop. */
lt_mcp_facts lt_mcp_facts_of(const lt_mcp *mcp);
/* The server's process, or its helper; 0: it does not run, or is none of ours. */
int lt_mcp_facts_pid(const lt_mcp *mcp);
/* How long a server that is READY takes to answer tools/list, in microseconds; 0: it lists nothing. LT_YIELDS, for
 * LT_MCP_MEASURE_TIMEOUT_MS at most. Errors: LT_E_CLOSED: it is not READY; those of a request. */
lt_status lt_mcp_facts_measure(lt_mcp *mcp, uint64_t *ret_us, lt_err *err) LT_YIELDS;

#endif
