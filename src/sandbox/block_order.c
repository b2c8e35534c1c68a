#include "sandbox/block_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sandbox/image.h"
#include "sandbox/qjs_abi.h"

/* Small blocks that loading an image allocates: ten times as many as there are. */
#define ALLOCATIONS_MAX (1u << 18)

/* quickjs.c, JSMallocBlockHeader, JSMallocArena and JSMallocState, which the runtime begins with. A block's address is
 * that of the bytes after its head. */
enum { BLOCK_HEAD = 8, ARENA_BYTES = 4072 };
enum { ALL_ARENAS = 40, FREE_ARENAS = 288 }; /* lists for each size: all arenas, those with a free block */

typedef struct list_link {
  uint32_t prev, next;
} list_link;

typedef struct arena_head {
  list_link free; /* 0: it is full, and in no list */
  list_link all;
  uint8_t size; /* its number */
  uint8_t gap;
  uint16_t used;
  uint16_t count;
  uint16_t first; /* number of a free block; a free block has the number of the next one */
} arena_head;

_Static_assert(sizeof(arena_head) == 24, "blocks begin where the engine looks for them");

/* The only one. */
static lt_block_order *block_order;

static uint32_t block_bytes(unsigned size) {
  return size < 15 ? 16 + 8 * size : size < 23 ? 128 + 16 * (size - 14) : 256 + 32 * (size - 22);
}

/* The smallest that has room for `bytes`; LT_BLOCK_SIZES: it is no small block. */
static unsigned block_size_for(uint32_t bytes) {
  uint32_t needed = (bytes + 7) / 8 * 8 + BLOCK_HEAD;
  unsigned size = bytes == 0 ? LT_BLOCK_SIZES : 0;
  while (size < LT_BLOCK_SIZES && block_bytes(size) < needed) {
    size++;
  }
  return size;
}

/* --- The engine's lists ------------------------------------------------------------------------------------------- */
static list_link *block_link_at(uint8_t *memory, uint32_t at) {
  return (list_link *)(void *)(memory + at);
}

static arena_head *block_arena_at(uint8_t *memory, uint32_t at) {
  return (arena_head *)(void *)(memory + at);
}

static uint32_t block_list(const lt_block_order *order, unsigned lists, unsigned size) {
  return order->runtime + lists + size * (uint32_t)sizeof(list_link);
}

static void block_list_add(uint8_t *memory, uint32_t list, uint32_t at) {
  uint32_t next = block_link_at(memory, list)->next;
  *block_link_at(memory, at) = (list_link){.prev = list, .next = next};
  block_link_at(memory, next)->prev = at;
  block_link_at(memory, list)->next = at;
}

/* Then it is a list of its own, so to take it out once more changes nothing. */
static void block_list_take(uint8_t *memory, uint32_t at) {
  list_link link = *block_link_at(memory, at);
  block_link_at(memory, link.prev)->next = link.next;
  block_link_at(memory, link.next)->prev = link.prev;
  *block_link_at(memory, at) = (list_link){.prev = at, .next = at};
}

/* The one after `arena` among all of a size; after 0: the first. 0: there is no other. */
static uint32_t block_next_arena(const lt_block_order *order, uint8_t *memory, unsigned size, uint32_t arena) {
  const uint32_t link = offsetof(arena_head, all), list = block_list(order, ALL_ARENAS, size);
  uint32_t next = block_link_at(memory, arena == 0 ? list : arena + link)->next;
  return next == list ? 0 : next - link;
}

static uint32_t block_head_at(uint32_t arena, unsigned size, unsigned i) {
  return arena + (uint32_t)sizeof(arena_head) + i * block_bytes(size);
}

/* --- Loading ------------------------------------------------------------------------------------------------------ */
static void block_fill_arena(uint8_t *memory, uint32_t arena, unsigned size, unsigned count) {
  *block_arena_at(memory, arena) =
      (arena_head){.free = {arena, arena}, .size = (uint8_t)size, .count = (uint16_t)count};
  for (unsigned i = 0; i < count; i++) {
    uint16_t next = i + 1 < count ? (uint16_t)(i + 1) : UINT16_MAX;
    uint8_t *head = memory + block_head_at(arena, size, i);
    memcpy(head, &next, sizeof next);
    head[sizeof next] = (uint8_t)size;
  }
}

