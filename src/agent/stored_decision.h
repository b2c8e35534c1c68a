/* A decision as the store lists it (store/store_decisions.h). Internal to agent/. */
#ifndef LT_AGENT_STORED_DECISION_H
#define LT_AGENT_STORED_DECISION_H

#include "base/arena.h"
#include "json/json.h"
#include "tool/decision.h"

typedef struct lt_stored_decision {
  int64_t id;
  lt_str verb, call, tool, user; /* texts are in the arena that the decision was read with */
  uint64_t hash;
  bool is_taken;
  lt_str at; /* when it was made, a stamp of base/clock.h */
  lt_decision decision;
} lt_stored_decision;

/* Reads one member of a list of decisions. False: no memory, or not a decision. */
bool lt_stored_decision_read(lt_json json, lt_arena *arena, lt_stored_decision *ret_decision);

#endif
