/* A multi handle of libcurl on the loop: libuv polls its sockets and runs its only timer. */
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/http_impl.h"

/* The socket of a connection is watched until libcurl closes it, also while no request uses it: to stop and to start
 * again costs five system calls. libcurl has other sockets, too; each is closed as soon as libcurl wants no more events
 * of it. */
struct lt_http_socket {
  uv_poll_t poll; /* first */
  bool has_poll;  /* it is initialised */
  lt_http_multi *multi;
  curl_socket_t fd;
  bool is_connection;
  int wanted;  /* libcurl's events */
  int watched; /* libuv's */
  lt_http_socket *next, **link;
};

/* --- Driving libcurl ---------------------------------------------------------------------------------------------- */

static void http_take_finished(const lt_http_multi *multi) {
  const lt_curl *curl = multi->curl;
  CURLMsg *msg;
  int left;
  while ((msg = curl->multi_info_read(multi->handle, &left)) != NULL) {
    char *stream = NULL;
    if (msg->msg == CURLMSG_DONE && curl->easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &stream) == CURLE_OK &&
        stream != NULL) {
      lt_http_stream_done((lt_http_stream *)(void *)stream, msg->data.result);
    }
  }
}

static void http_act(const lt_http_multi *multi, curl_socket_t fd, int flags) {
  int running;
  (void)multi->curl->multi_socket_action(multi->handle, fd, flags, &running);
  http_take_finished(multi);
}

static void http_on_timer(uv_timer_t *timer) {
  http_act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

/* Called by libcurl. No function may call libcurl from here: also a wait of 0 ms goes through the loop. */
static int http_set_timer(CURLM *handle, long timeout_ms, void *user) {
  (void)handle;
  lt_http_multi *multi = user;
  if (timeout_ms < 0) {
    uv_timer_stop(&multi->timer);
  } else {
    uv_update_time(multi->timer.loop);
    uv_timer_start(&multi->timer, http_on_timer, (uint64_t)timeout_ms, 0);
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
  http_act(s->multi, s->fd, flags); /* may close `s` */
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

static lt_http_socket **http_sockets_near(lt_http_multi *multi, curl_socket_t fd) {
  return &multi->sockets[(unsigned)fd % LT_HTTP_SOCKET_LISTS];
}

static lt_http_socket *http_socket_find(lt_http_multi *multi, curl_socket_t fd) {
  lt_http_socket *s = *http_sockets_near(multi, fd);
  while (s != NULL && s->fd != fd) {
    s = s->next;
  }
  return s;
}

/* NULL: no memory. */
static lt_http_socket *http_socket_new(lt_http_multi *multi, curl_socket_t fd) {
  lt_http_socket *s = lt_mem_zalloc(1, sizeof *s);
  if (s != NULL) {
    s->poll.data = s;
    s->multi = multi;
    s->fd = fd;
    s->link = http_sockets_near(multi, fd);
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

void lt_http_open_sockets_here(lt_http_multi *multi, CURL *easy) {
  const lt_curl *curl = multi->curl;
  curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, http_open_socket);
  curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, multi);
  curl->easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, http_close_socket);
  curl->easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, multi);
}

/* The waiting fiber keeps the loop running, not the handle. */
static bool http_socket_watch(lt_http_socket *s, int events) {
  s->wanted = events;
  if (!s->has_poll) {
    s->has_poll = uv_poll_init_socket(s->multi->timer.loop, &s->poll, s->fd) == 0;
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
  lt_http_multi *multi = user;
  lt_http_socket *s = http_socket_find(multi, fd);
  if (what == CURL_POLL_REMOVE) {
    if (s != NULL) {
      http_socket_rest(s);
    }
    return 0;
  }
  s = s != NULL ? s : http_socket_new(multi, fd);
  int events = (what != CURL_POLL_OUT ? UV_READABLE : 0) | (what != CURL_POLL_IN ? UV_WRITABLE : 0);
  if (s == NULL || !http_socket_watch(s, events)) {
    char *stream = NULL;
    if (multi->curl->easy_getinfo(easy, CURLINFO_PRIVATE, &stream) == CURLE_OK && stream != NULL) {
      lt_http_stream_break((lt_http_stream *)(void *)stream, LT_E_NOMEM);
    }
  }
  return 0;
}

/* --- Making and freeing ------------------------------------------------------------------------------------------- */

lt_http_multi *lt_http_multi_new(uv_loop_t *loop, const lt_curl *curl, long connections_max) {
  CURLM *handle = curl->multi_init();
  lt_http_multi *multi = handle != NULL ? lt_mem_zalloc(1, sizeof *multi) : NULL;
  if (multi == NULL) {
    curl->multi_cleanup(handle);
    return NULL;
  }
  multi->curl = curl;
  multi->handle = handle;
  uv_timer_init(loop, &multi->timer);
  uv_unref((uv_handle_t *)&multi->timer);
  multi->timer.data = multi;
  curl->multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, http_watch_socket);
  curl->multi_setopt(handle, CURLMOPT_SOCKETDATA, multi);
  curl->multi_setopt(handle, CURLMOPT_TIMERFUNCTION, http_set_timer);
  curl->multi_setopt(handle, CURLMOPT_TIMERDATA, multi);
  curl->multi_setopt(handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections_max);
  curl->multi_setopt(handle, CURLMOPT_MAXCONNECTS, connections_max); /* of these, kept open for later requests */
  return multi;
}

static void http_multi_closed(uv_handle_t *timer) {
  lt_mem_free(timer->data);
}

void lt_http_multi_free(lt_http_multi *multi) {
  if (multi == NULL) {
    return;
  }
  LT_CHECK(multi->streams == 0);
  multi->curl->multi_cleanup(multi->handle);
  for (unsigned i = 0; i < LT_HTTP_SOCKET_LISTS; i++) {
    while (multi->sockets[i] != NULL) {
      http_socket_close(multi->sockets[i]);
    }
  }
  uv_close((uv_handle_t *)&multi->timer, http_multi_closed);
}
