#include "runner/quickjs/tool_names.h"

#include "runner/quickjs/run.h"
#include "tool/catalog_suggest.h"
#include "tool/cell_name.h"

static bool names_is_typed(const lt_run *run) {
  return run->text.program.calls == LT_CALLS_RESULT;
}

const lt_tool *lt_tool_names_unless_hidden(const lt_run *run, const lt_tool *tool) {
  const lt_caller *caller = run->request->caller;
  bool is_hidden = tool != NULL && caller != NULL && caller->hidden.n > 0 && lt_str_eq(tool->id, caller->hidden);
  return is_hidden ? NULL : tool;
}

/* A name of a host function means that function, not a tool. */
lt_str lt_tool_names_of(const lt_run *run, const lt_tool *tool) {
  lt_str name = names_is_typed(run) ? tool->ts_name : tool->js_name;
  bool is_taken = lt_run_request_find_function(run->request, name) < run->request->function_count;
  return name.n > 0 && !is_taken ? name : tool->id;
}

const lt_tool *lt_tool_names_find_word(const lt_run *run, lt_str word) {
  lt_tool_language language = names_is_typed(run) ? LT_TOOL_TYPESCRIPT : LT_TOOL_JAVASCRIPT;
  return lt_tool_names_unless_hidden(run, lt_catalog_find_word(run->catalog, language, word).tool);
}

const lt_tool *lt_tool_names_find(const lt_run *run, lt_str name) {
  const lt_tool *tool = lt_tool_names_unless_hidden(run, lt_catalog_find(run->catalog, name));
  if (tool == NULL) {
    tool = lt_tool_names_find_word(run, name);
  }
  return tool != NULL ? tool : lt_tool_names_unless_hidden(run, lt_cell_name_find(run->catalog, name));
}

/* --- Suggestions -------------------------------------------------------------------------------------------------- */
static void names_put_function(void *arg, const lt_tool_suggestion *suggestion, lt_buf *message) {
  if (lt_tool_names_unless_hidden(arg, suggestion->tool) != NULL) {
    lt_buf_add(message, lt_tool_names_of(arg, suggestion->tool));
  }
}

static void names_put_id(void *arg, const lt_tool_suggestion *suggestion, lt_buf *message) {
  if (!lt_str_eq(suggestion->name, suggestion->tool->id)) {
    names_put_function(arg, suggestion, message);
  } else if (lt_tool_names_unless_hidden(arg, suggestion->tool) != NULL) {
    lt_buf_add(message, suggestion->name);
  }
}

bool lt_tool_names_suggest(lt_run *run, lt_str name, lt_buf *message) {
  return lt_catalog_suggest_put(run->catalog, name, names_put_function, run, message);
}

bool lt_tool_names_suggest_ids(lt_run *run, lt_str name, lt_buf *message) {
  return lt_catalog_suggest_put(run->catalog, name, names_put_id, run, message);
}
