/* Calls of a prompt that wait for a person's decision. Internal to agent/.
 *
 * This is the approver of a prompt's caller. It marks the call's output as pending with the reason, sends the event and
 * waits. The call may be the model's, a program's, or a nested program's. Several calls may wait at once. A decision of
 * an earlier process is reused, not requested again.
 */
#ifndef LT_AGENT_APPROVALS_H
#define LT_AGENT_APPROVALS_H

#include "agent/turn.h"
#include "tool/remembered_decisions.h"

typedef struct lt_approvals {
  lt_approver base; /* first */
  lt_turn *turn;
  struct approval_waiter *waiters; /* stack frames of the waiting calls, oldest first */
  lt_remembered_decisions remembered;
  bool has_loaded; /* the memory has the conversation's decisions, and those of the earlier process */
  lt_buf used;     /* numbers (int64_t) of stored decisions that this process has used */
} lt_approvals;

void lt_approvals_init(lt_approvals *approvals, lt_turn *turn);
void lt_approvals_release(lt_approvals *approvals);
/* Cancels a resumed prompt when somebody has decided so. LT_YIELDS. */
void lt_approvals_look_for_cancel(lt_approvals *approvals) LT_YIELDS;
/* Sets the state of a resumed prompt to `running` when it waited in the earlier process and no call waits any more. */
lt_status lt_approvals_settle(lt_approvals *approvals, lt_err *err);
/* Decides by a stored decision about the call with its id and hash. Copies. False: that call does not wait, or the
 * decision was used before; or no memory, and it may be tried again. */
struct lt_stored_decision;
bool lt_approvals_decide(lt_approvals *approvals, const struct lt_stored_decision *stored);

#endif
