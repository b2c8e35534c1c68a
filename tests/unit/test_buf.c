/* Growing buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

static void assert_holds(const lt_buf *buf, const char *want) {
  assert_int_equal(buf->status, LT_OK);
  assert_int_equal(buf->n, strlen(want));
  assert_string_equal(buf->p, want); /* with the NUL */
}

static void appends_everything(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 1000);
  lt_buf_add(&buf, LT_STR("ab"));
  lt_buf_add(&buf, LT_STR_NULL);
  lt_buf_addc(&buf, "cd");
  lt_buf_addc(&buf, NULL);
  lt_buf_byte(&buf, 'e');
  lt_buf_printf(&buf, "-%d-%s", 42, "f");
  lt_buf_printf(&buf, "%s", "");
  assert_holds(&buf, "abcde-42-f");
  assert_true(lt_str_eqc(lt_buf_view(&buf), "abcde-42-f"));
  lt_buf_release(&buf);
}

static void nothing_is_allocated_before_it_is_needed(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 10);
  lt_mem_fail_at(0);
  lt_buf_add(&buf, LT_STR(""));
  lt_buf_clear(&buf);
  lt_buf_consume(&buf, 0);
  lt_buf_commit(&buf, 0);
  assert_int_equal(lt_buf_view(&buf).n, 0);
  lt_buf_release(&buf);
  assert_int_equal(lt_mem_failed(), 0);
  lt_mem_fail_at(-1);
  assert_int_equal(buf.status, LT_OK);
}

static void ceiling_can_be_reached_but_not_passed(void **state) {
  (void)state;
  static const size_t ceilings[] = {0, 1, 5, 63, 64, 65, 1000};
  for (size_t i = 0; i < sizeof(ceilings) / sizeof(ceilings[0]); i++) {
    size_t max = ceilings[i];
    lt_buf buf;
    lt_buf_init(&buf, max);
    for (size_t k = 0; k < max; k++) {
      lt_buf_byte(&buf, (char)('a' + k % 26));
      assert_int_equal(buf.status, LT_OK);
      assert_int_equal(buf.p[buf.n], '\0');
    }
    lt_buf_byte(&buf, '!');
    assert_int_equal(buf.status, LT_E_LIMIT);
    assert_int_equal(buf.n, max);
    assert_true(buf.cap <= max + 1);
    for (size_t k = 0; k < max; k++) {
      assert_int_equal(buf.p[k], 'a' + k % 26);
    }
    lt_buf_release(&buf);
  }
}

static void first_failure_sticks(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 5);
  lt_buf_addc(&buf, "abc");
  lt_buf_addc(&buf, "def"); /* does not fit, and no part of it is taken */
  assert_int_equal(buf.status, LT_E_LIMIT);
  lt_buf_addc(&buf, "g");
  lt_buf_byte(&buf, 'h');
  lt_buf_printf(&buf, "%d", 1);
  assert_null(lt_buf_reserve(&buf, 0));
  assert_int_equal(buf.n, 3);
  assert_string_equal(buf.p, "abc");
  lt_buf_clear(&buf);
  lt_buf_addc(&buf, "ghijk");
  assert_holds(&buf, "ghijk");
  lt_buf_release(&buf);
}

static void integers_are_written_in_digits(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 100);
  lt_buf_int(&buf, 0);
  lt_buf_int(&buf, -10);
  lt_buf_int(&buf, INT64_MAX);
  lt_buf_int(&buf, INT64_MIN);
  assert_holds(&buf, "0-109223372036854775807-9223372036854775808");
  lt_buf_release(&buf);
}

static void printf_over_the_ceiling_adds_nothing(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 8);
  lt_buf_printf(&buf, "%s", "12345678");
  assert_holds(&buf, "12345678");
  lt_buf_printf(&buf, "%d", 9);
  assert_int_equal(buf.status, LT_E_LIMIT);
  assert_string_equal(buf.p, "12345678");
  lt_buf_release(&buf);
}

/* Texts of all lengths are printed behind texts of all lengths: where they fit, just fit, and do not. */
static void printf_needs_no_room_ahead(void **state) {
  (void)state;
  for (int first = 0; first < 70; first++) {
    for (int second = 1; second < 70; second++) {
      char want[140];
      lt_buf buf;
      lt_buf_init(&buf, 1000);
      lt_buf_printf(&buf, "%.*s", first, "----------------------------------------------------------------------");
      lt_buf_printf(&buf, "%*d", second, 7);
      snprintf(want, sizeof want, "%.*s%*d", first,
               "----------------------------------------------------------------------", second, 7);
      assert_holds(&buf, want);
      lt_buf_release(&buf);
    }
  }
}

