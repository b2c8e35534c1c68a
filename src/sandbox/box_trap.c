#include "sandbox/box_trap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define ALT_STACK_BYTES (64 * LT_KIB) /* MINSIGSTKSZ grows with the CPU's vector registers */

static _Thread_local lt_box *volatile running; /* read by a signal */
static _Thread_local void *alt_stack;

static pthread_once_t install_once = PTHREAD_ONCE_INIT;
static int install_errno;
static sigset_t faults; /* that a guest may make */
static struct sigaction previous_segv;
static struct sigaction previous_bus;

/* Not instrumented by ThreadSanitizer: a nudge may interrupt the sanitizer's own code. */
#define UNSEEN __attribute__((no_sanitize("thread")))

/* Not inlined, because the address of a thread-local must be computed on the thread that runs the fiber now. */
__attribute__((noinline)) UNSEEN lt_box *lt_box_trap_running_box(void) {
  return running;
}

static __attribute__((noinline)) UNSEEN void box_trap_set_running(lt_box *box) {
  running = box;
}

void lt_box_push(lt_box *box, lt_box_frame *frame) {
  frame->outer = box->frame;
  box->frame = frame;
}

void lt_box_pop(lt_box *box, lt_box_frame *frame) {
  LT_CHECK(box->frame == frame);
  box->frame = frame->outer;
}

/* This function sets it last, and the other functions clear it first. While it is set, guest code runs, and a jump may
 * leave that code at any instruction. */
void lt_box_to_guest(lt_box *box) {
  if (box->trap != LT_TRAP_NONE) {
    lt_box_trap_unwind(box, box->trap);
  }
  int expected = LT_BOX_HOST;
  if (!atomic_compare_exchange_strong_explicit(&box->state, &expected, LT_BOX_GUEST, memory_order_acq_rel,
                                               memory_order_acquire)) {
    lt_box_trap_unwind(box, LT_TRAP_REVOKED);
  }
  box_trap_set_running(box);
}

void lt_box_to_host(lt_box *box) {
  box_trap_set_running(NULL);
  int expected = LT_BOX_GUEST;
  if (!atomic_compare_exchange_strong_explicit(&box->state, &expected, LT_BOX_HOST, memory_order_acq_rel,
                                               memory_order_acquire)) {
    lt_box_trap_unwind(box, LT_TRAP_REVOKED);
  }
}

void lt_box_trap_unwind(lt_box *box, lt_trap trap) {
  box_trap_set_running(NULL);
  LT_CHECK(box != NULL && box->frame != NULL);
  box->trap = trap;
  int expected = LT_BOX_GUEST;
  atomic_compare_exchange_strong(&box->state, &expected, LT_BOX_HOST);
  longjmp(box->frame->jump, 1);
}

void lt_box_landed(lt_box *box) {
  if (box->is_masked) {
    box->is_masked = false;
    pthread_sigmask(SIG_SETMASK, &box->mask, NULL);
  }
}

void lt_box_stop(lt_box *box) {
  if (box->trap == LT_TRAP_NONE) {
    box->trap = LT_TRAP_STOPPED;
  }
}

void lt_box_revoke(lt_box *box) {
  int was = atomic_exchange_explicit(&box->state, LT_BOX_REVOKED, memory_order_acq_rel);
  if (was == LT_BOX_GUEST) {
    /* Up to the ceiling, because memory.grow may be changing the size at this moment. */
    mprotect(box->memory, lt_box_max_bytes(box) + LT_BOX_SPARE_BYTES, PROT_NONE);
  }
}

/* --- Signals ------------------------------------------------------------------------------------------------------ */
static char nudge_mark; /* its address identifies a signal of Lathe */

void lt_box_nudge(pthread_t thread) {
  /* It fails when the user has too many queued signals; the watchdog sends another. */
  (void)pthread_sigqueue(thread, SIGSEGV, (union sigval){.sival_ptr = &nudge_mark});
}

static UNSEEN bool box_trap_is_nudge(const siginfo_t *info) {
  return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &nudge_mark;
}

/* Whether a process sent the signal, not the CPU: then it has no address and is not repeated. */
static UNSEEN bool box_trap_is_sent(const siginfo_t *info) {
  return info->si_code <= 0;
}

static UNSEEN lt_trap box_trap_classify(const lt_box *box, const siginfo_t *info) {
  const uint8_t *at = info->si_addr;
  bool revoked = atomic_load_explicit(&box->state, memory_order_acquire) == LT_BOX_REVOKED;
  if (box_trap_is_sent(info)) {
    return box_trap_is_nudge(info) && revoked ? LT_TRAP_REVOKED : LT_TRAP_NONE;
  }
  if (at >= box->memory && at < box->memory + LT_BOX_RESERVE_BYTES) {
    return revoked ? LT_TRAP_REVOKED : LT_TRAP_MEMORY;
  }
  if (at < box->stack && at >= box->stack - 64 * LT_KIB) {
    return LT_TRAP_STACK;
  }
  return LT_TRAP_NONE;
}

