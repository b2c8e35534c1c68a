/* A request's options: checks them and hands them to libcurl. */
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "io/http_impl.h"

static bool http_request_has_control(lt_str s) {
  for (size_t i = 0; i < s.n; i++) {
    if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f) {
      return true;
    }
  }
  return false;
}

lt_str lt_http_host_in(lt_str url) {
  size_t start;
  if (url.n >= 8 && strncasecmp(url.p, "https://", 8) == 0) {
    start = 8;
  } else if (url.n >= 7 && strncasecmp(url.p, "http://", 7) == 0) {
    start = 7;
  } else {
    return LT_STR_NULL;
  }
  size_t end = start;
  while (end < url.n && url.p[end] != '/' && url.p[end] != '?' && url.p[end] != '#' && url.p[end] != '\\') {
    end++;
  }
  for (size_t i = start; i < end; i++) {
    if (url.p[i] == '@') {
      start = i + 1;
    }
  }
  return lt_str_sub(url, start, end);
}

lt_status lt_http_check(const lt_http_request *request, lt_err *err) {
  lt_str url = request->url;
  if (url.n > LT_HTTP_URL_MAX_BYTES) {
    return lt_fail(err, LT_E_INVALID, "a URL may be %lu bytes long, this one has %zu", LT_HTTP_URL_MAX_BYTES, url.n);
  }
  if (http_request_has_control(url) || memchr(url.p != NULL ? url.p : "", ' ', url.n) != NULL ||
      lt_http_host_in(url).n == 0) {
    return lt_fail(err, LT_E_INVALID, "not a URL of http:// or https:// with a host");
  }
  if (http_request_has_control(request->method)) {
    return lt_fail(err, LT_E_INVALID, "a method of HTTP is one word");
  }
  if (request->body.n > LT_HTTP_BODY_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "a request of %zu bytes: %lu are the most", request->body.n,
                   LT_HTTP_BODY_MAX_BYTES);
  }
  for (size_t i = 0; i < request->header_count; i++) {
    const lt_http_header *h = &request->headers[i];
    if (h->name.n == 0 || http_request_has_control(h->name) || memchr(h->name.p, ':', h->name.n) != NULL ||
        http_request_has_control(h->value)) {
      return lt_fail(err, LT_E_INVALID, "the header \"%.*s\" has a name or a value that no header can have%s",
                     LT_STR_ARG(http_request_has_control(h->name) ? LT_STR_NULL : h->name),
                     http_request_has_control(h->value) ? " (a line break in its value?)" : "");
    }
  }
  return LT_OK;
}

void lt_http_url_release(const lt_http *http, lt_http_url *url) {
  if (url != NULL && --url->users == 0) {
    http->curl->url_cleanup(url->parsed);
    lt_mem_free(url->text);
    lt_mem_free(url);
  }
}

static lt_http_url *http_url_new(const lt_http *http, lt_str text) {
  lt_http_url *url = lt_mem_zalloc(1, sizeof *url);
  if (url == NULL) {
    return NULL;
  }
  url->users = 1;
  url->text = lt_mem_strdup(text);
  url->parsed = http->curl->url();
  if (url->text == NULL || url->parsed == NULL) {
    lt_http_url_release(http, url);
    return NULL;
  }
  if (http->curl->url_set(url->parsed, CURLUPART_URL, url->text, 0) != CURLUE_OK) {
    http->curl->url_cleanup(url->parsed);
    url->parsed = NULL;
  }
  return url;
}

/* A URL that may have a secret is not kept longer than its request. */
static bool http_url_may_be_kept(lt_str text) {
  return memchr(text.p, '@', text.n) == NULL && memchr(text.p, '?', text.n) == NULL;
}

/* Counts one user more. NULL: no memory. */
static lt_http_url *http_url_share(lt_http *http, lt_str text) {
  if (!http_url_may_be_kept(text)) {
    return http_url_new(http, text);
  }
  if (http->url == NULL || !lt_str_eqc(text, http->url->text)) {
    lt_http_url_release(http, http->url);
    http->url = http_url_new(http, text);
  }
  if (http->url != NULL) {
    http->url->users++;
  }
  return http->url;
}

