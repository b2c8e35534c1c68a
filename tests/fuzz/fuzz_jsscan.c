/* Any bytes as a program: no crash, no hang, and what comes back lies within the source. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "js/jsscan.h"
#include "js/top_return.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(lt_str source, lt_str part) {
  if (part.n > source.n || (part.n > 0 && (part.p < source.p || part.p + part.n > source.p + source.n))) {
    abort();
  }
}

static void check_word(void *arg, lt_str word) {
  const lt_str *source = arg;
  check_inside(*source, word);
  if (word.n == 0) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  lt_str source = lt_str_from(data, size);
  unsigned dropped = 0;
  lt_str code = lt_jsscan_unfence(source, NULL, &dropped);
  check_inside(source, code);
  lt_jsscan scan = lt_jsscan_program(code);
  if (scan.is_declaration && !scan.is_function) {
    abort();
  }
  lt_buf out;
  unsigned prefix = 0;
  lt_buf_init(&out, 16 * LT_MIB);
  lt_top_return_rewrite(code, scan.has_import, &out, &prefix);
  if (out.n < code.n) {
    abort();
  }
  lt_buf_release(&out);
  lt_jsscan_words(source, check_word, &source);
  check_inside(source, lt_jsscan_line(source, dropped + 1));
  return 0;
}
