#include "runner/run_tool_call.h"

#include "base/limits.h"
#include "base/mem.h"

/* The call owns this text; other code sees it as const. */
static void tool_call_free_text(lt_str *text) {
  char *bytes = NULL;
  memcpy(&bytes, &text->p, sizeof bytes);
  lt_mem_free(bytes);
  *text = LT_STR_NULL;
}

static bool tool_call_copy_text(lt_str text, lt_str *ret) {
  char *bytes = lt_mem_strdup(text);
  *ret = lt_str_from(bytes, text.n);
  return bytes != NULL;
}

static void tool_call_free(lt_run_tool_call *call) {
  tool_call_free_text(&call->record.tool);
  tool_call_free_text(&call->record.input);
  lt_buf_release(&call->out);
  lt_mem_free(call);
}

lt_run_tool_call *lt_run_tool_call_new(size_t size, lt_str tool, lt_str input) {
  lt_run_tool_call *call = lt_mem_zalloc(1, size);
  if (call == NULL) {
    return NULL;
  }
  lt_buf_init(&call->out, LT_JSON_MAX_BYTES);
  if (!tool_call_copy_text(tool, &call->record.tool) || !tool_call_copy_text(input, &call->record.input)) {
    tool_call_free(call);
    return NULL;
  }
  call->record.input_bytes = input.n;
  return call;
}

void lt_run_tool_call_free_input(lt_run_tool_call *call) {
  tool_call_free_text(&call->record.input);
}

void lt_run_tool_call_free_all(lt_run_tool_call *calls) {
  while (calls != NULL) {
    lt_run_tool_call *call = calls;
    calls = call->next;
    tool_call_free(call);
  }
}

const lt_run_call *lt_run_tool_call_link(lt_run_tool_call *calls) {
  const lt_run_call *first = NULL;
  const lt_run_call **last = &first;
  for (lt_run_tool_call *call = calls; call != NULL; call = call->next) {
    if (call->function == NULL) {
      *last = &call->record;
      last = &call->record.next;
    }
  }
  return first;
}
