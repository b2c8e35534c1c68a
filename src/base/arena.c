#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

/* glibc's malloc keeps such blocks for their thread; a larger one takes ten times as long. */
#define FIRST_BLOCK_BYTES 1024
#define LAST_BLOCK_BYTES  65536
/* Allocations of this size and more get their own block, so that they do not waste the rest of a shared one. */
#define BIG_BYTES (LAST_BLOCK_BYTES / 4)
#define ALIGN     _Alignof(max_align_t)
/* A printed text that fits in here is not printed twice. */
#define SHORT_BYTES 128

struct lt_arena_block {
  lt_arena_block *next;
  size_t cap; /* of `bytes` */
  size_t n;
  _Alignas(max_align_t) char bytes[];
};

void lt_arena_init(lt_arena *arena, size_t max_bytes) {
  *arena = (lt_arena){.max = max_bytes};
}

static void arena_free_blocks(lt_arena_block *block) {
  while (block != NULL) {
    lt_arena_block *next = block->next;
    lt_mem_free(block);
    block = next;
  }
}

void lt_arena_release(lt_arena *arena) {
  arena_free_blocks(arena->head);
  arena_free_blocks(arena->big);
  lt_arena_init(arena, arena->max);
}

static lt_arena_block *arena_push_block(lt_arena_block **list, size_t cap) {
  lt_arena_block *block = lt_mem_alloc(sizeof(*block) + cap);
  if (block != NULL) {
    block->next = *list;
    block->cap = cap;
    block->n = 0;
    *list = block;
  }
  return block;
}

/* Each shared block is twice its forerunner; `size` is below BIG_BYTES, so the doubling ends. */
static size_t arena_next_block_cap(const lt_arena *arena, size_t size) {
  size_t total = FIRST_BLOCK_BYTES;
  if (arena->head != NULL) {
    total = (arena->head->cap + sizeof(lt_arena_block)) * 2;
  }
  while (total < sizeof(lt_arena_block) + size) {
    total *= 2;
  }
  return (total < LAST_BLOCK_BYTES ? total : LAST_BLOCK_BYTES) - sizeof(lt_arena_block);
}

static size_t arena_padding(const lt_arena_block *block, size_t align) {
  return (align - block->n % align) % align;
}

/* The block that `size` bytes go into. */
static lt_arena_block *arena_block_for(lt_arena *arena, size_t size, size_t align) {
  if (size >= BIG_BYTES) {
    return arena_push_block(&arena->big, size);
  }
  lt_arena_block *head = arena->head;
  if (head != NULL && size + arena_padding(head, align) <= head->cap - head->n) {
    return head;
  }
  return arena_push_block(&arena->head, arena_next_block_cap(arena, size));
}

static void *arena_alloc_aligned(lt_arena *arena, size_t size, size_t align) {
  if (size > arena->max - arena->used || size > PTRDIFF_MAX - sizeof(lt_arena_block)) {
    return NULL;
  }
  lt_arena_block *block = arena_block_for(arena, size, align);
  if (block == NULL) {
    return NULL;
  }
  size_t pad = arena_padding(block, align);
  if (size + pad > arena->max - arena->used) {
    return NULL;
  }
  void *at = block->bytes + block->n + pad;
  block->n += pad + size;
  arena->used += pad + size;
  return at;
}

void *lt_arena_alloc(lt_arena *arena, size_t size) {
  return arena_alloc_aligned(arena, size != 0 ? size : 1, ALIGN);
}

void *lt_arena_zalloc(lt_arena *arena, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    return NULL;
  }
  void *p = lt_arena_alloc(arena, total);
  return p != NULL ? memset(p, 0, total) : NULL;
}

/* Room for `n` bytes of text and a NUL, packed without alignment. */
static char *arena_alloc_text(lt_arena *arena, size_t n) {
  return n < PTRDIFF_MAX ? arena_alloc_aligned(arena, n + 1, 1) : NULL;
}

lt_str lt_arena_dup(lt_arena *arena, lt_str s) {
  char *p = arena_alloc_text(arena, s.n);
  if (p == NULL) {
    return LT_STR_NULL;
  }
  if (s.n > 0) {
    memcpy(p, s.p, s.n);
  }
  p[s.n] = '\0';
  return (lt_str){p, s.n};
}

lt_str lt_arena_dup_buf(lt_arena *arena, const lt_buf *buf) {
  return buf->status == LT_OK ? lt_arena_dup(arena, lt_buf_view(buf)) : LT_STR_NULL;
}

lt_str lt_arena_printf(lt_arena *arena, const char *fmt, ...) {
  char most[SHORT_BYTES];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(most, sizeof most, fmt, ap);
  va_end(ap);
  char *p = n < 0 ? NULL : arena_alloc_text(arena, (size_t)n);
  if (p == NULL) {
    return LT_STR_NULL;
  }
  if ((size_t)n < sizeof most) {
    memcpy(p, most, (size_t)n + 1);
    return (lt_str){p, (size_t)n};
  }
  va_start(ap, fmt);
  vsnprintf(p, (size_t)n + 1, fmt, ap);
  va_end(ap);
  return (lt_str){p, (size_t)n};
}
