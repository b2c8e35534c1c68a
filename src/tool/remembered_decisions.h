/* Decisions that hold for later calls, too. A run or a prompt has one such memory, and so has a conversation.
 *
 * The newest decision that fits a call counts. An edited input is used again only for a call with equal arguments
 * (LT_REMEMBER_CALL). Loop thread only; nothing here suspends.
 */
#ifndef LT_TOOL_REMEMBERED_DECISIONS_H
#define LT_TOOL_REMEMBERED_DECISIONS_H

#include "tool/decision.h"

typedef struct lt_remembered_decision lt_remembered_decision;

typedef struct lt_remembered_decisions {
  lt_remembered_decision *newest;
  size_t count;
  size_t bytes;
} lt_remembered_decisions;

/* All zeros is an empty memory. */
void lt_remembered_decisions_release(lt_remembered_decisions *memory);

/* Remembers a decision about a call; LT_REMEMBER_NOTHING is ignored. `input`: the call's own, JSON text. When the
 * memory is full (LT_REMEMBERED_MAX, LT_REMEMBERED_BYTES) or there is no more of it, the next call is asked about
 * again. */
void lt_remembered_decisions_add(lt_remembered_decisions *memory, lt_str tool, lt_str input,
                                 const lt_decision *decision);
/* The decision that holds for a call; false: none, a person is asked. `*ret_decision` borrows from the memory until the
 * next lt_remembered_decisions_add. */
bool lt_remembered_decisions_find(const lt_remembered_decisions *memory, lt_str tool, lt_str input,
                                  lt_decision *ret_decision);

#endif
