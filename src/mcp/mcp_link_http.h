/* The structs of a link over HTTP. Private to mcp_link_http.c (the link: sending, giving up, closing), mcp_exchange.c
 * (one request and its answer), mcp_event_stream.c (answers that are streams, and the server's own stream) and
 * mcp_refusal.c (answers that are none).
 *
 * Each message is an exchange on a fiber of its own. An exchange belongs to its fiber, which frees it.
 */
#ifndef LT_MCP_MCP_LINK_HTTP_H
#define LT_MCP_MCP_LINK_HTTP_H

#include "io/http.h"
#include "mcp/mcp_link_impl.h"

typedef struct lt_mcp_exchange lt_mcp_exchange;

typedef struct lt_mcp_http {
  lt_mcp_link base; /* first */
  lt_http *http;
  lt_buf url;     /* where messages go: a redirect, or the old transport's server, may change it */
  lt_buf session; /* Mcp-Session-Id; empty: none */
  lt_mcp_exchange *first;
  size_t queued_bytes;
  size_t fibers;
  lt_wait finished; /* woken when a fiber ends */
  char version[16]; /* of the protocol; empty: not known yet */
  bool is_modern;
  bool is_old;  /* the transport of 2024-11-05: answers come on the server's own stream */
  bool is_held; /* one exchange has to arrive before the others are sent, or the old server's address is not known */
  bool is_lost; /* the server does not know the session any more */
  bool is_closing;
  lt_err failure; /* the old transport: why there is no stream */
} lt_mcp_http;

struct lt_mcp_exchange {
  lt_mcp_exchange *prev, *next;
  lt_mcp_http *link;
  int64_t id;         /* 0: nobody waits for an answer */
  const char *method; /* NULL: an answer of ours, or a stream that is listened to */
  lt_buf body, name, headers;
  lt_cancel cancel;
  lt_wait turn; /* its fiber waits here before it sends */
  lt_buf last_event_id;
  uint64_t retry_ms; /* until a broken stream is asked for again */
  lt_err refusal;    /* why there is no token that the server takes; LT_OK: it is no matter of tokens */
};

/* --- mcp_exchange.c ----------------------------------------------------------------------------------------------- */
/* The fiber of an exchange that sends a message. Frees the exchange. */
void lt_mcp_exchange_run(void *arg) LT_YIELDS;
/* A request without a body, "GET" or "DELETE". LT_YIELDS. */
lt_status lt_mcp_exchange_open(lt_mcp_exchange *x, const char *method, lt_http_stream **ret_stream,
                               lt_err *err) LT_YIELDS;
bool lt_mcp_exchange_is_awaited(const lt_mcp_exchange *x);
/* The media type of an answer, without its parameters. Borrows. */
lt_str lt_mcp_exchange_type_of(const lt_http_stream *stream);
lt_mcp_exchange *lt_mcp_exchange_new(lt_mcp_http *link);
void lt_mcp_exchange_free(lt_mcp_exchange *x);
/* Lets the exchanges go that wait for their turn. */
void lt_mcp_exchange_release_held(lt_mcp_http *link);
/* Waits, unless the exchange is given up. LT_YIELDS. */
void lt_mcp_exchange_pause(lt_mcp_exchange *x, uint64_t ms) LT_YIELDS;

/* --- mcp_event_stream.c ------------------------------------------------------------------------------------------- */
/* Reads the events of the answer to a request, and asks for more when the stream breaks. LT_YIELDS. Closes the stream.
 */
void lt_mcp_event_stream_answer(lt_mcp_exchange *x, lt_http_stream *stream) LT_YIELDS;
/* The fiber of the server's own stream. Frees the exchange. */
void lt_mcp_event_stream_listen(void *arg) LT_YIELDS;

/* --- mcp_refusal.c ------------------------------------------------------------------------------------------------ */
/* Reports that the request failed with `err`; nothing when nobody waits for it. */
void lt_mcp_refusal_report(lt_mcp_exchange *x, const lt_err *err);
/* Reports that the request was not carried out, because the server does not know the session. */
void lt_mcp_refusal_unheard(lt_mcp_exchange *x);
/* Reads an answer that is no message, and reports it. LT_YIELDS. */
void lt_mcp_refusal_read(lt_mcp_exchange *x, lt_http_stream *stream) LT_YIELDS;
/* Whether the answer sends the request to another address of the same origin: that is the link's address then. */
bool lt_mcp_refusal_redirects(lt_mcp_exchange *x, const lt_http_stream *stream);
/* How long to wait before the request is sent again: after status 429 with Retry-After. 0: it is not. */
uint64_t lt_mcp_refusal_retry_ms(const lt_http_stream *stream);

#endif
