/* The loop watches libmicrohttpd's epoll descriptor. The library works only when the loop calls it (a turn), on the
 * thread's stack. Fibers hand over finished answers and request a turn. */
#include "io/http_server_impl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

/* --- Turns -------------------------------------------------------------------------------------------------------- */
static void http_server_turn(lt_http_server *server);

static void http_server_on_post(void *arg) {
  lt_http_server *server = arg;
  server->posted = false;
  http_server_turn(server);
}

/* Called on a fiber, or from inside the library. */
void lt_http_server_ask_for_turn(lt_http_server *server) {
  if (!server->posted) {
    server->posted = true;
    server->post = (lt_post){.fn = http_server_on_post, .arg = server};
    lt_loop_post(server->loop, &server->post);
  }
}

static void http_server_on_timer(uv_timer_t *timer) {
  http_server_turn(timer->data);
}

static void http_server_on_readable(uv_poll_t *poll, int status, int events) {
  (void)status, (void)events;
  http_server_turn(poll->data);
}

static void http_server_wake_closer(lt_http_server *server) {
  if (server->closer != NULL) {
    lt_wait_wake(server->closer, LT_OK);
  }
}

static void http_server_time_next_turn(lt_http_server *server) {
  MHD_UNSIGNED_LONG_LONG ms = 0;
  if (server->mhd->get_timeout(server->daemon, &ms) != MHD_YES) {
    uv_timer_stop(&server->timer);
  } else if (ms == 0) {
    lt_http_server_ask_for_turn(server);
  } else {
    uint64_t most = server->owing != NULL ? LT_HTTP_SERVER_LOOK_MS : UINT64_MAX;
    uv_update_time(lt_loop_uv(server->loop));
    uv_timer_start(&server->timer, http_server_on_timer, ms < most ? ms : most, 0);
  }
}

static void http_server_turn(lt_http_server *server) {
  if (server->daemon == NULL) {
    http_server_wake_closer(server);
    return;
  }
  server->mhd->run(server->daemon);
  lt_http_server_drop_slow_clients(server);
  lt_http_server_drop_gone_clients(server);
  http_server_time_next_turn(server);
  http_server_wake_closer(server);
}

/* --- Connections -------------------------------------------------------------------------------------------------- */
static void http_server_on_connection(void *arg, struct MHD_Connection *connection, void **client,
                                      enum MHD_ConnectionNotificationCode what) {
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    *client = lt_http_server_add_client(arg, connection);
  } else {
    lt_http_server_remove_client(arg, *client);
    *client = NULL;
    lt_http_server_ask_for_turn(arg); /* where all were in use, the library accepts again at its next turn only */
  }
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */
static void http_server_drop_body(lt_server_call *c) {
  c->server->bodies -= c->body.n;
  lt_buf_release(&c->body);
}

static void http_server_call_drop(lt_server_call *c) {
  if (--c->users > 0) {
    return;
  }
  lt_http_server *server = c->server;
  *(c->prev != NULL ? &c->prev->next : &server->calls) = c->next;
  if (c->next != NULL) {
    c->next->prev = c->prev;
  }
  lt_buf_release(&c->target);
  lt_buf_release(&c->method);
  http_server_drop_body(c);
  lt_buf_release(&c->answer.body);
  lt_buf_release(&c->answer.headers);
  lt_http_server_stream_drop(c);
  lt_mem_free(c);
  http_server_wake_closer(server);
}

/* Called by the library at the start of a request. The result is the call's handle; NULL: no memory. */
static void *http_server_on_target(void *arg, const char *target, struct MHD_Connection *connection) {
  lt_http_server *server = arg;
  lt_server_call *c = lt_mem_zalloc(1, sizeof *c);
  if (c == NULL) {
    return NULL;
  }
  c->server = server;
  c->connection = connection;
  c->users = 1;
  c->next = server->calls;
  if (c->next != NULL) {
    c->next->prev = c;
  }
  server->calls = c;
  lt_buf_init(&c->target, LT_HTTP_URL_MAX_BYTES);
  lt_buf_init(&c->method, LT_HTTP_URL_MAX_BYTES);
  lt_buf_init(&c->body, server->options.body_max);
  lt_buf_init(&c->answer.body, LT_GIB);
  lt_buf_init(&c->answer.headers, LT_HTTP_HEADERS_MAX_BYTES);
  lt_cancel_init(&c->cancel);
  c->base.cancel = &c->cancel;
  c->answer.status = 200;
  lt_server_client *client = lt_http_server_client_of(server, connection);
  lt_http_server_client_owes(server, client);
  c->client = client;
  if (client != NULL) {
    memcpy(c->peer, client->peer, sizeof c->peer);
  }
  c->base.peer = lt_str_of(c->peer);
  lt_buf_add(&c->target, lt_str_of(target));
  return c;
}

