/* A person's decision about a tool call that waits for an approval.
 *
 * The same shape comes from a terminal, from a line on standard input, and from the store, where another process wrote
 * it.
 */
#ifndef LT_TOOL_DECISION_H
#define LT_TOOL_DECISION_H

#include "base/arena.h"

/* How long a decision holds for later calls, which are then not asked about. */
typedef enum lt_remember {
  LT_REMEMBER_NOTHING, /* for this call only */
  LT_REMEMBER_CALL,    /* for this tool with equal arguments, until the prompt (or `lathe run`) ends */
  LT_REMEMBER_TOOL,    /* for this tool with any arguments, until the prompt (or `lathe run`) ends */
  LT_REMEMBER_SESSION, /* for this tool with any arguments, until the conversation (or `lathe run`) ends */
} lt_remember;

typedef struct lt_decision {
  bool is_approved;
  lt_str reason; /* why not; may be empty */
  lt_str input;  /* the edited input, JSON text of an object; empty: as asked */
  lt_remember remember;
} lt_decision;

/* "" (nothing), "call", "tool", "session". */
const char *lt_decision_remember_name(lt_remember remember);
/* False: `name` is not "call", "tool" or "session". */
bool lt_decision_find_remember(lt_str name, lt_remember *ret_remember);

/* A copy whose texts are in the arena. LT_E_NOMEM: the copy's texts may be incomplete. */
lt_status lt_decision_copy(lt_arena *arena, const lt_decision *decision, lt_decision *ret_copy);

#endif
