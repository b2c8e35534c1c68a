/* Any bytes as a tool's input schema, output schema and description: no crash, an end, and text of bounded size. */
#include <stdlib.h>

#include "base/limits.h"
#include "json/json.h"
#include "text/tokens.h"
#include "types/typegen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef lt_status (*generator)(const lt_typegen_tool *tools, size_t count, lt_buf *out, lt_err *err);

static void run(generator fn, const lt_typegen_tool *tool) {
  lt_buf out;
  lt_buf_init(&out, 8 * LT_MIB);
  if (fn(tool, 1, &out, NULL) != LT_OK) {
    abort();
  }
  if (fn == lt_typegen_json && lt_json_check(lt_buf_view(&out), NULL) != LT_OK) {
    abort();
  }
  if ((fn == lt_typegen_prompt || fn == lt_typegen_lines) && memchr(out.p, '\x1b', out.n) != NULL) {
    abort();
  }
  lt_buf_release(&out);
}

/* As many tools as fit no budget, named by what comes in. */
static void run_budget(const lt_typegen_tool *tool) {
  lt_typegen_tool tools[20];
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
    tools[i] = *tool;
    tools[i].id = lt_str_sub(tool->description, i, i + 40);
    tools[i].ns = lt_str_sub(tool->description, 0, i / 3);
  }
  lt_buf out;
  lt_buf_init(&out, 8 * LT_MIB);
  if (lt_typegen_prompt_budget(tools, sizeof tools / sizeof tools[0], 150, &out, NULL) != LT_OK ||
      lt_tokens_estimate(lt_buf_view(&out)) > 150 || memchr(out.p, '\x1b', out.n) != NULL) {
    abort();
  }
  lt_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 256 * LT_KIB) {
    return 0;
  }
  lt_str text = lt_str_from(data, size);
  lt_typegen_tool tool = {.id = LT_STR("a.b"),
                          .ns = LT_STR("a"),
                          .js_name = LT_STR("aB"),
                          .ts_name = LT_STR("b"),
                          .ts_type = LT_STR("B"),
                          .description = text,
                          .input_schema = text,
                          .output_schema = text};
  run(lt_typegen_ts, &tool);
  run(lt_typegen_py, &tool);
  run(lt_typegen_prompt, &tool);
  run(lt_typegen_json, &tool);
  run(lt_typegen_lines, &tool);
  run_budget(&tool);
  return 0;
}
