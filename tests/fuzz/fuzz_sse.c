/* Any bytes as a stream of events: the same whole and in pieces, and what comes out is no more than what went in. */
#include <stdint.h>
#include <stdlib.h>

#include "text/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(lt_buf *out, lt_str s) {
  lt_buf_printf(out, "%zu:", s.n);
  lt_buf_add(out, s);
}

static int64_t read_in(lt_str stream, size_t step, lt_buf *out) {
  lt_sse sse;
  lt_sse_event e;
  lt_sse_init(&sse, 1 << 20);
  for (size_t at = 0; at < stream.n; at += step) {
    if (lt_sse_add(&sse, lt_str_sub(stream, at, at + step)) != LT_OK) {
      abort();
    }
    while (lt_sse_next(&sse, &e)) {
      if (e.data.n > stream.n || e.event.n > stream.n || e.id.n > stream.n) {
        abort();
      }
      put(out, e.event);
      put(out, e.data);
      put(out, e.id);
    }
  }
  int64_t retry_ms = sse.retry_ms;
  lt_sse_release(&sse);
  return retry_ms;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1 || size > (1 << 18)) {
    return 0;
  }
  lt_buf whole, pieces;
  lt_buf_init(&whole, 64 << 20);
  lt_buf_init(&pieces, 64 << 20);
  lt_str stream = lt_str_from(data + 1, size - 1);
  int64_t a = read_in(stream, stream.n > 0 ? stream.n : 1, &whole);
  int64_t b = read_in(stream, data[0] % 16 + 1u, &pieces);
  if (a != b || whole.status != pieces.status || !lt_str_eq(lt_buf_view(&whole), lt_buf_view(&pieces))) {
    abort();
  }
  lt_buf_release(&whole);
  lt_buf_release(&pieces);
  return 0;
}
