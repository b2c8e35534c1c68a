#include "runner/quickjs/tool_names.h"

#include "runner/quickjs/run.h"

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
  return lt_tool_names_unless_hidden(
      run, names_is_typed(run) ? lt_catalog_find_ts(run->catalog, word) : lt_catalog_find_js(run->catalog, word));
}

const lt_tool *lt_tool_names_find(const lt_run *run, lt_str name) {
  const lt_tool *tool = lt_tool_names_unless_hidden(run, lt_catalog_find(run->catalog, name));
  return tool != NULL ? tool : lt_tool_names_find_word(run, name);
}

/* The tool of a name in any language. */
static const lt_tool *names_find_any(const lt_run *run, lt_str name) {
  const lt_tool *tool = lt_catalog_find(run->catalog, name);
  tool = tool != NULL ? tool : lt_catalog_find_js(run->catalog, name);
  return tool != NULL ? tool : lt_catalog_find_ts(run->catalog, name);
}

lt_str lt_tool_names_near(const lt_run *run, lt_str near) {
  const lt_tool *tool = lt_tool_names_find(run, near);
  tool = tool != NULL ? tool : names_find_any(run, near);
  return tool != NULL ? lt_tool_names_of(run, tool) : near;
}

size_t lt_tool_names_suggest(const lt_run *run, lt_str name, lt_str ret[]) {
  lt_str near[LT_TOOL_SUGGESTIONS];
  size_t found = lt_catalog_suggest(run->catalog, name, near);
  size_t count = 0;
  for (size_t i = 0; i < found; i++) {
    if (lt_tool_names_unless_hidden(run, names_find_any(run, near[i])) != NULL) {
      ret[count++] = near[i];
    }
  }
  return count;
}
