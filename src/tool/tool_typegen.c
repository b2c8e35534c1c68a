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
