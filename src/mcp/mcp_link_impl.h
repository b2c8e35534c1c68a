/* What the kinds of links share: a table of functions, and the way from a text to an event. Private to mcp_link*.c. */
#ifndef LT_MCP_MCP_LINK_IMPL_H
#define LT_MCP_MCP_LINK_IMPL_H

#include "mcp/mcp_link.h"

typedef struct lt_mcp_link_type {
  lt_status (*send)(lt_mcp_link *link, lt_buf *message, const lt_mcp_outgoing *about, lt_err *err);
  bool (*drop)(lt_mcp_link *link, int64_t id);
  void (*close)(lt_mcp_link *link) LT_YIELDS;
  const char *(*exit_text)(const lt_mcp_link *link);
  lt_str (*stderr_end)(const lt_mcp_link *link);                         /* NULL: there is none */
  int (*pid)(const lt_mcp_link *link);                                   /* NULL: there is none */
  void (*speak)(lt_mcp_link *link, const char *version, bool is_modern); /* NULL: no matter */
  void (*listen)(lt_mcp_link *link);                                     /* NULL: likewise */
} lt_mcp_link_type;

struct lt_mcp_link {
  const lt_mcp_link_type *type;
  lt_loop *loop;
  const lt_mcp_options *server;
  lt_mcp_link_events events;
  bool is_over; /* the end was reported, or does not matter any more: nothing is reported */
};

lt_status lt_mcp_link_stdio_open(lt_loop *loop, const lt_mcp_options *server, const char *const *argv,
                                 const lt_mcp_link_events *events, lt_mcp_link **ret_link, lt_err *err) LT_YIELDS;
lt_status lt_mcp_link_http_open(lt_loop *loop, const lt_mcp_options *server, lt_mcp_transport transport,
                                const lt_mcp_link_events *events, lt_mcp_link **ret_link, lt_err *err);

/* Masks the tokens that are sent to the server in a text of its own. */
void lt_mcp_link_mask(const lt_mcp_link *link, lt_buf *text);
/* Parses a text that the server sent, and reports it. LT_YIELDS when it is long. */
void lt_mcp_link_take(lt_mcp_link *link, lt_str text) LT_YIELDS;
/* Reports a text that was too long to be read. */
void lt_mcp_link_take_overlong(lt_mcp_link *link);
/* Reports the end, once. */
void lt_mcp_link_end(lt_mcp_link *link, lt_status why);

#endif
