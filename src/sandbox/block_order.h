/* Where the engine's small blocks lie in an image: those that programs change lie beside each other, with free ones for
 * new objects among them. Build time only (engine_freeze.c); docs/internals/box.md has the reasons.
 *
 * quickjs.c takes blocks of up to 512 bytes from arenas, which have blocks of one size each. An image is loaded twice.
 * The first time it is noted which block each allocation gets. Then usual programs run in the image, and it is watched
 * which of its words they change. The second time the same allocations happen again, and those whose blocks are changed
 * get them from arenas of their own.
 *
 * One image at a time, on one thread.
 */
#ifndef LT_SANDBOX_BLOCK_ORDER_H
#define LT_SANDBOX_BLOCK_ORDER_H

#include <stdint.h>

#include "base/err.h"
#include "sandbox/box.h"

#define LT_BLOCK_SIZES        31 /* quickjs.c, js_malloc_sizes */
#define LT_BLOCK_PROGRAMS_MAX 32 /* that are watched */

/* What the engine allocates for at present. */
typedef enum lt_block_phase {
  LT_BLOCKS_NOTED,   /* an image, the first time */
  LT_BLOCKS_WATCHED, /* a program in that image */
  LT_BLOCKS_PLACED,  /* an image, the second time */
} lt_block_phase;

/* How many of the programs change a block. */
typedef enum lt_block_tier { LT_BLOCK_OF_HALF, LT_BLOCK_OF_SOME, LT_BLOCK_OF_NONE } lt_block_tier;
#define LT_BLOCK_TIERS 2 /* that have arenas of their own */

typedef struct lt_block_allocation {
  uint32_t address; /* of the block, in the image that is watched */
  uint8_t size;
  uint8_t tier; /* an lt_block_tier */
} lt_block_allocation;

typedef struct lt_block_order {
  lt_block_phase phase;
  lt_box *box;                      /* of the engine that allocates at present */
  uint32_t runtime;                 /* the engine's; 0: it has not allocated yet */
  uint32_t count;                   /* small blocks that it has allocated */
  uint32_t noted;                   /* ... in the image that is watched: later ones have no tier */
  lt_block_allocation *allocations; /* the noted ones */
  unsigned programs;
  uint32_t *changed;             /* by word of the image: a bit for each program that changes it */
  uint16_t used[LT_BLOCK_SIZES]; /* blocks of the image */
  uint16_t more[LT_BLOCK_SIZES][LT_BLOCK_PROGRAMS_MAX]; /* the most that a program had beside those */
  uint16_t hot[LT_BLOCK_TIERS][LT_BLOCK_SIZES];         /* blocks that programs change */
  uint16_t spare[LT_BLOCK_TIERS][LT_BLOCK_SIZES];       /* free ones beside them */
  uint32_t arena[LT_BLOCK_TIERS][LT_BLOCK_SIZES];       /* of both; 0: there is none */
} lt_block_order;

/* For images of at most LT_RUN_MEMORY_BYTES. LT_E_NOMEM. Owns: the caller, lt_block_order_release. */
lt_status lt_block_order_init(lt_block_order *order, lt_err *err);
void lt_block_order_release(lt_block_order *order);

/* From now until lt_block_order_end the engine allocates in `box` for this phase. Borrows both. */
void lt_block_order_begin(lt_block_order *order, lt_block_phase phase, lt_box *box);
/* LT_E_INTERNAL: the engine's lists of blocks do not fit together. */
lt_status lt_block_order_end(lt_block_order *order, lt_err *err);

/* Finds what the program has changed of the image by now. That is done before each allocation, too. */
void lt_block_order_look(lt_block_order *order);

/* After all programs: settles which blocks lie together. `fresh` is a box of the watched image, in which nothing has
 * run. LT_E_NOMEM. */
lt_status lt_block_order_settle(lt_block_order *order, lt_box *fresh, lt_err *err);

#endif
