#include "sandbox/box_rest.h"

#include <string.h>

#include "base/mem.h"
#include "sandbox/box_memory.h"

/* Then the stack, and what lt_box_memory_save has written. */
typedef struct rest_head {
  lt_box_frame *frame;
  void *owner;
  size_t stack_bytes;
  uint32_t max_pages;
  uint32_t stack_pointer;
  unsigned refused;
} rest_head;

/* Returns what lt_box_memory_save returns. */
static uint32_t box_rest_put(lt_box *box, lt_fiber *fiber, lt_buf *out) {
  const rest_head head = {.frame = box->frame,
                          .owner = box->owner,
                          .stack_bytes = lt_fiber_stack_used(fiber),
                          .max_pages = box->max_pages,
                          .stack_pointer = *box->module->stack_pointer(box->instance),
                          .refused = box->refused};
  lt_buf_add(out, lt_str_from(&head, sizeof head));
  char *stack = lt_buf_reserve(out, head.stack_bytes);
  if (stack != NULL) {
    lt_fiber_stack_save(fiber, stack);
    lt_buf_commit(out, head.stack_bytes);
  }
  return lt_box_memory_save(box, out);
}

static lt_str box_rest_memory(const lt_box_rest *rest) {
  rest_head head;
  memcpy(&head, rest->bytes, sizeof head);
  size_t before = sizeof head + head.stack_bytes;
  return lt_str_from(rest->bytes + before, rest->n - before);
}

/* Takes the bytes. Where they have outgrown a piece of the shelf, the room to grow further is given back. */
static bool box_rest_fit(lt_buf *out, lt_box_rest *ret_rest) {
  size_t n = 0, room = out->cap;
  char *bytes = lt_buf_take(out, &n);
  if (room != LT_BOX_SHELF_BYTES) {
    char *fitted = lt_mem_realloc(bytes, n);
    if (fitted == NULL) {
      lt_mem_free(bytes);
      return false;
    }
    bytes = fitted;
    room = n;
  }
  *ret_rest = (lt_box_rest){.bytes = bytes, .n = n, .room = room};
  return true;
}

/* The page faults of a new piece must not be taken for those of the box's pages (lt_page_watch). */
static char *box_rest_take_piece(lt_box_shelf *shelf, lt_box *box) {
  char *piece = lt_box_shelf_take(shelf);
  if (piece == NULL) {
    lt_page_watch_pause(&box->watch);
    piece = lt_box_shelf_make();
    lt_page_watch_go_on(&box->watch);
  }
  return piece;
}

lt_status lt_box_rest_begin(lt_box_shelf *shelf, lt_box *box, lt_fiber *fiber, lt_box_rest *ret_rest) {
  LT_AUTO_BUF(out, LT_BOX_REST_MAX_BYTES);
  out.p = box_rest_take_piece(shelf, box);
  if (out.p == NULL) {
    return LT_E_NOMEM;
  }
  out.cap = LT_BOX_SHELF_BYTES;
  uint32_t lowest = box_rest_put(box, fiber, &out);
  if (out.status != LT_OK) {
    return out.status;
  }
  if (!box_rest_fit(&out, ret_rest)) {
    return LT_E_NOMEM;
  }
  box->frame = NULL;
  (void)lt_box_clean_saved(box, box_rest_memory(ret_rest), lowest);
  return LT_OK;
}

bool lt_box_rest_end(lt_box_shelf *shelf, lt_box *box, lt_fiber *fiber, lt_box_rest *rest) {
  rest_head head;
  memcpy(&head, rest->bytes, sizeof head);
  box->max_pages = head.max_pages;
  if (!lt_box_memory_load(box, box_rest_memory(rest))) {
    return false;
  }
  lt_fiber_stack_load(fiber, rest->bytes + sizeof head);
  *box->module->stack_pointer(box->instance) = head.stack_pointer;
  box->frame = head.frame;
  box->owner = head.owner;
  box->refused = head.refused;
  lt_box_rest_release(shelf, rest);
  return true;
}

void lt_box_rest_release(lt_box_shelf *shelf, lt_box_rest *rest) {
  if (rest->room == LT_BOX_SHELF_BYTES) {
    lt_box_shelf_give(shelf, rest->bytes);
  } else {
    lt_mem_free(rest->bytes);
  }
  *rest = (lt_box_rest){.bytes = NULL};
}
