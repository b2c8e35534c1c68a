#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ZALLOC_SMALL_BYTES 1024

/* How many allocations succeed before the one that fails; negative: off. */
static _Atomic long fail_countdown = -1;
static atomic_int fail_happened;

/* Exactly one caller takes the step from 0 to -1, and that one fails. */
static bool mem_count_down(void) {
  long left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
  while (left >= 0) {
    if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1)) {
      if (left == 0) {
        atomic_store(&fail_happened, 1);
      }
      return left == 0;
    }
  }
  return false;
}

static inline bool mem_must_fail(void) {
  return __builtin_expect(atomic_load_explicit(&fail_countdown, memory_order_relaxed) >= 0, 0) && mem_count_down();
}

void lt_mem_fail_at(long n) {
  atomic_store(&fail_countdown, -1);
  atomic_store(&fail_happened, 0);
  atomic_store(&fail_countdown, n < 0 ? -1 : n);
}

int lt_mem_failed(void) {
  return atomic_load(&fail_happened);
}

#ifdef LT_MEM_POISON

#include <malloc.h>

/* Memory of a hostile kind: new bytes are never zero, freed bytes never keep their value, realloc always moves. */
enum { POISON_NEW = 0xA5, POISON_FREED = 0xDD };

static void *mem_raw_alloc(size_t size) {
  void *ptr = malloc(size);
  if (ptr != NULL) {
    memset(ptr, POISON_NEW, size);
  }
  return ptr;
}

static void mem_raw_free(void *ptr) {
  if (ptr != NULL) {
    /* explicit_bzero's trick: a plain memset before free may be dropped as dead. */
    memset(ptr, POISON_FREED, malloc_usable_size(ptr));
    __asm__ volatile("" : : "r"(ptr) : "memory");
  }
  free(ptr);
}

static void *mem_raw_realloc(void *ptr, size_t size) {
  void *moved = mem_raw_alloc(size);
  if (moved != NULL && ptr != NULL) {
    size_t old = malloc_usable_size(ptr);
    memcpy(moved, ptr, old < size ? old : size);
    mem_raw_free(ptr);
  }
  return moved;
}

#else

static inline void *mem_raw_alloc(size_t size) {
  return malloc(size);
}

static inline void *mem_raw_realloc(void *ptr, size_t size) {
  return realloc(ptr, size);
}

static inline void mem_raw_free(void *ptr) {
  free(ptr);
}

#endif

/* libc may return NULL for 0 bytes; ours is NULL only when there is no memory. */
static size_t mem_at_least_one(size_t size) {
  return size != 0 ? size : 1;
}

void *lt_mem_alloc(size_t size) {
  if (mem_must_fail() || size > PTRDIFF_MAX) {
    return NULL;
  }
  return mem_raw_alloc(mem_at_least_one(size));
}

/* Only large memory comes from calloc, which need not clear what is new: it passes the blocks by that glibc's malloc
 * keeps for each thread, and takes ten times as long for a small one. */
void *lt_mem_zalloc(size_t count, size_t size) {
  size_t total;
  if (mem_must_fail() || __builtin_mul_overflow(count, size, &total) || total > PTRDIFF_MAX) {
    return NULL;
  }
  if (total > ZALLOC_SMALL_BYTES) {
    return calloc(1, total);
  }
  void *ptr = malloc(mem_at_least_one(total));
  return ptr != NULL ? memset(ptr, 0, total) : NULL;
}

void *lt_mem_realloc(void *ptr, size_t size) {
  if (mem_must_fail() || size > PTRDIFF_MAX) {
    return NULL;
  }
  return mem_raw_realloc(ptr, mem_at_least_one(size));
}

char *lt_mem_strdup(lt_str s) {
  char *copy = s.n < PTRDIFF_MAX ? lt_mem_alloc(s.n + 1) : NULL;
  if (copy != NULL) {
    if (s.n > 0) {
      memcpy(copy, s.p, s.n);
    }
    copy[s.n] = '\0';
  }
  return copy;
}

void lt_mem_free(void *ptr) {
  mem_raw_free(ptr);
}
