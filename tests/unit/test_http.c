/* HTTP against a real server in Node: what comes, what is said of what does not, backpressure, secrets. */
#include "unit/http_fix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "io/http_impl.h"

static char url_text[512];

static lt_str url_of(const char *path) {
  snprintf(url_text, sizeof url_text, "http://127.0.0.1:%d%s", server.port, path);
  return lt_str_of(url_text);
}

/* The whole body; its status. */
static lt_status read_all(lt_http_stream *stream, lt_buf *out, lt_err *err) {
  for (;;) {
    lt_str piece;
    lt_status status = lt_http_read(stream, &piece, err);
    if (status != LT_OK || piece.n == 0) {
      return status;
    }
    lt_buf_add(out, piece);
  }
}

static lt_status fetch(const lt_http_request *request, lt_buf *out, lt_err *err) {
  lt_http_stream *stream = NULL;
  lt_status status = lt_http_open(http, request, &stream, err);
  if (status == LT_OK) {
    status = read_all(stream, out, err);
    lt_http_close(stream);
  }
  return status;
}

static void expect_body(const lt_http_request *request, const char *part) {
  lt_err err = LT_ERR_INIT;
  lt_buf out;
  lt_buf_init(&out, 64 * LT_MIB);
  if (fetch(request, &out, &err) != LT_OK) {
    fail_msg("failed: %s", err.msg);
  }
  expect_in(out.p, part);
  lt_buf_release(&out);
}

static lt_err expect_failure(const lt_http_request *request, lt_status status, const char *part) {
  lt_err err = LT_ERR_INIT;
  lt_buf out;
  lt_buf_init(&out, 64 * LT_MIB);
  lt_status got = fetch(request, &out, &err);
  if (got != status) {
    fail_msg("%s instead of %s: %s", lt_status_name(got), lt_status_name(status), err.msg);
  }
  lt_buf_release(&out);
  expect_in(err.msg, part);
  return err;
}

/* --- What works --------------------------------------------------------------------------------------------------- */

static void body_get(void) {
  lt_http_stream *stream = NULL;
  lt_http_request request = {.url = url_of("/echo/get?a=1")};
  assert_int_equal(lt_http_open(http, &request, &stream, NULL), LT_OK);
  assert_int_equal(lt_http_status(stream), 200);
  assert_true(lt_str_eqc(lt_http_header_of(stream, LT_STR("X-TWICE")), "one"));
  assert_true(lt_str_eqc(lt_http_header_of(stream, LT_STR("x-twice2")), "two"));
  assert_int_equal(lt_http_header_of(stream, LT_STR("x-twic")).n, 0);
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(read_all(stream, &out, NULL), LT_OK);
  expect_in(out.p, "\"method\":\"GET\"");
  expect_in(out.p, "/echo/get?a=1");
  lt_str piece;
  assert_int_equal(lt_http_read(stream, &piece, NULL), LT_OK); /* its end is told as often as one asks */
  assert_int_equal(piece.n, 0);
  lt_buf_release(&out);
  lt_http_close(stream);
}

static void body_post(void) {
  const lt_http_header headers[] = {{LT_STR("X-Key"), LT_STR("välue")}, {LT_STR("X-Empty"), LT_STR("")}};
  lt_http_request request = {
      .url = url_of("/echo/post"), .headers = headers, .header_count = 2, .body = LT_STR("bo\0dy")};
  expect_body(&request, "\"method\":\"POST\"");
  expect_body(&request, "\"body\":\"bo\\u0000dy\"");
  expect_body(&request, "\"x-empty\":\"\"");
  request.method = LT_STR("PUT");
  expect_body(&request, "\"method\":\"PUT\"");
}

static void body_long_post(void) {
  lt_buf body;
  lt_buf_init(&body, 64 * LT_MIB);
  memset(lt_buf_reserve(&body, 5 * LT_MIB), 'b', 5 * LT_MIB);
  lt_buf_commit(&body, 5 * LT_MIB);
  lt_http_request request = {.url = url_of("/echo/long"), .body = lt_buf_view(&body)};
  expect_body(&request, "\"content-length\":\"5242880\"");
  lt_buf_release(&body);
}

