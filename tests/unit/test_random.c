/* Random ids, and times as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/random.h"

static void ids_are_digits_and_differ(void **state) {
  (void)state;
  char first[33], second[33];
  memset(first, 'x', sizeof first);
  assert_true(lt_random_hex(first, 32) && lt_random_hex(second, 32));
  assert_int_equal(strspn(first, "0123456789abcdef"), 32);
  assert_int_equal(first[32], '\0');
  assert_string_not_equal(first, second);
}

/* Every digit occurs: none is lost where bytes become digits in place. */
static void every_digit_occurs_everywhere(void **state) {
  (void)state;
  unsigned seen[16] = {0};
  for (int i = 0; i < 2000; i++) {
    char id[17];
    assert_true(lt_random_hex(id, 16));
    for (size_t k = 0; k < 16; k++) {
      const char *digits = "0123456789abcdef";
      seen[k] |= 1u << (strchr(digits, id[k]) - digits);
    }
  }
  for (size_t k = 0; k < 16; k++) {
    assert_int_equal(seen[k], 0xffff);
  }
}

/* Bytes are fetched ahead, but nobody gets the same ones. */
static void a_child_gets_others(void **state) {
  (void)state;
  char before[17], child[17], parent[17];
  int ends[2];
  assert_true(lt_random_hex(before, 16));
  assert_int_equal(pipe(ends), 0);
  pid_t pid = fork();
  if (pid == 0) {
    bool is_told = lt_random_hex(child, 16) && write(ends[1], child, sizeof child) == (ssize_t)sizeof child;
    _exit(is_told ? 0 : 1);
  }
  assert_true(lt_random_hex(parent, 16));
  assert_int_equal(read(ends[0], child, sizeof child), sizeof child);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  assert_string_not_equal(child, parent);
  close(ends[0]);
  close(ends[1]);
}

enum { DRAWN = 200 };

static void no_bytes_come_twice(void **state) {
  static char drawn[DRAWN][33];
  (void)state;
  for (unsigned i = 0; i < DRAWN; i++) {
    assert_true(lt_random_hex(drawn[i], i % 2 == 0 ? 32 : 16));
    for (unsigned j = 0; j < i; j++) {
      assert_int_not_equal(strncmp(drawn[i], drawn[j], 16), 0);
    }
  }
}

static void stamps_are_iso_8601(void **state) {
  (void)state;
  char stamp[LT_CLOCK_STAMP_BYTES];
  int year, month, day, hour, minute, second, ms, end = 0;
  lt_clock_stamp(stamp);
  int fields = sscanf(stamp, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day, &hour, &minute, &second, &ms, &end);
  assert_int_equal(fields, 7);
  assert_int_equal(end, (int)strlen(stamp));
  assert_int_equal(strlen(stamp), LT_CLOCK_STAMP_BYTES - 1);
  assert_true(year >= 2025 && month >= 1 && month <= 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ids_are_digits_and_differ), cmocka_unit_test(every_digit_occurs_everywhere),
      cmocka_unit_test(a_child_gets_others),       cmocka_unit_test(no_bytes_come_twice),
      cmocka_unit_test(stamps_are_iso_8601),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
