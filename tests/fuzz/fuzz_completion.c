/* Any bytes as a model's answer, streamed in pieces or whole: no crash, no leak, and what is shown is the text. */
#include <stdint.h>
#include <stdlib.h>

#include "text/sse.h"
#include "model/completion_wire.h"

#define TOOLS "[{\"function\":{\"name\":\"f\",\"parameters\":{\"properties\":{\"s\":{\"type\":\"string\"}}}}}]"

/* The first byte says which one, and in which pieces. */
static const lt_completion_wire *const wires[] = {&lt_chat_completions_wire, &lt_anthropic_messages_wire,
                                                  &lt_openai_responses_wire};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_text(void *arg, lt_str delta) {
  lt_buf_add(arg, delta);
}

static lt_status read_events(lt_assembly *a, lt_str stream, size_t step) {
  lt_sse sse;
  lt_sse_event e;
  lt_sse_init(&sse, 1 << 20);
  lt_status status = LT_OK;
  for (size_t at = 0; at < stream.n && status == LT_OK; at += step) {
    status = lt_sse_add(&sse, lt_str_sub(stream, at, at + step));
    while (status == LT_OK && lt_sse_next(&sse, &e)) {
      status = lt_assembly_event(a, e.event, e.data, NULL);
    }
  }
  lt_sse_release(&sse);
  return status;
}

static void check_calls(const lt_completion *c) {
  for (size_t i = 0; i < c->call_count; i++) {
    for (size_t j = 0; j < i && i < 100; j++) {
      if (lt_str_eq(c->calls[i].id, c->calls[j].id)) {
        abort();
      }
    }
    if (c->calls[i].id.n == 0) {
      abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1 || size > (1 << 18)) {
    return 0;
  }
  lt_buf shown;
  lt_completion completion;
  lt_assembly a;
  lt_model model = {.name = LT_STR("m"), .api_key = LT_STR("secret-key")};
  lt_completion_request request = {
      .model = &model, .messages = LT_STR("[]"), .tools = LT_STR(TOOLS), .on_text = on_text, .arg = &shown};
  lt_str bytes = lt_str_from(data + 1, size - 1);
  lt_buf_init(&shown, 64 << 20);
  lt_completion_init(&completion);
  lt_assembly_init(&a, wires[data[0] / 64 % 3], &request, &completion);
  lt_status status =
      data[0] % 64 == 0 ? lt_assembly_whole(&a, bytes, NULL) : read_events(&a, bytes, data[0] % 64 + (size_t)1);
  if (status == LT_OK && lt_assembly_end(&a, NULL) == LT_OK) {
    check_calls(&completion);
    if (completion.kept.n > 0 && lt_json_check(lt_buf_view(&completion.kept), NULL) != LT_OK) {
      abort();
    }
  }
  if (!lt_str_eq(lt_buf_view(&shown), lt_buf_view(&completion.text))) {
    abort();
  }
  lt_assembly_release(&a);
  lt_completion_release(&completion);
  lt_buf_release(&shown);
  return 0;
}
