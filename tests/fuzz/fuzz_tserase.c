/* Any bytes as a TypeScript program: what is left is where it was, and has no types. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lt_str source = lt_str_from(data, size);
  LT_AUTO_BUF(erased, 2 * LT_MIB);
  LT_AUTO_BUF(again, 2 * LT_MIB);
  if (lt_tserase_program(source, &erased) != LT_TSERASE_ERASED) {
    return erased.n == 0 ? 0 : (abort(), 0);
  }
  check_places(source, lt_buf_view(&erased));
  /* What compares in `a < <T>(b) & c > (d)` would be type arguments without the assertion, in TypeScript only. */
  bool has_angle = memchr(data, '<', size) != NULL;
  if (!has_angle && lt_tserase_program(lt_buf_view(&erased), &again) == LT_TSERASE_ERASED) {
    abort();
  }
  return 0;
}
