#include "tool/tool_input.h"

static lt_status tool_input_fail_type(lt_json_type type, lt_err *err) {
  return lt_fail(err, LT_E_INVALID, "input: expected an object, got %s", lt_json_type_name(type));
}

/* Models sometimes write an object as a string: the string's content counts then, once. */
static lt_status tool_input_unwrap(lt_arena *arena, lt_json_doc *doc, lt_err *err) {
  lt_str inner;
  if (!lt_json_str(lt_json_root(doc), arena, &inner)) {
    return LT_E_NOMEM;
  }
  inner = lt_str_trim(inner);
  lt_status status = lt_json_parse(arena, inner.n > 0 ? inner : LT_STR("{}"), doc, NULL);
  if (status == LT_E_NOMEM) {
    return status;
  }
  bool is_object = status == LT_OK && lt_json_typeof(lt_json_root(doc)) == LT_JSON_OBJECT;
  return is_object ? LT_OK : tool_input_fail_type(LT_JSON_STRING, err);
}

lt_status lt_tool_input_read(lt_arena *arena, lt_str text, lt_json *ret_object, lt_err *err) {
  lt_json_doc *doc = lt_arena_zalloc(arena, 1, sizeof *doc);
  if (doc == NULL) {
    return LT_E_NOMEM;
  }
  text = lt_str_trim(text);
  if (text.n == 0 || lt_str_eqc(text, "null")) {
    text = LT_STR("{}");
  }
  lt_status status = lt_json_parse(arena, text, doc, err);
  if (status != LT_OK) {
    err->status = status == LT_E_SYNTAX ? LT_E_INVALID : status;
    return lt_err_prefix(err, status == LT_E_SYNTAX ? "input: not JSON" : "input");
  }
  lt_json_type type = lt_json_typeof(lt_json_root(doc));
  if (type == LT_JSON_STRING) {
    LT_TRY(tool_input_unwrap(arena, doc, err));
  } else if (type != LT_JSON_OBJECT) {
    return tool_input_fail_type(type, err);
  }
  *ret_object = lt_json_root(doc);
  return LT_OK;
}
