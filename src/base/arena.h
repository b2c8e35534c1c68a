/* Arenas: memory for one request or one call, freed as a whole, with a ceiling. The caller's frame
 * or struct holds the lt_arena; the arena owns everything that is allocated from it. An arena is not for threads to
 * share. Nothing here suspends. */
#ifndef LT_BASE_ARENA_H
#define LT_BASE_ARENA_H

#include <stdarg.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

typedef struct lt_arena_block lt_arena_block;

typedef struct lt_arena {
  lt_arena_block *head; /* shared blocks, the one being filled first */
  lt_arena_block *big;  /* a block per big allocation */
  size_t used;          /* bytes handed out, or lost to alignment */
  size_t max;
} lt_arena;

/* Prepares an empty arena. It allocates its first block when the first byte is asked for. */
void lt_arena_init(lt_arena *arena, size_t max_bytes);
/* Frees everything. The arena may be used again. */
void lt_arena_release(lt_arena *arena);

/* Declares an arena that is released when control leaves the enclosing block, also by a return. Do not use it in a
 * frame that a longjmp leaves. */
#define LT_AUTO_ARENA(name, max_bytes) \
  __attribute__((cleanup(lt_arena_release))) lt_arena name = {.head = NULL, .max = (max_bytes)}

/* Memory aligned for any type, not cleared. NULL when the ceiling is reached or there is no memory. Owns: the arena. */
void *lt_arena_alloc(lt_arena *arena, size_t size);
void *lt_arena_zalloc(lt_arena *arena, size_t count, size_t size);
/* A copy in the arena with a NUL after it, not aligned; {NULL, 0} when there is no memory. */
lt_str lt_arena_dup(lt_arena *arena, lt_str s);
/* A copy of the buffer's text; {NULL, 0} when the buffer has failed or there is no memory. */
lt_str lt_arena_dup_buf(lt_arena *arena, const lt_buf *buf);
/* A formatted copy; {NULL, 0} when there is no memory. */
lt_str lt_arena_printf(lt_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
