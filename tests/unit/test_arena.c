/* Arenas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/mem.h"

#define MIB (1024UL * 1024UL)

static void everything_is_aligned_and_apart(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  static unsigned char *at[COUNT];
  static size_t sizes[COUNT];
  lt_arena arena;
  lt_arena_init(&arena, 64 * MIB);
  for (size_t i = 0; i < COUNT; i++) {
    sizes[i] = i % 97 == 0 ? 10000 + i * 7 : i % 61; /* small ones, shared-block ones and big ones, and 0 */
    at[i] = lt_arena_alloc(&arena, sizes[i]);
    assert_non_null(at[i]);
    assert_int_equal((uintptr_t)at[i] % _Alignof(max_align_t), 0);
    memset(at[i], (int)(i % 251), sizes[i]);
    if (i % 5 == 0) { /* texts in between are not aligned, and must not disturb what follows */
      assert_int_equal(lt_arena_dup(&arena, LT_STR("x")).n, 1);
    }
  }
  for (size_t i = 0; i < COUNT; i++) {
    for (size_t k = 0; k < sizes[i]; k++) {
      assert_true(at[i][k] == i % 251);
    }
  }
  lt_arena_release(&arena);
}

static void zalloc_is_zero_and_checks_the_product(void **state) {
  (void)state;
  volatile size_t half = SIZE_MAX / 2 + 1;
  lt_arena arena;
  lt_arena_init(&arena, MIB);
  for (int round = 0; round < 3; round++) {
    unsigned char *p = lt_arena_zalloc(&arena, 30, 20);
    assert_non_null(p);
    for (size_t i = 0; i < 600; i++) {
      assert_int_equal(p[i], 0);
    }
    memset(p, 0xFF, 600);
    lt_arena_release(&arena);
  }
  assert_null(lt_arena_zalloc(&arena, half, 2));
  assert_null(lt_arena_zalloc(&arena, half, 1));
  assert_non_null(lt_arena_zalloc(&arena, 0, 5));
  lt_arena_release(&arena);
}

static void texts_end_in_nul(void **state) {
  (void)state;
  lt_arena arena;
  lt_arena_init(&arena, MIB);
  lt_str a = lt_arena_dup(&arena, lt_str_from("abcdef", 3));
  lt_str none = lt_arena_dup(&arena, LT_STR_NULL);
  lt_str f = lt_arena_printf(&arena, "%s-%04d", "x", 7);
  lt_str e = lt_arena_printf(&arena, "%s", "");
  assert_int_equal(a.n, 3);
  assert_string_equal(a.p, "abc");
  assert_int_equal(none.n, 0);
  assert_string_equal(none.p, ""); /* not NULL: there was memory */
  assert_int_equal(f.n, 6);
  assert_string_equal(f.p, "x-0007");
  assert_string_equal(e.p, "");
  for (int n = 100; n < 300; n++) {
    char want[300];
    lt_str it = lt_arena_printf(&arena, "%0*d", n, n);
    assert_int_equal(it.n, snprintf(want, sizeof want, "%0*d", n, n));
    assert_string_equal(it.p, want);
  }
  lt_str zero = lt_arena_dup(&arena, LT_STR("a\0b"));
  assert_memory_equal(zero.p, "a\0b\0", 4);
  lt_arena_release(&arena);
}

static void ceiling_is_kept(void **state) {
  (void)state;
  static const size_t pieces[] = {1, 16, 100, 4096, 20000, 100000};
  for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
    lt_arena arena;
    lt_arena_init(&arena, 200000);
    size_t sum = 0;
    while (lt_arena_alloc(&arena, pieces[i]) != NULL) {
      sum += pieces[i];
      assert_true(arena.used >= sum);
      assert_true(arena.used <= 200000);
    }
    assert_true(sum >= 200000 / 16 - 16);
    assert_true(pieces[i] != 1 || sum <= 200000 / 15); /* of single bytes, 15 of 16 go to alignment, and count */
    assert_true(pieces[i] % 16 != 0 || sum + pieces[i] > 200000 - 16);
    lt_arena_release(&arena);
  }
}

