#include "agent/modes/code_prose.h"

#include "js/js_prose.h"
#include "js/jsscan.h"
#include "json/json.h"

#define WRITE_INSTEAD                                                                                                \
  " Nothing was run. Reply with a JavaScript program and nothing else: output(\"...\") shows text to the user, and " \
  "done() ends the task. The next reply that is no program is taken as the answer"
#define CALL_SHOWN_BYTES 500 /* of a call's arguments */

/* At the beginning of a line: what models write calls with, when they are text (model/text_calls.h). */
static bool code_prose_is_call_markup(lt_str text) {
  static const char *const starts[] = {
      "<tool_call>", "[TOOL_CALLS]", "<function=", "<|python_tag|>", "<invoke ", "<function_calls>"};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    size_t at = lt_str_find(text, lt_str_of(starts[i]), 0);
    if (at == 0 || (at != SIZE_MAX && text.p[at - 1] == '\n')) {
      return true;
    }
  }
  return false;
}

/* {"name", "arguments"} or {"name", "parameters"}; `ret_arguments` is empty where they are no object. */
static bool code_prose_is_call(lt_json json, lt_arena *arena, lt_str *ret_name, lt_str *ret_arguments) {
  lt_json arguments = lt_json_get(json, "arguments");
  arguments = lt_json_exists(arguments) ? arguments : lt_json_get(json, "parameters");
  *ret_arguments = lt_json_typeof(arguments) == LT_JSON_OBJECT ? lt_json_text(arguments) : LT_STR("");
  return lt_json_exists(arguments) && lt_json_str(lt_json_get(json, "name"), arena, ret_name);
}

static const lt_tool *code_prose_find_tool(const lt_catalog *catalog, lt_str name) {
  const lt_tool *tool = lt_catalog_find(catalog, name);
  return tool != NULL ? tool : lt_catalog_find_js(catalog, name);
}

static void code_prose_put_call(const lt_turn *turn, lt_json json, lt_arena *arena, lt_buf *out) {
  lt_str name, arguments;
  const lt_tool *tool = NULL;
  if (code_prose_is_call(json, arena, &name, &arguments)) {
    tool = code_prose_find_tool(turn->prepared.catalog, name);
  }
  lt_buf_addc(out, "The reply is a tool call as text, not a program. Tools are functions of the program");
  if (tool != NULL && tool->js_name.n > 0) {
    lt_buf_addc(out, ": const result = ");
    lt_buf_add(out, tool->js_name);
    lt_buf_byte(out, '(');
    lt_buf_add(out, arguments.n > 0 && arguments.n <= CALL_SHOWN_BYTES ? arguments : LT_STR("{...}"));
    lt_buf_addc(out, ");");
  } else {
    lt_buf_byte(out, '.');
  }
}

/* False: the text is no JSON that a person would not take for a program. */
static bool code_prose_put_json(const lt_turn *turn, lt_str text, lt_buf *out) {
  lt_json_doc doc;
  lt_str name, arguments;
  LT_AUTO_ARENA(arena, LT_HISTORY_MEMORY_BYTES);
  bool may_be = text.n > 0 && (text.p[0] == '{' || text.p[0] == '[' || text.p[0] == '"');
  if (!may_be || lt_json_parse(&arena, text, &doc, NULL) != LT_OK) {
    return false;
  }
  if (code_prose_is_call(lt_json_root(&doc), &arena, &name, &arguments)) {
    code_prose_put_call(turn, lt_json_root(&doc), &arena, out);
  } else {
    lt_buf_addc(out, "The reply is JSON, not a program: as a program it does nothing.");
  }
  return true;
}

bool lt_code_prose_is(const lt_turn *turn, lt_str reply, lt_buf *ret_why) {
  LT_AUTO_BUF(joined, LT_JSON_MAX_BYTES);
  LT_AUTO_BUF(scratch, LT_JSON_MAX_BYTES);
  LT_AUTO_ARENA(arena, LT_KIB);
  unsigned dropped;
  lt_str text = lt_str_trim(reply);
  lt_str program = lt_str_trim(lt_jsscan_unfence(text, &joined, &dropped));
  bool is_fenced = !lt_str_eq(program, text);
  bool is_found = code_prose_put_json(turn, program, ret_why);
  if (!is_found && !is_fenced && code_prose_is_call_markup(text)) {
    code_prose_put_call(turn, (lt_json){0}, &arena, ret_why);
    is_found = true;
  } else if (!is_found && !is_fenced && lt_js_prose_is(text, &scratch)) {
    lt_buf_addc(ret_why, "The reply is text, not a program.");
    is_found = true;
  }
  lt_buf_addc(ret_why, is_found ? WRITE_INSTEAD : "");
  return is_found;
}
