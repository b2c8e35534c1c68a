/* HTTP's inside, shared by http.c (libcurl's connections on the loop), http_request.c (what is asked for) and
 * http_stream.c (one request on its way, and its answer). Private to the three.
 *
 * libcurl does its work (connecting, TLS, reading) in lt_http_act, which is called from the loop's own callbacks only:
 * there the stack is the thread's. Fibers only add a request, take its bytes and remove it.
 */
#ifndef LT_IO_HTTP_IMPL_H
#define LT_IO_HTTP_IMPL_H

#include <uv.h>

#include "base/buf.h"
#include "io/curl_open.h"
#include "io/http.h"

typedef struct lt_http_socket lt_http_socket;

struct lt_http {
  uv_timer_t timer; /* libcurl's one */
  lt_loop *loop;
  const lt_curl *curl; /* NULL: not needed yet */
  CURLM *multi;
  lt_http_socket *sockets;
  size_t streams; /* not closed */
};

struct lt_http_stream {
  lt_http *http;
  CURL *easy;
  struct curl_slist *headers; /* sent */
  lt_buf body;                /* sent */
  char *host;                 /* for messages: no user, no path */
  lt_cancel *cancel;
  lt_wait wait;
  uint64_t connect_ms, first_byte_ms, idle_ms;
  char words[CURL_ERROR_SIZE]; /* libcurl's, about what went wrong */

  bool sent;   /* the connection stands, the request is on its way */
  bool headed; /* the head is whole */
  bool paused; /* libcurl holds bytes back until something is read */
  bool done;   /* libcurl is done with it: `code` says how */
  CURLcode code;
  lt_status broken; /* our own reason to end it */
  int status;
  lt_buf head; /* the lines of the head, CR LF and all */
  lt_buf in;   /* come, not read */
  lt_buf out;  /* what was read last */
};

/* LT_YIELDS the first time. */
lt_status lt_http_prepare(lt_http *http, lt_err *err) LT_YIELDS;
/* libcurl is done with the stream of this handle. */
void lt_http_stream_done(lt_http_stream *stream, CURLcode code);
/* It cannot go on. */
void lt_http_stream_break(lt_http_stream *stream, lt_status why);

/* http_request.c */

/* Whether it is a request at all. Errors: LT_E_INVALID, LT_E_LIMIT. */
lt_status lt_http_check(const lt_http_request *request, lt_err *err);
/* The host and port of a URL, without a user; empty for what is no URL of http or https. */
lt_str lt_http_host_in(lt_str url);
/* Tells libcurl all of it; false: no memory. */
bool lt_http_set_up(lt_http_stream *stream, const lt_http_request *request);

#endif