/* Percent escapes are kept: they must be decoded after the path is split. */
static size_t http_server_no_unescape(void *arg, struct MHD_Connection *connection, char *text) {
  (void)arg, (void)connection;
  return strlen(text);
}

static void http_server_on_gone_closed(uv_handle_t *handle) {
  http_server_call_drop(handle->data);
}

/* Allowed twice. After the library has closed the descriptor it is too late: another connection may have its number,
 * and closing the handle would end the watch of that one. */
static void http_server_unwatch_client(lt_server_call *c) {
  if (c->is_watched && !c->is_left) {
    uv_close((uv_handle_t *)&c->gone, http_server_on_gone_closed);
  }
  c->is_left = true;
}

/* The library closes the descriptor soon, or reads the next request from it. The handler of an answer in pieces may
 * still be running. */
static void http_server_lose(lt_server_call *c) {
  c->connection = NULL;
  c->client = NULL;
  c->is_parked = false;
  if (c->state == CALL_BEGUN && !c->is_ended) {
    http_server_unwatch_client(c);
    lt_cancel_fire(&c->cancel, LT_E_CLOSED);
    lt_http_server_stream_drop(c);
  }
}

static void http_server_on_completed(void *arg, struct MHD_Connection *connection, void **handle,
                                     enum MHD_RequestTerminationCode why) {
  (void)arg, (void)connection, (void)why;
  if (*handle != NULL) {
    lt_server_call *c = *handle;
    *handle = NULL;
    lt_http_server_client_owes(c->server, c->client);
    http_server_lose(c);
    http_server_call_drop(c);
  }
}

typedef struct http_server_header_count {
  lt_str name;
  unsigned count;
} http_server_header_count;

static enum MHD_Result http_server_on_header(void *arg, enum MHD_ValueKind kind, const char *name, const char *value) {
  (void)kind, (void)value;
  http_server_header_count *count = arg;
  count->count += lt_str_eq_fold(lt_str_of(name), count->name);
  return MHD_YES;
}

lt_str lt_http_call_header(const lt_http_call *base, const char *name) {
  const lt_server_call *c = (const lt_server_call *)(const void *)base;
  if (c->connection == NULL) {
    return LT_STR_NULL;
  }
  return lt_str_of(c->server->mhd->lookup_connection_value(c->connection, MHD_HEADER_KIND, name));
}

unsigned lt_http_call_header_count(const lt_http_call *base, const char *name) {
  const lt_server_call *c = (const lt_server_call *)(const void *)base;
  http_server_header_count count = {.name = lt_str_of(name)};
  if (c->connection != NULL) {
    c->server->mhd->get_connection_values(c->connection, MHD_HEADER_KIND, http_server_on_header, &count);
  }
  return count.count;
}

