#include "sandbox/box_memory.h"

#include <string.h>

#define SAVED_MAGIC 0x4d455355u /* "USEM" */
#define BLOCK_WORDS 32
#define PAGE_WORDS  (LT_IMAGE_PAGE / sizeof(uint64_t))
/* The most that a block takes. Two spans are at least two words apart, and two words are more than a head. */
#define BLOCK_SAVED_BYTES (BLOCK_WORDS * sizeof(uint64_t) + sizeof(saved_span))

typedef struct saved_head {
  uint32_t magic;
  uint32_t size; /* bytes of the whole memory */
  uint64_t fingerprint;
  uint32_t image_size; /* the images of a build have one fingerprint */
  uint32_t span_bytes; /* bytes after this head: spans, each with its bytes after it */
} saved_head;

/* Of words of one block that differ. One equal word costs as much as a head, so it may be inside a span. */
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

/* Bit i: word i of the block differs. A block that is the same is seen by a memcmp, which uses the widest registers
 * that this processor has. */
static uint32_t box_memory_changes(const uint64_t *words, const uint64_t *fresh) {
  uint32_t changes = 0;
  if (memcmp(words, fresh, BLOCK_WORDS * sizeof *words) != 0) {
#pragma GCC unroll 8
    for (size_t i = BLOCK_WORDS; i-- > 0;) {
      changes = changes * 2 + (words[i] != fresh[i]);
    }
  }
  return changes;
}

/* `at`: of the block's first word. `spans`: bit i: word i is to be saved. */
static void box_memory_save_block(const uint64_t *words, uint32_t at, uint32_t spans, lt_buf *out) {
  char *begin = lt_buf_reserve(out, BLOCK_SAVED_BYTES), *end = begin;
  if (begin == NULL) {
    return;
  }
  while (spans != 0) {
    unsigned i = (unsigned)__builtin_ctz(spans), n = (unsigned)__builtin_ctzll(~(uint64_t)(spans >> i));
    const saved_span span = {.at = at + i * (uint32_t)sizeof *words, .n = n * (uint32_t)sizeof *words};
    memcpy(end, &span, sizeof span);
    memcpy(end + sizeof span, words + i, span.n);
    end += sizeof span + span.n;
    spans &= spans + (UINT32_C(1) << i); /* without the lowest run of bits */
  }
  lt_buf_commit(out, (size_t)(end - begin));
}

/* From the word that `from` is in, which is in this page. */
static void box_memory_save_page(const lt_box *box, uint32_t at, uint32_t from, lt_buf *out) {
  const uint64_t *page = (const uint64_t *)(const void *)(box->memory + at);
  const uint64_t *fresh = box_memory_fresh_page(box, at);
  size_t first = (from - at) / sizeof *page;
  for (size_t i = first / BLOCK_WORDS * BLOCK_WORDS; i < PAGE_WORDS; i += BLOCK_WORDS) {
    uint32_t changes = box_memory_changes(page + i, fresh + i);
    changes &= i < first ? UINT32_MAX << (first - i) : UINT32_MAX;
    uint32_t spans = changes | (changes << 1 & changes >> 1); /* and the one word between two */
    if (spans != 0) {
      box_memory_save_block(page + i, at + (uint32_t)(i * sizeof *page), spans, out);
    }
  }
}

uint32_t lt_box_memory_save(lt_box *box, lt_buf *out) {
  saved_head head = {.magic = SAVED_MAGIC,
                     .size = lt_box_size(box),
                     .fingerprint = box->image->head.fingerprint,
                     .image_size = box->image->head.size};
  size_t start = out->n;
  uint32_t from = *box->module->stack_pointer(box->instance);
  from = from <= box->image->head.start ? from : box->image->head.start; /* a guest out of control has set it */
  lt_buf_add(out, lt_str_from(&head, sizeof head));
  uint32_t lowest = box->image->head.start;
  lt_box_pages pages = {.has_begun = false};
  while (lt_box_next_pages(box, &pages)) {
    for (size_t i = 0; i < pages.count; i++) {
      ptrdiff_t at = pages.from + pages.owned[i] * (ptrdiff_t)LT_IMAGE_PAGE;
      lowest = at >= 0 && at < (ptrdiff_t)lowest ? (uint32_t)at : lowest;
      if (at >= (ptrdiff_t)(from / LT_IMAGE_PAGE * LT_IMAGE_PAGE)) {
        box_memory_save_page(box, (uint32_t)at, from > (uint32_t)at ? from : (uint32_t)at, out);
      }
    }
  }
  if (out->status == LT_OK) {
    head.span_bytes = (uint32_t)(out->n - start - sizeof head);
    memcpy(out->p + start, &head, sizeof head);
  }
  return lowest;
}

static bool box_memory_read_head(lt_str saved, saved_head *ret) {
  if (saved.n < sizeof *ret) {
    return false;
  }
  memcpy(ret, saved.p, sizeof *ret);
  return ret->magic == SAVED_MAGIC && ret->span_bytes == saved.n - sizeof *ret && ret->size % LT_WASM_PAGE == 0;
}

bool lt_box_memory_is_of(const lt_image *image, lt_str saved) {
  saved_head head;
  return box_memory_read_head(saved, &head) && head.fingerprint == image->head.fingerprint &&
         head.image_size == image->head.size && head.size >= image->head.size;
}

/* Takes the next span, with its bytes, from what is left. */
static bool box_memory_next_span(const lt_box *box, lt_str *rest, saved_span *ret_span, const char **ret_bytes) {
  saved_span span;
  if (rest->n < sizeof span) {
    return false;
  }
  memcpy(&span, rest->p, sizeof span);
  *rest = lt_str_from(rest->p + sizeof span, rest->n - sizeof span);
  if (span.n > rest->n || !lt_box_has(box, span.at, span.n)) {
    return false;
  }
  *ret_span = span;
  *ret_bytes = rest->p;
  *rest = lt_str_from(rest->p + span.n, rest->n - span.n);
  return true;
}

bool lt_box_memory_load(lt_box *box, lt_str saved) {
  saved_head head;
  if (!lt_box_memory_is_of(box->image, saved) || !box_memory_read_head(saved, &head) || !lt_box_grow(box, head.size)) {
    return false;
  }
  lt_str rest = lt_str_from(saved.p + sizeof head, saved.n - sizeof head);
  saved_span span;
  const char *bytes;
  while (rest.n > 0) {
    if (!box_memory_next_span(box, &rest, &span, &bytes)) {
      return false;
    }
    memcpy(box->memory + span.at, bytes, span.n);
  }
  return true;
}

/* A span is in one block, so in one page. */
size_t lt_box_memory_undo(lt_box *box, lt_str saved) {
  lt_str rest = lt_str_from(saved.p + sizeof(saved_head), saved.n - sizeof(saved_head));
  saved_span span;
  const char *bytes;
  uint32_t last = 0;
  size_t pages = 0;
  while (box_memory_next_span(box, &rest, &span, &bytes)) {
    uint32_t page = span.at / LT_IMAGE_PAGE * LT_IMAGE_PAGE;
    memcpy(box->memory + span.at, (const char *)box_memory_fresh_page(box, page) + (span.at - page), span.n);
    pages += page != last;
    last = page;
  }
  return pages * LT_IMAGE_PAGE;
}
