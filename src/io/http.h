/* An HTTP client on the loop. It uses libcurl, which it loads for the first request (curl_open.h).
 *
 * The caller opens a request and reads the answer's body piece by piece on the same fiber. A slow reader slows the peer
 * down. Redirects are not followed. Proxies come from the usual environment variables, except for loopback addresses.
 * Certificates are checked (against CURL_CA_BUNDLE, SSL_CERT_FILE or SSL_CERT_DIR where set). The protocol is HTTP/1.1;
 * connections are kept for later requests, until none has used them for LT_HTTP_UNUSED_MS. No error message contains a
 * header's value, or a URL's user, path or query. Loop thread only.
 */
#ifndef LT_IO_HTTP_H
#define LT_IO_HTTP_H

#include "base/str.h"
#include "io/loop.h"

typedef struct lt_http lt_http;

/* Makes a client without any connection. Owns: the caller, lt_http_free, after every stream is closed. Errors:
 * LT_E_NOMEM. */
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
  lt_str body;                 /* stays until lt_http_close */
  uint64_t connect_timeout_ms; /* 0: LT_HTTP_CONNECT_MS */
  uint64_t first_byte_ms;      /* from sending to the answer's head; 0: LT_HTTP_ANSWER_MS */
  uint64_t idle_ms;            /* between pieces of the body; 0: LT_HTTP_IDLE_MS */
  lt_cancel *cancel;           /* may be NULL */
  bool is_once; /* never sent a second time by itself when a kept connection breaks: the peer may have acted on it */
} lt_http_request;

typedef struct lt_http_stream lt_http_stream;

/* Sends the request and waits for the answer's head. Copies the request, but its body. LT_YIELDS. Errors: LT_E_INVALID
 * (a malformed URL or header), LT_E_LIMIT, LT_E_UNSUPPORTED (libcurl is not installed), LT_E_NOTFOUND (no such host),
 * LT_E_DENIED (its certificate is not trusted), LT_E_IO (refused, and the like), LT_E_CLOSED (the connection broke
 * before the answer), LT_E_PROTOCOL, LT_E_TIMEOUT, LT_E_CANCELLED (or another reason of the cancel), LT_E_NOMEM. Owns:
 * the caller, lt_http_close. */
lt_status lt_http_open(lt_http *http, const lt_http_request *request, lt_http_stream **ret_stream,
                       lt_err *err) LT_YIELDS;

/* The answer's status code: 200 and so on. */
int lt_http_status(const lt_http_stream *stream);
/* The value of the last header of this name, trimmed, or empty. Case is ignored. Borrows: until the close. */
lt_str lt_http_header_of(const lt_http_stream *stream, lt_str name);

/* The next piece of the body, empty at its end. LT_YIELDS. Borrows: until the next read or the close. Errors:
 * LT_E_CLOSED when the connection ended before the body did, and those of lt_http_open. */
lt_status lt_http_read(lt_http_stream *stream, lt_str *ret_piece, lt_err *err) LT_YIELDS;

/* Sets the longest wait between two pieces, from now on. */
void lt_http_set_idle(lt_http_stream *stream, uint64_t idle_ms);

/* Ends the request, finished or not. The connection of a finished request is kept for later requests. NULL is allowed.
 * */
void lt_http_close(lt_http_stream *stream);

#endif
