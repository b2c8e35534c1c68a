#include "agent/modes/codex_pragma.h"

#include "base/limits.h"

/* --- The line ----------------------------------------------------------------------------------------------------- */
static lt_str codex_pragma_next_line(lt_str *rest) {
  size_t end = lt_str_find(*rest, LT_STR("\n"), 0);
  lt_str line = lt_str_sub(*rest, 0, end == SIZE_MAX ? rest->n : end);
  *rest = lt_str_sub(*rest, line.n + 1, rest->n);
  return lt_str_trim(line);
}

/* False: the first line is none. `ret_text`: what stands behind `@exec:`. */
static bool codex_pragma_find(lt_str code, lt_str *ret_text) {
  lt_str line = LT_STR_NULL, comment = LT_STR("//"), mark = LT_STR("@exec:");
  while (line.n == 0 && code.n > 0) {
    line = codex_pragma_next_line(&code);
    bool is_fence = lt_str_starts(line, LT_STR("```")) || lt_str_starts(line, LT_STR("~~~"));
    line = is_fence ? LT_STR_NULL : line;
  }
  lt_str text = lt_str_trim(lt_str_sub(line, comment.n, line.n));
  *ret_text = lt_str_trim(lt_str_sub(text, mark.n, text.n));
  return lt_str_starts(line, comment) && lt_str_starts(text, mark);
}

/* --- What it asks for --------------------------------------------------------------------------------------------- */
bool lt_codex_pragma_number(lt_json value, const char *name, int64_t standard, int64_t max, int64_t *ret, lt_buf *why) {
  *ret = standard;
  if (!lt_json_exists(value) || lt_json_typeof(value) == LT_JSON_NULL) {
    return true;
  }
  if (!lt_json_int(value, ret) || *ret < 0) {
    lt_buf_printf(why, "%s: expected a whole number, 0 or more", name);
    return false;
  }
  *ret = *ret < max ? *ret : max;
  return true;
}

static bool codex_pragma_has_known_keys(lt_json root, lt_arena *arena, lt_buf *why) {
  for (lt_json_iter it = lt_json_each(root); lt_json_next(&it);) {
    lt_str key;
    if (!lt_json_str(it.key, arena, &key)) {
      key = lt_json_text(it.key);
    }
    if (!lt_str_eqc(key, "yield_time_ms") && !lt_str_eqc(key, "max_output_tokens")) {
      lt_buf_printf(why, "unknown key \"%.*s\": yield_time_ms and max_output_tokens are known",
                    LT_STR_ARG(lt_str_sub(key, 0, LT_RUN_CONTEXT_BYTES)));
      return false;
    }
  }
  return true;
}

static bool codex_pragma_take(lt_json root, lt_arena *arena, lt_codex_pragma *ret, lt_buf *why) {
  int64_t ms = 0, tokens = 0;
  if (!codex_pragma_has_known_keys(root, arena, why) ||
      !lt_codex_pragma_number(lt_json_get(root, "yield_time_ms"), "yield_time_ms", LT_CELL_YIELD_MS,
                              LT_RUN_TIMEOUT_MAX_MS, &ms, why) ||
      !lt_codex_pragma_number(lt_json_get(root, "max_output_tokens"), "max_output_tokens", LT_CELL_TOKENS,
                              LT_CELL_TOKENS_MAX, &tokens, why)) {
    return false;
  }
  *ret = (lt_codex_pragma){.yield_ms = (uint64_t)ms, .max_tokens = (size_t)tokens};
  return true;
}

bool lt_codex_pragma_read(lt_str code, lt_codex_pragma *ret, lt_buf *why) {
  lt_str text;
  lt_json_doc doc;
  LT_ERR_VAR(err);
  LT_AUTO_ARENA(arena, LT_MIB);
  *ret = (lt_codex_pragma){.yield_ms = LT_CELL_YIELD_MS, .max_tokens = LT_CELL_TOKENS};
  if (!codex_pragma_find(code, &text)) {
    return true;
  }
  size_t before = why->n;
  lt_buf_addc(why, "// @exec: ");
  lt_status status = lt_json_parse(&arena, text, &doc, &err);
  if (status != LT_OK || lt_json_typeof(lt_json_root(&doc)) != LT_JSON_OBJECT) {
    lt_buf_addc(why, "expected a JSON object, such as {\"yield_time_ms\": 10000}");
    lt_buf_addc(why, status != LT_OK ? ": " : "");
    lt_buf_addc(why, status != LT_OK ? lt_err_msg(&err) : "");
    return false;
  }
  if (!codex_pragma_take(lt_json_root(&doc), &arena, ret, why)) {
    return false;
  }
  lt_buf_cut(why, before);
  return true;
}
