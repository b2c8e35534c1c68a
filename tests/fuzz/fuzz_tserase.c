/* Any bytes as a TypeScript program: what is left is where it was, or at least on its line, and has no types. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "js/tserase.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_places(lt_str source, lt_str erased) {
  if (erased.n != source.n) {
    abort();
  }
  for (size_t i = 0; i < source.n; i++) {
    bool is_new = erased.p[i] == ' ' || erased.p[i] == ';' || erased.p[i] == '(' || erased.p[i] == ')';
    bool is_line_end = source.p[i] == '\n' || source.p[i] == '\r';
    if (erased.p[i] != source.p[i] && (!is_new || is_line_end)) {
      abort();
    }
  }
}

static size_t count_lines(lt_str text) {
  size_t count = 0;
  for (size_t i = 0; i < text.n; i++) {
    count += text.p[i] == '\n' || text.p[i] == '\r';
  }
  return count;
}

/* Text was put in. */
static void check_lines(lt_str source, lt_str written) {
  if (written.n <= source.n || count_lines(written) != count_lines(source)) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lt_str source = lt_str_from(data, size);
  LT_AUTO_BUF(erased, 2 * LT_MIB);
  LT_AUTO_BUF(again, 2 * LT_MIB);
  lt_tserase_end end = lt_tserase_program(source, &erased);
  if (end != LT_TSERASE_ERASED && end != LT_TSERASE_WRITTEN) {
    return erased.n == 0 ? 0 : (abort(), 0);
  }
  (end == LT_TSERASE_ERASED ? check_places : check_lines)(source, lt_buf_view(&erased));
  /* What compares in `a < <T>(b) & c > (d)` would be type arguments without the assertion, in TypeScript only. */
  bool has_angle = memchr(data, '<', size) != NULL;
  lt_tserase_end second = has_angle ? LT_TSERASE_NOTHING : lt_tserase_program(lt_buf_view(&erased), &again);
  if (second == LT_TSERASE_ERASED || second == LT_TSERASE_WRITTEN) {
    abort();
  }
  return 0;
}
