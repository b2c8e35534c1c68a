/* Calls of a prompt that wait for a person's decision. Internal to agent/.
 *
 * The approver of a prompt's caller: it marks the call's output as pending with the reason, sends the event and waits.
 * The call may be the model's, a program's, or a nested program's. Several may wait at once. What was decided in an
 * earlier process is not asked again.
 */
#ifndef LT_AGENT_APPROVALS_H
#define LT_AGENT_APPROVALS_H

#include "agent/turn.h"

typedef struct lt_approvals {
  lt_approver base; /* first */
  lt_turn *turn;
  struct approval_waiter *waiters; /* frames of those that wait, the first one asked first */
} lt_approvals;

void lt_approvals_init(lt_approvals *approvals, lt_turn *turn);
/* A prompt that waited in an earlier process and does so no longer is running again. */
lt_status lt_approvals_settle(lt_approvals *approvals, lt_err *err);
/* Decides about the tool output of that id. False: it does not wait (any more). */
bool lt_approvals_decide(lt_approvals *approvals, lt_str id, bool approved, lt_str reason);

#endif
