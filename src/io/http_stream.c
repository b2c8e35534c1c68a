/* A running request and its answer. */
#include <strings.h>

#include "base/mem.h"
#include "io/http_impl.h"
#include "io/loop_handles.h"

/* --- Callbacks of libcurl ----------------------------------------------------------------------------------------- */

/* libcurl sends a request again when a kept connection breaks before the answer. */
static bool http_stream_was_sent(const lt_http_stream *stream) {
  long bytes = 0;
  return stream->http->curl->easy_getinfo(stream->easy, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK && bytes > 0;
}

/* Called before each sending. */
static int http_stream_on_sending(void *user, char *to_ip, char *from_ip, int to_port, int from_port) {
  (void)to_ip, (void)from_ip, (void)to_port, (void)from_port;
  lt_http_stream *stream = user;
  if (stream->is_once && http_stream_was_sent(stream)) {
    return CURL_PREREQFUNC_ABORT;
  }
  stream->is_sending = true;
  lt_wait_wake(&stream->wait, LT_OK); /* from here on the time for the answer counts */
  return CURL_PREREQFUNC_OK;
}

/* Reads the status of "HTTP/1.1 200 OK" or "HTTP/2 200"; 0 for any other line. */
static int http_stream_status_in(lt_str line) {
  const char *space = memchr(line.p, ' ', line.n);
  if (space == NULL || line.p + line.n - space < 4) {
    return 0;
  }
  int status = 0;
  for (int i = 1; i <= 3; i++) {
    if (space[i] < '0' || space[i] > '9') {
      return 0;
    }
    status = status * 10 + (space[i] - '0');
  }
  return status;
}

/* Called for each line with its end. An empty line ends a head. Heads of interim answers (1xx) come before the final
 * head, trailers come after the body. */
static size_t http_stream_on_header(char *p, size_t size, size_t count, void *user) {
  lt_http_stream *stream = user;
  size_t n = size * count;
  lt_str line = {p, n};
  if (stream->has_head) {
    return n;
  }
  if (lt_str_starts(line, LT_STR("HTTP/"))) {
    lt_buf_clear(&stream->head);
    stream->status = http_stream_status_in(line);
  } else if (lt_str_trim(line).n > 0) {
    lt_buf_add(&stream->head, line);
  } else if (stream->status >= 200) {
    stream->has_head = true;
    lt_wait_wake(&stream->wait, LT_OK);
  }
  if (stream->head.status != LT_OK) {
    lt_http_stream_break(stream, stream->head.status);
    return n == 0 ? 1 : 0; /* any value but `n` ends the transfer */
  }
  return n;
}

static size_t http_stream_on_body(char *p, size_t size, size_t count, void *user) {
  lt_http_stream *stream = user;
  size_t n = size * count;
  if (stream->in.n >= LT_HTTP_BUFFER_BYTES) {
    stream->is_paused = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  lt_buf_add(&stream->in, lt_str_from(p, n));
  if (stream->in.status != LT_OK) {
    lt_http_stream_break(stream, stream->in.status);
    return n == 0 ? 1 : 0;
  }
  lt_wait_wake(&stream->wait, LT_OK);
  return n;
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static lt_status http_stream_status_of_code(CURLcode code) {
  if (code == CURLE_OUT_OF_MEMORY) {
    return LT_E_NOMEM;
  } else if (code == CURLE_OPERATION_TIMEDOUT) {
    return LT_E_TIMEOUT;
  } else if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY) {
    return LT_E_NOTFOUND;
  } else if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
    return LT_E_DENIED;
  } else if (code == CURLE_URL_MALFORMAT) {
    return LT_E_INVALID;
  } else if (code == CURLE_PARTIAL_FILE || code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR ||
             code == CURLE_SEND_ERROR || code == CURLE_ABORTED_BY_CALLBACK) {
    return LT_E_CLOSED;
  } else if (code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_HTTP2) {
    return LT_E_PROTOCOL;
  }
  return LT_E_IO;
}

/* libcurl has one code for all that may be wrong with a certificate; the words are those of its TLS library. */
static const char *http_stream_advice_for(CURLcode code, const char *words) {
  if (code == CURLE_PEER_FAILED_VERIFICATION && strstr(words, "expir") != NULL) {
    return " (its owner has to renew the certificate; or is the clock of this machine wrong?)";
  } else if (code == CURLE_PEER_FAILED_VERIFICATION) {
    return " (trust its certificate by naming its file in SSL_CERT_FILE)";
  } else if (code == CURLE_SSL_CACERT_BADFILE) {
    return " (see CURL_CA_BUNDLE, SSL_CERT_FILE and the Debian package ca-certificates)";
  } else if (code == CURLE_COULDNT_RESOLVE_PROXY) {
    return " (see the variables http_proxy, https_proxy and all_proxy)";
  }
  return "";
}

static lt_status http_stream_explain(const lt_http_stream *stream, lt_err *err) {
  if (stream->broken == LT_E_LIMIT) {
    return lt_fail(err, LT_E_LIMIT, "%s answers with a head of more than %lu KiB", stream->host,
                   LT_HTTP_HEAD_MAX_BYTES / LT_KIB);
  } else if (stream->broken != LT_OK) {
    return lt_fail(err, stream->broken, "no memory for the answer of %s", stream->host);
  }
  lt_status status = http_stream_status_of_code(stream->code);
  const char *words = stream->code == CURLE_ABORTED_BY_CALLBACK ? "it is not sent a second time"
                      : stream->words[0] != '\0'                ? stream->words
                                                                : stream->http->curl->easy_strerror(stream->code);
  if (status == LT_E_TIMEOUT) {
    return lt_fail(err, status, "%s could not be reached within %.3g s", stream->host,
                   (double)stream->connect_ms / 1000);
  } else if (status == LT_E_CLOSED) {
    return lt_fail(err, status, "%s broke the connection off %s: %s", stream->host,
                   stream->has_head ? "in the middle of its answer" : "before it answered", words);
  }
  const char *what = status == LT_E_PROTOCOL ? "no HTTP comes from" : "cannot reach";
  return lt_fail(err, status, "%s %s: %s%s", what, stream->host, words, http_stream_advice_for(stream->code, words));
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

static bool http_stream_is_over(const lt_http_stream *stream) {
  return stream->is_done || stream->broken != LT_OK;
}

/* LT_YIELDS until libcurl reports something. Errors: LT_E_TIMEOUT, the cancel's reason. */
static lt_status http_stream_await(lt_http_stream *stream, uint64_t ms, bool *ret_cancelled) LT_YIELDS {
  lt_cancel_node node;
  lt_cancel_add(stream->cancel, &node, &stream->wait);
  lt_status status = lt_wait_on(&stream->wait, ms);
  lt_cancel_remove(stream->cancel, &node);
  *ret_cancelled = stream->cancel != NULL && stream->cancel->why != LT_OK;
  return *ret_cancelled ? stream->cancel->why : status;
}

static lt_status http_stream_given_up(const lt_http_stream *stream, lt_status status, lt_err *err) {
  return lt_fail(err, status, "the request to %s %s", stream->host,
                 status == LT_E_TIMEOUT ? "was given up: its time is over" : "was cancelled");
}

/* LT_YIELDS until the head is complete or the answer has ended. */
static lt_status http_stream_await_head(lt_http_stream *stream, lt_err *err) LT_YIELDS {
  uint64_t since = lt_loop_now_ms(stream->http->loop);
  bool sent = false;
  while (!stream->has_head && !http_stream_is_over(stream)) {
    if (stream->is_sending && !sent) {
      sent = true;
      since = lt_loop_now_ms(stream->http->loop);
    }
    /* Before that, libcurl's own timeout applies. This timeout is for requests that wait inside libcurl. */
    uint64_t ms = sent ? stream->first_byte_ms : stream->connect_ms + stream->first_byte_ms;
    uint64_t gone = lt_loop_now_ms(stream->http->loop) - since;
    bool is_cancelled;
    lt_status status = http_stream_await(stream, ms > gone ? ms - gone : 0, &is_cancelled);
    if (is_cancelled) {
      return http_stream_given_up(stream, status, err);
    }
    if (status == LT_E_TIMEOUT && gone >= ms) {
      return lt_fail(err, LT_E_TIMEOUT, "%s did not answer within %.3g s", stream->host, (double)ms / 1000);
    }
  }
  return stream->has_head ? LT_OK : http_stream_explain(stream, err);
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

static uint64_t http_stream_or_default(uint64_t ms, uint64_t otherwise) {
  return ms != 0 ? ms : otherwise;
}

static lt_http_stream *http_stream_new(lt_http *http, const lt_http_request *request) {
  lt_http_stream *stream = lt_mem_zalloc(1, sizeof *stream);
  if (stream == NULL) {
    return NULL;
  }
  stream->http = http;
  stream->multi = lt_http_multi_take(http);
  stream->cancel = request->cancel;
  stream->is_once = request->is_once;
  stream->connect_ms = http_stream_or_default(request->connect_timeout_ms, LT_HTTP_CONNECT_MS);
  stream->first_byte_ms = http_stream_or_default(request->first_byte_ms, LT_HTTP_ANSWER_MS);
  stream->idle_ms = http_stream_or_default(request->idle_ms, LT_HTTP_IDLE_MS);
  lt_wait_init(&stream->wait, http->loop);
  lt_buf_init(&stream->head, LT_HTTP_HEAD_MAX_BYTES);
  lt_buf_init(&stream->in, LT_HTTP_BUFFER_BYTES + LT_HTTP_PIECE_BYTES);
  lt_buf_init(&stream->out, LT_HTTP_BUFFER_BYTES + LT_HTTP_PIECE_BYTES);
  stream->host = lt_mem_strdup(lt_http_host_in(request->url));
  stream->easy = http->curl->easy_init();
  return stream;
}

static void http_stream_listen_to(lt_http_stream *stream) {
  const lt_curl *curl = stream->http->curl;
  curl->easy_setopt(stream->easy, CURLOPT_HEADERFUNCTION, http_stream_on_header);
  curl->easy_setopt(stream->easy, CURLOPT_HEADERDATA, stream);
  curl->easy_setopt(stream->easy, CURLOPT_WRITEFUNCTION, http_stream_on_body);
  curl->easy_setopt(stream->easy, CURLOPT_WRITEDATA, stream);
  curl->easy_setopt(stream->easy, CURLOPT_PREREQFUNCTION, http_stream_on_sending);
  curl->easy_setopt(stream->easy, CURLOPT_PREREQDATA, stream);
}

static lt_status http_stream_start(lt_http_stream *stream, const lt_http_request *request, lt_err *err) {
  if (stream->multi == NULL || stream->host == NULL || stream->easy == NULL || !lt_http_set_up(stream, request)) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a request");
  }
  http_stream_listen_to(stream);
  CURLMcode code = stream->http->curl->multi_add_handle(stream->multi->handle, stream->easy);
  if (code != CURLM_OK) {
    return lt_fail(err, code == CURLM_OUT_OF_MEMORY ? LT_E_NOMEM : LT_E_IO, "cannot send a request: %s",
                   stream->http->curl->multi_strerror(code));
  }
  return LT_OK;
}

lt_status lt_http_open(lt_http *http, const lt_http_request *request, lt_http_stream **ret_stream, lt_err *err) {
  LT_TRY(lt_http_check(request, err));
  LT_TRY(lt_http_prepare(http, err));
  lt_http_stream *stream = http_stream_new(http, request);
  if (stream == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a request");
  }
  lt_status status = http_stream_start(stream, request, err);
  if (status == LT_OK) {
    status = http_stream_await_head(stream, err);
  }
  if (status != LT_OK) {
    lt_http_close(stream);
    return status;
  }
  *ret_stream = stream;
  return LT_OK;
}

void lt_http_close(lt_http_stream *stream) {
  if (stream == NULL) {
    return;
  }
  const lt_curl *curl = stream->http->curl;
  if (stream->multi != NULL) {
    curl->multi_remove_handle(stream->multi->handle, stream->easy); /* also when it was not added, or is NULL */
    stream->multi->streams--;
  }
  curl->easy_cleanup(stream->easy);
  lt_http_url_release(stream->http, stream->url);
  curl->slist_free_all(stream->headers);
  lt_buf_release(&stream->head);
  lt_buf_release(&stream->in);
  lt_buf_release(&stream->out);
  lt_mem_free(stream->host);
  lt_mem_free(stream);
}

/* --- The answer --------------------------------------------------------------------------------------------------- */

int lt_http_status(const lt_http_stream *stream) {
  return stream->status;
}

/* Finds the next line of the head from `at` on. False: the head ends there. */
static bool http_stream_next_header(const lt_http_stream *stream, size_t *at, lt_str *ret_line) {
  lt_str head = lt_buf_view(&stream->head);
  if (*at >= head.n) {
    return false;
  }
  size_t end = lt_str_find(head, LT_STR("\n"), *at);
  end = end < head.n ? end : head.n;
  *ret_line = lt_str_sub(head, *at, end);
  *at = end + 1;
  return true;
}

lt_str lt_http_header_of(const lt_http_stream *stream, lt_str name) {
  lt_str value = LT_STR_NULL;
  size_t at = 0;
  for (lt_str line; http_stream_next_header(stream, &at, &line);) {
    if (line.n > name.n && line.p[name.n] == ':' && strncasecmp(line.p, name.p, name.n) == 0) {
      value = lt_str_trim(lt_str_sub(line, name.n + 1, line.n));
    }
  }
  return value;
}

void lt_http_set_idle(lt_http_stream *stream, uint64_t idle_ms) {
  stream->idle_ms = idle_ms;
}

/* Hands over the received bytes. Bytes that libcurl held back are copied into `in` at once, on this fiber. */
static lt_str http_stream_take_piece(lt_http_stream *stream) {
  lt_buf swap = stream->out;
  stream->out = stream->in;
  stream->in = swap;
  lt_buf_clear(&stream->in);
  if (stream->is_paused) {
    stream->is_paused = false;
    stream->http->curl->easy_pause(stream->easy, CURLPAUSE_CONT);
  }
  return lt_buf_view(&stream->out);
}

static lt_status http_stream_end_of(const lt_http_stream *stream, lt_str *ret_piece, lt_err *err) {
  if (stream->broken == LT_OK && stream->code == CURLE_OK) {
    *ret_piece = LT_STR_NULL;
    return LT_OK;
  }
  return http_stream_explain(stream, err);
}

lt_status lt_http_read(lt_http_stream *stream, lt_str *ret_piece, lt_err *err) {
  while (stream->in.n == 0 && !http_stream_is_over(stream)) {
    bool is_cancelled;
    lt_status status = http_stream_await(stream, stream->idle_ms, &is_cancelled);
    if (is_cancelled) {
      return http_stream_given_up(stream, status, err);
    }
    if (status == LT_E_TIMEOUT && stream->in.n == 0 && !http_stream_is_over(stream)) {
      return lt_fail(err, LT_E_TIMEOUT, "%s stopped in the middle of its answer: nothing came for %.3g s", stream->host,
                     (double)stream->idle_ms / 1000);
    }
  }
  if (stream->in.n > 0) {
    *ret_piece = http_stream_take_piece(stream);
    return LT_OK;
  }
  return http_stream_end_of(stream, ret_piece, err);
}
