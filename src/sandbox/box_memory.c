#include "sandbox/box_memory.h"

#include <string.h>

#define SAVED_MAGIC     0x4d455355u /* "USEM" */
#define WASM_PAGE_BYTES 65536u
#define PAGE_WORDS      (LT_IMAGE_PAGE / sizeof(uint64_t))

typedef struct saved_head {
  uint32_t magic;
  uint32_t size; /* bytes of the whole memory */
  uint64_t fingerprint;
  uint32_t image_size; /* the images of a build have one fingerprint */
  uint32_t span_bytes; /* bytes after this head: spans, each with its bytes after it */
} saved_head;

/* Of words that differ. A word that does not costs as much as a head, so it may be among them. */
typedef struct saved_span {
  uint32_t at;
  uint32_t n;
} saved_span;

/* What a page of a fresh box has. */
static const uint64_t *box_memory_fresh_page(const lt_box *box, uint32_t at) {
  static const uint64_t zeros[PAGE_WORDS];
  const lt_image_header *head = &box->image->head;
  bool is_image = at >= head->start && at < head->size;
  return is_image ? (const uint64_t *)(const void *)(box->image->bytes + (at - head->start)) : zeros;
}

/* The first word from `i` on that differs; PAGE_WORDS: none. */
static size_t box_memory_next_change(const uint64_t *page, const uint64_t *fresh, size_t i) {
  while (i < PAGE_WORDS && page[i] == fresh[i]) {
    i++;
  }
  return i;
}

static size_t box_memory_span_end(const uint64_t *page, const uint64_t *fresh, size_t i) {
  size_t end = i + 1, next = box_memory_next_change(page, fresh, end);
  while (next < PAGE_WORDS && next <= end + 1) {
    end = next + 1;
    next = box_memory_next_change(page, fresh, end);
  }
  return end;
}

/* From the word that `from` is in, which is in this page. */
static void box_memory_save_page(const lt_box *box, uint32_t at, uint32_t from, lt_buf *out) {
  const uint64_t *page = (const uint64_t *)(const void *)(box->memory + at);
  const uint64_t *fresh = box_memory_fresh_page(box, at);
  size_t i = box_memory_next_change(page, fresh, (from - at) / sizeof *page);
  while (i < PAGE_WORDS) {
    size_t end = box_memory_span_end(page, fresh, i);
    saved_span span = {.at = at + (uint32_t)(i * sizeof *page), .n = (uint32_t)((end - i) * sizeof *page)};
    lt_buf_add(out, lt_str_from(&span, sizeof span));
    lt_buf_add(out, lt_str_from(page + i, span.n));
    i = box_memory_next_change(page, fresh, end);
  }
}

void lt_box_memory_save(const lt_box *box, lt_buf *out) {
  saved_head head = {.magic = SAVED_MAGIC,
                     .size = lt_box_size(box),
                     .fingerprint = box->image->head.fingerprint,
                     .image_size = box->image->head.size};
  size_t start = out->n;
  uint32_t from = *box->module->stack_pointer(box->instance);
  from = from <= box->image->head.start ? from : box->image->head.start; /* a guest out of control has set it */
  lt_buf_add(out, lt_str_from(&head, sizeof head));
  for (uint32_t at = from / LT_IMAGE_PAGE * LT_IMAGE_PAGE; at < head.size; at += LT_IMAGE_PAGE) {
    if (memcmp(box->memory + at, box_memory_fresh_page(box, at), LT_IMAGE_PAGE) != 0) {
      box_memory_save_page(box, at, from > at ? from : at, out);
    }
  }
  if (out->status == LT_OK) {
    head.span_bytes = (uint32_t)(out->n - start - sizeof head);
    memcpy(out->p + start, &head, sizeof head);
  }
}

static bool box_memory_read_head(lt_str saved, saved_head *ret) {
  if (saved.n < sizeof *ret) {
    return false;
  }
  memcpy(ret, saved.p, sizeof *ret);
  return ret->magic == SAVED_MAGIC && ret->span_bytes == saved.n - sizeof *ret && ret->size % WASM_PAGE_BYTES == 0;
}

bool lt_box_memory_is_of(const lt_image *image, lt_str saved) {
  saved_head head;
  return box_memory_read_head(saved, &head) && head.fingerprint == image->head.fingerprint &&
         head.image_size == image->head.size && head.size >= image->head.size;
}

static bool box_memory_load_span(lt_box *box, lt_str *rest) {
  saved_span span;
  if (rest->n < sizeof span) {
    return false;
  }
  memcpy(&span, rest->p, sizeof span);
  *rest = lt_str_from(rest->p + sizeof span, rest->n - sizeof span);
  if (span.n > rest->n || !lt_box_has(box, span.at, span.n)) {
    return false;
  }
  memcpy(box->memory + span.at, rest->p, span.n);
  *rest = lt_str_from(rest->p + span.n, rest->n - span.n);
  return true;
}

bool lt_box_memory_load(lt_box *box, lt_str saved) {
  saved_head head;
  if (!lt_box_memory_is_of(box->image, saved) || !box_memory_read_head(saved, &head) || !lt_box_grow(box, head.size)) {
    return false;
  }
  lt_str rest = lt_str_from(saved.p + sizeof head, saved.n - sizeof head);
  while (rest.n > 0) {
    if (!box_memory_load_span(box, &rest)) {
      return false;
    }
  }
  return true;
}
