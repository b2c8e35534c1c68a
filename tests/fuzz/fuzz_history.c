/* Any JSON as a conversation's history: in every form and any budget, messages that a provider takes. The first byte
 * says which form and budget. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/history/history.h"
#include "agent/modes/mode_table.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is) {
  if (!is) {
    abort();
  }
}

static bool is_role(lt_json message, const char *role) {
  return lt_json_str_eq(lt_json_get(message, "role"), lt_str_of(role));
}

/* A call has its answer right behind it, of the same id; arguments are an object. */
static void check_call(lt_arena *arena, lt_json call, lt_json answer) {
  lt_str id, arguments, name;
  lt_json_doc doc;
  lt_json function = lt_json_get(call, "function");
  char plain[LT_TOOL_NAME_CHARS + 1];
  check(lt_json_str(lt_json_get(call, "id"), arena, &id) && id.n > 0 && id.n <= 40);
  check(is_role(answer, "tool") && lt_json_str_eq(lt_json_get(answer, "tool_call_id"), id));
  check(lt_json_str(lt_json_get(function, "name"), arena, &name));
  lt_tool_definitions_plain_name(name, plain);
  check(lt_str_eqc(name, plain));
  check(lt_json_str(lt_json_get(function, "arguments"), arena, &arguments));
  check(lt_json_parse(arena, arguments, &doc, NULL) == LT_OK && lt_json_typeof(lt_json_root(&doc)) == LT_JSON_OBJECT);
}

static void check_messages(lt_str text) {
  lt_arena arena;
  lt_json_doc doc;
  lt_arena_init(&arena, LT_GIB);
  check(lt_json_parse(&arena, text, &doc, NULL) == LT_OK);
  lt_json before = {0};
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    lt_json call = lt_json_at(lt_json_get(before, "tool_calls"), 0);
    bool is_answer = is_role(it.value, "tool");
    check(is_answer || is_role(it.value, "user") || is_role(it.value, "assistant"));
    check(is_answer == lt_json_exists(call));
    if (is_answer) {
      check_call(&arena, call, it.value);
    }
    lt_json content = lt_json_get(it.value, "content");
    check(lt_json_typeof(content) == LT_JSON_STRING || lt_json_exists(lt_json_get(it.value, "tool_calls")));
    before = it.value;
  }
  check(!lt_json_exists(lt_json_get(before, "tool_calls")));
  lt_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const size_t budgets[] = {0, 1, 100, 1000};
  if (size < 1 || size > (1 << 17)) {
    return 0;
  }
  const lt_history history = {
      .modes = lt_mode_table,
      .mode_count = lt_mode_count,
      .prompts = lt_str_from(data + 1, size - 1),
      .current = LT_STR("c"),
      .form = (lt_history_form)(data[0] % 3),
      .max_tokens = budgets[data[0] / 3 % 4],
  };
  lt_buf out;
  lt_buf_init(&out, LT_GIB);
  lt_json_writer w = lt_json_writer_on(&out);
  lt_json_begin_array(&w);
  lt_status status = lt_history_put(&history, &w, NULL, NULL, NULL);
  lt_json_end_array(&w);
  check(status == LT_OK || status == LT_E_SYNTAX || status == LT_E_LIMIT);
  if (status == LT_OK) {
    check_messages(lt_buf_view(&out));
  }
  lt_buf_release(&out);
  return 0;
}
