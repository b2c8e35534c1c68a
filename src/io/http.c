/* libcurl's connections on the loop: libuv polls its sockets and runs its only timer. */
#include "io/http.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/http_impl.h"
#include "io/loop_handles.h"

/* A connection's socket is watched until libcurl closes it, also while no request uses it: to stop and to start again
 * costs five system calls. libcurl has sockets of its own, too, which it closes as soon as it needs no events. */
struct lt_http_socket {
  uv_poll_t poll; /* first */
  bool has_poll;  /* it is initialised */
  lt_http *http;
  curl_socket_t fd;
  bool is_connection;
  int wanted;  /* libcurl's events */
  int watched; /* libuv's */
  lt_http_socket *next, **link;
};

/* --- Driving libcurl ---------------------------------------------------------------------------------------------- */

static void http_take_finished(lt_http *http) {
  CURLMsg *msg;
  int left;
  while ((msg = http->curl->multi_info_read(http->multi, &left)) != NULL) {
    char *stream = NULL;
    if (msg->msg == CURLMSG_DONE && http->curl->easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &stream) == CURLE_OK &&
        stream != NULL) {
      lt_http_stream_done((lt_http_stream *)(void *)stream, msg->data.result);
    }
  }
}

static void http_act(lt_http *http, curl_socket_t fd, int flags) {
  int running;
  (void)http->curl->multi_socket_action(http->multi, fd, flags, &running);
  http_take_finished(http);
}

static void http_on_timer(uv_timer_t *timer) {
  http_act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

/* Called by libcurl. No function may call libcurl from here: also a wait of 0 ms goes through the loop. */
static int http_set_timer(CURLM *multi, long timeout_ms, void *user) {
  (void)multi;
  lt_http *http = user;
  if (timeout_ms < 0) {
    uv_timer_stop(&http->timer);
  } else {
    uv_update_time(lt_loop_uv(http->loop));
    uv_timer_start(&http->timer, http_on_timer, (uint64_t)timeout_ms, 0);
  }
  return 0;
}

static void http_socket_unwatch(lt_http_socket *s) {
  if (s->watched != 0) {
    uv_poll_stop(&s->poll);
    s->watched = 0;
  }
}

static void http_on_socket(uv_poll_t *poll, int status, int events) {
  lt_http_socket *s = poll->data;
  if (s->wanted == 0) { /* the peer has closed an idle connection: libcurl sees it when it wants to use it */
    http_socket_unwatch(s);
    return;
  }
  int flags = status < 0 ? CURL_CSELECT_ERR : 0;
  flags |= status >= 0 && (events & UV_READABLE) != 0 ? CURL_CSELECT_IN : 0;
  flags |= status >= 0 && (events & UV_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0;
  http_act(s->http, s->fd, flags); /* may close `s` */
}

/* --- Sockets ------------------------------------------------------------------------------------------------------ */

static void http_socket_closed(uv_handle_t *handle) {
  lt_mem_free(handle->data);
}

static void http_socket_close(lt_http_socket *s) {
  *s->link = s->next;
  if (s->next != NULL) {
    s->next->link = s->link;
  }
  if (s->has_poll) {
    uv_close((uv_handle_t *)&s->poll, http_socket_closed);
  } else {
    lt_mem_free(s);
  }
}

static lt_http_socket **http_sockets_near(lt_http *http, curl_socket_t fd) {
  return &http->sockets[(unsigned)fd % LT_HTTP_SOCKET_LISTS];
}

static lt_http_socket *http_socket_find(lt_http *http, curl_socket_t fd) {
  lt_http_socket *s = *http_sockets_near(http, fd);
  while (s != NULL && s->fd != fd) {
    s = s->next;
  }
  return s;
}

/* NULL: no memory. */
static lt_http_socket *http_socket_new(lt_http *http, curl_socket_t fd) {
  lt_http_socket *s = lt_mem_zalloc(1, sizeof *s);
  if (s != NULL) {
    s->poll.data = s;
    s->http = http;
    s->fd = fd;
    s->link = http_sockets_near(http, fd);
    s->next = *s->link;
    if (s->next != NULL) {
      s->next->link = &s->next;
    }
    *s->link = s;
  }
  return s;
}

/* Opens a socket as libcurl does, but closed on exec, so that no child inherits it. */
static curl_socket_t http_open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)purpose;
  curl_socket_t fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  lt_http_socket *s = fd >= 0 ? http_socket_new(user, fd) : NULL;
  if (s == NULL && fd >= 0) {
    close(fd);
    return CURL_SOCKET_BAD;
  }
  if (s != NULL) {
    s->is_connection = true;
  }
  return fd;
}

/* The handle first: it must not watch a number that another file has. */
static int http_close_socket(void *user, curl_socket_t fd) {
  lt_http_socket *s = http_socket_find(user, fd);
  if (s != NULL) {
    http_socket_close(s);
  }
  return close(fd);
}

void lt_http_open_sockets_here(lt_http *http, CURL *easy) {
  http->curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, http_open_socket);
  http->curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, http);
  http->curl->easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, http_close_socket);
  http->curl->easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, http);
}