static bool http_request_add_header(lt_http_stream *stream, lt_str name, lt_str value) {
  LT_AUTO_BUF(line, LT_HTTP_HEADERS_MAX_BYTES);
  lt_buf_add(&line, name);
  /* libcurl's notation for a header without a value. */
  lt_buf_add(&line, value.n > 0 ? LT_STR(": ") : LT_STR(";"));
  lt_buf_add(&line, value);
  if (line.status != LT_OK) {
    return false;
  }
  struct curl_slist *list = stream->http->curl->slist_append(stream->headers, line.p);
  if (list != NULL) {
    stream->headers = list;
  }
  return list != NULL;
}

static bool http_request_add_headers(lt_http_stream *stream, const lt_http_request *request) {
  /* No "Expect: 100-continue": servers that do not know it cost a second. */
  struct curl_slist *list = stream->http->curl->slist_append(NULL, "Expect:");
  stream->headers = list;
  bool ok = list != NULL;
  for (size_t i = 0; ok && i < request->header_count; i++) {
    ok = http_request_add_header(stream, request->headers[i].name, request->headers[i].value);
  }
  return ok;
}

/* An older libcurl reports unknown options. None of these is required. */
#define SET(option, value) (stream->http->curl->easy_setopt(stream->easy, (option), (value)))

static bool http_request_set_method(lt_http_stream *stream, const lt_http_request *request) {
  CURLcode code = CURLE_OK;
  if (request->body.n > 0) {
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.n);
    code = SET(CURLOPT_POSTFIELDS, request->body.p);
  }
  if (code == CURLE_OK && lt_str_eqc(request->method, "HEAD")) {
    SET(CURLOPT_NOBODY, 1L);
  } else if (code == CURLE_OK && request->method.n > 0) {
    char *method = lt_mem_strdup(request->method);
    code = method != NULL ? SET(CURLOPT_CUSTOMREQUEST, method) : CURLE_OUT_OF_MEMORY;
    lt_mem_free(method);
  }
  return code == CURLE_OK;
}

/* libcurl has a built-in path for certificates. These variables of curl's command line and of OpenSSL override it. */
static void http_request_set_certificates(lt_http_stream *stream) {
  const char *file = getenv("CURL_CA_BUNDLE");
  if (file == NULL || file[0] == '\0') {
    file = getenv("SSL_CERT_FILE");
  }
  if (file != NULL && file[0] != '\0') {
    SET(CURLOPT_CAINFO, file);
  }
  const char *folder = getenv("SSL_CERT_DIR");
  if (folder != NULL && folder[0] != '\0') {
    SET(CURLOPT_CAPATH, folder);
  }
}

/* Loopback names mean this machine, so a proxy cannot resolve them. */
static bool http_request_is_loopback(const char *host) {
  return strncasecmp(host, "localhost", 9) == 0 || strncmp(host, "127.", 4) == 0 || strncmp(host, "[::1]", 5) == 0;
}

bool lt_http_set_up(lt_http_stream *stream, const lt_http_request *request) {
  stream->url = http_request_add_headers(stream, request) ? http_url_share(stream->http, request->url) : NULL;
  if (stream->url == NULL) {
    return false;
  }
  CURLcode code = SET(CURLOPT_URL, stream->url->text); /* which libcurl reads itself where it could not be parsed */
  if (stream->url->parsed != NULL) {
    SET(CURLOPT_CURLU, stream->url->parsed);
  }
  SET(CURLOPT_PRIVATE, stream);
  SET(CURLOPT_ERRORBUFFER, stream->words);
  SET(CURLOPT_NOSIGNAL, 1L);
  lt_http_open_sockets_here(stream->multi, stream->easy);
  /* Without this (before libcurl 7.87) giving up waits for a name server that does not answer. */
#if LIBCURL_VERSION_NUM >= 0x075700
  SET(CURLOPT_QUICK_EXIT, 1L);
#endif
#if LIBCURL_VERSION_NUM >= 0x075500
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
#else
  SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  /* One request per connection: with HTTP/2 a slowly read stream would delay the others on its connection. */
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  SET(CURLOPT_CONNECTTIMEOUT_MS, (long)stream->connect_ms);
  SET(CURLOPT_HTTPHEADER, stream->headers);
  if (http_request_is_loopback(stream->host)) {
    SET(CURLOPT_NOPROXY, "*");
  }
  http_request_set_certificates(stream);
  return code == CURLE_OK && http_request_set_method(stream, request);
}
