/* A program at rest: a suspended program as bytes, while its box serves others.
 *
 * What differs from the image, and the part of the native stack that its fiber uses, are kept on the heap. Both contain
 * addresses, so the program can only continue in the same box, its *home*: who rests must see that the box is not freed
 * (pool.h). No thread may access the box's stack or memory meanwhile. Nothing here suspends.
 */
#ifndef LT_SANDBOX_BOX_REST_H
#define LT_SANDBOX_BOX_REST_H

#include "base/fiber.h"
#include "base/str.h"
#include "sandbox/box.h"
#include "sandbox/box_shelf.h"

typedef struct lt_box_rest {
  char *bytes;
  size_t n;
  size_t room; /* bytes allocated */
} lt_box_rest;

/* Takes the program out of its box and cleans the box; one that cannot be cleaned must be renewed, or freed. `fiber` is
 * suspended, and its stack is the box's. LT_E_LIMIT: it has more than LT_BOX_REST_MAX_BYTES; LT_E_NOMEM. Then the
 * program is still in its box. Owns: the caller, lt_box_rest_release. */
lt_status lt_box_rest_begin(lt_box_shelf *shelf, lt_box *box, lt_fiber *fiber, lt_box_rest *ret_rest);
/* Puts the program back into the same box, which is clean. False: there is no memory; it can be tried again with the
 * box cleaned. Releases what was kept when it succeeds. */
bool lt_box_rest_end(lt_box_shelf *shelf, lt_box *box, lt_fiber *fiber, lt_box_rest *rest);
/* Puts its memory on the shelf, or frees it; also when nothing is kept. */
void lt_box_rest_release(lt_box_shelf *shelf, lt_box_rest *rest);

#endif
