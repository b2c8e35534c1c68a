/* Memory: the only module that calls malloc.
 *
 * Allocation failure is a returned NULL everywhere. Tests make the n-th allocation fail (lt_mem_fail_at) and prove that
 * every module frees what it allocated. Debug builds fill new and freed memory with a pattern.
 */
#ifndef LT_BASE_MEM_H
#define LT_BASE_MEM_H

#include <stddef.h>

#include "base/str.h"

/* Owns: the caller, until lt_mem_free. NULL when there is no memory. `size` 0 gives a pointer that may be freed. */
void *lt_mem_alloc(size_t size) __attribute__((malloc, warn_unused_result));
void *lt_mem_zalloc(size_t count, size_t size) __attribute__((malloc, warn_unused_result)); /* checks the product */
/* Like realloc: NULL leaves `ptr` as it was. */
void *lt_mem_realloc(void *ptr, size_t size) __attribute__((warn_unused_result));
/* A copy with a NUL after it; NULL when there is no memory. */
char *lt_mem_strdup(lt_str s) __attribute__((malloc, warn_unused_result));
/* NULL is allowed. */
void lt_mem_free(void *ptr);

/* For tests: the allocation after `n` more successful ones fails, once (n = 0: the next one); -1 turns it off.
 * Process-wide, atomic. */
void lt_mem_fail_at(long n);
/* For tests: whether the requested failure has happened. */
int lt_mem_failed(void);

#endif
