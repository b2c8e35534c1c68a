/* Traps: return from a fault or a failed check inside guest code to the innermost LT_BOX_ENTER. Private to the sandbox.
 *
 * Each thread knows the box whose guest code it runs. A SIGSEGV or SIGBUS inside that box's reservation is a trap; any
 * other fault is a bug of Lathe and ends the process in the usual way. The watchdog's signal ends a revoked guest; on
 * other threads it has no effect.
 */
#ifndef LT_SANDBOX_BOX_TRAP_H
#define LT_SANDBOX_BOX_TRAP_H

#include "sandbox/box.h"

/* The box whose guest code this thread runs, or NULL. Never kept across a yield. */
lt_box *lt_box_trap_running_box(void);

/* Ends the guest's run: jumps to the box's innermost LT_BOX_ENTER. */
_Noreturn void lt_box_trap_unwind(lt_box *box, lt_trap trap);

#endif
