/* The box: one instance of a WebAssembly module, with its own memory and its own native stack.
 *
 * A box is made from an image (image.h), which it maps copy-on-write. It runs guest code on its own fiber stack.
 * Afterwards it is cleaned back to the image, or freed. It knows nothing about the language inside: engine.c adds
 * QuickJS.
 *
 * Address space of a box, from low to high (docs/internals/box.md):
 *
 *   ... guard | native stack | guest memory: shadow stack, image (copy-on-write), grown heap | nothing, up to 8 GiB
 *
 * Every 32-bit address plus 32-bit offset that the guest computes lies inside the 8 GiB. An access outside the live
 * part is a fault. A fault while the guest runs is a trap: it unwinds to the innermost LT_BOX_ENTER on the box's own
 * stack, and jumps over guest frames only. Host code that the guest calls returns through LT_BOX_HOST_END, which checks
 * whether the box may continue.
 *
 * Threads: a box is used by one thread at a time, except lt_box_revoke, which any thread may call while it holds the
 * lock that keeps the box alive (workers.c), and lt_box_nudge, which names no box.
 */
#ifndef LT_SANDBOX_BOX_H
#define LT_SANDBOX_BOX_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "sandbox/image.h"
#include "sandbox/page_map.h"
#include "sandbox/wasm_module.h"

/* Why a box stopped running guest code. */
typedef enum lt_trap {
  LT_TRAP_NONE = 0,
  LT_TRAP_MEMORY,      /* an access outside the live memory */
  LT_TRAP_STACK,       /* the native stack ran into its guard */
  LT_TRAP_UNREACHABLE, /* the guest gave up: abort(), a failed assertion */
  LT_TRAP_ARITHMETIC,  /* division by zero, overflow, bad conversion */
  LT_TRAP_CALL,        /* an indirect call to a missing function, or with the wrong type */
  LT_TRAP_REVOKED,     /* lt_box_revoke */
  LT_TRAP_STOPPED,     /* host code called lt_box_stop */
} lt_trap;

#define LT_WASM_PAGE 65536u /* bytes: WebAssembly core specification, 4.2.8 */

/* Which side is executing. Revoking a box takes effect while the guest runs; host code checks when it returns. */
enum { LT_BOX_HOST, LT_BOX_GUEST, LT_BOX_REVOKED };

/* One entry from host into guest code; lives in the host's frame, linked innermost first. */
typedef struct lt_box_frame {
  struct lt_box_frame *outer;
  jmp_buf jump;
} lt_box_frame;

/* A box as its pool sees it (pool.h), which has the lock for all of it. */
typedef struct lt_box_place {
  struct lt_box *prev; /* in a list of clean boxes */
  struct lt_box *next;
  bool is_listed;
  unsigned rests;                       /* programs at rest that can only continue in this box: it is not freed */
  struct lt_pool_waiter *first_waiting; /* of these, those that want it now */
  struct lt_pool_waiter *last_waiting;
  _Atomic bool is_wanted; /* one of them is waiting; without the lock, too */
} lt_box_place;

typedef struct lt_box {
  const lt_image *image; /* borrowed; NULL for a blank box */
  const lt_module *module;
  uint8_t *stack;       /* native stack, lt_box_stack_bytes long */
  void *instance;       /* the module's instance structure, ours, ends where the memory begins (box.md) */
  uint8_t *memory;      /* base of the guest's linear memory */
  const uint32_t *size; /* in the instance */
  uint32_t max_pages;   /* memory.grow's ceiling for this run, without the spare ones */
  _Atomic int state;    /* LT_BOX_HOST, GUEST or REVOKED */
  lt_trap trap;         /* why the guest ended, or LT_TRAP_NONE */
  lt_box_frame *frame;  /* innermost entry */
  void *owner;          /* the handler of the module's imports: engine.c */
  sigset_t mask;        /* when a signal ended the guest: the thread's former mask, restored after the jump */
  bool is_masked;       /* `mask` must be restored */
  bool has_grown;       /* memory.grow happened since the last clean */
  unsigned refused;     /* failed memory.grow calls since the last clean */
  size_t kept_bytes;    /* of a clean box: memory that it holds, about */
  lt_page_watch watch;  /* over the pages that lt_box_next_pages finds first */
  lt_box_place place;
} lt_box;

/* How long the native stack is, from `box->stack` up to the instance: for the fiber that runs the guest. */
static inline size_t lt_box_stack_bytes(const lt_box *box) {
  return (size_t)((const uint8_t *)box->instance - box->stack);
}

/* Makes a box from an image: reserves its address space and maps the image copy-on-write.
 * Errors: LT_E_NOMEM with advice (vm.max_map_count, overcommit). Owns: the caller, lt_box_free. */
lt_status lt_box_new(const lt_image *image, lt_box **ret_box, lt_err *err);

/* Makes a box by instantiating the module afresh: for building images. */
lt_status lt_box_new_blank(const lt_module *module, lt_box **ret_box, lt_err *err);

/* Gives everything back. NULL is allowed. */
void lt_box_free(lt_box *box);

/* Restores a used box to the image: no byte of the last run remains. False when the box cannot be reused (it trapped or
 * was revoked): free it then. Costs 10 to 30 us: clean a box when it is returned, not when it is taken. Gives back what
 * a deep recursion left behind, so that `kept_bytes` of a clean box stays small. */
bool lt_box_clean(lt_box *box);

