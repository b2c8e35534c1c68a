#include "gateway/gateway_http_session.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"

/* --- The list ----------------------------------------------------------------------------------------------------- */
static void gateway_http_session_unlink(lt_gateway_http_session *s) {
  *(s->prev != NULL ? &s->prev->next : &s->http->sessions) = s->next;
  if (s->next != NULL) {
    s->next->prev = s->prev;
  }
  s->prev = s->next = NULL;
}

static void gateway_http_session_link(lt_gateway_http_session *s) {
  s->next = s->http->sessions;
  if (s->next != NULL) {
    s->next->prev = s;
  }
  s->http->sessions = s;
}

static void gateway_http_session_free(lt_gateway_http_session *s) {
  lt_buf_release(&s->user);
  lt_mem_free(s);
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */
static void gateway_http_session_drop_stream(lt_gateway_http_session *s, lt_gateway_stream *stream) {
  *(stream->prev != NULL ? &stream->prev->next : &s->streams) = stream->next;
  if (stream->next != NULL) {
    stream->next->prev = stream->prev;
  }
  stream->prev = stream->next = NULL;
  lt_gateway_stream_drop(stream);
}

void lt_gateway_http_session_close(lt_gateway_http_session *s) {
  if (s->is_closed) {
    return;
  }
  s->is_closed = true;
  gateway_http_session_unlink(s);
  s->http->count--;
  lt_gateway_peer_close(s->peer);
  s->peer = NULL; /* its last request frees it; handlers may still be inside of the session */
  if (s->own != NULL) {
    lt_gateway_stream_end(s->own);
    lt_gateway_stream_drop(s->own);
  }
  while (s->streams != NULL) {
    lt_gateway_stream_end(s->streams);
    gateway_http_session_drop_stream(s, s->streams);
  }
  if (s->calls == 0) {
    gateway_http_session_free(s);
  }
}

void lt_gateway_http_session_leave(lt_gateway_http_session *s) {
  s->used_ms = lt_loop_now_ms(s->http->loop);
  if (--s->calls == 0 && s->is_closed) {
    gateway_http_session_free(s);
  }
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
static bool gateway_http_session_is_idle(const lt_gateway_http_session *s) {
  return s->calls == 0 && s->peer->requests == NULL;
}

/* Closes the sessions that nobody has used for long; where there is no room, also the one that was idle longest. */
static void gateway_http_session_sweep(lt_gateway_http *http) {
  uint64_t now_ms = lt_loop_now_ms(http->loop);
  lt_gateway_http_session *oldest = NULL;
  for (lt_gateway_http_session *s = http->sessions, *next; s != NULL; s = next) {
    next = s->next;
    if (gateway_http_session_is_idle(s) && now_ms - s->used_ms > LT_GATEWAY_SESSION_IDLE_MS) {
      lt_gateway_http_session_close(s);
    } else if (gateway_http_session_is_idle(s) && (oldest == NULL || s->used_ms < oldest->used_ms)) {
      oldest = s;
    }
  }
  if (http->count >= LT_GATEWAY_SESSIONS_MAX && oldest != NULL) {
    lt_gateway_http_session_close(oldest);
  }
}

static void gateway_http_session_on_send(void *arg, lt_str message) {
  lt_gateway_http_session *s = arg;
  lt_gateway_stream_add(s->own, message);
}

static lt_status gateway_http_session_fill(lt_gateway_http_session *s, lt_str user, lt_err *err) {
  const lt_gateway_way way = {.send = gateway_http_session_on_send, .arg = s};
  lt_buf_add(&s->user, user);
  LT_TRY(lt_buf_check(&s->user, err, "the user's name is too long"));
  if (!lt_random_hex(s->id, LT_GATEWAY_SESSION_DIGITS)) {
    return lt_fail(err, LT_E_IO, "the kernel has no random bytes");
  }
  LT_TRY(lt_gateway_stream_new(s->http->loop, &s->own, err));
  return lt_gateway_peer_open(s->http->gateway, &way, user, &s->peer, err);
}

lt_status lt_gateway_http_session_open(lt_gateway_http *http, lt_str user, lt_gateway_http_session **ret_session,
                                       lt_err *err) {
  gateway_http_session_sweep(http);
  if (http->count >= LT_GATEWAY_SESSIONS_MAX) {
    return lt_fail(err, LT_E_LIMIT, "too many sessions are in use: end one first");
  }
  lt_gateway_http_session *s = lt_mem_zalloc(1, sizeof *s);
  if (s == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another session");
  }
  s->http = http;
  lt_buf_init(&s->user, LT_GATEWAY_USER_BYTES);
  gateway_http_session_link(s);
  http->count++;
  lt_status status = gateway_http_session_fill(s, user, err);
  if (status != LT_OK) {
    lt_gateway_http_session_close(s);
    return status;
  }
  s->calls = 1;
  *ret_session = s;
  return LT_OK;
}

lt_gateway_http_session *lt_gateway_http_session_enter(lt_gateway_http *http, lt_str id, lt_str user) {
  for (lt_gateway_http_session *s = http->sessions; s != NULL; s = s->next) {
    if (lt_str_eqc(id, s->id) && lt_str_eq(lt_buf_view(&s->user), user)) {
      gateway_http_session_unlink(s);
      gateway_http_session_link(s);
      s->calls++;
      return s;
    }
  }
  return NULL;
}

/* --- Streams ------------------------------------------------------------------------------------------------------ */
/* Of the streams that have ended, the newest few are kept, and so many bytes. */
static void gateway_http_session_trim(lt_gateway_http_session *s) {
  size_t count = 0, bytes = 0;
  for (lt_gateway_stream *stream = s->streams, *next; stream != NULL; stream = next) {
    next = stream->next;
    count += stream->is_ended;
    bytes += stream->bytes;
    if (stream->is_ended && (count > LT_GATEWAY_STREAMS_KEPT || bytes > LT_GATEWAY_STREAM_BYTES)) {
      gateway_http_session_drop_stream(s, stream);
    }
  }
}

lt_status lt_gateway_http_session_stream(lt_gateway_http_session *s, lt_gateway_stream **ret_stream, lt_err *err) {
  gateway_http_session_trim(s);
  lt_gateway_stream *stream;
  LT_TRY(lt_gateway_stream_new(s->http->loop, &stream, err));
  stream->number = ++s->last_number;
  stream->users++;
  stream->next = s->streams;
  if (stream->next != NULL) {
    stream->next->prev = stream;
  }
  s->streams = stream;
  *ret_stream = stream;
  return LT_OK;
}

lt_gateway_stream *lt_gateway_http_session_find(lt_gateway_http_session *s, uint32_t number) {
  lt_gateway_stream *stream = number == 0 ? s->own : s->streams;
  while (stream != NULL && stream->number != number) {
    stream = stream->next;
  }
  return stream;
}

void lt_gateway_http_session_forget(lt_gateway_http_session *s, lt_gateway_stream *stream) {
  if (!s->is_closed && lt_gateway_http_session_find(s, stream->number) == stream) {
    gateway_http_session_drop_stream(s, stream);
  }
}

bool lt_gateway_http_session_primes(const lt_gateway_http_session *s) {
  return s->peer != NULL && lt_str_eqc(s->peer->version, LT_MCP_VERSION_OFFERED);
}
