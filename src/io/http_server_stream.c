/* Answers in pieces. The library asks for bytes; where there are none, it suspends the connection, and the next piece
 * resumes it. */
#include "io/http_server_impl.h"

#include "base/mem.h"

static lt_server_call *http_server_stream_of(const lt_http_call *base) {
  return (lt_server_call *)(uintptr_t)base; /* the first member; handlers see it const */
}

/* --- Towards the library ------------------------------------------------------------------------------------------ */
static void http_server_stream_resume(lt_server_call *c) {
  if (c->is_parked && c->connection != NULL) {
    c->is_parked = false;
    c->server->mhd->resume_connection(c->connection);
    lt_http_server_ask_for_turn(c->server);
  }
}

static size_t http_server_stream_left(const lt_server_call *c) {
  return c->stream.n - c->taken;
}

void lt_http_server_stream_drop(lt_server_call *c) {
  c->server->streams -= http_server_stream_left(c);
  lt_buf_release(&c->stream);
  c->taken = 0;
  if (c->drained != NULL) {
    lt_wait_wake(c->drained, LT_OK);
  }
}

/* The part that was taken is cut off when it is the greater one: each byte is moved once at most. */
static void http_server_stream_take(lt_server_call *c, char *to, size_t n) {
  memcpy(to, c->stream.p + c->taken, n);
  c->taken += n;
  c->server->streams -= n;
  if (c->taken == c->stream.n) {
    lt_buf_clear(&c->stream);
    c->taken = 0;
  } else if (c->taken > c->stream.n / 2 && c->taken > LT_HTTP_STREAM_BLOCK_BYTES) {
    lt_buf_consume(&c->stream, c->taken);
    c->taken = 0;
  }
  if (c->drained != NULL) {
    lt_wait_wake(c->drained, LT_OK);
  }
}

static ssize_t http_server_stream_read(void *arg, uint64_t at, char *to, size_t room) {
  (void)at;
  lt_server_call *c = arg;
  size_t n = http_server_stream_left(c);
  n = n < room ? n : room;
  if (n > 0) {
    http_server_stream_take(c, to, n);
    return (ssize_t)n;
  }
  if (c->is_ended) {
    return MHD_CONTENT_READER_END_OF_STREAM;
  }
  c->is_parked = true;
  c->server->mhd->suspend_connection(c->connection);
  return 0;
}

enum MHD_Result lt_http_server_stream_head(lt_server_call *c) {
  const lt_mhd *mhd = c->server->mhd;
  struct MHD_Response *response = mhd->create_response_from_callback(MHD_SIZE_UNKNOWN, LT_HTTP_STREAM_BLOCK_BYTES,
                                                                     http_server_stream_read, c, NULL);
  if (response == NULL) {
    return MHD_NO;
  }
  lt_http_server_add_headers(mhd, response, &c->answer);
  enum MHD_Result rc = mhd->queue_response(c->connection, (unsigned)c->answer.status, response);
  mhd->destroy_response(response);
  return rc;
}

void lt_http_server_stream_end(lt_server_call *c) {
  c->is_ended = true;
  http_server_stream_resume(c);
}

/* --- Towards the handler ------------------------------------------------------------------------------------------ */
lt_status lt_http_call_begin(const lt_http_call *base, lt_err *err) {
  lt_server_call *c = http_server_stream_of(base);
  LT_CHECK(c->state == CALL_HANDLED);
  if (c->server->closing || c->cancel.why != LT_OK) {
    return lt_fail(err, LT_E_CLOSED, "the client is gone");
  }
  lt_buf_init(&c->stream, 2 * c->server->options.stream_max + 2 * LT_HTTP_STREAM_BLOCK_BYTES); /* with what is taken */
  lt_buf_add(&c->stream, lt_buf_view(&c->answer.body));
  lt_buf_release(&c->answer.body);
  LT_TRY(lt_buf_check(&c->stream, err, "no memory for an answer"));
  c->server->streams += c->stream.n;
  c->state = CALL_BEGUN;
  c->server->mhd->resume_connection(c->connection);
  lt_http_server_ask_for_turn(c->server);
  return LT_OK;
}

lt_status lt_http_call_send(const lt_http_call *base, lt_str piece, lt_err *err) {
  lt_server_call *c = http_server_stream_of(base);
  LT_CHECK(c->state == CALL_BEGUN && !c->is_ended);
  if (c->connection == NULL || c->cancel.why == LT_E_CLOSED) {
    return lt_fail(err, LT_E_CLOSED, "the client is gone");
  }
  if (http_server_stream_left(c) + piece.n > c->server->options.stream_max ||
      c->server->streams + piece.n > LT_HTTP_STREAMS_MAX_BYTES) {
    return lt_fail(err, LT_E_LIMIT, "the client does not read");
  }
  size_t before = c->stream.n;
  lt_buf_add(&c->stream, piece);
  c->server->streams += c->stream.n - before;
  LT_TRY(lt_buf_check(&c->stream, err, "no memory for an answer"));
  http_server_stream_resume(c);
  return LT_OK;
}

size_t lt_http_call_unsent(const lt_http_call *base) {
  return http_server_stream_left(http_server_stream_of(base));
}

lt_status lt_http_call_drain(const lt_http_call *base, size_t most, uint64_t timeout_ms) {
  lt_server_call *c = http_server_stream_of(base);
  uint64_t end_ms = lt_loop_now_ms(c->server->loop) + timeout_ms;
  lt_wait wait;
  lt_cancel_node node;
  lt_status status = LT_OK;
  lt_wait_init(&wait, c->server->loop);
  lt_cancel_add(&c->cancel, &node, &wait);
  c->drained = &wait;
  while (status == LT_OK && c->cancel.why == LT_OK && http_server_stream_left(c) > most) {
    uint64_t now_ms = lt_loop_now_ms(c->server->loop);
    status = now_ms < end_ms ? lt_wait_on(&wait, end_ms - now_ms) : LT_E_TIMEOUT;
  }
  c->drained = NULL;
  lt_cancel_remove(&c->cancel, &node);
  return status == LT_OK ? c->cancel.why : status;
}