void lt_http_answer_header(lt_http_answer *answer, const char *name, lt_str value) {
  lt_str n = lt_str_of(name);
  for (size_t i = 0; i < n.n + value.n; i++) {
    unsigned char c = (unsigned char)(i < n.n ? n.p[i] : value.p[i - n.n]);
    if (c < ' ' || c == 0x7f) {
      return;
    }
  }
  lt_buf_add(&answer->headers, n);
  lt_buf_byte(&answer->headers, '\0');
  lt_buf_add(&answer->headers, value);
  lt_buf_byte(&answer->headers, '\0');
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */
static void http_server_put_plain(lt_http_answer *answer, int status, const char *text) {
  answer->status = status;
  answer->content_type = "text/plain; charset=utf-8";
  lt_buf_clear(&answer->body);
  lt_buf_clear(&answer->headers);
  lt_buf_addc(&answer->body, text);
}

void lt_http_server_add_headers(const lt_mhd *mhd, struct MHD_Response *response, const lt_http_answer *answer) {
  if (answer->content_type != NULL) {
    mhd->add_response_header(response, "Content-Type", answer->content_type);
  }
  for (size_t at = 0; at < answer->headers.n;) {
    const char *name = answer->headers.p + at;
    const char *value = name + strlen(name) + 1;
    mhd->add_response_header(response, name, value);
    at = (size_t)(value + strlen(value) + 1 - answer->headers.p);
  }
}

/* Hands the answer to the library. MHD_NO: the connection ends. `last`: the connection ends after this answer. */
static enum MHD_Result http_server_send_answer(lt_server_call *c, bool last) {
  const lt_mhd *mhd = c->server->mhd;
  lt_http_answer *answer = &c->answer;
  if (answer->body.status != LT_OK || answer->headers.status != LT_OK) {
    http_server_put_plain(answer, 500, "the answer is too long, or there is no memory for it\n");
  }
  size_t n = 0;
  char *bytes = lt_buf_take(&answer->body, &n);
  if (bytes == NULL) {
    return MHD_NO;
  }
  struct MHD_Response *response = mhd->create_response_from_buffer_with_free_callback(n, bytes, lt_mem_free);
  if (response == NULL) {
    lt_mem_free(bytes);
    return MHD_NO;
  }
  lt_http_server_add_headers(mhd, response, answer);
  if (last) {
    mhd->add_response_header(response, "Connection", "close");
  }
  enum MHD_Result rc = mhd->queue_response(c->connection, (unsigned)answer->status, response);
  mhd->destroy_response(response);
  c->state = CALL_SENT;
  return rc;
}

static enum MHD_Result http_server_refuse(lt_server_call *c, int status, const char *text) {
  http_server_put_plain(&c->answer, status, text);
  return http_server_send_answer(c, true);
}

/* --- Handling ----------------------------------------------------------------------------------------------------- */
static void http_server_on_gone(uv_poll_t *poll, int status, int events) {
  lt_server_call *c = poll->data;
  if (status < 0 || (events & UV_DISCONNECT) != 0) {
    uv_poll_stop(poll);
    lt_cancel_fire(&c->cancel, LT_E_CLOSED);
  }
}

/* The library does not watch a suspended connection, so it is watched here. False: it cannot be watched. */
static bool http_server_watch_client(lt_server_call *c) {
  const union MHD_ConnectionInfo *info =
      c->connection != NULL ? c->server->mhd->get_connection_info(c->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                            : NULL;
  if (info == NULL || uv_poll_init(lt_loop_uv(c->server->loop), &c->gone, info->connect_fd) != 0) {
    return false;
  }
  c->gone.data = c;
  c->is_watched = true;
  uv_unref((uv_handle_t *)&c->gone);
  uv_poll_start(&c->gone, UV_DISCONNECT, http_server_on_gone);
  return true;
}

/* Most requests are answered before the loop polls: to watch their clients would cost five system calls for nothing. */
static void http_server_watch_later(lt_server_call *c) {
  c->users++;
  c->next_unwatched = c->server->unwatched;
  c->server->unwatched = c;
}

static void http_server_watch_clients(lt_http_server *server) {
  while (server->unwatched != NULL) {
    lt_server_call *c = server->unwatched;
    server->unwatched = c->next_unwatched;
    if (c->is_left || !http_server_watch_client(c)) {
      c->is_left = true;
      http_server_call_drop(c);
    }
  }
}

static void http_server_on_before_poll(uv_prepare_t *handle) {
  http_server_watch_clients(handle->data);
}

static void http_server_on_fiber(void *arg) {
  lt_server_call *c = arg;
  lt_http_server *server = c->server;
  c->base.body = lt_buf_view(&c->body);
  server->options.handle(server->options.arg, &c->base, &c->answer);
  c->base.body = LT_STR_NULL;
  http_server_drop_body(c);
  http_server_unwatch_client(c);
  server->handled--;
  if (c->state == CALL_BEGUN) {
    lt_http_server_stream_end(c);
  } else {
    c->state = CALL_READY;
    server->mhd->resume_connection(c->connection);
  }
  lt_http_server_ask_for_turn(server);
  http_server_call_drop(c);
}

/* The request is complete. */
static enum MHD_Result http_server_begin(lt_server_call *c) {
  lt_http_server *server = c->server;
  if (server->closing || lt_loop_spawn(server->loop, http_server_on_fiber, c, NULL) != LT_OK) {
    return http_server_refuse(c, 503, "no room for another request\n");
  }
  http_server_watch_later(c);
  c->users++; /* the fiber */
  c->state = CALL_HANDLED;
  lt_http_server_client_is_handled(server, c->client);
  server->handled++;
  server->mhd->suspend_connection(c->connection);
  return MHD_YES;
}

static bool http_server_is_longer(const lt_server_call *c, size_t most) {
  lt_str length = lt_http_call_header(&c->base, "Content-Length");
  size_t n = 0;
  for (size_t i = 0; i < length.n && length.p[i] >= '0' && length.p[i] <= '9'; i++) {
    n = n * 10 + (size_t)(length.p[i] - '0');
    if (n > most) {
      return true;
    }
  }
  return false;
}

/* Closing a connection with bytes that were not read takes the answer from a client, or a proxy, that is still sending
 * (RFC 9112, section 9.6): a short body is received and forgotten first. The library closes a connection whose answer
 * comes before the end of the request, also where no body follows. */
static enum MHD_Result http_server_refuse_head(lt_server_call *c) {
  bool is_short = lt_http_call_header(&c->base, "Transfer-Encoding").n == 0 &&
                  !http_server_is_longer(c, LT_HTTP_SERVER_FORGET_BYTES) &&
                  lt_http_call_header(&c->base, "Expect").n == 0; /* it waits to be told whether to send one */
  if (!is_short) {
    return http_server_send_answer(c, true);
  }
  c->state = CALL_REFUSED;
  return MHD_YES;
}

static enum MHD_Result http_server_head(lt_server_call *c, const char *method, const char *version) {
  const lt_http_server_options *options = &c->server->options;
  lt_buf_add(&c->method, lt_str_of(method));
  if (c->target.status != LT_OK || c->method.status != LT_OK) {
    return http_server_refuse(c, 414, "the URL is too long\n");
  }
  const char *fault = lt_http_server_framing_fault(c, version);
  if (fault != NULL) {
    return http_server_refuse(c, 400, fault);
  }
  lt_str target = lt_buf_view(&c->target);
  size_t mark = lt_str_find(target, LT_STR("?"), 0);
  c->base.method = lt_buf_view(&c->method);
  c->base.path = lt_str_sub(target, 0, mark);
  c->base.query = mark == SIZE_MAX ? LT_STR_NULL : lt_str_sub(target, mark + 1, target.n);
  if (http_server_is_longer(c, c->server->options.body_max)) {
    return http_server_refuse(c, 413, "the request's body is too long\n");
  }
  if (options->admit != NULL && !options->admit(options->arg, &c->base, &c->answer)) {
    return http_server_refuse_head(c);
  }
  c->state = CALL_BODY;
  return MHD_YES;
}

/* The library takes no answer in the middle of a body: the rest is received and forgotten first, as long as it is no
 * longer than a body may be. MHD_NO ends the connection. */
static enum MHD_Result http_server_forget(lt_server_call *c, size_t *n) {
  c->forgotten += *n;
  *n = 0;
  return c->forgotten <= c->server->options.body_max ? MHD_YES : MHD_NO;
}

static enum MHD_Result http_server_refuse_body(lt_server_call *c, size_t *n) {
  bool is_too_long = c->body.n + *n > c->server->options.body_max;
  http_server_put_plain(&c->answer, is_too_long ? 413 : 503,
                        is_too_long ? "the request's body is too long\n" : "no memory for another body\n");
  c->server->bodies -= c->body.n;
  lt_buf_release(&c->body);
  c->state = CALL_REFUSED;
  return http_server_forget(c, n);
}

static enum MHD_Result http_server_body(lt_server_call *c, const char *bytes, size_t *n) {
  lt_http_server *server = c->server;
  if (c->body.n + *n > server->options.body_max || server->bodies + *n > server->options.bodies_max) {
    return http_server_refuse_body(c, n);
  }
  server->bodies -= c->body.n;
  lt_buf_add(&c->body, lt_str_from(bytes, *n));
  server->bodies += c->body.n;
  if (c->body.status != LT_OK) {
    return http_server_refuse_body(c, n);
  }
  *n = 0;
  return MHD_YES;
}

static enum MHD_Result http_server_on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                              const char *method, const char *version, const char *bytes, size_t *n,
                                              void **handle) {
  (void)arg, (void)connection, (void)url;
  lt_server_call *c = *handle;
  if (c == NULL) {
    return MHD_NO;
  }
  switch (c->state) {
    case CALL_HEAD:
      return http_server_head(c, method, version);
    case CALL_BODY:
      return *n > 0 ? http_server_body(c, bytes, n) : http_server_begin(c);
    case CALL_REFUSED:
      return *n > 0 ? http_server_forget(c, n) : http_server_send_answer(c, false);
    case CALL_READY:
      return http_server_send_answer(c, false);
    case CALL_BEGUN:
      return lt_http_server_stream_head(c);
    case CALL_HANDLED:
    case CALL_SENT:
      break;
  }
  *n = 0;
  return MHD_YES;
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
/* A killed process leaves its socket behind: it is removed when nobody listens there. */
static void http_server_remove_stale_socket(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct stat about;
  memcpy(address.sun_path, path, strlen(path) + 1);
  bool is_socket = lstat(path, &about) == 0 && S_ISSOCK(about.st_mode);
  int fd = is_socket ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
  if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0 && errno == ECONNREFUSED) {
    unlink(path);
  }
  if (fd >= 0) {
    close(fd);
  }
}

static bool http_server_find_group(const char *name, gid_t *ret_group) {
  char *end = NULL;
  unsigned long number = strtoul(name, &end, 10);
  const struct group *group = getgrnam(name);
  *ret_group = group != NULL ? group->gr_gid : (gid_t)number;
  return group != NULL || (end != name && *end == '\0' && number < UINT32_MAX);
}

/* The socket has the mode 0600 until it is the group's. */
static lt_status http_server_share_unix(const char *path, const char *group, lt_err *err) {
  gid_t id;
  if (!http_server_find_group(group, &id)) {
    return lt_fail(err, LT_E_INVALID, "there is no group \"%s\" here, for %s", group, path);
  }
  return chown(path, (uid_t)-1, id) == 0 && chmod(path, 0660) == 0
             ? LT_OK
             : lt_fail(err, LT_E_IO, "%s cannot be given to the group \"%s\": %s", path, group, strerror(errno));
}

static int http_server_listen_unix(const char *path, const char *group, lt_err *err) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    lt_fail(err, LT_E_INVALID, "the path of the socket is too long for the kernel: %s", path);
    return -1;
  }
  memcpy(address.sun_path, path, strlen(path) + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  http_server_remove_stale_socket(path);
  /* The mode is set before the socket has its path. So the socket never has another mode there. */
  if (fd < 0 || fchmod(fd, 0600) != 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(fd, SOMAXCONN) != 0) {
    lt_fail(err, LT_E_IO, "cannot listen on %s: %s", path, strerror(errno));
    if (fd >= 0) {
      close(fd);
    }
    return -1;
  }
  if (group != NULL && http_server_share_unix(path, group, err) != LT_OK) {
    unlink(path);
    close(fd);
    return -1;
  }
  return fd;
}