static void body_statuses(void) {
  lt_http_stream *stream = NULL;
  lt_http_request request = {.url = url_of("/404/s")};
  assert_int_equal(lt_http_open(http, &request, &stream, NULL), LT_OK);
  assert_int_equal(lt_http_status(stream), 404);
  lt_http_close(stream); /* unread */
  request.url = url_of("/301/s");
  assert_int_equal(lt_http_open(http, &request, &stream, NULL), LT_OK);
  assert_int_equal(lt_http_status(stream), 301); /* not followed */
  lt_http_close(stream);
  request.url = url_of("/interim/s");
  assert_int_equal(lt_http_open(http, &request, &stream, NULL), LT_OK);
  assert_int_equal(lt_http_status(stream), 200);
  assert_true(lt_str_eqc(lt_http_header_of(stream, LT_STR("x-a")), "late"));
  lt_http_close(stream);
  request.url = url_of("/nothing/s");
  lt_str piece;
  assert_int_equal(lt_http_open(http, &request, &stream, NULL), LT_OK);
  assert_int_equal(lt_http_read(stream, &piece, NULL), LT_OK);
  assert_int_equal(piece.n, 0);
  lt_http_close(stream);
}

/* No program that is started meanwhile gets the connection: it would be kept open by it, and could be read from. */
static void body_not_inherited(void) {
  lt_http_stream *stream = NULL;
  lt_http_request request = {.url = url_of("/hang-body/inherit")};
  assert_int_equal(lt_http_open(http, &request, &stream, NULL), LT_OK);
  int sockets = 0;
  for (int fd = 3; fd < 1024; fd++) {
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    if (getpeername(fd, (struct sockaddr *)&at, &n) == 0 && at.ss_family == AF_INET) {
      assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
      sockets++;
    }
  }
  assert_true(sockets > 0);
  lt_http_close(stream);
}

/* Two requests after one another go over one connection. */
static void body_connection_kept(void) {
  lt_http_request request = {.url = url_of("/echo/kept")};
  expect_body(&request, "GET");
  expect_body(&request, "GET");
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  request.url = url_of("/asked/kept");
  assert_int_equal(fetch(&request, &out, NULL), LT_OK);
  int ports[2];
  const char *at = strstr(out.p, "\"port\":");
  assert_non_null(at);
  ports[0] = atoi(at + 7);
  at = strstr(at + 1, "\"port\":");
  assert_non_null(at);
  ports[1] = atoi(at + 7);
  assert_int_equal(ports[0], ports[1]);
  lt_buf_release(&out);
}

static int times_asked(const char *path) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_http_request request = {.url = url_of(path)};
  assert_int_equal(fetch(&request, &out, NULL), LT_OK);
  int n = 0;
  for (const char *at = out.p; (at = strstr(at, "\"port\":")) != NULL; at++) {
    n++;
  }
  lt_buf_release(&out);
  return n;
}

/* The server closes a connection that is used again, before it answers. libcurl sends the request again, unless it may
 * be sent only once. */
static void body_sent_once(void) {
  lt_http_request first = {.url = url_of("/echo/kept")};
  expect_body(&first, "GET");
  lt_http_request again = {.url = url_of("/close-first/again"), .body = LT_STR("{}")};
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  assert_int_equal(fetch(&again, &out, NULL), LT_OK);
  lt_buf_release(&out);
  assert_int_equal(times_asked("/asked/again"), 2);
  lt_http_request once = {.url = url_of("/close-first/once"), .body = LT_STR("{}"), .is_once = true};
  expect_failure(&once, LT_E_CLOSED, "before it answered");
  assert_int_equal(times_asked("/asked/once"), 1);
}

/* A connection that the server has closed meanwhile is not used again, and does no harm. */
static void body_closed_while_idle(void) {
  for (int i = 0; i < 3; i++) {
    lt_http_request request = {.url = url_of("/then-close/idle"), .body = LT_STR("{}")};
    expect_body(&request, "POST");
    lt_loop_sleep(loop, 40);
  }
}

/* --- Backpressure ------------------------------------------------------------------------------------------------- */

static long sent_bytes(void) {
  lt_buf out;
  lt_buf_init(&out, LT_MIB);
  lt_http_request request = {.url = url_of("/sent/x")};
  assert_int_equal(fetch(&request, &out, NULL), LT_OK);
  long n = atol(out.p);
  lt_buf_release(&out);
  return n;
}