/* Not among those with free blocks. */
static uint32_t block_make_arena(lt_block_order *order, unsigned size, unsigned count) {
  volatile uint32_t arena = 0;
  Z_qjs_instance_t *q = order->box->instance;
  LT_BOX_ENTER(order->box, arena = Z_qjsZ_malloc(q, block_head_at(0, size, count)));
  LT_CHECK(arena != 0);
  uint8_t *memory = order->box->memory;
  block_fill_arena(memory, arena, size, count);
  block_list_add(memory, block_list(order, ALL_ARENAS, size), arena + (uint32_t)offsetof(arena_head, all));
  return arena;
}

/* The engine frees an arena with its last block. This one counts a block too many, so it stays. */
static uint32_t block_make_lasting_arena(lt_block_order *order, unsigned size, unsigned count) {
  uint32_t arena = block_make_arena(order, size, count);
  block_arena_at(order->box->memory, arena)->used++;
  block_arena_at(order->box->memory, arena)->count++;
  return arena;
}

/* In a row. */
static void block_make_arenas(lt_block_order *order) {
  for (unsigned tier = 0; tier < LT_BLOCK_TIERS; tier++) {
    for (unsigned size = 0; size < LT_BLOCK_SIZES; size++) {
      unsigned count = (unsigned)order->hot[tier][size] + order->spare[tier][size];
      order->arena[tier][size] = count > 0 ? block_make_lasting_arena(order, size, count) : 0;
    }
  }
}

/* Puts an arena of ours before all others with free blocks, or takes it away from them. */
static void block_show_arena(lt_block_order *order, unsigned tier, unsigned size, bool is_shown) {
  uint8_t *memory = order->box->memory;
  uint32_t arena = order->arena[tier][size];
  if (arena == 0 || block_arena_at(memory, arena)->free.next == 0) {
    return;
  }
  block_list_take(memory, arena);
  if (is_shown) {
    block_list_add(memory, block_list(order, FREE_ARENAS, size), arena);
  }
}

static void block_choose_arena(lt_block_order *order, unsigned size) {
  bool is_noted = order->count < order->noted;
  const lt_block_allocation *it = &order->allocations[order->count];
  LT_CHECK(!is_noted || it->size == size); /* the same allocations in the same order */
  for (unsigned tier = 0; tier < LT_BLOCK_TIERS; tier++) {
    block_show_arena(order, tier, size, is_noted && tier == it->tier);
  }
}

/* Of the block that the engine takes now. */
static uint32_t block_next_address(lt_block_order *order, unsigned size) {
  uint8_t *memory = order->box->memory;
  uint32_t list = block_list(order, FREE_ARENAS, size);
  if (block_link_at(memory, list)->next == list) {
    block_list_add(memory, list, block_make_arena(order, size, ARENA_BYTES / block_bytes(size)));
  }
  uint32_t arena = block_link_at(memory, list)->next;
  return block_head_at(arena, size, block_arena_at(memory, arena)->first) + BLOCK_HEAD;
}

static void block_load(lt_block_order *order, unsigned size) {
  LT_CHECK(order->count < ALLOCATIONS_MAX);
  if (order->phase == LT_BLOCKS_PLACED) {
    block_choose_arena(order, size);
  } else {
    order->allocations[order->count] = (lt_block_allocation){
        .address = block_next_address(order, size), .size = (uint8_t)size, .tier = LT_BLOCK_OF_NONE};
  }
  order->count++;
}

/* --- Watching ----------------------------------------------------------------------------------------------------- */
static void block_look_at_page(lt_block_order *order, uint32_t at) {
  const lt_image *image = order->box->image;
  const uint8_t *now = order->box->memory + at, *fresh = image->bytes + (at - image->head.start);
  if (memcmp(now, fresh, LT_IMAGE_PAGE) == 0) {
    return;
  }
  for (uint32_t i = 0; i < LT_IMAGE_PAGE; i += 8) {
    bool is_changed = memcmp(now + i, fresh + i, 8) != 0;
    order->changed[(at + i) / 8] |= is_changed ? 1u << (order->programs - 1) : 0;
  }
}

void lt_block_order_look(lt_block_order *order) {
  const lt_image_header *head = &order->box->image->head;
  for (uint32_t at = head->start; at < head->size; at += LT_IMAGE_PAGE) {
    block_look_at_page(order, at);
  }
}