/* A numeric address of IPv4 or IPv6. False: it is none. */
static bool http_server_read_address(const char *text, unsigned port, struct sockaddr_storage *ret, socklen_t *ret_n) {
  struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
  memset(ret, 0, sizeof *ret);
  if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons((uint16_t)port);
    *ret_n = sizeof *v4;
    return true;
  }
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons((uint16_t)port);
  *ret_n = sizeof *v6;
  return inet_pton(AF_INET6, text, &v6->sin6_addr) == 1;
}

static unsigned http_server_port_of(int fd) {
  struct sockaddr_storage address;
  socklen_t n = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &n) != 0) {
    return 0;
  }
  return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                             : ((struct sockaddr_in *)&address)->sin_port);
}

static int http_server_listen_port(const char *host, unsigned port, unsigned *ret_port, lt_err *err) {
  struct sockaddr_storage address;
  socklen_t n;
  int yes = 1;
  if (!http_server_read_address(host, port, &address, &n)) {
    lt_fail(err, LT_E_INVALID, "not an address: %s", host);
    return -1;
  }
  int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      (address.ss_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) != 0) ||
      bind(fd, (struct sockaddr *)&address, n) != 0 || listen(fd, SOMAXCONN) != 0) {
    lt_fail(err, LT_E_IO, "cannot listen on %s:%u: %s", host, port, strerror(errno));
    if (fd >= 0) {
      close(fd);
    }
    return -1;
  }
  *ret_port = http_server_port_of(fd);
  return fd;
}

