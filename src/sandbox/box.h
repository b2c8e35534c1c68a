/* The box: one instance of a WebAssembly module with a memory, a stack and an end of its own.
 *
 * A box is made from an image (image.h) by mapping it copy-on-write, runs guest code on its own fiber stack, and is
 * cleaned back to the image or thrown away. It knows nothing of the language inside: engine.c puts QuickJS on top.
 *
 * Address space of a box, from low to high (docs/internals/box.md):
 *
 *   ... guard | native stack | guest memory: shadow stack, image (copy-on-write), grown heap | nothing, up to 8 GiB
 *
 * Whatever 32-bit address plus 32-bit offset the guest computes lands inside the 8 GiB; a touch outside the live part
 * is a fault, and a fault while the guest runs is a trap: it unwinds to the innermost LT_BOX_ENTER on this box's own
 * stack, and jumps over guest frames only. Host code called by the guest returns through LT_BOX_HOST_END, which looks
 * at whether the box may go on.
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
#include "sandbox/wasm_module.h"

/* Why a box stopped running guest code. */
typedef enum lt_trap {
  LT_TRAP_NONE = 0,
  LT_TRAP_MEMORY,      /* a touch outside the live memory */
  LT_TRAP_STACK,       /* the native stack ran into its guard */
  LT_TRAP_UNREACHABLE, /* the guest gave up: abort(), a failed assertion */
  LT_TRAP_ARITHMETIC,  /* division by zero, overflow, bad conversion */
  LT_TRAP_CALL,        /* an indirect call to nothing, or with the wrong type */
  LT_TRAP_REVOKED,     /* lt_box_revoke */
  LT_TRAP_STOPPED,     /* host code asked for the end: lt_box_stop */
} lt_trap;

/* Who is executing. A box is revoked only while the guest runs; host code looks when it returns. */
enum { LT_BOX_HOST, LT_BOX_GUEST, LT_BOX_REVOKED };

/* One entry from host into guest code; lives in the host's frame, linked innermost first. */
typedef struct lt_box_frame {
  struct lt_box_frame *outer;
  jmp_buf jump;
} lt_box_frame;

typedef struct lt_box {
  const lt_image *image; /* borrowed; NULL for a blank box */
  const lt_module *module;
  void *instance;      /* the module's instance structure, ours */
  uint8_t *memory;     /* base of the guest's linear memory */
  uint8_t *stack;      /* native stack, LT_BOX_STACK_BYTES up to `memory` */
  uint32_t max_pages;  /* memory.grow's ceiling for this run, without the spare ones */
  _Atomic int state;   /* LT_BOX_HOST, GUEST or REVOKED */
  lt_trap trap;        /* why the guest ended, or LT_TRAP_NONE */
  lt_box_frame *frame; /* innermost entry */
  void *owner;         /* whoever handles the module's imports: engine.c */
  struct lt_box *next; /* in a pool */
  sigset_t mask;       /* if a signal ended the guest: what was blocked before, given back where it lands */
  bool masked;         /* there is something to give back */
  bool grown;          /* memory.grow happened since the last clean */
  unsigned refused;    /* how often memory.grow was, likewise */
} lt_box;

/* Makes a box from an image: reserves its address space and maps the image copy-on-write.
 * Errors: LT_E_NOMEM with advice (vm.max_map_count, overcommit). Owns: the caller, lt_box_free. */
lt_status lt_box_new(const lt_image *image, lt_box **ret_box, lt_err *err);

/* Makes a box by instantiating the module afresh: for building images. */
lt_status lt_box_new_blank(const lt_module *module, lt_box **ret_box, lt_err *err);

/* Gives everything back. NULL is allowed. */
void lt_box_free(lt_box *box);

/* Makes a used box as if new: no byte of what ran in it stays. False when it cannot be reused (it trapped or was
 * revoked): free it then. Costs 10 to 30 us: do it when the box is given back, not when it is taken. */
bool lt_box_clean(lt_box *box);

/* The ceiling for the guest's memory of the coming run, in bytes; at least what the image has. When it was reached,
 * LT_BOX_SPARE_BYTES more are given, so that the guest can say so. */
void lt_box_set_max_bytes(lt_box *box, uint64_t bytes);

/* Bytes of guest memory at the moment. */
uint32_t lt_box_size(const lt_box *box);

/* Whether [at, at + n) lies inside the guest's memory: every pointer from the guest is looked at with this. */
static inline bool lt_box_has(const lt_box *box, uint32_t at, uint32_t n) {
  return (uint64_t)at + n <= lt_box_size(box);
}

/* Takes the memory of a box away while its guest runs, so that it traps at the next touch; while host code runs, it is
 * only marked. The box is then good for nothing but lt_box_free. */
void lt_box_revoke(lt_box *box);

/* Ends the guest that `thread` runs if that was revoked; for guests that never touch their memory again. Does nothing
 * to anybody else (it is a signal: a SIGSEGV with a mark), but may come too late or too early: repeat it. The thread
 * must not have ended. */
void lt_box_nudge(pthread_t thread);

/* Called by host code (an import handler): the guest must not be returned to. Takes effect in LT_BOX_HOST_END. */
void lt_box_stop(lt_box *box);

/* Runs `statement` (guest code) and comes back here when it ends or traps: look at box->trap. After a trap nothing may
 * enter the box again. Local variables that `statement` writes must be volatile or be looked at only without a trap. It
 * may be left at any instruction: it takes nothing that would have to be given back. */
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

/* Round a handler of an import: from guest to host and back. END unwinds when the box was stopped or revoked meanwhile,
 * so between the two no lock may be held and nothing left to be freed. */
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

/* The trap in words. */
const char *lt_box_trap_text(lt_trap trap);

#endif
