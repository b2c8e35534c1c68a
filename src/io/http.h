/* HTTP requests on the loop, by libcurl, which is loaded when the first one is made: a start without it is 8 ms
 * shorter.
 *
 * A request is opened, then its body is read piece by piece on the same fiber: straight-line code, whatever the length.
 * Whoever reads slowly slows the peer down. Redirects are not followed, proxies come from the usual environment
 * variables but for loopback addresses, certificates are checked (CURL_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR say
 * against which). HTTP/1.1, whose connections are kept for later requests. No message says what is in a header, or in
 * a URL's user, path or query. Loop thread only.
 */
#ifndef LT_IO_HTTP_H
#define LT_IO_HTTP_H

#include "base/str.h"
#include "io/loop.h"

typedef struct lt_http lt_http;

/* Opens nothing yet. Owns: the caller, lt_http_free; every stream must have been closed before. Errors: LT_E_NOMEM. */
lt_status lt_http_new(lt_loop *loop, lt_http **ret_http, lt_err *err);
void lt_http_free(lt_http *http); /* NULL is allowed */
lt_loop *lt_http_loop(const lt_http *http);

typedef struct lt_http_header {
  lt_str name;
  lt_str value;
} lt_http_header;

typedef struct lt_http_request {
  lt_str method; /* empty: GET, or POST where there is a body */
  lt_str url;    /* http:// or https:// */
  const lt_http_header *headers;
  size_t header_count;
  lt_str body;
  uint64_t connect_timeout_ms; /* 0: LT_HTTP_CONNECT_MS */
  uint64_t first_byte_ms;      /* from sending to the answer's head; 0: LT_HTTP_ANSWER_MS */
  uint64_t idle_ms;            /* between pieces of the body; 0: LT_HTTP_IDLE_MS */
  lt_cancel *cancel;           /* may be NULL */
} lt_http_request;

typedef struct lt_http_stream lt_http_stream;

/* Sends the request and waits for the answer's head. Copies what it is given. LT_YIELDS.
 * Errors: LT_E_INVALID (a URL or a header that is none), LT_E_LIMIT, LT_E_UNSUPPORTED (no libcurl: what to install),
 * LT_E_NOTFOUND (no such host), LT_E_DENIED (its certificate is not trusted), LT_E_IO (refused, and the like),
 * LT_E_CLOSED (connected, but broken off before the answer), LT_E_PROTOCOL, LT_E_TIMEOUT, LT_E_CANCELLED (or what the
 * cancel was fired with), LT_E_NOMEM. Owns: the caller, lt_http_close. */
lt_status lt_http_open(lt_http *http, const lt_http_request *request, lt_http_stream **ret_stream,
                       lt_err *err) LT_YIELDS;

/* The answer's status code: 200 and so on. */
int lt_http_status(const lt_http_stream *stream);
/* The last header of this name (case ignored), trimmed; empty when there is none. Borrows: until the close. */
lt_str lt_http_header_of(const lt_http_stream *stream, lt_str name);

/* The next piece of the body, empty at its end. LT_YIELDS. Borrows: until the next read or the close.
 * Errors: LT_E_CLOSED when it ended in the middle, and those of lt_http_open. */
lt_status lt_http_read(lt_http_stream *stream, lt_str *ret_piece, lt_err *err) LT_YIELDS;

/* From now on waits so long between pieces. */
void lt_http_set_idle(lt_http_stream *stream, uint64_t idle_ms);

/* Ends it, finished or not; the connection of a finished one is kept for the next. NULL is allowed. */
void lt_http_close(lt_http_stream *stream);

#endif
