#include "sandbox/box_memory.h"

#include <string.h>
#include <sys/mman.h>

#define SAVED_MAGIC     0x4d455354u /* "TSEM" */
#define WASM_PAGE_BYTES 65536u

/* Then for each page its number in the memory, and behind all numbers the pages. */
typedef struct saved_head {
  uint32_t magic;
  uint32_t size; /* bytes of the whole memory */
  uint64_t fingerprint;
  uint32_t image_size; /* the images of a build have one fingerprint */
  uint32_t page_count;
} saved_head;

/* Below `start` is the shadow stack, which is empty between two programs. */
static bool box_memory_is_changed(const lt_box *box, uint32_t at) {
  static const uint8_t zeros[LT_IMAGE_PAGE];
  const lt_image_header *head = &box->image->head;
  const uint8_t *fresh = at < head->size ? box->image->bytes + (at - head->start) : zeros;
  return memcmp(box->memory + at, fresh, LT_IMAGE_PAGE) != 0;
}

static void box_memory_save_numbers(const lt_box *box, lt_buf *out, uint32_t *ret_count) {
  for (uint32_t at = box->image->head.start; at < lt_box_size(box); at += LT_IMAGE_PAGE) {
    if (box_memory_is_changed(box, at)) {
      uint32_t number = at / LT_IMAGE_PAGE;
      lt_buf_add(out, lt_str_from(&number, sizeof number));
      ++*ret_count;
    }
  }
}

void lt_box_memory_save(const lt_box *box, lt_buf *out) {
  saved_head head = {.magic = SAVED_MAGIC,
                     .size = lt_box_size(box),
                     .fingerprint = box->image->head.fingerprint,
                     .image_size = box->image->head.size};
  size_t start = out->n, numbers = start + sizeof head;
  lt_buf_add(out, lt_str_from(&head, sizeof head));
  box_memory_save_numbers(box, out, &head.page_count);
  for (uint32_t i = 0; i < head.page_count && out->status == LT_OK; i++) {
    uint32_t number;
    memcpy(&number, out->p + numbers + i * sizeof number, sizeof number);
    lt_buf_add(out, lt_str_from(box->memory + (size_t)number * LT_IMAGE_PAGE, LT_IMAGE_PAGE));
  }
  if (out->status == LT_OK) {
    memcpy(out->p + start, &head, sizeof head);
  }
}

static bool box_memory_read_head(lt_str saved, saved_head *ret) {
  if (saved.n < sizeof *ret) {
    return false;
  }
  memcpy(ret, saved.p, sizeof *ret);
  uint64_t page_bytes = (uint64_t)ret->page_count * (sizeof(uint32_t) + LT_IMAGE_PAGE);
  return ret->magic == SAVED_MAGIC && page_bytes == saved.n - sizeof *ret && ret->size % WASM_PAGE_BYTES == 0;
}

bool lt_box_memory_is_of(const lt_image *image, lt_str saved) {
  saved_head head;
  return box_memory_read_head(saved, &head) && head.fingerprint == image->head.fingerprint &&
         head.image_size == image->head.size && head.size >= image->head.size;
}

bool lt_box_memory_load(lt_box *box, lt_str saved) {
  saved_head head;
  if (!lt_box_memory_is_of(box->image, saved) || !box_memory_read_head(saved, &head) || !lt_box_grow(box, head.size)) {
    return false;
  }
  const char *numbers = saved.p + sizeof head, *pages = numbers + head.page_count * sizeof(uint32_t);
  for (uint32_t i = 0; i < head.page_count; i++) {
    uint32_t number;
    memcpy(&number, numbers + i * sizeof number, sizeof number);
    uint64_t at = (uint64_t)number * LT_IMAGE_PAGE;
    if (at < box->image->head.start || at + LT_IMAGE_PAGE > head.size) {
      return false;
    }
    memcpy(box->memory + at, pages + (size_t)i * LT_IMAGE_PAGE, LT_IMAGE_PAGE);
  }
  return true;
}