static unsigned block_count_used(const lt_block_order *order, unsigned size) {
  uint8_t *memory = order->box->memory;
  unsigned used = 0;
  for (uint32_t at = block_next_arena(order, memory, size, 0); at != 0;
       at = block_next_arena(order, memory, size, at)) {
    used += block_arena_at(memory, at)->used;
  }
  return used;
}

static void block_watch(lt_block_order *order, unsigned size) {
  uint16_t *most = &order->more[size][order->programs - 1];
  unsigned used = block_count_used(order, size) + 1; /* with the one that is taken now */
  unsigned more = used > order->used[size] ? used - order->used[size] : 0;
  *most = (uint16_t)(more > *most ? more : *most);
  lt_block_order_look(order);
}

/* --- Before each allocation --------------------------------------------------------------------------------------- */
static void block_before(Z_qjs_instance_t *q, uint32_t runtime, uint32_t bytes) {
  lt_block_order *order = block_order;
  if (order->box->instance != q) {
    return;
  }
  LT_BOX_HOST_BEGIN(order->box);
  unsigned size = block_size_for(bytes);
  if (order->runtime == 0) { /* the first of all allocations: what programs change lies beside the runtime itself */
    order->runtime = runtime;
    block_make_arenas(order);
  }
  if (size < LT_BLOCK_SIZES) {
    (order->phase == LT_BLOCKS_WATCHED ? block_watch : block_load)(order, size);
  }
  LT_BOX_HOST_END(order->box);
}

/* --- Settling ----------------------------------------------------------------------------------------------------- */
static lt_block_tier block_tier_of(const lt_block_order *order, uint32_t head, unsigned size) {
  uint32_t by = 0;
  for (unsigned i = 0; i < block_bytes(size) / 8; i++) {
    by |= order->changed[head / 8 + i];
  }
  unsigned count = (unsigned)__builtin_popcount(by);
  return count == 0 ? LT_BLOCK_OF_NONE : count * 2 >= order->programs ? LT_BLOCK_OF_HALF : LT_BLOCK_OF_SOME;
}

static void block_mark_free(uint8_t *memory, uint32_t arena, bool *ret_is_free) {
  const arena_head *head = block_arena_at(memory, arena);
  memset(ret_is_free, false, head->count);
  uint16_t i = head->first;
  for (unsigned left = (unsigned)head->count - head->used; left > 0; left--) {
    ret_is_free[i] = true;
    memcpy(&i, memory + block_head_at(arena, head->size, i), sizeof i);
  }
}

static void block_settle_arena(lt_block_order *order, uint8_t *memory, uint32_t arena,
                               const uint32_t *allocation_by_word) {
  unsigned count = block_arena_at(memory, arena)->count, size = block_arena_at(memory, arena)->size;
  bool is_free[ARENA_BYTES / 16];
  block_mark_free(memory, arena, is_free);
  for (unsigned i = 0; i < count; i++) {
    uint32_t head = block_head_at(arena, size, i);
    lt_block_tier tier = is_free[i] ? LT_BLOCK_OF_NONE : block_tier_of(order, head, size);
    if (tier != LT_BLOCK_OF_NONE) {
      order->allocations[allocation_by_word[(head + BLOCK_HEAD) / 8]].tier = (uint8_t)tier;
      order->hot[tier][size]++;
    }
  }
}

