/* The tools that a prompt saw, on record. In a prompt that is carried out again they rule names and lists, whatever
 * the servers offer by then. `lathe replay` reads the same record. Internal to agent/.
 *
 * Each round of a prompt may see other tools. The first list is in the note of the prompt's start, a changed one has a
 * note of its own. A list is a blob that prompts share, with the names of sources without tools and the tools withheld
 * from programs.
 */
#ifndef LT_AGENT_RECORDED_TOOLS_H
#define LT_AGENT_RECORDED_TOOLS_H

#include "agent/turn.h"
#include "json/json.h"

typedef struct lt_recorded_tools {
  uint64_t rounds; /* number of preparations */
  lt_str last;     /* the last list on record, as JSON; empty: none */
} lt_recorded_tools;

/* Notes the version and the tools with which the prompt begins, unless they are on record. LT_YIELDS. */
void lt_recorded_tools_start(lt_turn *turn) LT_YIELDS;
/* Stores the tools that a prompt has begun with: a prompt that is not in the store (deferred_start.h) has noted the
 * name of their list only. LT_YIELDS. */
void lt_recorded_tools_store(lt_turn *turn) LT_YIELDS;
/* Follows a preparation, whose catalog has the tools that there are now. When the round is on record, the recorded
 * tools replace that catalog. Otherwise changed tools are noted. LT_YIELDS. Errors: LT_E_NOMEM, the store's. */
lt_status lt_recorded_tools_follow(lt_turn *turn, lt_err *err) LT_YIELDS;

#endif
