/* A server's list of tools in a file, as the server gave it the last time: with it the tools are known before the
 * server starts.
 *
 * The file is JSON in the shape of a result of tools/list, with members of ours beside "tools". It holds no secret: the
 * server's texts are masked before they are written. It only saves time: a file that is missing, damaged, or could be
 * somebody else's counts as none. Reading and writing block the thread.
 */
#ifndef LT_MCP_MCP_LIST_CACHE_H
#define LT_MCP_MCP_LIST_CACHE_H

#include "mcp/mcp_list.h"
#include "text/secrets.h"

/* What is known of the server beside its tools. */
typedef struct lt_mcp_list_facts {
  lt_str protocol_version;
  lt_str server_version; /* "name version", as the server calls itself; may be empty */
  lt_str instructions;
  lt_str extras;      /* as lt_mcp_extras has them; empty: not known */
  uint64_t listed_ms; /* wall clock: when the server gave the list */
  uint64_t start_ms;  /* how long it took from the start of the server to its list */
} lt_mcp_list_facts;

/* Reads the file into an initialized list. The texts of the facts are in the list's arena. Errors: LT_E_NOTFOUND: there
 * is no file that can be used; LT_E_NOMEM. */
lt_status lt_mcp_list_cache_read(const char *path, lt_mcp_list *list, lt_mcp_list_facts *ret_facts, lt_err *err);

/* Replaces the file: a reader finds the old list or the new one. Folders that are missing are made, for this user only;
 * files beside it that are older than LT_MCP_LISTS_KEPT_MS are removed. `secrets` may be NULL. Errors: LT_E_IO,
 * LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_mcp_list_cache_write(const char *path, const lt_mcp_list *list, const lt_mcp_list_facts *facts,
                                  const lt_secrets *secrets, lt_err *err);

#endif
