/* The list of the tools as JSON, and as lines for people. */
#include "base/limits.h"
#include "json/json.h"
#include "types/typegen.h"
#include "types/typegen_text.h"

static bool tool_line_is_json(lt_str text) {
  return text.n > 0 && lt_json_check(text, NULL) == LT_OK;
}

static void tool_line_put_entry(lt_json_writer *w, const lt_typegen_tool *tool) {
  lt_json_begin_object(w);
  lt_json_key(w, "id");
  lt_json_put_str(w, tool->id);
  lt_json_key(w, "jsName");
  if (tool->js_name.n > 0) {
    lt_json_put_str(w, tool->js_name);
  } else {
    lt_json_put_null(w);
  }
  lt_json_key(w, "tsName");
  lt_json_put_str(w, tool->ts_name);
  lt_json_key(w, "description");
  lt_json_put_str(w, tool->description);
  lt_json_key(w, "inputSchema");
  lt_json_put_raw(w, tool_line_is_json(tool->input_schema) ? lt_str_trim(tool->input_schema) : LT_STR("{}"));
  if (tool_line_is_json(tool->output_schema)) {
    lt_json_key(w, "outputSchema");
    lt_json_put_raw(w, lt_str_trim(tool->output_schema));
  }
  lt_json_end_object(w);
}

static lt_status tool_line_check_fits(const lt_buf *out, size_t count, lt_err *err) {
  return lt_fail_if(err, out->status, "the list of %zu tools is too long", count);
}

lt_status lt_typegen_json(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  LT_AUTO_BUF(plain, out->max);
  lt_json_writer w = lt_json_writer_on(&plain);
  lt_json_begin_array(&w);
  for (size_t i = 0; i < count && plain.status == LT_OK; i++) {
    tool_line_put_entry(&w, &tools[i]);
  }
  lt_json_end_array(&w);
  LT_TRY(tool_line_check_fits(&plain, count, err));
  lt_typegen_put_visible(out, lt_buf_view(&plain));
  return tool_line_check_fits(out, count, err);
}

static lt_str tool_line_first_line(lt_str text) {
  lt_str trimmed = lt_str_trim(text);
  return lt_str_sub(trimmed, 0, lt_str_find(trimmed, LT_STR("\n"), 0));
}

lt_status lt_typegen_lines(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err) {
  for (size_t i = 0; i < count && out->status == LT_OK; i++) {
    lt_typegen_put_line(out, tools[i].id, LT_TYPEGEN_NAME_MAX_CHARS);
    lt_buf_addc(out, "  ");
    lt_typegen_put_line(out, tools[i].js_name.n > 0 ? tools[i].js_name : LT_STR("-"), LT_TYPEGEN_NAME_MAX_CHARS);
    lt_buf_addc(out, "  ");
    lt_typegen_put_line(out, tool_line_first_line(tools[i].description), LT_TYPEGEN_LINE_MAX_CHARS);
    lt_buf_byte(out, '\n');
  }
  return tool_line_check_fits(out, count, err);
}
