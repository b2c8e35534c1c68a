#include "tool/tool_typegen.h"

lt_typegen_tool lt_tool_typegen(const lt_tool *tool) {
  return (lt_typegen_tool){
      .id = tool->id,
      .ns = tool->ns,
      .js_name = tool->js_name,
      .ts_name = tool->ts_name,
      .ts_type = tool->ts_type,
      .description = tool->description,
      .input_schema = tool->input_schema,
      .output_schema = tool->output_schema,
  };
}

void lt_tool_typegen_put_aliases(const lt_catalog *catalog, const lt_tool *tool, lt_buf *out) {
  const lt_str names[] = {tool->long_name, tool->short_name, tool->js_name};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    bool is_repeated = lt_str_eq(names[i], tool->ts_name);
    for (size_t k = 0; k < i; k++) {
      is_repeated = is_repeated || lt_str_eq(names[i], names[k]);
    }
    if (names[i].n > 0 && !is_repeated && lt_catalog_find_word(catalog, LT_TOOL_TYPESCRIPT, names[i]).tool == tool) {
      lt_buf_printf(out, "declare const %.*s: typeof %.*s;\n", LT_STR_ARG(names[i]), LT_STR_ARG(tool->ts_name));
    }
  }
}
