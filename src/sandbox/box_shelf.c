#include "sandbox/box_shelf.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/image_layout.h"

static char *box_shelf_next(const char *piece) {
  char *next;
  memcpy(&next, piece, sizeof next);
  return next;
}

char *lt_box_shelf_take(lt_box_shelf *shelf) {
  pthread_mutex_lock(&shelf->lock);
  char *piece = shelf->first;
  if (piece != NULL) {
    shelf->first = box_shelf_next(piece);
    shelf->count--;
    shelf->least = shelf->count < shelf->least ? shelf->count : shelf->least;
  }
  pthread_mutex_unlock(&shelf->lock);
  return piece;
}

char *lt_box_shelf_make(void) {
  char *piece = lt_mem_alloc(LT_BOX_SHELF_BYTES);
  for (size_t at = 0; piece != NULL && at < LT_BOX_SHELF_BYTES; at += LT_IMAGE_PAGE) {
    ((volatile char *)piece)[at] = 0;
  }
  if (piece != NULL) { /* it may begin in the middle of a page */
    ((volatile char *)piece)[LT_BOX_SHELF_BYTES - 1] = 0;
  }
  return piece;
}

void lt_box_shelf_give(lt_box_shelf *shelf, char *piece) {
  pthread_mutex_lock(&shelf->lock);
  bool has_room = shelf->count < LT_BOX_SHELF_MAX;
  if (has_room) {
    memcpy(piece, &shelf->first, sizeof shelf->first);
    shelf->first = piece;
    shelf->count++;
  }
  pthread_mutex_unlock(&shelf->lock);
  if (!has_room) {
    lt_mem_free(piece);
  }
}

/* Takes pieces out that are to be freed, linked as before. */
static char *box_shelf_cut(lt_box_shelf *shelf, unsigned most) {
  pthread_mutex_lock(&shelf->lock);
  char *all = NULL;
  for (unsigned left = shelf->least < most ? shelf->least : most; left > 0; left--) {
    char *piece = shelf->first;
    shelf->first = box_shelf_next(piece);
    shelf->count--;
    memcpy(piece, &all, sizeof all);
    all = piece;
  }
  shelf->least = shelf->count;
  pthread_mutex_unlock(&shelf->lock);
  return all;
}

static void box_shelf_free(char *all) {
  while (all != NULL) {
    char *piece = all;
    all = box_shelf_next(piece);
    lt_mem_free(piece);
  }
}

void lt_box_shelf_trim(lt_box_shelf *shelf) {
  box_shelf_free(box_shelf_cut(shelf, LT_BOX_SHELF_TRIM));
}

bool lt_box_shelf_has_any(lt_box_shelf *shelf) {
  pthread_mutex_lock(&shelf->lock);
  bool has_any = shelf->count > 0;
  pthread_mutex_unlock(&shelf->lock);
  return has_any;
}

void lt_box_shelf_init(lt_box_shelf *shelf) {
  *shelf = (lt_box_shelf){.first = NULL};
  pthread_mutex_init(&shelf->lock, NULL);
}

void lt_box_shelf_release(lt_box_shelf *shelf) {
  box_shelf_free(shelf->first);
  pthread_mutex_destroy(&shelf->lock);
}
