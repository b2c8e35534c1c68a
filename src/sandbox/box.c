#include "sandbox/box.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "sandbox/box_memory.h"
#include "sandbox/page_map.h"
#include "sandbox/wasm_rt.h"

#define PAGE_BYTES LT_IMAGE_PAGE

/* One reservation contains the guard, the native stack and the memory. Its end is the guard of the next reservation. */
#define GUARD_BYTES   65536u
#define RESERVE_BYTES (GUARD_BYTES + LT_BOX_STACK_BYTES + LT_BOX_RESERVE_BYTES)

/* Of the native stack, below what is kept of it: no frame of the engine skips so much. */
#define STACK_LOOK_BYTES (4 * PAGE_BYTES)

static wasm_rt_memory_t *box_memory_of(const lt_box *box) {
  return box->module->memory(box->instance);
}

static lt_status box_no_address_space(lt_err *err) {
  return lt_fail(err, LT_E_NOMEM,
                 "cannot reserve memory for another program (%s): fewer programs at once, or raise "
                 "vm.max_map_count and the address space limit (ulimit -v)",
                 strerror(errno));
}

/* The native stack and the shadow stack below `start` are one mapping. */
static bool box_open_stacks(lt_box *box, uint32_t anonymous_bytes) {
  size_t live = LT_BOX_STACK_BYTES + anonymous_bytes;
  if (mprotect(box->stack, live, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  /* With a huge page, a suspended program would cost 2 MiB instead of a few pages. */
  (void)madvise(box->stack, live, MADV_NOHUGEPAGE);
  return true;
}

/* Reserves the address space. */
static lt_status box_reserve(lt_box *box, uint32_t anonymous_bytes, lt_err *err) {
  void *base = mmap(NULL, RESERVE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return box_no_address_space(err);
  }
  box->stack = (uint8_t *)base + GUARD_BYTES;
  box->memory = box->stack + LT_BOX_STACK_BYTES;
  box->instance = box->memory - box->module->instance_size;
  box->size = &box_memory_of(box)->size;
  if (!box_open_stacks(box, anonymous_bytes)) {
    lt_status status = box_no_address_space(err);
    munmap(base, RESERVE_BYTES);
    box->memory = NULL;
    return status;
  }
  return LT_OK;
}

static lt_box *box_alloc(const lt_module *module) {
  lt_box *box = lt_mem_zalloc(1, sizeof *box);
  if (box == NULL) {
    return NULL;
  }
  box->module = module;
  box->max_pages = (uint32_t)(LT_RUN_MEMORY_BYTES / LT_WASM_PAGE);
  return box;
}

static void box_reset_instance(lt_box *box) {
  memcpy(box->instance, box->image->instance, box->module->instance_size);
  box->module->rebind(box->instance, box);
  *box->module->stack_pointer(box->instance) = box->image->head.stack_pointer;
  wasm_rt_memory_t *memory = box_memory_of(box);
  memory->data = box->memory;
  memory->size = box->image->head.size;
  memory->pages = box->image->head.size / LT_WASM_PAGE;
}

static lt_status box_map_image(lt_box *box, lt_err *err) {
  const lt_image_header *head = &box->image->head;
  void *at = mmap(box->memory + head->start, head->size - head->start, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, box->image->fd, box->image->offset);
  return at == MAP_FAILED ? box_no_address_space(err) : LT_OK;
}

static bool box_is_hot(const lt_image_hot *hot, uint32_t page) {
  return atomic_load_explicit(&hot->dirty[page], memory_order_relaxed) > LT_IMAGE_SAMPLES / 2;
}

static void box_note_dirty(lt_image_hot *hot, uint32_t page) {
  atomic_fetch_add_explicit(&hot->dirty[page], 1, memory_order_relaxed);
}

/* True for the first LT_IMAGE_SAMPLES callers. */
static bool box_take_sample(_Atomic uint32_t *samples) {
  return atomic_load_explicit(samples, memory_order_relaxed) < LT_IMAGE_SAMPLES &&
         atomic_fetch_add_explicit(samples, 1, memory_order_relaxed) < LT_IMAGE_SAMPLES;
}

static bool box_knows_hot(const lt_image_hot *hot) {
  return atomic_load_explicit(&hot->waiting, memory_order_relaxed) >= LT_IMAGE_SAMPLES ||
         atomic_load_explicit(&hot->samples, memory_order_relaxed) >= LT_IMAGE_SAMPLES;
}

/* Makes own copies of the pages that programs write to, with one call per run of pages (lt_image_hot). Needs Linux
 * 5.14; before that, pages are copied at the first write. */
static void box_populate(lt_box *box) {
  const lt_image *image = box->image;
  uint8_t *memory = box->memory + image->head.start;
  uint32_t pages = (image->head.size - image->head.start) / PAGE_BYTES;
  if (!box_knows_hot(image->hot)) {
    return;
  }
  for (uint32_t from = 0, to; from < pages; from = to + 1) {
    for (to = from; to < pages && box_is_hot(image->hot, to); to++) {
    }
    if (to > from && madvise(memory + from * PAGE_BYTES, (to - from) * PAGE_BYTES, MADV_POPULATE_WRITE) != 0) {
      return;
    }
  }
}

lt_status lt_box_new(const lt_image *image, lt_box **ret_box, lt_err *err) {
  lt_box *box = box_alloc(image->module);
  if (box == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for another program");
  }
  box->image = image;
  lt_status status = box_reserve(box, image->head.start, err);
  if (status == LT_OK) {
    status = box_map_image(box, err);
  }
  if (status != LT_OK) {
    lt_box_free(box);
    return status;
  }
  box_populate(box);
  box_reset_instance(box);
  *ret_box = box;
  return LT_OK;
}

lt_status lt_box_new_blank(const lt_module *module, lt_box **ret_box, lt_err *err) {
  lt_box *box = box_alloc(module);
  if (box == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for an image");
  }
  lt_status status = box_reserve(box, 0, err);
  if (status == LT_OK && !lt_wasm_rt_instantiate(module, box->instance, box, box->memory)) {
    status = lt_fail(err, LT_E_NOMEM, "no memory for an image");
  }
  if (status != LT_OK) {
    lt_box_free(box);
    return status;
  }
  *ret_box = box;
  return LT_OK;
}

/* If the guard has merged with a neighbour's mapping, unmapping needs one more mapping, and the process may be at its
 * limit. Then at least the memory is released. */
static void box_give_back(lt_box *box) {
  if (munmap(box->stack - GUARD_BYTES, RESERVE_BYTES) != 0) {
    (void)madvise(box->stack, RESERVE_BYTES - GUARD_BYTES, MADV_DONTNEED);
  }
}

void lt_box_free(lt_box *box) {
  if (box == NULL) {
    return;
  }
  LT_CHECK(box->frame == NULL);
  if (box->memory != NULL) {
    if (box->image == NULL) {
      lt_mem_free(box->module->table(box->instance)->data);
    }
    box_give_back(box);
  }
  lt_mem_free(box);
}

void lt_box_set_max_bytes(lt_box *box, uint64_t bytes) {
  uint64_t pages = bytes / LT_WASM_PAGE;
  uint64_t least = box_memory_of(box)->pages;
  uint64_t most = (UINT32_MAX - LT_BOX_SPARE_BYTES) / LT_WASM_PAGE; /* memory->size is 32 bits wide */
  box->max_pages = (uint32_t)(pages < least ? least : pages > most ? most : pages);
}

bool lt_box_grow(lt_box *box, uint32_t size) {
  wasm_rt_memory_t *memory = box_memory_of(box);
  if (size < memory->size || size / LT_WASM_PAGE > box->max_pages) {
    return false;
  }
  if (size > memory->size) {
    if (mprotect(box->memory + memory->size, size - memory->size, PROT_READ | PROT_WRITE) != 0) {
      return false;
    }
    memory->size = size;
    memory->pages = size / LT_WASM_PAGE;
    box->has_grown = true;
  }
  return true;
}

/* Finds the first page of [from, to) that is not all zero. Untouched pages read as the kernel's zero page, so this is
 * quick. memcmp is the fastest way to read memory. */
static uint32_t box_first_nonzero_page(const uint8_t *memory, uint32_t from, uint32_t to) {
  static const uint8_t zeros[PAGE_BYTES];
  uint32_t at = from;
  while (at < to && memcmp(memory + at, zeros, PAGE_BYTES) == 0) {
    at += PAGE_BYTES;
  }
  return at;
}

/* Writes only to pages that are not zero: to write to an untouched one would make it the process's own, and the box's
 * watch (page_map.h) would not know. */
static void box_wipe_pages(uint8_t *memory, uint32_t from, uint32_t to) {
  for (uint32_t at = box_first_nonzero_page(memory, from, to); at < to;
       at = box_first_nonzero_page(memory, at + PAGE_BYTES, to)) {
    memset(memory + at, 0, PAGE_BYTES);
  }
}

/* The shadow stack grows downwards, so everything above its lowest used byte is wiped, or given back where a recursion
 * was deep. `owned`: its first page that was ever written to. Returns the bytes that it still holds. */
static size_t box_wipe_shadow_stack(lt_box *box, uint32_t owned) {
  uint32_t end = box->image->head.start;
  uint32_t low = box_first_nonzero_page(box->memory, owned, end);
  if (end - low > LT_BOX_STACK_KEEP_BYTES && madvise(box->memory, end, MADV_DONTNEED) == 0) {
    return 0;
  }
  box_wipe_pages(box->memory, low, end);
  return end - low;
}

/* The native stack is not wiped, because no guest can read it. A recursion that went deeper than what is kept has
 * written to the pages below: to `page`, which the process owns, or one beside it. */
static bool box_trim_stack(lt_box *box, const uint8_t *page) {
  static const uint8_t zeros[PAGE_BYTES];
  bool is_deep = memcmp(page, zeros, PAGE_BYTES) != 0;
  if (is_deep) {
    (void)madvise(box->stack, LT_BOX_STACK_BYTES - LT_BOX_STACK_KEEP_BYTES, MADV_DONTNEED);
  }
  return is_deep;
}

/* What most programs write to is not compared first. False: the page is as in the image. */
static bool box_restore_page(lt_box *box, uint32_t at, bool is_sampled) {
  const lt_image *image = box->image;
  const uint8_t *original = image->bytes + (at - image->head.start);
  uint32_t page = (at - image->head.start) / PAGE_BYTES;
  bool is_hot = !is_sampled && box_is_hot(image->hot, page);
  if (!is_hot && memcmp(box->memory + at, original, PAGE_BYTES) == 0) {
    return false;
  }
  memcpy(box->memory + at, original, PAGE_BYTES);
  if (is_sampled) {
    box_note_dirty(image->hot, page);
  }
  return true;
}

/* What box_restore_owned has found so far. */
typedef struct box_found {
  uint32_t stack_from; /* the lowest page of the shadow stack that was ever written to */
  size_t held;         /* bytes of the image that differed */
  bool is_sampled;
  bool is_trimmed;
} box_found;

/* `at`: from the beginning of the memory, below which the native stack ends. */
static void box_restore_owned(lt_box *box, ptrdiff_t at, box_found *found) {
  const lt_image_header *head = &box->image->head;
  if (at < -(ptrdiff_t)LT_BOX_STACK_KEEP_BYTES) {
    found->is_trimmed = found->is_trimmed || box_trim_stack(box, box->memory + at);
  } else if (at >= (ptrdiff_t)head->start) {
    found->held += box_restore_page(box, (uint32_t)at, found->is_sampled) ? PAGE_BYTES : 0;
  } else if (at >= 0 && at < (ptrdiff_t)found->stack_from) {
    found->stack_from = (uint32_t)at;
  }
}

bool lt_box_next_pages(lt_box *box, lt_box_pages *pages) {
  ptrdiff_t first = -(ptrdiff_t)(LT_BOX_STACK_KEEP_BYTES + STACK_LOOK_BYTES), end = lt_box_size(box);
  pages->from = pages->has_begun ? pages->from + LT_PAGE_MAP_PAGES * PAGE_BYTES : first;
  pages->has_begun = true;
  if (pages->from >= end) {
    return false;
  }
  size_t left = (size_t)(end - pages->from) / PAGE_BYTES, count = left < LT_PAGE_MAP_PAGES ? left : LT_PAGE_MAP_PAGES;
  const uint8_t *at = box->memory + pages->from;
  int map = box->image->page_map;
  if (box->has_grown) {
    lt_page_watch_forget(&box->watch); /* it is passed by here, and a rest looks only once before the watch is left */
  }
  pages->count = pages->from == first && !box->has_grown ? lt_page_watch_look(&box->watch, map, at, count, pages->owned)
                                                         : lt_page_map_look(map, at, count, pages->owned);
  return true;
}

/* Restores the pages that were written to. Returns the bytes that differed: about those that the box does not share
 * with the image any more. */
static size_t box_restore_memory(lt_box *box) {
  const lt_image_header *head = &box->image->head;
  box_found found = {.stack_from = head->start, .is_sampled = box_take_sample(&box->image->hot->samples)};
  lt_box_pages pages = {.has_begun = false};
  while (lt_box_next_pages(box, &pages)) {
    for (size_t i = 0; i < pages.count; i++) {
      box_restore_owned(box, pages.from + pages.owned[i] * PAGE_BYTES, &found);
    }
  }
  return found.held + box_wipe_shadow_stack(box, found.stack_from);
}

void lt_box_learn(const lt_box *box) {
  const lt_image_header *head = &box->image->head;
  lt_image_hot *hot = box->image->hot;
  uint16_t owned[LT_PAGE_MAP_PAGES];
  size_t pages = (head->size - head->start) / PAGE_BYTES;
  if (box->image->page_map < 0 || !box_take_sample(&hot->waiting)) {
    return;
  }
  for (size_t from = 0; from < pages; from += LT_PAGE_MAP_PAGES) {
    size_t left = pages - from, count = left < LT_PAGE_MAP_PAGES ? left : LT_PAGE_MAP_PAGES;
    size_t found = lt_page_map_look(box->image->page_map, box->memory + head->start + from * PAGE_BYTES, count, owned);
    for (size_t i = 0; i < found; i++) {
      box_note_dirty(hot, (uint32_t)from + owned[i]);
    }
  }
}

/* Returns the memory that memory.grow added to the kernel. It reads as zero when it is mapped again. */
static bool box_drop_grown(lt_box *box) {
  uint32_t from = box->image->head.size;
  uint32_t to = lt_box_size(box);
  void *at =
      mmap(box->memory + from, to - from, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  box->has_grown = false;
  return at != MAP_FAILED;
}

static void box_forget_run(lt_box *box) {
  box_reset_instance(box);
  box->owner = NULL;
  box->refused = 0;
  box->max_pages = (uint32_t)(LT_RUN_MEMORY_BYTES / LT_WASM_PAGE);
}

bool lt_box_renew(lt_box *box) {
  LT_CHECK(box->frame == NULL && box->image != NULL);
  void *at = mmap(box->stack, RESERVE_BYTES - GUARD_BYTES, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED || !box_open_stacks(box, box->image->head.start) || box_map_image(box, NULL) != LT_OK) {
    return false;
  }
  box_forget_run(box);
  box->kept_bytes = 0;
  box->has_grown = false;
  box->watch = (lt_page_watch){.thread = 0};
  box->trap = LT_TRAP_NONE;
  atomic_store(&box->state, LT_BOX_HOST);
  return true;
}

void lt_box_empty(lt_box *box) {
  if (madvise(box->stack, LT_BOX_STACK_BYTES + box->image->head.size, MADV_DONTNEED) == 0) {
    box->watch = (lt_page_watch){.thread = 0};
    box_reset_instance(box);
    box->kept_bytes = 0;
  }
}

/* Ends the run in a box that can be used again. Its image must be restored. */
static bool box_end_run(lt_box *box) {
  LT_CHECK(box->frame == NULL && box->image != NULL);
  if (box->trap != LT_TRAP_NONE || atomic_load_explicit(&box->state, memory_order_acquire) != LT_BOX_HOST) {
    return false;
  }
  if (box->has_grown && !box_drop_grown(box)) {
    box->trap = LT_TRAP_MEMORY; /* nobody may take it as it is */
    return false;
  }
  box_forget_run(box);
  return true;
}

static void box_note_kept(lt_box *box, size_t held) {
  box->kept_bytes = held > box->kept_bytes ? held : box->kept_bytes;
}

bool lt_box_clean(lt_box *box) {
  if (!box_end_run(box)) {
    return false;
  }
  box_note_kept(box, box_restore_memory(box) + LT_BOX_STACK_KEEP_BYTES);
  lt_page_watch_leave(&box->watch);
  return true;
}

bool lt_box_clean_saved(lt_box *box, lt_str saved, uint32_t lowest) {
  if (!box_end_run(box)) {
    return false;
  }
  size_t held = lt_box_memory_undo(box, saved) + box_wipe_shadow_stack(box, lowest);
  box_note_kept(box, held + LT_BOX_STACK_KEEP_BYTES);
  lt_page_watch_leave(&box->watch);
  return true;
}

const char *lt_box_trap_text(lt_trap trap) {
  switch (trap) {
    case LT_TRAP_NONE:
      return "no trap";
    case LT_TRAP_MEMORY:
      return "access outside the program's memory";
    case LT_TRAP_STACK:
      return "stack overflow";
    case LT_TRAP_UNREACHABLE:
      return "the engine gave up";
    case LT_TRAP_ARITHMETIC:
      return "arithmetic trap in the engine";
    case LT_TRAP_CALL:
      return "invalid indirect call in the engine";
    case LT_TRAP_REVOKED:
      return "stopped: its memory was taken away";
    case LT_TRAP_STOPPED:
      return "stopped";
  }
  return "unknown trap";
}
