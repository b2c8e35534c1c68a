#include "gateway/gateway_stream.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

lt_status lt_gateway_stream_new(lt_loop *loop, lt_gateway_stream **ret_stream, lt_err *err) {
  lt_gateway_stream *s = lt_mem_zalloc(1, sizeof *s);
  if (s == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another stream");
  }
  s->loop = loop;
  s->users = 1;
  *ret_stream = s;
  return LT_OK;
}

void lt_gateway_stream_drop(lt_gateway_stream *s) {
  if (--s->users == 0) {
    lt_gateway_stream_forget(s, UINT64_MAX);
    lt_mem_free(s);
  }
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */
static void gateway_stream_wake(lt_gateway_stream *s) {
  if (s->reader != NULL) {
    lt_wait_wake(s->reader, LT_OK);
  }
}

/* False: no memory. */
static bool gateway_stream_put(lt_gateway_stream *s, lt_str message) {
  lt_gateway_event *e = lt_mem_alloc(sizeof *e + message.n);
  if (e == NULL) {
    return false;
  }
  *e = (lt_gateway_event){.number = ++s->count, .n = message.n};
  memcpy(e->message, message.p, message.n);
  *(s->newest != NULL ? &s->newest->next : &s->first) = e;
  s->newest = e;
  s->bytes += e->n;
  gateway_stream_wake(s);
  return true;
}

void lt_gateway_stream_add(lt_gateway_stream *s, lt_str message) {
  if (!s->is_ended && s->bytes + message.n <= LT_GATEWAY_STREAM_BYTES) {
    (void)gateway_stream_put(s, message);
  }
}

void lt_gateway_stream_end(lt_gateway_stream *s) {
  s->is_ended = true;
  gateway_stream_wake(s);
}

static void gateway_stream_on_send(void *arg, lt_str message) {
  lt_gateway_stream_add(arg, message);
}

/* The answer is never left out: it is the last event, and has a ceiling of its own. */
static void gateway_stream_on_end(void *arg, lt_str answer, int code) {
  lt_gateway_stream *s = arg;
  s->code = code;
  if (answer.n > 0 && !s->is_ended) {
    (void)gateway_stream_put(s, answer);
  }
  lt_gateway_stream_end(s);
  lt_gateway_stream_drop(s);
}

lt_gateway_way lt_gateway_stream_way(lt_gateway_stream *s) {
  s->users++;
  return (lt_gateway_way){.send = gateway_stream_on_send, .end = gateway_stream_on_end, .arg = s};
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */
const lt_gateway_event *lt_gateway_stream_after(const lt_gateway_stream *s, uint64_t number) {
  const lt_gateway_event *e = s->count > number ? s->first : NULL;
  while (e != NULL && e->number <= number) {
    e = e->next;
  }
  return e;
}

void lt_gateway_stream_forget(lt_gateway_stream *s, uint64_t number) {
  while (s->first != NULL && s->first->number <= number) {
    lt_gateway_event *e = s->first;
    s->first = e->next;
    s->bytes -= e->n;
    lt_mem_free(e);
  }
  if (s->first == NULL) {
    s->newest = NULL;
  }
}

lt_status lt_gateway_stream_wait(lt_gateway_stream *s, uint64_t number, uint64_t timeout_ms, lt_cancel *cancel) {
  lt_wait wait;
  lt_cancel_node node;
  lt_status status = LT_OK;
  if (lt_gateway_stream_after(s, number) != NULL || s->is_ended) {
    return cancel->why;
  }
  if (s->reader != NULL) {
    lt_wait_wake(s->reader, LT_E_CLOSED); /* the connection of the one before may be broken */
  }
  lt_wait_init(&wait, s->loop);
  lt_cancel_add(cancel, &node, &wait);
  s->reader = &wait;
  status = lt_wait_on(&wait, timeout_ms);
  if (s->reader == &wait) {
    s->reader = NULL;
  }
  lt_cancel_remove(cancel, &node);
  return status;
}