static void growth_doubles(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 1 << 20);
  size_t growths = 0;
  size_t cap = 0;
  while (buf.n < 1 << 20) {
    lt_buf_byte(&buf, 'x');
    growths += buf.cap != cap;
    cap = buf.cap;
  }
  assert_int_equal(buf.status, LT_OK);
  assert_true(growths <= 16);
  assert_true(cap <= (1 << 20) + 1);
  lt_buf_release(&buf);
}

static void huge_ceilings_and_requests_do_not_wrap(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, SIZE_MAX);
  lt_buf_addc(&buf, "abc");
  assert_holds(&buf, "abc");
  assert_null(lt_buf_reserve(&buf, SIZE_MAX));
  assert_int_equal(buf.status, LT_E_LIMIT);
  lt_buf_clear(&buf);
  assert_null(lt_buf_reserve(&buf, SIZE_MAX - 3));
  assert_int_equal(buf.status, LT_E_LIMIT);
  lt_buf_release(&buf);
}

static void reserve_then_commit_some(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 100);
  char *to = lt_buf_reserve(&buf, 100);
  assert_non_null(to);
  memset(to, 'x', 100);
  lt_buf_commit(&buf, 2);
  assert_holds(&buf, "xx");
  to = lt_buf_reserve(&buf, 98);
  assert_non_null(to);
  memset(to, 'y', 98);
  lt_buf_commit(&buf, 98);
  assert_int_equal(buf.n, 100);
  assert_int_equal(buf.p[100], '\0');
  assert_non_null(lt_buf_reserve(&buf, 0));
  assert_null(lt_buf_reserve(&buf, 1));
  lt_buf_release(&buf);
}

static void consume_moves_the_rest_down(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 100);
  lt_buf_addc(&buf, "line one\nline two\n");
  lt_buf_consume(&buf, 9);
  assert_holds(&buf, "line two\n");
  lt_buf_consume(&buf, 0);
  assert_holds(&buf, "line two\n");
  lt_buf_consume(&buf, 9);
  assert_holds(&buf, "");
  lt_buf_addc(&buf, "again");
  assert_holds(&buf, "again");
  lt_buf_release(&buf);
}

static void cut_removes_the_end(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 12);
  lt_buf_cut(&buf, 0);
  lt_buf_addc(&buf, "line one");
  lt_buf_cut(&buf, 9);
  assert_holds(&buf, "line one");
  lt_buf_cut(&buf, 4);
  assert_holds(&buf, "line");
  lt_buf_addc(&buf, " twelve bytes");
  assert_int_equal(buf.status, LT_E_LIMIT);
  lt_buf_cut(&buf, 0);
  assert_int_equal(buf.status, LT_E_LIMIT);
  assert_int_equal(buf.n, 4);
  lt_buf_release(&buf);
}

static void bytes_may_be_anything(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 100);
  lt_buf_add(&buf, LT_STR("a\0b\xFF"));
  lt_buf_byte(&buf, '\0');
  assert_int_equal(buf.n, 5);
  assert_memory_equal(buf.p, "a\0b\xFF\0", 6);
  lt_buf_release(&buf);
}

static void take_hands_the_bytes_over(void **state) {
  (void)state;
  lt_buf buf;
  lt_buf_init(&buf, 7);
  lt_buf_addc(&buf, "abc");
  size_t n = 99;
  char *p = lt_buf_take(&buf, &n);
  assert_string_equal(p, "abc");
  assert_int_equal(n, 3);
  lt_mem_free(p);
  p = lt_buf_take(&buf, NULL); /* of an empty buffer: an empty string, not NULL */
  assert_non_null(p);
  assert_string_equal(p, "");
  lt_mem_free(p);
  lt_buf_addc(&buf, "1234567");
  assert_holds(&buf, "1234567"); /* the ceiling is still 7 */
  lt_buf_addc(&buf, "8");
  n = 99;
  assert_null(lt_buf_take(&buf, &n));
  assert_int_equal(n, 99);
  assert_int_equal(buf.status, LT_E_LIMIT);
  assert_int_equal(buf.n, 0);
  assert_null(buf.p);
  lt_buf_release(&buf);
}

