/* A link to one running server process: lines in, parsed; lines out, queued. No protocol yet.
 *
 * A link has two fibers: one reads, one writes. A server that does not read its input delays only the writing fiber.
 * The link owns the process. Loop thread only.
 */
#ifndef LT_MCP_MCP_LINK_H
#define LT_MCP_MCP_LINK_H

#include "io/process.h"
#include "mcp/mcp_client.h"

typedef struct lt_mcp_link lt_mcp_link;

/* What a link reports, from its fibers; nothing here may yield. */
typedef struct lt_mcp_link_events {
  /* A line that is a JSON object or array; `line->result` is the whole line. The handler may take the arena. */
  void (*on_line)(void *arg, lt_mcp_result *line);
  /* A line that is neither. */
  void (*on_noise)(void *arg, lt_str line);
  /* A message that is not UTF-8. `line->result` is what can be read of it, with U+FFFD for each wrong byte; NONE:
   * nothing. */
  void (*on_garbled)(void *arg, lt_mcp_result *line);
  /* A line could not be read and was dropped. `how` is the reason, a literal such as "over 64 MiB". */
  void (*on_lost)(void *arg, const char *how);
  /* The server closed its output or its input (LT_E_CLOSED), or there is no memory to read on (LT_E_NOMEM). Called
   * once, and never after lt_mcp_link_close. */
  void (*on_end)(void *arg, lt_status why);
  void *arg;
} lt_mcp_link_events;

/* Starts the process; nothing is reported before the next turn of the loop. LT_YIELDS only when it fails. */
lt_status lt_mcp_link_open(lt_loop *loop, const lt_process_options *options, const lt_mcp_link_events *events,
                           lt_mcp_link **ret_link, lt_err *err) LT_YIELDS;

/* Ends the process, waits for both fibers, frees the link. LT_YIELDS. NULL is allowed. Must not be called from an
 * event. */
void lt_mcp_link_close(lt_mcp_link *link) LT_YIELDS;

/* Takes the message's bytes (a whole line) and queues them under `id` (0: none). Does not yield. LT_E_LIMIT: too many
 * bytes are queued that the server has not read; LT_E_NOMEM. The buffer is empty afterwards in any case. */
lt_status lt_mcp_link_send(lt_mcp_link *link, lt_buf *message, int64_t id, lt_err *err);

/* Drops the message queued under `id`, if it is not handed to the process yet. True when it was dropped. */
bool lt_mcp_link_unsend(lt_mcp_link *link, int64_t id);

/* "exited with code 3" and the like, or NULL while it runs. Borrows: the link. */
const char *lt_mcp_link_exit_text(const lt_mcp_link *link);
/* The end of its stderr. Borrows: until the next turn of the loop. */
lt_str lt_mcp_link_stderr(const lt_mcp_link *link);

#endif