/* Who does not read lets the server wait; who then reads gets all of it. */
static void body_backpressure(void) {
  enum { BYTES = 64 << 20 };
  char path[64];
  snprintf(path, sizeof path, "/big/x?bytes=%d", BYTES);
  lt_http_stream *stream = NULL;
  lt_http_request request = {.url = url_of(path)};
  long before = sent_bytes();
  request.url = url_of(path);
  assert_int_equal(lt_http_open(http, &request, &stream, NULL), LT_OK);
  lt_loop_sleep(loop, 300);
  long sent = sent_bytes() - before;
  assert_in_range(sent, LT_HTTP_BUFFER_BYTES, BYTES / 2); /* the rest are the kernel's buffers */
  size_t n = 0;
  for (;;) {
    lt_str piece;
    assert_int_equal(lt_http_read(stream, &piece, NULL), LT_OK);
    if (piece.n == 0) {
      break;
    }
    assert_true(piece.n <= LT_HTTP_BUFFER_BYTES + LT_HTTP_PIECE_BYTES);
    assert_int_equal(piece.p[piece.n - 1], 'a');
    n += piece.n;
  }
  assert_int_equal(n, BYTES);
  lt_http_close(stream);
}

/* --- What does not work ------------------------------------------------------------------------------------------- */

static void body_bad_urls(void) {
  const char *urls[] = {"",
                        "x",
                        "ftp://a/",
                        "file:///etc/passwd",
                        "http://",
                        "http:///path",
                        "https://u@/",
                        "http://a b/",
                        "http://a/\nX: y"};
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
    lt_http_request request = {.url = lt_str_of(urls[i])};
    expect_failure(&request, LT_E_INVALID, "");
  }
  lt_http_request port = {.url = LT_STR("http://127.0.0.1:99999999/")};
  expect_failure(&port, LT_E_INVALID, "");
}

static void body_bad_headers(void) {
  const lt_http_header bad[] = {{LT_STR("X"), LT_STR("s3cret\r\nY: z")},
                                {LT_STR("X:"), LT_STR("s3cret")},
                                {LT_STR(""), LT_STR("s3cret")},
                                {LT_STR("X\n"), LT_STR("s3cret")}};
  for (size_t i = 0; i < 4; i++) {
    lt_http_request request = {.url = url_of("/echo/x"), .headers = &bad[i], .header_count = 1};
    lt_err err = expect_failure(&request, LT_E_INVALID, "header");
    expect_not_in(err.msg, "s3cret");
  }
}

/* A port that nobody listens on. */
static int free_port(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
  close(fd);
  return ntohs(at.sin_port);
}

static void body_secrets(void) {
  char url[128];
  snprintf(url, sizeof url, "http://user:s3cret@127.0.0.1:%d/p4th?key=qu3ry", free_port());
  lt_http_request request = {.url = lt_str_of(url)};
  lt_err err = expect_failure(&request, LT_E_IO, "127.0.0.1");
  expect_not_in(err.msg, "s3cret");
  expect_not_in(err.msg, "qu3ry");
  expect_not_in(err.msg, "p4th");
  request.url = LT_STR("http://user:s3cret@nowhere.invalid/p4th?key=qu3ry");
  err = expect_failure(&request, LT_E_NOTFOUND, "nowhere.invalid");
  expect_not_in(err.msg, "s3cret");
  expect_not_in(err.msg, "qu3ry");
}

static void body_broken(void) {
  lt_http_request request = {.url = url_of("/short/b")};
  expect_failure(&request, LT_E_CLOSED, "in the middle");
  request.url = url_of("/close-first/b");
  expect_failure(&request, LT_E_CLOSED, "before it answered");
  request.url = url_of("/garbage/b");
  expect_failure(&request, LT_E_PROTOCOL, "127.0.0.1");
  request.url = url_of("/big-head/b");
  expect_failure(&request, LT_E_LIMIT, "head");
}

static void body_timeouts(void) {
  lt_http_request request = {.url = url_of("/hang-head/t"), .first_byte_ms = 50};
  expect_failure(&request, LT_E_TIMEOUT, "did not answer within 0.05 s");
  request = (lt_http_request){.url = url_of("/hang-body/t"), .idle_ms = 50};
  expect_failure(&request, LT_E_TIMEOUT, "nothing came for 0.05 s");
}

/* Connections to an address behind which nobody answers: a queue that is full. */
static void body_connect_timeout(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(listen(fd, 0), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
  int fill[8];
  for (int i = 0; i < 8; i++) {
    fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)connect(fill[i], (struct sockaddr *)&at, sizeof at);
  }
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(at.sin_port));
  lt_http_request request = {.url = lt_str_of(url), .connect_timeout_ms = 100, .first_byte_ms = 10000};
  expect_failure(&request, LT_E_TIMEOUT, "could not be reached within 0.1 s");
  for (int i = 0; i < 8; i++) {
    close(fill[i]);
  }
  close(fd);
}

