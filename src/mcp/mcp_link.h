/* A link to one running server: messages in, parsed; messages out. No protocol yet.
 *
 * There are two kinds: a process with lines on its pipes (mcp_link_stdio.c), and HTTP (mcp_link_http.c), both
 * Streamable HTTP and the older one with server-sent events of 2024-11-05. A slow server delays the link's own fibers
 * only. Loop thread only.
 */
#ifndef LT_MCP_MCP_LINK_H
#define LT_MCP_MCP_LINK_H

#include "mcp/mcp_client.h"

typedef struct lt_mcp_link lt_mcp_link;

/* A request that got no answer of its own, over HTTP. */
typedef struct lt_mcp_refusal {
  int64_t id;
  int http_status; /* 0: there was no answer, or it broke off */
  lt_json error;   /* the JSON-RPC error that came without our id; may be NONE */
  bool is_unheard; /* the server does not know the session, so nothing was done */
  lt_err err;      /* the reason in words, with advice */
} lt_mcp_refusal;

/* What a link reports, from its fibers; nothing here may yield. */
typedef struct lt_mcp_link_events {
  /* A message that is a JSON object or array; `line->result` is the whole of it. The handler may take the arena. */
  void (*on_line)(void *arg, lt_mcp_result *line);
  /* A text that is neither. */
  void (*on_noise)(void *arg, lt_str line);
  /* A message that is not UTF-8. `line->result` is what can be read of it, with U+FFFD for each wrong byte; NONE:
   * nothing. */
  void (*on_garbled)(void *arg, lt_mcp_result *line);
  /* A message could not be read and was dropped. `how` is the reason, a literal such as "over 64 MiB". */
  void (*on_lost)(void *arg, const char *how);
  /* HTTP: the request failed alone. */
  void (*on_refused)(void *arg, const lt_mcp_refusal *refusal);
  /* HTTP: whether somebody still waits for the answer to this request. */
  bool (*is_awaited)(void *arg, int64_t id);
  /* The server closed its output or its input or has lost the session (LT_E_CLOSED), or there is no memory to read on
   * (LT_E_NOMEM). Called once, and never after lt_mcp_link_close. */
  void (*on_end)(void *arg, lt_status why);
  void *arg;
} lt_mcp_link_events;

/* What a message is, for the headers of HTTP. */
typedef struct lt_mcp_outgoing {
  int64_t id;         /* of the request; 0: none */
  const char *method; /* a literal; NULL for an answer */
  lt_str name;        /* of the tool; may be empty */
  lt_str headers;     /* more headers, "Name: value" lines with LF behind each; may be empty */
} lt_mcp_outgoing;

/* Opens the link that the options describe: to a new process, or to an address. Nothing is reported before the next
 * turn of the loop. Borrows the options. LT_YIELDS only when it fails. */
lt_status lt_mcp_link_open(lt_loop *loop, const lt_mcp_options *server, const char *const *argv,
                           lt_mcp_transport transport, const lt_mcp_link_events *events, lt_mcp_link **ret_link,
                           lt_err *err) LT_YIELDS;

/* Ends the process or the session, waits for the fibers, frees the link. LT_YIELDS. NULL is allowed. Must not be called
 * from an event. */
void lt_mcp_link_close(lt_mcp_link *link) LT_YIELDS;

/* Takes the message's bytes (a whole line) and sends them. Does not yield. LT_E_LIMIT: too many bytes wait that the
 * server has not read; LT_E_NOMEM. The buffer is empty afterwards in any case. Borrows: nothing. */
lt_status lt_mcp_link_send(lt_mcp_link *link, lt_buf *message, const lt_mcp_outgoing *about, lt_err *err);

/* Gives the request up. True when the server need not be told: it has not got the message, or learns it from the closed
 * connection. */
bool lt_mcp_link_drop(lt_mcp_link *link, int64_t id);

/* Says which version of the protocol is spoken from now on. `is_modern`: without a session, from 2026-07-28 on. */
void lt_mcp_link_speak(lt_mcp_link *link, const char *version, bool is_modern);
/* The handshake is complete: where the transport has a stream for the server's own messages, it is opened. */
void lt_mcp_link_listen(lt_mcp_link *link);

/* "exited with code 3", "has lost the session" and the like, or NULL while it runs. Borrows: the link. */
const char *lt_mcp_link_exit_text(const lt_mcp_link *link);
/* The end of its stderr, empty over HTTP. Borrows: until the next turn of the loop. */
lt_str lt_mcp_link_stderr(const lt_mcp_link *link);
/* Whether the server is a process of ours. */
bool lt_mcp_link_is_process(const lt_mcp_link *link);
/* The process, or that of its helper; 0: there is none. */
int lt_mcp_link_pid(const lt_mcp_link *link);

#endif
