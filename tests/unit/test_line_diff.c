/* The difference of two texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "text/line_diff.h"

static void on_step(void *arg, const lt_line_diff_step *step) {
  lt_buf *out = arg;
  static const char marks[] = {' ', '-', '+', '@', '\\'};
  lt_buf_byte(out, marks[step->mark]);
  if (step->mark == LT_DIFF_SKIPPED) {
    lt_buf_printf(out, "%zu", step->count);
  }
  lt_buf_add(out, step->line);
  lt_buf_byte(out, '\n');
}

static void expect(const char *before, const char *after, const char *steps) {
  LT_AUTO_BUF(out, LT_MIB);
  assert_int_equal(lt_line_diff(lt_str_of(before), lt_str_of(after), 2, on_step, &out, NULL), LT_OK);
  assert_string_equal(out.p != NULL ? out.p : "", steps);
}

static void changes_have_their_surroundings(void **state) {
  (void)state;
  expect("", "", "");
  expect("a\nb\n", "a\nb\n", "");
  expect("", "a\nb\n", "+a\n+b\n");
  expect("a\n", "", "-a\n");
  expect("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "@2\n 3\n 4\n-5\n+five\n 6\n 7\n@2\n");
  expect("a\nb\nc\n", "b\nc\nd\n", "-a\n b\n c\n+d\n");
  expect("1\n2\n3\n4\n5\n6\n7\n", "one\n2\n3\n4\n5\n6\nseven\n", "-1\n+one\n 2\n 3\n@1\n 5\n 6\n-7\n+seven\n");
}

static void a_missing_line_break_is_a_change(void **state) {
  (void)state;
  expect("a\nb", "a\nb\n", " a\n-b\n\\\n+b\n");
  expect("a", "b", "-a\n\\\n+b\n\\\n");
}

/* What the steps say, put together, is both texts again. */
static void rebuild(void *arg, const lt_line_diff_step *step) {
  lt_buf *texts = arg;
  for (int side = 0; side < 2; side++) {
    if (step->mark == LT_DIFF_SAME || step->mark == (side == 0 ? LT_DIFF_REMOVED : LT_DIFF_ADDED)) {
      lt_buf_add(&texts[side], step->line);
      lt_buf_byte(&texts[side], '\n');
    }
  }
}

static void both_texts_are_in_it(void **state) {
  (void)state;
  srand(7);
  for (int round = 0; round < 500; round++) {
    lt_buf texts[4];
    for (int i = 0; i < 4; i++) {
      lt_buf_init(&texts[i], LT_MIB);
    }
    for (int i = 0; i < 40; i++) {
      lt_buf_printf(&texts[rand() % 2], "%c\n", 'a' + rand() % 4);
    }
    assert_int_equal(lt_line_diff(lt_buf_view(&texts[0]), lt_buf_view(&texts[1]), 1000, rebuild, &texts[2], NULL),
                     LT_OK);
    bool equal = lt_str_eq(lt_buf_view(&texts[0]), lt_buf_view(&texts[1]));
    assert_true(equal || lt_str_eq(lt_buf_view(&texts[0]), lt_buf_view(&texts[2])));
    assert_true(equal || lt_str_eq(lt_buf_view(&texts[1]), lt_buf_view(&texts[3])));
    for (int i = 0; i < 4; i++) {
      lt_buf_release(&texts[i]);
    }
  }
}

static void long_texts_have_a_bound(void **state) {
  (void)state;
  LT_AUTO_BUF(before, 8 * LT_MIB);
  LT_AUTO_BUF(after, 8 * LT_MIB);
  LT_AUTO_BUF(out, 8 * LT_MIB);
  for (int i = 0; i < 10000; i++) {
    lt_buf_printf(&before, "%d\n", i);
    lt_buf_printf(&after, "%d\n", i * 2);
  }
  assert_int_equal(lt_line_diff(lt_buf_view(&before), lt_buf_view(&after), 2, on_step, &out, NULL), LT_OK);
  assert_non_null(strstr(out.p, "\n-9999\n+2\n"));
  for (int i = 0; i < LT_DIFF_LINES; i++) {
    lt_buf_byte(&before, '\n');
  }
  assert_int_equal(lt_line_diff(lt_buf_view(&before), lt_buf_view(&after), 2, on_step, &out, NULL), LT_E_LIMIT);
}

static void a_want_of_memory_is_survived(void **state) {
  (void)state;
  for (long n = 0;; n++) {
    LT_AUTO_BUF(out, LT_MIB);
    lt_mem_fail_at(n);
    lt_status status = lt_line_diff(LT_STR("a\nb\n"), LT_STR("a\nc\n"), 2, on_step, &out, NULL);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_true(status == LT_OK || status == LT_E_NOMEM);
    if (!failed) {
      return;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(changes_have_their_surroundings),
      cmocka_unit_test(a_missing_line_break_is_a_change),
      cmocka_unit_test(both_texts_are_in_it),
      cmocka_unit_test(long_texts_have_a_bound),
      cmocka_unit_test(a_want_of_memory_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