static void body_cancel(void) {
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  later l = {&cancel, 30, LT_E_CANCELLED};
  cancel_after(&l);
  lt_http_request request = {.url = url_of("/hang-head/c"), .cancel = &cancel};
  expect_failure(&request, LT_E_CANCELLED, "cancelled");
  expect_failure(&request, LT_E_CANCELLED, "cancelled"); /* it was fired before */
  lt_cancel late;
  lt_cancel_init(&late);
  later l2 = {&late, 60, LT_E_TIMEOUT};
  cancel_after(&l2);
  request = (lt_http_request){.url = url_of("/hang-body/c"), .cancel = &late};
  expect_failure(&request, LT_E_TIMEOUT, "its time is over");
}

/* --- Many --------------------------------------------------------------------------------------------------------- */

static size_t good;

static void fetch_one(size_t i) {
  char url[128];
  snprintf(url, sizeof url, "http://127.0.0.1:%d/echo/many?i=%zu", server.port, i);
  char want[64];
  snprintf(want, sizeof want, "/echo/many?i=%zu\"", i);
  lt_http_request request = {.url = lt_str_of(url)};
  expect_body(&request, want);
  good++;
}

static void body_many(void) {
  good = 0;
  run_many(200, fetch_one);
  assert_int_equal(good, 200);
}

FLOW(many)

static size_t count_sockets(void) {
  size_t count = 0;
  DIR *files = opendir("/proc/self/fd");
  assert_non_null(files);
  for (const struct dirent *entry; (entry = readdir(files)) != NULL;) {
    struct stat st;
    count += fstat((int)strtol(entry->d_name, NULL, 10), &st) == 0 && S_ISSOCK(st.st_mode);
  }
  closedir(files);
  return count;
}

/* More requests than one multi handle has room for. The sockets that are counted include a pair for each handle. Later
 * requests use the same connections, until these were unused for long. */
static void body_connections(void) {
  enum { MULTIS = 3 };
  size_t before = count_sockets();
  fetch_one(0);
  size_t each = http->multi_streams, streams = MULTIS * each, most = streams + 2 * MULTIS;
  assert_in_range(each, 2, LT_HTTP_MULTI_STREAMS);
  run_many(streams, fetch_one);
  size_t kept = count_sockets();
  assert_in_range(kept - before, each + 1, most);
  assert_non_null(http->multis[MULTIS - 1]);
  assert_null(http->multis[MULTIS]);
  run_many(streams, fetch_one);
  assert_in_range(count_sockets(), kept, before + most);
  fetch_one(0);
  http->sweeper.timer_cb(&http->sweeper); /* all have been used before the first look, and one since */
  assert_in_range(count_sockets(), kept, before + most);
  fetch_one(0);
  http->sweeper.timer_cb(&http->sweeper);
  assert_null(http->multis[1]);
  assert_in_range(count_sockets() - before, 1, each + 2);
  http->sweeper.timer_cb(&http->sweeper);
  assert_int_equal(count_sockets(), before);
  assert_false(uv_is_active((uv_handle_t *)&http->sweeper));
  fetch_one(0);
}

FLOW(connections)

/* More requests than files that may be open: some wait, all are answered. */
static void test_few_files(void **state) {
  (void)state;
  struct rlimit before, few;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = before;
  few.rlim_cur = 64;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  run(body_many);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static void body_no_memory(void) {
  lt_http_request warm = {.url = url_of("/echo/warm")};
  expect_body(&warm, "GET"); /* libcurl is there now: what it allocates is its own */
  const lt_http_header header = {LT_STR("X-A"), LT_STR("b")};
  lt_http_request request = {.url = url_of("/echo/memory"),
                             .headers = &header,
                             .header_count = 1,
                             .method = LT_STR("POST"),
                             .body = LT_STR("x")};
  for (long n = 0;; n++) {
    assert_true(n < 1000);
    lt_buf out;
    lt_buf_init(&out, LT_MIB);
    lt_mem_fail_at(n);
    lt_status status = fetch(&request, &out, NULL);
    int failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    bool whole = out.status == LT_OK;
    lt_buf_release(&out);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      break;
    }
    assert_true(status == LT_E_NOMEM || (status == LT_OK && !whole));
  }
}

/* --- TLS ---------------------------------------------------------------------------------------------------------- */

static fake_server tls_server;

