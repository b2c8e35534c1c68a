#include "runner/run_tool_call.h"

#include "base/limits.h"
#include "base/mem.h"

#define INSIDE_BYTES 256 /* longer inputs can be freed before their call is */

static void tool_call_free(lt_run_tool_call *call) {
  lt_mem_free(call->long_input);
  lt_buf_release(&call->out);
  lt_mem_free(call);
}

static lt_str tool_call_copy(char *to, lt_str text) {
  if (text.n > 0) {
    memcpy(to, text.p, text.n);
  }
  to[text.n] = '\0';
  return lt_str_from(to, text.n);
}

/* The texts are behind the struct. */
lt_run_tool_call *lt_run_tool_call_new(size_t size, lt_str tool, lt_str input) {
  size_t inside = input.n <= INSIDE_BYTES ? input.n : 0;
  lt_run_tool_call *call = lt_mem_alloc(size + tool.n + inside + 2);
  char *long_input = input.n > INSIDE_BYTES ? lt_mem_alloc(input.n + 1) : NULL;
  if (call == NULL || (long_input == NULL && input.n > INSIDE_BYTES)) {
    lt_mem_free(call);
    lt_mem_free(long_input);
    return NULL;
  }
  memset(call, 0, size);
  char *behind = (char *)call + size;
  lt_buf_init(&call->out, LT_JSON_MAX_BYTES);
  call->record.tool = tool_call_copy(behind, tool);
  call->record.input = tool_call_copy(long_input != NULL ? long_input : behind + tool.n + 1, input);
  call->record.input_bytes = input.n;
  call->long_input = long_input;
  return call;
}

void lt_run_tool_call_free_input(lt_run_tool_call *call) {
  lt_mem_free(call->long_input);
  call->long_input = NULL;
  call->record.input = LT_STR_NULL;
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