/* The waiting fiber keeps the loop running, not the handle. */
static bool http_socket_watch(lt_http_socket *s, int events) {
  s->wanted = events;
  if (!s->has_poll) {
    s->has_poll = uv_poll_init_socket(lt_loop_uv(s->http->loop), &s->poll, s->fd) == 0;
    if (!s->has_poll) {
      return false;
    }
    uv_unref((uv_handle_t *)&s->poll);
  }
  if (s->watched != events) {
    s->watched = uv_poll_start(&s->poll, events, http_on_socket) == 0 ? events : 0;
  }
  return s->watched == events;
}

/* libcurl wants no more events. An idle connection can always be written to, so that is not watched. */
static void http_socket_rest(lt_http_socket *s) {
  s->wanted = 0;
  if (!s->is_connection) {
    http_socket_close(s);
  } else if (s->watched != UV_READABLE) {
    http_socket_unwatch(s);
  }
}

/* Called by libcurl with the events it wants for a socket. A failure ends only this request: returning -1 would end all
 * requests. */
static int http_watch_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_user) {
  (void)socket_user;
  lt_http *http = user;
  lt_http_socket *s = http_socket_find(http, fd);
  if (what == CURL_POLL_REMOVE) {
    if (s != NULL) {
      http_socket_rest(s);
    }
    return 0;
  }
  s = s != NULL ? s : http_socket_new(http, fd);
  int events = (what != CURL_POLL_OUT ? UV_READABLE : 0) | (what != CURL_POLL_IN ? UV_WRITABLE : 0);
  if (s == NULL || !http_socket_watch(s, events)) {
    char *stream = NULL;
    if (http->curl->easy_getinfo(easy, CURLINFO_PRIVATE, &stream) == CURLE_OK && stream != NULL) {
      lt_http_stream_break((lt_http_stream *)(void *)stream, LT_E_NOMEM);
    }
  }
  return 0;
}

/* --- Making and freeing ------------------------------------------------------------------------------------------- */

lt_status lt_http_new(lt_loop *loop, lt_http **ret_http, lt_err *err) {
  lt_http *http = lt_mem_zalloc(1, sizeof *http);
  if (http == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for HTTP");
  }
  http->loop = loop;
  uv_timer_init(lt_loop_uv(loop), &http->timer);
  uv_unref((uv_handle_t *)&http->timer);
  http->timer.data = http;
  lt_loop_add_object(loop);
  *ret_http = http;
  return LT_OK;
}

lt_loop *lt_http_loop(const lt_http *http) {
  return http->loop;
}

static void http_closed(uv_handle_t *handle) {
  lt_mem_free(handle->data);
}

void lt_http_free(lt_http *http) {
  if (http == NULL) {
    return;
  }
  LT_CHECK(http->streams == 0);
  if (http->multi != NULL) {
    http->curl->multi_cleanup(http->multi);
  }
  lt_http_url_release(http, http->url);
  for (unsigned i = 0; i < LT_HTTP_SOCKET_LISTS; i++) {
    while (http->sockets[i] != NULL) {
      http_socket_close(http->sockets[i]);
    }
  }
  lt_loop_remove_object(http->loop);
  uv_close((uv_handle_t *)&http->timer, http_closed);
}

/* The highest number of open connections. Some of the process's descriptors are left for other uses. Further requests
 * wait inside libcurl; their connection timeout does not run meanwhile. */
static long http_connections_max(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur > LT_HTTP_CONNECTIONS_MAX * 2) {
    return LT_HTTP_CONNECTIONS_MAX;
  }
  return files.rlim_cur > 2 ? (long)files.rlim_cur / 2 : 1;
}

static lt_status http_open_multi(lt_http *http, lt_err *err) {
  const lt_curl *curl = http->curl;
  CURLM *multi = curl->multi_init();
  if (multi == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for HTTP");
  }
  curl->multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, http_watch_socket);
  curl->multi_setopt(multi, CURLMOPT_SOCKETDATA, http);
  curl->multi_setopt(multi, CURLMOPT_TIMERFUNCTION, http_set_timer);
  curl->multi_setopt(multi, CURLMOPT_TIMERDATA, http);
  long most = http_connections_max();
  curl->multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, most);
  curl->multi_setopt(multi, CURLMOPT_MAXCONNECTS, most / 2 + 1); /* of these, kept open for later requests */
  http->multi = multi;
  return LT_OK;
}

typedef struct curl_loading {
  const lt_curl *curl;
  lt_status status;
  lt_err err;
} curl_loading;

static void http_load(void *arg) {
  curl_loading *job = arg;
  job->status = lt_curl_open(&job->curl, &job->err);
}

lt_status lt_http_prepare(lt_http *http, lt_err *err) {
  if (http->curl == NULL) {
    curl_loading job = {.status = LT_OK};
    LT_TRY(lt_loop_offload(http->loop, http_load, &job, err));
    if (job.status != LT_OK) {
      return lt_fail(err, job.status, "%s", job.err.msg);
    }
    http->curl = job.curl;
  }
  return http->multi != NULL ? LT_OK : http_open_multi(http, err);
}
