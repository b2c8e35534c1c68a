#include "agent/stored_decision.h"

#include <stdlib.h>

#include "base/limits.h"

static bool stored_decision_text(lt_json json, const char *key, lt_arena *arena, lt_str *ret) {
  return lt_json_str(lt_json_get(json, key), arena, ret);
}

bool lt_stored_decision_read(lt_json json, lt_arena *arena, lt_stored_decision *ret_decision) {
  lt_stored_decision d = {0};
  lt_str hash, remember;
  bool read =
      lt_json_int(lt_json_get(json, "id"), &d.id) && stored_decision_text(json, "verb", arena, &d.verb) &&
      stored_decision_text(json, "call", arena, &d.call) && stored_decision_text(json, "tool", arena, &d.tool) &&
      stored_decision_text(json, "user", arena, &d.user) && stored_decision_text(json, "hash", arena, &hash) &&
      stored_decision_text(json, "reason", arena, &d.decision.reason) &&
      stored_decision_text(json, "input", arena, &d.decision.input) &&
      stored_decision_text(json, "remember", arena, &remember) && stored_decision_text(json, "createdAt", arena, &d.at);
  if (!read) {
    return false;
  }
  LT_AUTO_ARENA(scratch, LT_KIB);
  lt_str digits = lt_arena_dup(&scratch, hash); /* with a NUL behind */
  d.hash = digits.p != NULL ? strtoull(digits.p, NULL, 16) : 0;
  d.is_taken = lt_json_typeof(lt_json_get(json, "takenAt")) == LT_JSON_STRING;
  d.decision.is_approved = lt_str_eqc(d.verb, "approve");
  (void)lt_decision_find_remember(remember, &d.decision.remember);
  *ret_decision = d;
  return digits.p != NULL;
}
