/* Helpers for the built-in plugins. */
#include "plugin/builtin/builtin_support.h"

#include "base/arena.h"
#include "base/limits.h"

lt_json_type lt_builtin_type(lathe_text json) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  bool is_json = lt_json_parse(&arena, lt_builtin_str(json), &doc, NULL) == LT_OK;
  return is_json ? lt_json_typeof(lt_json_root(&doc)) : LT_JSON_NONE;
}

int64_t lt_builtin_number(lathe_text json, int64_t fallback) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  int64_t n;
  bool is_number = json.n > 0 && lt_json_parse(&arena, lt_builtin_str(json), &doc, NULL) == LT_OK &&
                   lt_json_int(lt_json_root(&doc), &n);
  return is_number ? n : fallback;
}

void lt_builtin_put_strings(lathe_text array, const char *before, const char *between, lt_buf *out) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  if (array.n == 0 || lt_json_parse(&arena, lt_builtin_str(array), &doc, NULL) != LT_OK) {
    return;
  }
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  for (; lt_json_next(&it); before = between) {
    lt_str one = LT_STR("");
    (void)lt_json_str(it.value, &arena, &one);
    lt_buf_addc(out, before);
    lt_buf_add(out, one);
  }
}

void lt_builtin_fail_with_error(const lathe_host *host, lathe_call *call) {
  lathe_text why = host->error(call);
  host->fail(call, "%.*s", (int)why.n, why.p);
}

void lt_builtin_answer(const lathe_host *host, lathe_call *call, const lt_buf *json) {
  if (json->status == LT_OK) {
    host->answer(call, (lathe_text){json->p, json->n});
  } else {
    host->fail(call, "there was no memory for the answer");
  }
}
