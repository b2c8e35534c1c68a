/* The program's own file: what is built in is found there, and nothing else is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sandbox/program_file.h"

static const char built_in[] = "bytes that are built into this program, and into no other";

static void test_what_is_built_in(void **state) {
  (void)state;
  char bytes[sizeof built_in];
  off_t offset;
  int fd = lt_program_file_open(lt_str_from(built_in, sizeof built_in), 16, &offset);
  assert_true(fd >= 0);
  assert_int_equal(pread(fd, bytes, sizeof bytes, offset), sizeof bytes);
  assert_memory_equal(bytes, built_in, sizeof bytes);
  close(fd);
}

static void test_what_is_not(void **state) {
  (void)state;
  off_t offset;
  char *copy = lt_mem_alloc(sizeof built_in), stack[sizeof built_in];
  assert_non_null(copy);
  memcpy(copy, built_in, sizeof built_in);
  memcpy(stack, built_in, sizeof built_in);
  assert_int_equal(lt_program_file_open(lt_str_from(copy, sizeof built_in), 16, &offset), -1);
  assert_int_equal(lt_program_file_open(lt_str_from(stack, sizeof stack), 16, &offset), -1);
  assert_int_equal(lt_program_file_open(lt_str_from(built_in, SIZE_MAX / 2), 16, &offset), -1);
  lt_mem_free(copy);
}

/* A library's data is in another file. */
static void test_a_librarys(void **state) {
  (void)state;
  off_t offset;
  assert_int_equal(lt_program_file_open(lt_str_from(strerror(EINTR), 8), 4, &offset), -1);
}

/* As if another program were in the file: these bytes have changed since it was loaded. */
static char changed[] = "bytes that have changed";

static void test_bytes_that_differ(void **state) {
  (void)state;
  off_t offset;
  changed[0] = 'B';
  assert_int_equal(lt_program_file_open(lt_str_from(changed, sizeof changed), 16, &offset), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_built_in),
      cmocka_unit_test(test_what_is_not),
      cmocka_unit_test(test_a_librarys),
      cmocka_unit_test(test_bytes_that_differ),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
