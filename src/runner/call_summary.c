#include "runner/call_summary.h"

static lt_call_group *summary_find(lt_call_summary *summary, lt_str tool, const char *end) {
  for (size_t i = 0; i < summary->count; i++) {
    lt_call_group *group = &summary->groups[i];
    if (lt_str_eq(group->tool, tool) && strcmp(group->end, end) == 0) {
      return group;
    }
  }
  return NULL;
}

lt_call_summary lt_call_summary_read(const lt_run_result *result, const char *cut_short) {
  lt_call_summary summary = {0};
  for (const lt_run_call *call = result->calls; call != NULL; call = call->next) {
    const char *end = !call->finished ? cut_short : call->error.n > 0 ? " (failed)" : "";
    lt_call_group *group = summary_find(&summary, call->tool, end);
    if (group != NULL) {
      group->count++;
    } else if (summary.count < LT_TOOL_LISTED_MAX) {
      summary.groups[summary.count++] = (lt_call_group){.tool = call->tool, .end = end, .count = 1};
    } else {
      summary.more++;
    }
  }
  return summary;
}

void lt_call_summary_put_group(lt_buf *out, const lt_call_group *group) {
  if (group->count > 1) {
    lt_buf_printf(out, "%zu \u00d7 ", group->count);
  }
  lt_buf_add(out, group->tool);
  lt_buf_addc(out, group->end);
}

void lt_call_summary_put(lt_buf *out, const lt_call_summary *summary) {
  for (size_t i = 0; i < summary->count; i++) {
    lt_buf_addc(out, i > 0 ? ", " : "");
    lt_call_summary_put_group(out, &summary->groups[i]);
  }
  if (summary->more > 0) {
    lt_buf_printf(out, " and %zu more", summary->more);
  }
}