/* The fault is not the guest's, so the previous handler decides. Returning repeats the fault. */
static void box_trap_pass_on(int signum, siginfo_t *info, void *context) {
  struct sigaction *previous = signum == SIGBUS ? &previous_bus : &previous_segv;
  if ((previous->sa_flags & SA_SIGINFO) != 0 && previous->sa_sigaction != NULL) {
    previous->sa_sigaction(signum, info, context);
    return;
  }
  if (previous->sa_handler != SIG_DFL && previous->sa_handler != SIG_IGN) {
    previous->sa_handler(signum);
    return;
  }
  sigaction(signum, previous, NULL);
  if (box_trap_is_sent(info)) {
    raise(signum);
  }
}

/* The guest's frames hold no resources of the host. This handler does not return, so lt_box_landed restores the signal
 * mask after the jump. Until then no further nudge can arrive and pile up on the signal stack. */
static UNSEEN void box_trap_on_fault(int signum, siginfo_t *info, void *context) {
  lt_box *box = lt_box_trap_running_box();
  lt_trap trap = box != NULL ? box_trap_classify(box, info) : LT_TRAP_NONE;
  if (trap != LT_TRAP_NONE) {
    box->mask = ((ucontext_t *)context)->uc_sigmask;
    box->is_masked = true;
    lt_box_trap_unwind(box, trap);
  }
  if (!box_trap_is_nudge(info)) {
    box_trap_pass_on(signum, info, context);
  }
}

static void box_trap_install(void) {
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigaddset(&faults, SIGBUS);
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  action.sa_sigaction = box_trap_on_fault;
  action.sa_mask = faults; /* a nested call would restore the wrong mask */
  if (sigaction(SIGSEGV, &action, &previous_segv) != 0 || sigaction(SIGBUS, &action, &previous_bus) != 0) {
    install_errno = errno;
  }
}

/* A blocked fault ends the process, and the parent process may have left these signals blocked. */
static void box_trap_unblock(sigset_t *ret_before) {
  pthread_sigmask(SIG_UNBLOCK, &faults, ret_before);
}

static lt_status box_trap_install_once(lt_err *err) {
  pthread_once(&install_once, box_trap_install);
  return install_errno == 0
             ? LT_OK
             : lt_fail(err, LT_E_INTERNAL, "cannot install the fault handler: %s", strerror(install_errno));
}

void *lt_box_signal_stack_new(void) {
  void *stack = mmap(NULL, ALT_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return stack != MAP_FAILED ? stack : NULL;
}

void lt_box_signal_stack_free(void *stack) {
  if (stack != NULL) {
    munmap(stack, ALT_STACK_BYTES);
  }
}

lt_status lt_box_thread_init(lt_err *err) {
  LT_TRY(box_trap_install_once(err));
  if (alt_stack != NULL) {
    return LT_OK;
  }
  void *stack = lt_box_signal_stack_new();
  if (stack == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for a signal stack");
  }
  stack_t alt = {.ss_sp = stack, .ss_size = ALT_STACK_BYTES};
  if (sigaltstack(&alt, NULL) != 0) {
    lt_box_signal_stack_free(stack);
    return lt_fail(err, LT_E_INTERNAL, "sigaltstack: %s", strerror(errno));
  }
  alt_stack = stack;
  box_trap_unblock(NULL);
  return LT_OK;
}

void lt_box_thread_release(void) {
  if (alt_stack != NULL) {
    stack_t off = {.ss_flags = SS_DISABLE};
    sigaltstack(&off, NULL);
    lt_box_signal_stack_free(alt_stack);
    alt_stack = NULL;
  }
}

/* --- Borrowed threads --------------------------------------------------------------------------------------------- */
lt_status lt_box_thread_borrow(void *signal_stack, lt_box_thread_loan *ret_loan, lt_err *err) {
  stack_t alt = {.ss_sp = signal_stack, .ss_size = ALT_STACK_BYTES};
  LT_TRY(box_trap_install_once(err));
  if (sigaltstack(&alt, &ret_loan->stack) != 0) {
    return lt_fail(err, LT_E_UNSUPPORTED, "a program cannot run inside a handler of a signal");
  }
  box_trap_unblock(&ret_loan->mask);
  return LT_OK;
}

void lt_box_thread_give_back(const lt_box_thread_loan *loan) {
  sigaltstack(&loan->stack, NULL);
  if (sigismember(&loan->mask, SIGSEGV) || sigismember(&loan->mask, SIGBUS)) {
    pthread_sigmask(SIG_SETMASK, &loan->mask, NULL);
  }
}
