/* The structs of the HTTP client. Private to http.c (the client), http_multi.c (libcurl's connections on the loop),
 * http_request.c (a request's options), http_stream.c (a running request and its answer) and http_stream_end.c. The
 * last three share lt_http_stream, because a request is set up, runs and ends in them.
 *
 * libcurl does its work (connecting, TLS, reading) in the loop's own callbacks only: there the stack is the thread's.
 * Fibers only add a request, take its bytes and remove it.
 */
#ifndef LT_IO_HTTP_IMPL_H
#define LT_IO_HTTP_IMPL_H

#include <uv.h>

#include "base/buf.h"
#include "io/curl_open.h"
#include "io/http.h"

typedef struct lt_http_socket lt_http_socket;

/* A URL as libcurl has read it. Reading it takes longer than all else that is done for a small request. */
typedef struct lt_http_url {
  size_t users;  /* streams, and the client as long as it is the last one */
  CURLU *parsed; /* NULL: libcurl says what is wrong with it when the request is sent */
  char *text;
} lt_http_url;

/* Connections that libcurl knows together. For each request it looks at all of them, three times, so a client has more
 * than one of these as soon as it has many requests at once. */
typedef struct lt_http_multi {
  uv_timer_t timer; /* libcurl's one; its `data` is this */
  const lt_curl *curl;
  CURLM *handle;
  size_t streams; /* not closed */
  bool was_used;  /* since the client looked last */
  lt_http_socket *sockets[LT_HTTP_SOCKET_LISTS];
} lt_http_multi;

struct lt_http {
  uv_timer_t sweeper; /* it runs while there is a multi handle */
  lt_loop *loop;
  const lt_curl *curl;                /* NULL: not needed yet */
  lt_http_url *url;                   /* of the last request: the next one is often to the same. NULL: none yet */
  size_t multi_streams, multi_places; /* the most that one has, and how many there may be */
  lt_http_multi *multis[LT_HTTP_MULTIS_MAX]; /* NULL: not needed yet, or not any more */
};

struct lt_http_stream {
  lt_http *http;
  lt_http_multi *multi;
  CURL *easy;
  lt_http_url *url;
  struct curl_slist *headers; /* sent */
  bool is_once;               /* as in lt_http_request */
  char *host;                 /* for messages: no user, no path */
  lt_cancel *cancel;
  lt_wait wait;
  uint64_t connect_ms, first_byte_ms, idle_ms;
  char words[CURL_ERROR_SIZE]; /* libcurl's description of the failure */

  bool is_sending; /* connected, and the request is being sent */
  bool has_head;   /* the answer's head is complete */
  bool is_paused;  /* libcurl holds bytes back until the reader takes some */
  bool is_done;    /* libcurl has finished the request with `code` */
  CURLcode code;
  lt_status broken; /* our own reason to end it */
  int status;
  lt_buf head; /* the lines of the head, CR LF and all */
  lt_buf in;   /* received, not read */
  lt_buf out;  /* the piece that was read last */
};

/* http.c */

/* Loads libcurl. LT_YIELDS the first time. */
lt_status lt_http_prepare(lt_http *http, lt_err *err) LT_YIELDS;
/* The multi handle for one stream more. Its user counts itself out (`streams`). NULL: no memory. */
lt_http_multi *lt_http_multi_take(lt_http *http);

/* http_multi.c */

/* Owns: the caller, lt_http_multi_free. NULL: no memory. */
lt_http_multi *lt_http_multi_new(uv_loop_t *loop, const lt_curl *curl, long connections_max);
/* Closes its connections. NULL is allowed. */
void lt_http_multi_free(lt_http_multi *multi);
/* The connections of this request are watched by the loop from their beginning to their end. */
void lt_http_open_sockets_here(lt_http_multi *multi, CURL *easy);

/* http_stream_end.c */

/* Reports that libcurl has finished this stream's request. */
void lt_http_stream_done(lt_http_stream *stream, CURLcode code);
/* Ends the stream's request with the failure `why`. */
void lt_http_stream_break(lt_http_stream *stream, lt_status why);

/* http_request.c */

/* Checks the request's URL, headers and sizes. Errors: LT_E_INVALID, LT_E_LIMIT. */
lt_status lt_http_check(const lt_http_request *request, lt_err *err);
/* The host and port of a URL, without its user; empty when the text is not an http or https URL. */
lt_str lt_http_host_in(lt_str url);
/* Counts one user less, and frees it with the last. NULL is allowed. */
void lt_http_url_release(const lt_http *http, lt_http_url *url);
/* Hands the request's options to libcurl. False: no memory. */
bool lt_http_set_up(lt_http_stream *stream, const lt_http_request *request);

#endif
