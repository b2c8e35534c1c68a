/* HTTP served on the loop, against clients that write their bytes themselves: what reaches the handler, what does not,
 * and who is told when somebody goes away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "io/http_server.h"

/* --- The world ---------------------------------------------------------------------------------------------------- */
static lt_loop *loop;
static lt_http_server *server;
static char folder[64], path[96];
static unsigned handled, cancelled, going_on, most_going_on;
static lt_status why_cancelled;
static lt_wait entered; /* woken by a handler that waits */

static lt_cancel *stop; /* ends the wait of /pieces/on */

static lt_status wait_for(lt_cancel *cancel, uint64_t ms) LT_YIELDS {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, loop);
  lt_cancel_add(cancel, &node, &wait);
  lt_status status = lt_wait_on(&wait, ms);
  lt_cancel_remove(cancel, &node);
  return status;
}

static void hang(const lt_http_call *call) LT_YIELDS {
  lt_wait_wake(&entered, LT_OK);
  why_cancelled = wait_for(call->cancel, 20000);
  cancelled++;
}

/* An answer in pieces: three; or one, until the client is gone; or as many as fit while nobody reads. */
static lt_status why_not_sent;
static void pieces(const lt_http_call *call, lt_http_answer *answer) LT_YIELDS {
  answer->content_type = "text/event-stream";
  lt_http_answer_header(answer, "X-Kind", LT_STR("green"));
  lt_buf_addc(&answer->body, "first;");
  assert_int_equal(lt_http_call_begin(call, NULL), LT_OK);
  if (lt_str_eqc(call->path, "/pieces/endless")) {
    hang(call);
    why_not_sent = lt_http_call_send(call, LT_STR("x"), NULL);
  } else if (lt_str_eqc(call->path, "/pieces/on")) {
    lt_wait_wake(&entered, LT_OK);
    wait_for(stop, 20000); /* whatever happens to the client */
  } else if (lt_str_eqc(call->path, "/pieces/unread")) {
    static char block[LT_MIB];
    memset(block, 'u', sizeof block);
    do {
      why_not_sent = lt_http_call_send(call, lt_str_from(block, sizeof block), NULL);
    } while (why_not_sent == LT_OK);
    assert_true(lt_http_call_unsent(call) > 0);
    assert_int_equal(lt_http_call_drain(call, 0, 60000), LT_OK);
    assert_int_equal(lt_http_call_send(call, LT_STR("last"), NULL), LT_OK);
  } else {
    for (const char *piece = "bcd"; *piece != '\0'; piece++) {
      wait_for(call->cancel, *piece == 'c' ? 5 : 0);
      assert_int_equal(lt_http_call_send(call, lt_str_from(piece, 1), NULL), LT_OK);
    }
  }
  going_on--;
}

static void on_handle(void *arg, const lt_http_call *call, lt_http_answer *answer) {
  (void)arg;
  handled++;
  going_on++;
  most_going_on = going_on > most_going_on ? going_on : most_going_on;
  if (lt_str_starts(call->path, LT_STR("/pieces"))) {
    pieces(call, answer);
    return;
  }
  if (lt_str_eqc(call->path, "/hang")) {
    hang(call);
  } else if (lt_str_eqc(call->path, "/slow")) {
    wait_for(call->cancel, 20);
  } else if (lt_str_eqc(call->path, "/teapot")) {
    answer->status = 418;
    lt_http_answer_header(answer, "X-Kind", LT_STR("green"));
    lt_http_answer_header(answer, "X-Split", LT_STR("a\r\nX-Evil: 1"));
  } else if (lt_str_eqc(call->path, "/big")) {
    char *room = lt_buf_reserve(&answer->body, 20 * LT_MIB);
    memset(room, 'b', 20 * LT_MIB);
    lt_buf_commit(&answer->body, 20 * LT_MIB);
  }
  answer->content_type = "text/plain";
  lt_buf_printf(&answer->body, "%.*s %.*s?%.*s key=%.*s %zu:", LT_STR_ARG(call->method), LT_STR_ARG(call->path),
                LT_STR_ARG(call->query), LT_STR_ARG(lt_http_call_header(call, "x-KEY")), call->body.n);
  lt_buf_add(&answer->body, lt_str_sub(call->body, 0, 100));
  going_on--;
}

