/* The budget of a check, and access to texts and patterns. */
#include "json/schema_run.h"

void lt_schema_fail_run(lt_schema_run *run) {
  run->status = run->arena.used > run->arena.max / 2 ? LT_E_LIMIT : LT_E_NOMEM;
}

bool lt_schema_chars(lt_schema_run *run, lt_json string, lt_str *ret) {
  if (!lt_json_str(string, &run->arena, ret)) {
    lt_schema_fail_run(run);
    return false;
  }
  return lt_schema_spend(run, ret->n / 8);
}

bool lt_schema_matches(lt_schema_run *run, const lt_regex *regex, lt_str text) {
  bool matches = false;
  lt_status status = lt_regex_test(regex, text, &run->work, &run->steps, &matches);
  if (status != LT_OK) {
    run->status = status;
    return false;
  }
  return matches;
}
