#include "gateway/gateway_pages.h"

#include "base/limits.h"
#include "base/utf8.h"

/* The end of the piece: behind a line where one ends in its second half, else between characters. */
static size_t gateway_pages_end(lt_str text, size_t from) {
  size_t end = from + lt_utf8_cut(lt_str_sub(text, from, text.n), LT_GATEWAY_PAGE_BYTES).n;
  for (size_t at = end; end < text.n && at > from + LT_GATEWAY_PAGE_BYTES / 2; at--) {
    if (text.p[at - 1] == '\n') {
      return at;
    }
  }
  return end;
}

lt_status lt_gateway_pages_take(lt_str run, uint64_t from, lt_gateway_answer *answer, lt_err *err) {
  lt_str text = lt_buf_view(&answer->text);
  if (from > 0 && from >= text.n) {
    return lt_fail(err, LT_E_INVALID, "from: the answer has %zu bytes", text.n);
  }
  size_t start = lt_utf8_ceil(text, (size_t)from), end = gateway_pages_end(text, start);
  LT_AUTO_BUF(piece, LT_GATEWAY_PAGE_BYTES + LT_KIB);
  lt_buf_add(&piece, lt_str_sub(text, start, end));
  if (end < text.n) {
    lt_buf_printf(&piece, "\n[bytes %zu to %zu of %zu: read on with read_output, run \"%.*s\", from %zu]", start, end,
                  text.n, LT_STR_ARG(run), end);
  }
  LT_TRY(lt_buf_check(&piece, err, "no memory for the answer"));
  lt_buf_clear(&answer->text);
  lt_buf_add(&answer->text, lt_buf_view(&piece));
  return lt_buf_check(&answer->text, err, "no memory for the answer");
}

lt_status lt_gateway_pages_cut(lt_str run, lt_gateway_answer *answer, lt_err *err) {
  return answer->text.n > LT_GATEWAY_PAGE_BYTES ? lt_gateway_pages_take(run, 0, answer, err) : LT_OK;
}
