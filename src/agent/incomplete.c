#include "agent/incomplete.h"

static const struct {
  const char *name, *description;
} incomplete_reasons[LT_INCOMPLETE_REASONS] = {
    [LT_INCOMPLETE_NOT] = {"", ""},
    [LT_INCOMPLETE_ROUNDS] = {"rounds", "no answer: the model was asked as often as defaults.maxRounds allows"},
    [LT_INCOMPLETE_LENGTH] = {"length", "the answer is not whole: it reached the model's limit of tokens (maxTokens)"},
    [LT_INCOMPLETE_FILTER] = {"filter", "the answer was refused, or ended by the provider's filter"},
    [LT_INCOMPLETE_EMPTY] = {"empty", "no answer: the model replied nothing"},
};

const char *lt_incomplete_name(lt_incomplete reason) {
  return incomplete_reasons[reason].name;
}

lt_incomplete lt_incomplete_find(lt_str name) {
  size_t i = LT_INCOMPLETE_REASONS - 1;
  while (i > LT_INCOMPLETE_NOT && !lt_str_eqc(name, incomplete_reasons[i].name)) {
    i--;
  }
  return (lt_incomplete)i;
}

lt_str lt_incomplete_describe(lt_str name) {
  lt_incomplete reason = lt_incomplete_find(name);
  return reason == LT_INCOMPLETE_NOT ? name : lt_str_of(incomplete_reasons[reason].description);
}

lt_incomplete lt_incomplete_of_reply(lt_finish finish, bool is_empty) {
  return finish == LT_FINISH_LENGTH     ? LT_INCOMPLETE_LENGTH
         : finish == LT_FINISH_FILTERED ? LT_INCOMPLETE_FILTER
         : is_empty                     ? LT_INCOMPLETE_EMPTY
                                        : LT_INCOMPLETE_NOT;
}

void lt_incomplete_put(lt_json_writer *w, lt_incomplete reason) {
  if (reason == LT_INCOMPLETE_NOT) {
    return;
  }
  lt_json_key(w, "incomplete");
  lt_json_begin_object(w);
  lt_json_key(w, "reason");
  lt_json_put_cstr(w, lt_incomplete_name(reason));
  lt_json_end_object(w);
}

lt_str lt_incomplete_reason_in(lt_json object) {
  lt_json reason = lt_json_get(lt_json_get(object, "incomplete"), "reason");
  lt_str text = lt_json_text(reason);
  return lt_json_typeof(reason) == LT_JSON_STRING ? lt_str_sub(text, 1, text.n - 1) : LT_STR("");
}