static struct MHD_Daemon *http_server_start_daemon(lt_http_server *server, int fd) {
  const lt_http_server_options *o = &server->options;
  return server->mhd->start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_server_on_request, server, MHD_OPTION_LISTEN_SOCKET,
      fd, MHD_OPTION_NOTIFY_COMPLETED, http_server_on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
      http_server_on_connection, server, MHD_OPTION_URI_LOG_CALLBACK, http_server_on_target, server,
      MHD_OPTION_UNESCAPE_CALLBACK, http_server_no_unescape, NULL, MHD_OPTION_CONNECTION_LIMIT, o->connections_max,
      MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)((o->idle_ms + 999) / 1000), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      o->head_max, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

static void http_server_on_handle_closed(uv_handle_t *handle) {
  lt_http_server *server = handle->data;
  server->handles--;
  http_server_wake_closer(server);
}

static void http_server_close_handles(lt_http_server *server) {
  uv_close((uv_handle_t *)&server->poll, http_server_on_handle_closed);
  uv_close((uv_handle_t *)&server->timer, http_server_on_handle_closed);
  uv_close((uv_handle_t *)&server->before_poll, http_server_on_handle_closed);
}

/* Starts the library on a listening descriptor, which the library owns afterwards. */
static lt_status http_server_start(lt_http_server *server, int fd, lt_err *err) {
  server->daemon = http_server_start_daemon(server, fd);
  if (server->daemon == NULL) {
    close(fd);
    return lt_fail(err, LT_E_IO, "the HTTP server cannot be started");
  }
  const union MHD_DaemonInfo *info = server->mhd->get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  int rc = info != NULL ? uv_poll_init(lt_loop_uv(server->loop), &server->poll, info->epoll_fd) : UV_EINVAL;
  if (rc != 0) {
    server->mhd->stop_daemon(server->daemon);
    return lt_fail(err, lt_loop_status(rc), "the HTTP server cannot be watched: %s", uv_strerror(rc));
  }
  uv_timer_init(lt_loop_uv(server->loop), &server->timer);
  uv_prepare_init(lt_loop_uv(server->loop), &server->before_poll);
  server->poll.data = server->timer.data = server->before_poll.data = server;
  server->handles = 3;
  uv_unref((uv_handle_t *)&server->before_poll);
  uv_prepare_start(&server->before_poll, http_server_on_before_poll);
  uv_poll_start(&server->poll, UV_READABLE, http_server_on_readable);
  return LT_OK;
}

