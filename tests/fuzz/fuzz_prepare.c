/* Any bytes as a program and as what the engine said of it: what is run, and what is told, is always whole.
 *
 * The input is a byte of choices and up to five parts with 0x1E between them: the program, an error's name, its
 * message, its stack, the program's input. */
#include <stdlib.h>

#include "json/json.h"
#include "runner/quickjs/program_end.h"
#include "runner/quickjs/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TYPED = 1, STRIPPING = 2, ENDING = 28, CANCELLED = 32 };

static lt_catalog *catalog;

static void make_catalog(void) {
  static const lt_tool_spec specs[] = {{.name = {"get-weather", 11}}, {.name = {"echo", 4}}, {.name = {"delete", 6}}};
  lt_catalog_source source = {.ns = LT_STR("t"), .tools = specs, .count = sizeof specs / sizeof specs[0]};
  if (lt_catalog_new(&source, 1, &catalog, NULL) != LT_OK) {
    abort();
  }
}

static lt_str next_part(lt_str *rest) {
  size_t end = lt_str_find(*rest, LT_STR("\x1e"), 0);
  lt_str part = lt_str_sub(*rest, 0, end == SIZE_MAX ? rest->n : end);
  *rest = lt_str_sub(*rest, part.n + 1, rest->n);
  return part;
}

static void check_result(const lt_run_result *result) {
  lt_buf json;
  lt_buf_init(&json, 8 * LT_RUN_RESULT_MAX_BYTES);
  lt_run_result_json(result, NULL, &json);
  bool told = result->status == LT_OK || result->error.n > 0;
  if (json.status != LT_OK || lt_json_check(lt_buf_view(&json), NULL) != LT_OK || !told ||
      result->context.n > 2 * LT_RUN_CONTEXT_BYTES || result->error.n > LT_RUN_LOG_MAX_BYTES) {
    abort();
  }
  lt_buf_release(&json);
}

/* What the engine would have said; the JavaScript that came out of TypeScript is the program itself. */
static void judge(lt_run *run, unsigned choices, lt_str name, lt_str message, lt_str stack) {
  lt_buf_add(&run->engine.name, name);
  lt_buf_add(&run->engine.text, message);
  lt_buf_add(&run->engine.stack, stack);
  run->engine.ending = (lt_ending)((choices & ENDING) / 4 % (LT_END_TRAP + 1));
  if (run->engine.ending == LT_END_VALUE && lt_json_check(message, NULL) != LT_OK) {
    run->engine.ending = LT_END_STRING;
  }
  if (choices & STRIPPING) {
    lt_program_end_judge_syntax(run);
  } else {
    lt_program_end_judge(run);
  }
  lt_run_result_ensure_error(run->result);
}

static void prepare_and_judge(lt_run *run, unsigned choices, lt_str rest) {
  if (!lt_program_text_read(run)) {
    if (run->result->status != LT_E_INVALID) {
      abort();
    }
    return;
  }
  if (lt_program_text_prepare(run, run->text.source, NULL) != LT_OK) {
    abort();
  }
  lt_str bindings = run->text.program.bindings;
  if (bindings.n > 0 && lt_json_check(bindings, NULL) != LT_OK) {
    abort();
  }
  lt_str name = next_part(&rest);
  lt_str message = next_part(&rest);
  judge(run, choices, name, message, next_part(&rest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1 || size > LT_MIB) {
    return 0;
  }
  if (catalog == NULL) {
    make_catalog();
  }
  unsigned choices = data[0];
  lt_str rest = lt_str_from(data + 1, size - 1);
  lt_run_request request = {.code = next_part(&rest),
                            .lang = choices & TYPED ? LT_LANG_TYPESCRIPT : LT_LANG_JAVASCRIPT};
  lt_run_result result;
  lt_run_result_init(&result);
  lt_run run = {.request = &request, .result = &result, .catalog = catalog};
  lt_program_text_init(&run.text);
  lt_buf_init(&run.reply, LT_JSON_MAX_BYTES);
  lt_engine_result_init(&run.engine);
  atomic_store(&run.task.stop, choices & CANCELLED ? LT_STOP_CANCEL : LT_STOP_NOT);
  prepare_and_judge(&run, choices, rest);
  check_result(&result);
  lt_program_text_release(&run.text);
  lt_buf_release(&run.reply);
  lt_engine_result_release(&run.engine);
  lt_run_result_release(&result);
  return 0;
}