static void over_the_ceiling_is_null_not_the_end(void **state) {
  (void)state;
  lt_arena arena;
  lt_arena_init(&arena, 1000);
  lt_mem_fail_at(0);
  assert_null(lt_arena_alloc(&arena, 1001));
  assert_int_equal(lt_mem_failed(), 0); /* refused before memory was asked for */
  lt_mem_fail_at(-1);
  assert_null(lt_arena_alloc(&arena, SIZE_MAX));
  assert_null(lt_arena_alloc(&arena, SIZE_MAX - 8));
  assert_null(lt_arena_dup(&arena, lt_str_from("", SIZE_MAX)).p);
  lt_str cut = lt_arena_printf(&arena, "%1000d", 1);
  assert_null(cut.p);
  assert_int_equal(cut.n, 0);
  assert_int_equal(arena.used, 0);
  assert_non_null(lt_arena_alloc(&arena, 1000)); /* exactly */
  assert_null(lt_arena_alloc(&arena, 1));
  lt_arena_release(&arena);
  assert_non_null(lt_arena_alloc(&arena, 1000)); /* used again, with the same ceiling */
  assert_null(lt_arena_alloc(&arena, 1));
  lt_arena_release(&arena);
  lt_arena_init(&arena, 0);
  assert_null(lt_arena_alloc(&arena, 0));
  lt_arena_release(&arena);
  lt_arena_init(&arena, SIZE_MAX);
  assert_null(lt_arena_alloc(&arena, SIZE_MAX));
  assert_null(lt_arena_dup(&arena, lt_str_from("", SIZE_MAX)).p);
  lt_arena_release(&arena);
}

/* How many allocations `count` pieces of `size` bytes cost: the one after those would fail. */
static long mallocs_for(size_t count, size_t size) {
  lt_arena arena;
  long least = -1;
  bool failed = true;
  while (failed) {
    lt_arena_init(&arena, 256 * MIB);
    lt_mem_fail_at(++least);
    for (size_t i = 0; i < count && lt_arena_alloc(&arena, size) != NULL; i++) {
    }
    failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    lt_arena_release(&arena);
  }
  return least;
}

static void blocks_grow(void **state) {
  (void)state;
  assert_int_equal(mallocs_for(0, 1), 0);
  assert_int_equal(mallocs_for(60, 16), 1);        /* 1 KiB */
  assert_int_equal(mallocs_for(180, 16), 2);       /* + 2 KiB */
  assert_in_range(mallocs_for(62500, 16), 16, 24); /* 1 MB: 1, 2, 4, 8, 16, 32, then 64 KiB each */
  assert_int_equal(mallocs_for(10, 20000), 10);    /* big: one each */
}

/* A big allocation must not throw away the rest of the block being filled. */
static void big_ones_do_not_strand_the_shared_block(void **state) {
  (void)state;
  lt_arena arena;
  lt_arena_init(&arena, 64 * MIB);
  char *a = lt_arena_alloc(&arena, 16);
  char *big = lt_arena_alloc(&arena, 1000000);
  char *b = lt_arena_alloc(&arena, 16);
  assert_non_null(big);
  memset(big, 1, 1000000);
  assert_ptr_equal(b, a + 16);
  lt_arena_release(&arena);
}

static bool use(lt_arena *arena) {
  for (int i = 0; i < 500; i++) {
    if (lt_arena_printf(arena, "number %d", i).p == NULL || lt_arena_zalloc(arena, 3, 7) == NULL) {
      return false;
    }
  }
  return lt_arena_alloc(arena, 50000) != NULL && lt_arena_dup(arena, LT_STR("end")).p != NULL;
}

static void no_memory_is_null_and_leaks_nothing(void **state) {
  (void)state;
  bool done = false;
  long n = 0;
  for (; !done; n++) {
    assert_true(n < 100);
    lt_arena arena;
    lt_arena_init(&arena, MIB);
    lt_mem_fail_at(n);
    bool worked = use(&arena);
    done = !lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(worked, done);
    assert_non_null(lt_arena_dup(&arena, LT_STR("still usable")).p);
    lt_arena_release(&arena);
    assert_int_equal(arena.used, 0);
  }
  assert_true(n > 4);
}

static void automatic_arenas_are_released(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) { /* the leak sanitizer reports an arena that is not released */
    LT_AUTO_ARENA(arena, 10000);
    assert_int_equal(arena.used, 0);
    assert_non_null(lt_arena_alloc(&arena, 5000));
    assert_null(lt_arena_alloc(&arena, 10000));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_is_aligned_and_apart),
      cmocka_unit_test(zalloc_is_zero_and_checks_the_product),
      cmocka_unit_test(texts_end_in_nul),
      cmocka_unit_test(ceiling_is_kept),
      cmocka_unit_test(over_the_ceiling_is_null_not_the_end),
      cmocka_unit_test(blocks_grow),
      cmocka_unit_test(big_ones_do_not_strand_the_shared_block),
      cmocka_unit_test(no_memory_is_null_and_leaks_nothing),
      cmocka_unit_test(automatic_arenas_are_released),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