static void http_server_free(lt_http_server *server) {
  if (server->path != NULL) {
    unlink(server->path);
  }
  lt_mem_free(server->path);
  lt_mem_free(server);
}

static lt_status http_server_listen_and_start(lt_http_server *server, lt_err *err) {
  const char *path = server->options.unix_path;
  LT_ERR_VAR(why);
  int fd = path != NULL ? http_server_listen_unix(path, server->options.unix_group, &why)
                        : http_server_listen_port(server->options.address, server->options.port, &server->port, &why);
  if (fd < 0) {
    return lt_err_copy(err, &why);
  }
  if (path != NULL) {
    server->path = lt_mem_strdup(lt_str_of(path));
    if (server->path == NULL) {
      unlink(path);
      close(fd);
      return lt_fail(err, LT_E_NOMEM, "no memory for an HTTP server");
    }
  }
  return http_server_start(server, fd, err);
}

/* A connection is a file: half of those that the process may have are left for everything else. */
static unsigned http_server_connections_max(unsigned wanted) {
  struct rlimit files;
  bool is_known = getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY;
  return is_known && files.rlim_cur / 2 < wanted ? (unsigned)(files.rlim_cur / 2) : wanted;
}

static void http_server_set_defaults(lt_http_server_options *o) {
  o->body_max = o->body_max != 0 ? o->body_max : LT_HTTP_BODY_MAX_BYTES;
  o->bodies_max = o->bodies_max != 0 ? o->bodies_max : LT_GIB;
  o->head_max = o->head_max != 0 ? o->head_max : LT_HTTP_SERVER_HEAD_BYTES;
  o->idle_ms = o->idle_ms != 0 ? o->idle_ms : LT_HTTP_IDLE_MS;
  o->address = o->address != NULL ? o->address : "127.0.0.1";
  o->stream_max = o->stream_max != 0 ? o->stream_max : LT_HTTP_STREAM_MAX_BYTES;
  o->connections_max =
      http_server_connections_max(o->connections_max != 0 ? o->connections_max : LT_HTTP_SERVER_CONNECTIONS_MAX);
}

