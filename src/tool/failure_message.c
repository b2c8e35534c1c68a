#include "tool/failure_message.h"

bool lt_failure_message_names_tool(lt_str message) {
  return lt_str_starts(message, LT_STR("Tool \""));
}

void lt_failure_message_put(lt_buf *out, lt_str tool, lt_str why) {
  if (!lt_failure_message_names_tool(why)) {
    lt_buf_addc(out, "Tool \"");
    lt_buf_add(out, tool);
    lt_buf_addc(out, "\" failed: ");
  }
  lt_buf_add(out, why);
}
