#include "tool/decision.h"

static const char *const remember_names[] = {
    [LT_REMEMBER_NOTHING] = "",
    [LT_REMEMBER_CALL] = "call",
    [LT_REMEMBER_TOOL] = "tool",
    [LT_REMEMBER_SESSION] = "session",
};

const char *lt_decision_remember_name(lt_remember remember) {
  return remember_names[remember];
}

bool lt_decision_find_remember(lt_str name, lt_remember *ret_remember) {
  for (size_t i = LT_REMEMBER_CALL; i < sizeof remember_names / sizeof remember_names[0]; i++) {
    if (lt_str_eqc(name, remember_names[i])) {
      *ret_remember = (lt_remember)i;
      return true;
    }
  }
  return false;
}

lt_status lt_decision_copy(lt_arena *arena, const lt_decision *decision, lt_decision *ret_copy) {
  lt_decision copy = *decision;
  copy.reason = lt_arena_dup(arena, decision->reason);
  copy.input = lt_arena_dup(arena, decision->input);
  *ret_copy = copy;
  return copy.reason.p != NULL && copy.input.p != NULL ? LT_OK : LT_E_NOMEM;
}