lt_status lt_http_server_open(lt_loop *loop, const lt_http_server_options *options, lt_http_server **ret_server,
                              lt_err *err) {
  const lt_mhd *mhd = NULL;
  LT_TRY(lt_microhttpd_open(&mhd, err));
  lt_http_server *server = lt_mem_zalloc(1, sizeof *server);
  if (server == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for an HTTP server");
  }
  server->loop = loop;
  server->mhd = mhd;
  server->options = *options;
  http_server_set_defaults(&server->options);
  lt_status status = http_server_listen_and_start(server, err);
  if (status != LT_OK) {
    http_server_free(server);
    return status;
  }
  server->options.unix_path = server->path;
  server->options.address = server->options.unix_group = NULL; /* the caller's */
  lt_loop_add_object(loop);
  *ret_server = server;
  return LT_OK;
}

unsigned lt_http_server_port(const lt_http_server *server) {
  return server->port;
}

unsigned lt_http_server_connections(const lt_http_server *server) {
  return server->client_count;
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */
static void http_server_stop_listening(lt_http_server *server) {
  int fd = server->mhd->quiesce_daemon(server->daemon);
  if (fd >= 0) {
    close(fd);
  }
}

static void http_server_cancel_all(lt_http_server *server) {
  for (lt_server_call *c = server->calls; c != NULL; c = c->next) {
    if (c->state == CALL_HANDLED || c->state == CALL_BEGUN) {
      lt_cancel_fire(&c->cancel, LT_E_CANCELLED);
    }
  }
}

/* Sends the pending answers as far as this is possible without waiting. */
static void http_server_last_turns(lt_http_server *server) {
  for (unsigned i = 0; i < 4; i++) {
    server->mhd->run(server->daemon);
  }
}

void lt_http_server_close(lt_http_server *server) {
  if (server == NULL) {
    return;
  }
  lt_wait closer;
  lt_wait_init(&closer, server->loop);
  server->closer = &closer;
  server->closing = true;
  http_server_stop_listening(server);
  http_server_cancel_all(server);
  while (server->handled > 0 || server->posted) {
    lt_wait_on(&closer, UINT64_MAX);
  }
  uv_poll_stop(&server->poll);
  http_server_last_turns(server);
  server->mhd->stop_daemon(server->daemon);
  server->daemon = NULL;
  http_server_watch_clients(server); /* there are none any more: this drops the calls */
  http_server_close_handles(server);
  while (server->handles > 0 || server->posted || server->calls != NULL) {
    lt_wait_on(&closer, UINT64_MAX);
  }
  lt_loop_remove_object(server->loop);
  http_server_free(server);
}