/* Pages of a box that may differ from what was mapped there, found by stretches. */
typedef struct lt_box_pages {
  bool has_begun;
  ptrdiff_t from; /* the stretch's beginning, in bytes from that of the memory; below 0: the native stack */
  size_t count;
  uint16_t owned[LT_PAGE_MAP_PAGES]; /* indexes of pages in it, in order */
} lt_box_pages;

/* The next stretch of the stack's end, the shadow stack and the guest's memory, all zero to begin with. False: there is
 * no further one. */
bool lt_box_next_pages(lt_box *box, lt_box_pages *pages);

/* The same, quicker, right after the box's memory was saved (box_memory.h): nothing else differs from the image.
 * `lowest` is what lt_box_memory_save has returned. */
bool lt_box_clean_saved(lt_box *box, lt_str saved, uint32_t lowest);

/* The same for a box that cannot be cleaned: everything in it is mapped anew, at the same addresses. False: the system
 * has no room for its mappings; try again, or free it. */
bool lt_box_renew(lt_box *box);

/* Notes for later boxes of the image which pages a program has written to so far (lt_image_hot). Only the first calls
 * do something. The box is in nobody's hands but the caller's, and runs no guest code. */
void lt_box_learn(const lt_box *box);

/* Gives the memory of a clean box back to the system. It stays clean, and costs address space and one page. */
void lt_box_empty(lt_box *box);

/* Sets the ceiling for the guest's memory in the next run, in bytes; the image's size is the minimum. When the guest
 * reaches it, it gets LT_BOX_SPARE_BYTES more, so that it can report the error. */
void lt_box_set_max_bytes(lt_box *box, uint64_t bytes);

/* That ceiling, in bytes. */
static inline uint64_t lt_box_max_bytes(const lt_box *box) {
  return (uint64_t)box->max_pages * LT_WASM_PAGE;
}

/* Gives the guest memory up to `size` bytes, a multiple of 64 KiB, as memory.grow would. False: it may not have so
 * much, or there is none. */
bool lt_box_grow(lt_box *box, uint32_t size);

/* Bytes of guest memory at the moment. */
static inline uint32_t lt_box_size(const lt_box *box) {
  return *box->size;
}

/* Whether [at, at + n) lies inside the guest's memory: every pointer from the guest must pass this check. */
static inline bool lt_box_has(const lt_box *box, uint32_t at, uint32_t n) {
  return (uint64_t)at + n <= lt_box_size(box);
}

/* Makes the memory of a running guest inaccessible, so that it traps at its next access. While host code runs, the box
 * is only marked. Afterwards the box can only be freed. */
void lt_box_revoke(lt_box *box);

/* Ends the revoked guest that `thread` runs, for guests that do not access their memory again. It sends the thread a
 * SIGSEGV with a mark; without a revoked guest the signal has no effect. The signal may arrive too late or too early:
 * repeat the call. The thread must not have ended. */
void lt_box_nudge(pthread_t thread);

/* For host code (an import handler): control must not return to the guest. Takes effect in LT_BOX_HOST_END. */
void lt_box_stop(lt_box *box);

/* Runs `statement` (guest code) until it ends or traps; then check box->trap. After a trap the box must not be entered
 * again. Local variables that `statement` writes must be volatile, or be read only when there was no trap. A trap may
 * leave `statement` at any instruction, so it must not acquire anything that has to be released. */
#define LT_BOX_ENTER(box, statement)    \
  do {                                  \
    lt_box_frame lt_frame_;             \
    lt_box_push((box), &lt_frame_);     \
    if (_setjmp(lt_frame_.jump) == 0) { \
      lt_box_to_guest(box);             \
      statement;                        \
      lt_box_to_host(box);              \
    } else {                            \
      lt_box_landed(box);               \
    }                                   \
    lt_box_pop((box), &lt_frame_);      \
  } while (0)

/* These two enclose the handler of an import: from guest to host and back. END unwinds when the box was stopped or
 * revoked meanwhile, so at END no lock may be held and no memory may be left to free. */
#define LT_BOX_HOST_BEGIN(box) lt_box_to_host(box)
#define LT_BOX_HOST_END(box)   lt_box_to_guest(box)

void lt_box_push(lt_box *box, lt_box_frame *frame);
void lt_box_pop(lt_box *box, lt_box_frame *frame);
void lt_box_to_guest(lt_box *box);
void lt_box_to_host(lt_box *box);
void lt_box_landed(lt_box *box);

/* Installs the fault handler, once per process, and this thread's alternate signal stack. Call it first on every thread
 * that runs guests; later calls return at once. */
lt_status lt_box_thread_init(lt_err *err);
void lt_box_thread_release(void);

/* What a thread of somebody else's had before it ran a guest, and gets back afterwards. */
typedef struct lt_box_thread_loan {
  stack_t stack;
  sigset_t mask;
} lt_box_thread_loan;
/* Memory for the signal stack of such a thread; NULL: there is none. Owns: the caller, lt_box_signal_stack_free. */
void *lt_box_signal_stack_new(void);
void lt_box_signal_stack_free(void *stack);
/* Prepares the thread, and gives it back as it was. Errors: LT_E_UNSUPPORTED: it is on a signal stack. */
lt_status lt_box_thread_borrow(void *signal_stack, lt_box_thread_loan *ret_loan, lt_err *err);
void lt_box_thread_give_back(const lt_box_thread_loan *loan);

/* The trap in words. */
const char *lt_box_trap_text(lt_trap trap);

#endif
