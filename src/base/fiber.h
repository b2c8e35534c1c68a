/* Fibers: stacks of our own and a switch between them.
 *
 * A fiber runs a function on its own stack until the function ends or calls lt_fiber_yield. Then the caller of
 * lt_fiber_resume continues. Scheduling is not here: io/ and runner/ decide what a fiber waits for. A different thread
 * may resume a fiber, so do not keep thread-local values across a yield (not even errno).
 *
 * The switch is a few instructions of assembly per architecture (fiber_x86_64.S, fiber_aarch64.S). It saves the
 * registers that the ABI calls callee-saved. It does not save the signal mask. Every switch is announced to
 * AddressSanitizer and ThreadSanitizer (fiber_hooks.h).
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

/* Suspends the running fiber and returns control to the caller of lt_fiber_resume. Must be called on a fiber. */
void lt_fiber_yield(void) LT_YIELDS;

/* The running fiber of this thread, or NULL. Call it again after every yield: the thread may have changed. */
lt_fiber *lt_fiber_current(void);

/* --- Stacks of suspended fibers ------------------------------------------------------------------------------------
 * Bytes of its stack that a suspended fiber uses. */
size_t lt_fiber_stack_used(const lt_fiber *fiber);
/* Has the processor fetch from memory what a suspended fiber needs first when it goes on. */
void lt_fiber_prefetch(const lt_fiber *fiber);
/* Copies these bytes out, and back to the same place. Between the two, another fiber may use the stack. */
void lt_fiber_stack_save(lt_fiber *fiber, void *to);
void lt_fiber_stack_load(lt_fiber *fiber, const void *from);
/* Gives the memory of the stack back that a suspended fiber does not use. */
void lt_fiber_stack_trim(lt_fiber *fiber);

/* Maps `count` stacks, at least 1, of at least `size` bytes each, with a guard below each; untouched pages cost
 * nothing. LT_E_NOMEM: there are none. Owns: the caller, lt_fiber_stack_free for each, with the size that was returned.
 */
lt_status lt_fiber_stacks_new(size_t size, size_t count, void **ret_stacks, size_t *ret_size, lt_err *err);
void lt_fiber_stack_free(void *stack, size_t size);

#endif