static bool on_admit(void *arg, const lt_http_call *call, lt_http_answer *answer) {
  (void)arg;
  if (lt_str_eqc(call->method, "DELETE")) {
    answer->status = 405;
    lt_buf_addc(&answer->body, "not that");
    return false;
  }
  return true;
}

static lt_http_server_options defaults(void) {
  return (lt_http_server_options){.unix_path = path,
                                  .body_max = 100000,
                                  .stream_max = 8 * LT_MIB,
                                  .idle_ms = 2000,
                                  .admit = on_admit,
                                  .handle = on_handle};
}

typedef void (*body_fn)(void);
static void run_body(void *arg) {
  body_fn *fn = arg;
  lt_err err = LT_ERR_INIT;
  lt_http_server_options options = defaults();
  lt_wait_init(&entered, loop);
  if (lt_http_server_open(loop, &options, &server, &err) != LT_OK) {
    fail_msg("%s", err.msg);
  }
  (*fn)();
  lt_http_server_close(server);
  server = NULL;
  assert_int_not_equal(access(path, F_OK), 0); /* nothing is left */
}

static void in_world(body_fn fn) {
  handled = cancelled = going_on = most_going_on = 0;
  snprintf(folder, sizeof folder, "/tmp/lathe-test-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/socket", folder);
  assert_int_equal(lt_loop_new(&loop, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(loop, run_body, &fn, NULL), LT_OK);
  lt_loop_run(loop);
  lt_loop_free(loop);
  assert_int_equal(rmdir(folder), 0);
}

/* --- A client, on another thread ---------------------------------------------------------------------------------- */
static const char hang_request[] = "GET /hang HTTP/1.1\r\nHost: x\r\n\r\n";
static const char post_request[] = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";

typedef struct client {
  const char *bytes; /* to be sent */
  size_t n;
  bool half;    /* says that nothing more comes */
  bool go_away; /* without reading */
  unsigned port;
  lt_buf got;
} client;

static int connect_client(const client *c) {
  struct sockaddr_un un = {.sun_family = AF_UNIX};
  struct sockaddr_in in = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)c->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  snprintf(un.sun_path, sizeof un.sun_path, "%.100s", path);
  int fd = socket(c->port != 0 ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct timeval patience = {.tv_sec = 20};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  int rc =
      c->port != 0 ? connect(fd, (struct sockaddr *)&in, sizeof in) : connect(fd, (struct sockaddr *)&un, sizeof un);
  if (rc != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

static void send_all(int fd, const char *bytes, size_t n) {
  while (n > 0) {
    ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
    if (sent <= 0) {
      return;
    }
    bytes += sent;
    n -= (size_t)sent;
  }
}

static void on_thread(void *arg) {
  client *c = arg;
  int fd = connect_client(c);
  if (fd < 0) {
    return;
  }
  send_all(fd, c->bytes, c->n);
  if (c->half) {
    shutdown(fd, SHUT_WR);
  }
  while (!c->go_away) {
    char *room = lt_buf_reserve(&c->got, 65536);
    ssize_t n = recv(fd, room, 65536, 0);
    if (n <= 0) {
      break;
    }
    lt_buf_commit(&c->got, (size_t)n);
  }
  close(fd);
}

static client ask(const char *bytes) LT_YIELDS {
  client c = {.bytes = bytes, .n = strlen(bytes)};
  lt_buf_init(&c.got, 64 * LT_MIB);
  assert_int_equal(lt_loop_offload(loop, on_thread, &c, NULL), LT_OK);
  lt_buf_byte(&c.got, '\0');
  return c;
}

static unsigned times(const char *text, const char *part) {
  unsigned n = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    n++;
  }
  return n;
}

static void expect(const char *request, const char *status, const char *part) LT_YIELDS {
  client c = ask(request);
  if (strncmp(c.got.p, status, strlen(status)) != 0 || strstr(c.got.p, part) == NULL) {
    fail_msg("%.60s: got %.500s", request, c.got.p);
  }
  lt_buf_release(&c.got);
}

/* --- What works --------------------------------------------------------------------------------------------------- */
static void body_answers(void) {
  expect("GET /a%20b?x=1&y=%41 HTTP/1.1\r\nHost: x\r\nX-Key: k\r\nConnection: close\r\n\r\n", "HTTP/1.1 200",
         "GET /a%20b?x=1&y=%41 key=k 0:");
  expect("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello", "HTTP/1.1 200",
         "POST /? key= 5:hello");
  expect(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: "
      "close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
      "HTTP/1.1 200", "5:abcde");
  expect("GET /teapot HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 418", "X-Kind: green");
  expect("DELETE / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 405", "not that");
  assert_int_equal(handled, 4);
}

static void test_answers(void **state) {
  (void)state;
  in_world(body_answers);
}

static void body_headers_are_not_split(void) {
  client c = ask("GET /teapot HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  assert_null(strstr(c.got.p, "Evil"));
  lt_buf_release(&c.got);
}

static void test_headers_are_not_split(void **state) {
  (void)state;
  in_world(body_headers_are_not_split);
}

/* Several requests at once on one connection: each has its answer, in order. */
static void body_pipelined(void) {
  const char *three =
      "GET /slow?1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
      "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  client c = ask(three);
  assert_int_equal(times(c.got.p, "HTTP/1.1 200"), 3);
  assert_true(strstr(c.got.p, "/slow?1") < strstr(c.got.p, "/2?") && strstr(c.got.p, "/2?") < strstr(c.got.p, "/3?"));
  lt_buf_release(&c.got);
}

static void test_pipelined(void **state) {
  (void)state;
  in_world(body_pipelined);
}

static void body_large_answer(void) {
  client c = ask("GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  assert_true(c.got.n > 20 * LT_MIB);
  lt_buf_release(&c.got);
}

static void test_large_answer(void **state) {
  (void)state;
  in_world(body_large_answer);
}

static void body_port(void) {
  lt_http_server *second = NULL;
  lt_http_server_options options = defaults();
  options.unix_path = NULL;
  assert_int_equal(lt_http_server_open(loop, &options, &second, NULL), LT_OK);
  assert_int_not_equal(lt_http_server_port(second), 0);
  assert_int_equal(lt_http_server_port(server), 0);
  client c = {.bytes = "GET /p HTTP/1.0\r\n\r\n", .n = 19, .port = lt_http_server_port(second)};
  lt_buf_init(&c.got, LT_MIB);
  assert_int_equal(lt_loop_offload(loop, on_thread, &c, NULL), LT_OK);
  lt_buf_byte(&c.got, '\0');
  assert_non_null(strstr(c.got.p, "GET /p?"));
  lt_buf_release(&c.got);
  options.port = lt_http_server_port(second);
  lt_http_server *third = NULL;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(lt_http_server_open(loop, &options, &third, &err), LT_E_IO);
  assert_non_null(strstr(err.msg, "127.0.0.1"));
  lt_http_server_close(second);
}

static void test_port(void **state) {
  (void)state;
  in_world(body_port);
}

static void body_socket_is_private(void) {
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  lt_http_server *second = NULL;
  lt_http_server_options options = defaults();
  assert_int_equal(lt_http_server_open(loop, &options, &second, NULL), LT_E_IO); /* somebody has it */
  assert_int_equal(stat(path, &st), 0);                                          /* and keeps it */
  char long_path[300];
  memset(long_path, 'x', sizeof long_path);
  long_path[0] = '/';
  long_path[sizeof long_path - 1] = '\0';
  options.unix_path = long_path;
  assert_int_equal(lt_http_server_open(loop, &options, &second, NULL), LT_E_INVALID);
}

static void test_socket_is_private(void **state) {
  (void)state;
  in_world(body_socket_is_private);
}

/* --- What never reaches the handler ------------------------------------------------------------------------------- */
static void body_bad_requests(void) {
  expect("what is this\r\n\r\n", "", "");
  expect("\x01\x02\x03\xff\r\n\r\n", "", "");
  expect("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100001\r\n\r\n", "HTTP/1.1 413", "too long");
  expect("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n", "HTTP/1.1 4", "");
  expect("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", "", "");
  assert_int_equal(handled, 0);
  expect("GET /after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "/after");
}

static void test_bad_requests(void **state) {
  (void)state;
  in_world(body_bad_requests);
}

static char *repeated(const char *head, const char *piece, size_t count) {
  size_t n = strlen(piece);
  char *text = lt_mem_alloc(strlen(head) + n * count + 1);
  assert_non_null(text);
  strcpy(text, head);
  char *at = text + strlen(head);
  for (size_t i = 0; i < count; i++, at += n) {
    memcpy(at, piece, n);
  }
  *at = '\0';
  return text;
}

/* Chunks do not say how many will come: the connection ends when it is too much. */
static void body_chunks_over_the_ceiling(void) {
  char *text = repeated("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nabcde\r\n", 30000);
  client c = ask(text);
  assert_null(strstr(c.got.p, "200"));
  lt_buf_release(&c.got);
  lt_mem_free(text);
  char *many = repeated("GET / HTTP/1.1\r\nHost: x\r\n", "X-Long: 0123456789012345678901234567890123456789\r\n", 5000);
  c = ask(many);
  assert_null(strstr(c.got.p, "200"));
  lt_buf_release(&c.got);
  lt_mem_free(many);
  assert_int_equal(handled, 0);
}

static void test_chunks_over_the_ceiling(void **state) {
  (void)state;
  in_world(body_chunks_over_the_ceiling);
}

static void body_cut_in_the_middle(void) {
  const char *half = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nonly this";
  client c = {.bytes = half, .n = strlen(half), .half = true};
  lt_buf_init(&c.got, LT_MIB);
  assert_int_equal(lt_loop_offload(loop, on_thread, &c, NULL), LT_OK);
  lt_buf_release(&c.got);
  for (size_t n = 1; n < strlen(half); n += 7) {
    c = (client){.bytes = half, .n = n, .go_away = true};
    lt_buf_init(&c.got, LT_MIB);
    assert_int_equal(lt_loop_offload(loop, on_thread, &c, NULL), LT_OK);
    lt_buf_release(&c.got);
  }
  assert_int_equal(handled, 0);
}

static void test_cut_in_the_middle(void **state) {
  (void)state;
  in_world(body_cut_in_the_middle);
}

static void body_slow_body(void) {
  lt_http_server_close(server);
  lt_http_server_options options = defaults();
  options.idle_ms = 1000;
  assert_int_equal(lt_http_server_open(loop, &options, &server, NULL), LT_OK);
  const char *half = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nonly this";
  client c = ask(half); /* ends: the server does not wait for ever */
  assert_null(strstr(c.got.p, "200"));
  lt_buf_release(&c.got);
  assert_int_equal(handled, 0);
}

static void test_slow_body(void **state) {
  (void)state;
  in_world(body_slow_body);
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */
static unsigned left;
static lt_wait all_done;

static void on_one(void *arg) {
  (void)arg;
  expect("GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "/slow");
  if (--left == 0) {
    lt_wait_wake(&all_done, LT_OK);
  }
}

/* The clients' threads are four: what is counted is that nobody waits for another. */
static void body_many_at_once(void) {
  lt_wait_init(&all_done, loop);
  left = 100;
  for (unsigned i = 0; i < 100; i++) {
    assert_int_equal(lt_loop_spawn(loop, on_one, NULL, NULL), LT_OK);
  }
  lt_wait_on(&all_done, UINT64_MAX);
  assert_int_equal(handled, 100);
  assert_true(most_going_on > 1);
}

static void test_many_at_once(void **state) {
  (void)state;
  in_world(body_many_at_once);
}

/* Far more than there are threads: connections that are opened here and only held. */
static void body_many_that_wait(void) {
  enum { COUNT = 300 };
  int fds[COUNT];
  client nobody = {0};
  for (unsigned i = 0; i < COUNT; i++) {
    fds[i] = connect_client(&nobody);
    assert_true(fds[i] >= 0);
    send_all(fds[i], hang_request, strlen(hang_request));
    lt_loop_sleep(loop, 0);
  }
  while (handled < COUNT) {
    lt_loop_sleep(loop, 1);
  }
  assert_int_equal(most_going_on, COUNT);
  for (unsigned i = 0; i < COUNT; i++) {
    close(fds[i]);
  }
  while (cancelled < COUNT) {
    lt_loop_sleep(loop, 1);
  }
  assert_int_equal(why_cancelled, LT_E_CLOSED);
}

static void test_many_that_wait(void **state) {
  (void)state;
  in_world(body_many_that_wait);
}

static void body_client_goes_away(void) {
  client c = {.bytes = hang_request, .n = strlen(hang_request), .go_away = true};
  lt_buf_init(&c.got, LT_MIB);
  int fd = connect_client(&c);
  send_all(fd, c.bytes, c.n);
  lt_wait_on(&entered, UINT64_MAX);
  assert_int_equal(cancelled, 0);
  close(fd);
  while (cancelled == 0) {
    lt_loop_sleep(loop, 1);
  }
  assert_int_equal(why_cancelled, LT_E_CLOSED);
  expect("GET /after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "/after");
}

static void test_client_goes_away(void **state) {
  (void)state;
  in_world(body_client_goes_away);
}

/* Clients that never finish their requests fill all connections; the next one is answered all the same. */
static void body_unfinished_requests(void) {
  enum { MOST = 8 };
  int fds[MOST];
  lt_http_server *second = NULL;
  lt_http_server_options options = defaults();
  options.unix_path = NULL;
  options.connections_max = MOST;
  options.idle_ms = 600000;
  assert_int_equal(lt_http_server_open(loop, &options, &second, NULL), LT_OK);
  client c = {.port = lt_http_server_port(second)};
  for (int i = 0; i < MOST; i++) {
    const char *part = i % 2 == 0 ? "GET /never HTT" : "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe";
    fds[i] = connect_client(&c);
    assert_true(fds[i] >= 0);
    send_all(fds[i], part, strlen(part));
  }
  for (int i = 0; i < 3; i++) {
    client last = {.bytes = post_request, .n = strlen(post_request), .port = c.port};
    lt_buf_init(&last.got, LT_MIB);
    assert_int_equal(lt_loop_offload(loop, on_thread, &last, NULL), LT_OK);
    lt_buf_byte(&last.got, '\0');
    assert_non_null(strstr(last.got.p, "2:hi"));
    lt_buf_release(&last.got);
  }
  for (int i = 0; i < MOST; i++) {
    close(fds[i]);
  }
  lt_http_server_close(second);
}

static void test_unfinished_requests(void **state) {
  (void)state;
  in_world(body_unfinished_requests);
}

/* Clients that send a part of a request and go, the part and the end of the connection together: the library reads the
 * part and misses the end. */
static void body_gone_in_the_middle(void) {
  enum { COUNT = 30 };
  static const char *const parts[] = {"GET /ne", "POST / HTTP/1.1\r\nHost: x\r\nContent-Le",
                                      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe"};
  lt_http_server *second = NULL;
  lt_http_server_options options = defaults();
  options.unix_path = NULL;
  options.idle_ms = 600000;
  assert_int_equal(lt_http_server_open(loop, &options, &second, NULL), LT_OK);
  client c = {.port = lt_http_server_port(second)};
  int fds[COUNT];
  for (unsigned i = 0; i < COUNT; i++) {
    fds[i] = connect_client(&c);
    assert_true(fds[i] >= 0);
  }
  while (lt_http_server_connections(second) < COUNT) {
    lt_loop_sleep(loop, 1);
  }
  for (unsigned i = 0; i < COUNT; i++) {
    send_all(fds[i], parts[i % 3], strlen(parts[i % 3]));
    close(fds[i]);
  }
  for (unsigned i = 0; i < 1000 && lt_http_server_connections(second) > 0; i++) {
    lt_loop_sleep(loop, 10);
  }
  assert_int_equal(lt_http_server_connections(second), 0);
  lt_http_server_close(second);
}

static void test_gone_in_the_middle(void **state) {
  (void)state;
  in_world(body_gone_in_the_middle);
}

/* --- Answers in pieces -------------------------------------------------------------------------------------------- */
static void body_pieces(void) {
  client c = ask("GET /pieces HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  assert_non_null(strstr(c.got.p, "Content-Type: text/event-stream"));
  assert_non_null(strstr(c.got.p, "X-Kind: green"));
  assert_non_null(strstr(c.got.p, "chunked"));
  const char *at = strstr(c.got.p, "first;");
  for (const char *piece = "bcd"; at != NULL && *piece != '\0'; piece++) {
    at = strchr(at, *piece);
  }
  assert_non_null(at);
  lt_buf_release(&c.got);
  expect("GET /pieces HTTP/1.0\r\n\r\n", "HTTP/1.", "first;bcd"); /* without chunks */
}

static void test_pieces(void **state) {
  (void)state;
  in_world(body_pieces);
}

/* The connection is kept: the next request follows the last piece. */
static void body_pieces_then_more(void) {
  client c =
      ask("GET /pieces HTTP/1.1\r\nHost: x\r\n\r\nGET /pieces HTTP/1.1\r\nHost: x\r\n\r\n"
          "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  assert_int_equal(times(c.got.p, "HTTP/1.1 200"), 3);
  assert_int_equal(times(c.got.p, "first;"), 2);
  lt_buf_release(&c.got);
}

static void test_pieces_then_more(void **state) {
  (void)state;
  in_world(body_pieces_then_more);
}

static void body_pieces_gone(void) {
  static const char endless[] = "GET /pieces/endless HTTP/1.1\r\nHost: x\r\n\r\n";
  client c = {0};
  int fd = connect_client(&c);
  send_all(fd, endless, strlen(endless));
  lt_wait_on(&entered, UINT64_MAX);
  close(fd);
  while (going_on > 0) {
    lt_loop_sleep(loop, 1);
  }
  assert_int_equal(why_cancelled, LT_E_CLOSED);
  assert_int_equal(why_not_sent, LT_E_CLOSED);
  expect("GET /after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "/after");
}

static void test_pieces_gone(void **state) {
  (void)state;
  in_world(body_pieces_gone);
}

/* The answer of a HEAD request is over before its handler is: the handler's end does not touch the connection, whose
 * next request is watched as any other. */
static void body_pieces_outlived(void) {
  static const char head[] = "HEAD /pieces/on HTTP/1.1\r\nHost: x\r\n\r\n";
  lt_cancel until;
  client c = {0};
  lt_cancel_init(&until);
  stop = &until;
  int fd = connect_client(&c);
  send_all(fd, head, strlen(head));
  lt_wait_on(&entered, UINT64_MAX);
  send_all(fd, hang_request, strlen(hang_request));
  lt_wait_on(&entered, UINT64_MAX);
  lt_loop_sleep(loop, 1); /* the loop has polled once, and watches the second request */
  assert_int_equal(going_on, 2);
  lt_cancel_fire(&until, LT_E_CANCELLED);
  while (going_on > 1) {
    lt_loop_sleep(loop, 1);
  }
  assert_int_equal(cancelled, 0);
  close(fd);
  while (cancelled == 0) {
    lt_loop_sleep(loop, 1);
  }
  assert_int_equal(why_cancelled, LT_E_CLOSED);
}

static void test_pieces_outlived(void **state) {
  (void)state;
  in_world(body_pieces_outlived);
}

/* A client that does not read holds up nobody; when it reads, it gets everything. */
static void body_pieces_unread(void) {
  static const char unread[] = "GET /pieces/unread HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  client c = {0};
  why_not_sent = LT_OK;
  int fd = connect_client(&c);
  send_all(fd, unread, strlen(unread));
  while (why_not_sent == LT_OK) {
    lt_loop_sleep(loop, 1);
  }
  assert_int_equal(why_not_sent, LT_E_LIMIT);
  expect("GET /after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "/after");
  size_t bytes = 0;
  char last[65536];
  ssize_t n;
  while ((n = recv(fd, last, sizeof last, MSG_DONTWAIT)) != 0) {
    if (n < 0) {
      lt_loop_sleep(loop, 1);
      continue;
    }
    bytes += (size_t)n;
  }
  close(fd);
  assert_true(bytes > 7 * LT_MIB);
}

static void test_pieces_unread(void **state) {
  (void)state;
  in_world(body_pieces_unread);
}

static const char endless_request[] = "GET /pieces/endless HTTP/1.1\r\nHost: x\r\n\r\n";
static int held;
static void body_closed_while_sending(void) {
  client c = {0};
  held = connect_client(&c);
  send_all(held, endless_request, strlen(endless_request));
  lt_wait_on(&entered, UINT64_MAX);
}

static void test_closed_while_sending(void **state) {
  (void)state;
  in_world(body_closed_while_sending);
  assert_int_equal(why_cancelled, LT_E_CANCELLED);
  close(held);
}

/* The world closes the server while a handler waits: it is told, and waited for. */
static void body_closed_while_handling(void) {
  client c = {0};
  held = connect_client(&c);
  send_all(held, hang_request, strlen(hang_request));
  lt_wait_on(&entered, UINT64_MAX);
}

static void test_closed_while_handling(void **state) {
  (void)state;
  in_world(body_closed_while_handling);
  assert_int_equal(cancelled, 1);
  assert_int_equal(why_cancelled, LT_E_CANCELLED);
  close(held);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */
static void body_without_memory(void) {
  long n = 0;
  bool failed = true;
  for (; failed; n++) {
    lt_http_server *second = NULL;
    lt_http_server_options options = defaults();
    options.unix_path = NULL;
    lt_mem_fail_at(n);
    lt_status status = lt_http_server_open(loop, &options, &second, NULL);
    failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
    lt_http_server_close(second);
  }
  /* A request without memory ends, somehow; the next one is answered. */
  for (n = 0; n < 12; n++) {
    client c = {0};
    lt_buf_init(&c.got, LT_MIB);
    int fd = connect_client(&c);
    send_all(fd, post_request, strlen(post_request));
    lt_mem_fail_at(n);
    char byte;
    while (recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
      lt_loop_sleep(loop, 1);
    }
    lt_mem_fail_at(-1);
    close(fd);
  }
  expect("GET /after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200", "/after");
}

static void test_without_memory(void **state) {
  (void)state;
  in_world(body_without_memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_answers),
      cmocka_unit_test(test_headers_are_not_split),
      cmocka_unit_test(test_pipelined),
      cmocka_unit_test(test_large_answer),
      cmocka_unit_test(test_port),
      cmocka_unit_test(test_socket_is_private),
      cmocka_unit_test(test_bad_requests),
      cmocka_unit_test(test_chunks_over_the_ceiling),
      cmocka_unit_test(test_cut_in_the_middle),
      cmocka_unit_test(test_slow_body),
      cmocka_unit_test(test_many_at_once),
      cmocka_unit_test(test_many_that_wait),
      cmocka_unit_test(test_client_goes_away),
      cmocka_unit_test(test_closed_while_handling),
      cmocka_unit_test(test_unfinished_requests),
      cmocka_unit_test(test_gone_in_the_middle),
      cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_pieces_then_more),
      cmocka_unit_test(test_pieces_gone),
      cmocka_unit_test(test_pieces_outlived),
      cmocka_unit_test(test_pieces_unread),
      cmocka_unit_test(test_closed_while_sending),
      cmocka_unit_test(test_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
