/* The memory of a box as bytes, and back: what a program leaves for the program after it (docs/internals/sessions.md),
 * and what a program that waits for long is kept as (box_rest.h).
 *
 * Only words that differ from the image are saved, from the guest's stack pointer on: below it nothing is in use. The
 * bytes belong to one image of one build, and say which. They may come from a stranger: they are guest memory, which
 * the host never trusts, and loading them checks what the host needs. Nothing here suspends.
 */
#ifndef LT_SANDBOX_BOX_MEMORY_H
#define LT_SANDBOX_BOX_MEMORY_H

#include "base/buf.h"
#include "sandbox/box.h"

/* Appends the memory of a box that has not trapped and that nothing runs in now. The buffer's ceiling is the limit: its
 * status is LT_E_LIMIT when there is more. Returns the lowest page of the shadow stack that was ever written to. */
uint32_t lt_box_memory_save(lt_box *box, lt_buf *out);
/* Puts back what the image has where something was saved just now. What the box has grown by is left alone. Returns the
 * bytes of the pages that were changed. */
size_t lt_box_memory_undo(lt_box *box, lt_str saved);
/* Whether the bytes are of this image. */
bool lt_box_memory_is_of(const lt_image *image, lt_str saved);
/* Puts the memory into a clean box of that image. False: the bytes are damaged, or there is no memory; the box must not
 * run then, and can be cleaned. */
bool lt_box_memory_load(lt_box *box, lt_str saved);

#endif