static void body_tls_refused(void) {
  char url[64];
  snprintf(url, sizeof url, "https://127.0.0.1:%d/echo/tls", tls_server.port);
  lt_http_request request = {.url = lt_str_of(url)};
  expect_failure(&request, LT_E_DENIED, "SSL_CERT_FILE");
}

static void body_tls_trusted(void) {
  char url[64];
  snprintf(url, sizeof url, "https://127.0.0.1:%d/echo/tls", tls_server.port);
  lt_http_request request = {.url = lt_str_of(url), .body = LT_STR("secret")};
  expect_body(&request, "\"body\":\"secret\"");
  snprintf(url, sizeof url, "https://127.0.0.1:%d/hang-body/tls", tls_server.port);
  request = (lt_http_request){.url = lt_str_of(url), .idle_ms = 50}; /* closed in the middle */
  expect_failure(&request, LT_E_TIMEOUT, "nothing came");
}

static void test_tls(void **state) {
  (void)state;
  char folder[] = "/tmp/lathe-tls-XXXXXX";
  assert_non_null(mkdtemp(folder));
  char file[64], option[80];
  snprintf(file, sizeof file, "%s/cert.pem", folder);
  snprintf(option, sizeof option, "--https=%s", file);
  start_server(&tls_server, option);
  unsetenv("CURL_CA_BUNDLE");
  unsetenv("SSL_CERT_FILE");
  run(body_tls_refused);
  setenv("SSL_CERT_FILE", file, 1);
  run(body_tls_trusted);
  unsetenv("SSL_CERT_FILE");
  setenv("CURL_CA_BUNDLE", file, 1);
  run(body_tls_trusted);
  unsetenv("CURL_CA_BUNDLE");
  run(body_tls_refused);
  stop_server(&tls_server);
  unlink(file);
  rmdir(folder);
}

/* --- Without libcurl ---------------------------------------------------------------------------------------------- */

static void body_missing_curl(void) {
  lt_http_request request = {.url = url_of("/echo/x")};
  expect_failure(&request, LT_E_UNSUPPORTED, "libcurl4");
}

/* This program again, with something else where libcurl should be. */
static void test_missing(void **state) {
  (void)state;
  char folder[] = "/tmp/lathe-curl-XXXXXX";
  assert_non_null(mkdtemp(folder));
  char file[64], self[1024];
  snprintf(file, sizeof file, "%s/libcurl.so.4", folder);
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  assert_true(n > 0);
  self[n] = '\0';
  FILE *f = fopen(file, "w");
  assert_non_null(f);
  fputs("this is no library", f);
  fclose(f);
  pid_t pid = fork();
  if (pid == 0) {
    setenv("LD_LIBRARY_PATH", folder, 1);
    execl(self, self, "missing", (char *)NULL);
    _exit(127);
  }
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  unlink(file);
  rmdir(folder);
}

/* Nothing was asked: nothing was opened, and it is freed all the same. */
static void body_unused(void) {
}

FLOW(get)
FLOW(post)
FLOW(long_post)
FLOW(statuses)
FLOW(not_inherited)
FLOW(connection_kept)
FLOW(sent_once)
FLOW(closed_while_idle)
FLOW(backpressure)
FLOW(bad_urls)
FLOW(bad_headers)
FLOW(secrets)
FLOW(broken)
FLOW(timeouts)
FLOW(connect_timeout)
FLOW(cancel)
FLOW(no_memory)
FLOW(unused)
FLOW(missing_curl)

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unused),
      cmocka_unit_test(test_get),
      cmocka_unit_test(test_post),
      cmocka_unit_test(test_long_post),
      cmocka_unit_test(test_statuses),
      cmocka_unit_test(test_not_inherited),
      cmocka_unit_test(test_connection_kept),
      cmocka_unit_test(test_sent_once),
      cmocka_unit_test(test_closed_while_idle),
      cmocka_unit_test(test_backpressure),
      cmocka_unit_test(test_bad_urls),
      cmocka_unit_test(test_bad_headers),
      cmocka_unit_test(test_secrets),
      cmocka_unit_test(test_broken),
      cmocka_unit_test(test_timeouts),
      cmocka_unit_test(test_connect_timeout),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_connections),
      cmocka_unit_test(test_few_files),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_tls),
      cmocka_unit_test(test_missing),
  };
  const struct CMUnitTest missing[] = {cmocka_unit_test(test_missing_curl)};
  if (argc > 1 && strcmp(argv[1], "missing") == 0) {
    return cmocka_run_group_tests_name("missing", missing, NULL, NULL);
  }
  return cmocka_run_group_tests(tests, setup_server, teardown_server);
}
