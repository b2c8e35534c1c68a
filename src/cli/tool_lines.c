#include "cli/tool_lines.h"

#include "base/limits.h"
#include "tool/tool_typegen.h"
#include "types/typegen.h"

#define TOOLS_SHOWN 20

static lt_status tool_lines_list(const lt_console *console, const lt_catalog *catalog, lt_str query, lt_err *err) {
  uint32_t found[TOOLS_SHOWN];
  lt_typegen_tool tools[TOOLS_SHOWN];
  size_t count = lt_catalog_search(catalog, query, found, TOOLS_SHOWN);
  for (size_t i = 0; i < count; i++) {
    tools[i] = lt_tool_typegen(lt_catalog_at(catalog, found[i]));
  }
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  LT_TRY(lt_typegen_lines(tools, count, &text, err));
  if (count > 0) {
    lt_console_line(console, "", lt_buf_view(&text));
  } else {
    lt_console_format(console, query.n > 0 ? "No tool matches." : "There are no tools.");
  }
  size_t all = lt_catalog_count(catalog);
  if (query.n == 0 && all > count) {
    lt_console_format(console, "... and %zu more: /tools QUERY finds them", all - count);
  }
  return LT_OK;
}

void lt_tool_lines_print(const lt_console *console, lt_door *door, lt_str query) {
  LT_ERR_VAR(err);
  lt_catalog *catalog = NULL;
  lt_status status = lt_door_catalog(door, &catalog, &err);
  if (status == LT_OK) {
    status = tool_lines_list(console, catalog, query, &err);
  }
  if (status != LT_OK) {
    lt_console_line(console, "", lt_str_of(lt_err_msg(&err)));
  }
  lt_catalog_unref(catalog);
}
