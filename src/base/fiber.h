/* Fibers: stacks of our own and a switch between them.
 *
 * A fiber runs a function on its own stack until it ends or calls lt_fiber_yield; whoever called lt_fiber_resume then
 * goes on. That is all: who waits for what is the business of io/ and runner/. A fiber may be resumed by another thread
 * than before, so nothing thread-local may be kept across a yield (not even errno).
 *
 * The switch is a few instructions of assembly per architecture (fiber_x86_64.S, fiber_aarch64.S). It saves what the
 * ABI calls callee-saved, no signal mask. AddressSanitizer and ThreadSanitizer are told of every switch.
 */
#ifndef LT_BASE_FIBER_H
#define LT_BASE_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The function may suspend its fiber: hold ids, not pointers that others may free. Checked by scripts/lint-yields.py */
#define LT_YIELDS

typedef struct lt_fiber lt_fiber;
typedef void (*lt_fiber_fn)(void *arg);

/* The bytes of an lt_fiber, for callers that place it themselves. */
#define LT_FIBER_SIZE 256

struct lt_fiber {
  _Alignas(16) unsigned char opaque[LT_FIBER_SIZE];
};

/* Prepares `fiber` to run `fn(arg)` on [stack, stack + size). Nothing runs yet.
 * Borrows: the stack, until the fiber has ended or lt_fiber_release was called. */
void lt_fiber_init(lt_fiber *fiber, void *stack, size_t size, lt_fiber_fn fn, void *arg);

/* Makes an ended or abandoned fiber's storage reusable. An abandoned fiber's frames never run again. */
void lt_fiber_release(lt_fiber *fiber);

/* Runs the fiber until it yields or ends. Returns true while it can be resumed again.
 * May nest: a fiber may resume another one. Never resume one that is running. */
bool lt_fiber_resume(lt_fiber *fiber);

/* Gives control back to whoever resumed the running fiber. Must be called on a fiber. */
void lt_fiber_yield(void) LT_YIELDS;

/* The running fiber of this thread, or NULL. Ask again after every yield. */
lt_fiber *lt_fiber_current(void);

/* Maps a stack of at least `size` bytes with a guard page below it; untouched pages cost nothing.
 * LT_E_NOMEM. Owns: the caller, lt_fiber_stack_free with the size that was returned. */
lt_status lt_fiber_stack_new(size_t size, void **ret_stack, size_t *ret_size, lt_err *err);
void lt_fiber_stack_free(void *stack, size_t size);

#endif