static int block_compare(const void *a, const void *b) {
  return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* The first tier has room for all that half of the programs make, both for what any of them makes. */
static void block_settle_spare(lt_block_order *order, unsigned size) {
  uint16_t *more = order->more[size];
  qsort(more, order->programs, sizeof *more, block_compare);
  order->spare[LT_BLOCK_OF_HALF][size] = more[order->programs / 2];
  order->spare[LT_BLOCK_OF_SOME][size] = (uint16_t)(more[order->programs - 1] - more[order->programs / 2]);
}

lt_status lt_block_order_settle(lt_block_order *order, lt_box *fresh, lt_err *err) {
  uint32_t *allocation_by_word = lt_mem_zalloc(lt_box_size(fresh) / 8, sizeof *allocation_by_word);
  if (allocation_by_word == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to order what programs change");
  }
  for (uint32_t i = 0; i < order->noted; i++) { /* a block that was freed is the last one's */
    allocation_by_word[order->allocations[i].address / 8] = i;
  }
  for (unsigned size = 0; size < LT_BLOCK_SIZES && order->programs > 0; size++) {
    block_settle_spare(order, size);
    for (uint32_t at = block_next_arena(order, fresh->memory, size, 0); at != 0;
         at = block_next_arena(order, fresh->memory, size, at)) {
      block_settle_arena(order, fresh->memory, at, allocation_by_word);
    }
  }
  lt_mem_free(allocation_by_word);
  return LT_OK;
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */
static bool block_arena_is_sound(lt_box *box, uint32_t arena, unsigned size) {
  const arena_head *head = block_arena_at(box->memory, arena);
  if (head->size != size || head->used > head->count) {
    return false;
  }
  uint16_t i = head->first;
  for (unsigned left = (unsigned)head->count - head->used; left > 0; left--) {
    uint32_t at = block_head_at(arena, size, i);
    if (i >= head->count || !lt_box_has(box, at, block_bytes(size))) {
      return false;
    }
    memcpy(&i, box->memory + at, sizeof i);
  }
  return true;
}

/* How many links are in a list; UINT32_MAX: it is none. */
static uint32_t block_count_links(lt_box *box, uint32_t list) {
  uint32_t count = 0, at = list;
  do {
    uint32_t next = block_link_at(box->memory, at)->next;
    if (!lt_box_has(box, next, sizeof(list_link)) || block_link_at(box->memory, next)->prev != at ||
        count == ALLOCATIONS_MAX) {
      return UINT32_MAX;
    }
    at = next;
    count++;
  } while (at != list);
  return count - 1;
}

/* Those with a free block are among all arenas of a size. */
static bool block_size_is_sound(const lt_block_order *order, unsigned size) {
  lt_box *box = order->box;
  uint32_t open = 0;
  if (block_count_links(box, block_list(order, ALL_ARENAS, size)) == UINT32_MAX) {
    return false;
  }
  for (uint32_t at = block_next_arena(order, box->memory, size, 0); at != 0;
       at = block_next_arena(order, box->memory, size, at)) {
    if (!block_arena_is_sound(box, at, size)) {
      return false;
    }
    open += block_arena_at(box->memory, at)->free.next != 0;
  }
  return open == block_count_links(box, block_list(order, FREE_ARENAS, size));
}

/* --- Phases ------------------------------------------------------------------------------------------------------- */
lt_status lt_block_order_init(lt_block_order *order, lt_err *err) {
  *order = (lt_block_order){.allocations = lt_mem_zalloc(ALLOCATIONS_MAX, sizeof *order->allocations),
                            .changed = lt_mem_zalloc(LT_RUN_MEMORY_BYTES / 8, sizeof *order->changed)};
  if (order->allocations == NULL || order->changed == NULL) {
    lt_block_order_release(order);
    return lt_fail(err, LT_E_NOMEM, "no memory to order what programs change");
  }
  return LT_OK;
}

void lt_block_order_release(lt_block_order *order) {
  lt_mem_free(order->allocations);
  lt_mem_free(order->changed);
  *order = (lt_block_order){.allocations = NULL};
}

static void block_begin_program(lt_block_order *order) {
  LT_CHECK(order->programs < LT_BLOCK_PROGRAMS_MAX);
  LT_CHECK(order->box->image->head.size <= LT_RUN_MEMORY_BYTES);
  order->programs++;
  for (unsigned size = 0; size < LT_BLOCK_SIZES; size++) {
    order->used[size] = (uint16_t)block_count_used(order, size);
  }
}

void lt_block_order_begin(lt_block_order *order, lt_block_phase phase, lt_box *box) {
  order->phase = phase;
  order->box = box;
  if (phase == LT_BLOCKS_WATCHED) {
    block_begin_program(order);
  } else {
    order->runtime = order->count = 0;
  }
  block_order = order;
  Z_qjs_before_block = block_before;
}

lt_status lt_block_order_end(lt_block_order *order, lt_err *err) {
  Z_qjs_before_block = NULL;
  order->noted = order->phase == LT_BLOCKS_NOTED ? order->count : order->noted;
  for (unsigned tier = LT_BLOCK_TIERS; order->phase == LT_BLOCKS_PLACED && tier-- > 0;) { /* the first tier first */
    for (unsigned size = 0; size < LT_BLOCK_SIZES; size++) {
      block_show_arena(order, tier, size, true);
    }
  }
  for (unsigned size = 0; size < LT_BLOCK_SIZES; size++) {
    if (!block_size_is_sound(order, size)) {
      return lt_fail(err, LT_E_INTERNAL, "the engine's blocks of %u bytes do not fit together", block_bytes(size));
    }
  }
  return LT_OK;
}