/* A little of everything; true when all of it worked. */
static bool use(lt_buf *buf) {
  for (int i = 0; i < 40; i++) {
    lt_buf_printf(buf, "%d:", i);
    lt_buf_add(buf, LT_STR("0123456789"));
    lt_buf_byte(buf, '\n');
  }
  char *p = lt_buf_take(buf, NULL);
  lt_mem_free(p);
  return p != NULL;
}

static void no_memory_is_a_status(void **state) {
  (void)state;
  bool done = false;
  long n = 0;
  for (; !done; n++) {
    assert_true(n < 100);
    lt_buf buf;
    lt_buf_init(&buf, 10000);
    lt_mem_fail_at(n);
    bool worked = use(&buf);
    done = !lt_mem_failed();
    assert_int_equal(worked, done);
    assert_int_equal(buf.status, done ? LT_OK : LT_E_NOMEM);
    lt_mem_fail_at(-1);
    lt_buf_release(&buf);
    assert_int_equal(buf.status, LT_OK);
  }
  assert_true(n > 3);
}

/* Random operations on the buffer and on a plain array: they must never differ. */
static void behaves_like_an_array(void **state) {
  (void)state;
  enum { MAX = 600 };
  unsigned seed = 7;
  char model[MAX + 1] = "";
  size_t n = 0;
  lt_buf buf;
  lt_buf_init(&buf, MAX);
  for (int i = 0; i < 20000; i++) {
    unsigned r = (unsigned)rand_r(&seed);
    size_t k = r / 8 % 40;
    char piece[40];
    memset(piece, (char)('a' + r % 26), sizeof(piece));
    if (r % 3 == 0) {
      k = k < n ? k : n;
      lt_buf_consume(&buf, k);
      memmove(model, model + k, n - k);
      n -= k;
    } else if (n + k <= MAX) {
      lt_buf_add(&buf, lt_str_from(piece, k));
      memcpy(model + n, piece, k);
      n += k;
    } else {
      lt_buf_add(&buf, lt_str_from(piece, k));
      assert_int_equal(buf.status, LT_E_LIMIT);
      lt_buf_clear(&buf);
      n = 0;
    }
    model[n] = '\0';
    assert_int_equal(buf.n, n);
    assert_true(buf.p == NULL || memcmp(buf.p, model, n + 1) == 0);
  }
  lt_buf_release(&buf);
}

static lt_status fill(size_t bytes, lt_err *err) {
  LT_AUTO_BUF(buf, 10);
  for (size_t i = 0; i < bytes; i++) {
    lt_buf_byte(&buf, 'x');
  }
  LT_TRY(lt_buf_check(&buf, err, "ten bytes are all there is room for"));
  assert_int_equal(buf.n, bytes);
  return LT_OK;
}

/* LeakSanitizer says so if the buffer is not released on either way out. */
static void automatic_buffers_are_released(void **state) {
  (void)state;
  lt_err err = LT_ERR_INIT;
  assert_int_equal(fill(10, &err), LT_OK);
  assert_int_equal(err.status, LT_OK);
  assert_int_equal(fill(11, &err), LT_E_LIMIT);
  assert_string_equal(lt_err_msg(&err), "ten bytes are all there is room for");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(appends_everything),
      cmocka_unit_test(nothing_is_allocated_before_it_is_needed),
      cmocka_unit_test(ceiling_can_be_reached_but_not_passed),
      cmocka_unit_test(first_failure_sticks),
      cmocka_unit_test(integers_are_written_in_digits),
      cmocka_unit_test(printf_over_the_ceiling_adds_nothing),
      cmocka_unit_test(printf_needs_no_room_ahead),
      cmocka_unit_test(growth_doubles),
      cmocka_unit_test(huge_ceilings_and_requests_do_not_wrap),
      cmocka_unit_test(reserve_then_commit_some),
      cmocka_unit_test(consume_moves_the_rest_down),
      cmocka_unit_test(cut_removes_the_end),
      cmocka_unit_test(bytes_may_be_anything),
      cmocka_unit_test(take_hands_the_bytes_over),
      cmocka_unit_test(no_memory_is_a_status),
      cmocka_unit_test(behaves_like_an_array),
      cmocka_unit_test(automatic_buffers_are_released),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
