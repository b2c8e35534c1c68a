/* Memory that programs at rest have left, for the next ones (box_rest.h): in a rush thousands come and go, and the
 * system would make its pages anew for each. Pieces of one size, LT_BOX_SHELF_BYTES. Any thread may use it; nothing
 * suspends.
 */
#ifndef LT_SANDBOX_BOX_SHELF_H
#define LT_SANDBOX_BOX_SHELF_H

#include <pthread.h>
#include <stdbool.h>

/* The members are private to box_shelf.c. */
typedef struct lt_box_shelf {
  pthread_mutex_t lock;
  char *first; /* each begins with the address of the next one */
  unsigned count;
  unsigned least; /* fewest pieces since the last trimming */
} lt_box_shelf;

void lt_box_shelf_init(lt_box_shelf *shelf);
/* Frees its pieces. */
void lt_box_shelf_release(lt_box_shelf *shelf);

/* A piece of the shelf; NULL: it has none. Owns: the caller, lt_box_shelf_give or lt_mem_free. */
char *lt_box_shelf_take(lt_box_shelf *shelf);
/* A new piece. All its pages have been written to, so that using it makes no page fault. NULL: no memory. Owns: as
 * above. */
char *lt_box_shelf_make(void);
/* Keeps a piece; frees it where LT_BOX_SHELF_MAX are kept. */
void lt_box_shelf_give(lt_box_shelf *shelf, char *piece);

/* Frees at most LT_BOX_SHELF_TRIM of the pieces that nobody has taken since the last call. */
void lt_box_shelf_trim(lt_box_shelf *shelf);
/* Whether it has pieces. */
bool lt_box_shelf_has_any(lt_box_shelf *shelf);

#endif
