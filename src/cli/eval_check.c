#include "cli/eval_check.h"

#include "base/limits.h"
#include "json/json.h"

#define CHECK_MS 5000

/* Checks as programs. The last one contains an expression of the task file. */
static const char same[] =
    "const same = (a, b) => a === b || (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null &&"
    " Array.isArray(a) === Array.isArray(b) && Object.keys(a).length === Object.keys(b).length &&"
    " Object.keys(a).every((key) => Object.hasOwn(b, key) && same(a[key], b[key])));"
    "same(JSON.parse(input.text.replace(/^\\s*```\\w*|```\\s*$/g, '')), input.wanted)";

static void eval_check_put_program(const lt_eval_task *task, lt_buf *out) {
  switch (task->kind) {
    case LT_EVAL_CONTAINS:
      lt_buf_addc(out, "input.text.includes(input.wanted)");
      break;
    case LT_EVAL_MATCHES:
      lt_buf_addc(out, "new RegExp(input.wanted, 'su').test(input.text)");
      break;
    case LT_EVAL_JSON:
      lt_buf_addc(out, same);
      break;
    case LT_EVAL_JS:
      lt_buf_addc(out, "const { text, outputs, calls } = input; !!(");
      lt_buf_add(out, task->wanted);
      lt_buf_addc(out, "\n)");
      break;
  }
}

static bool eval_check_is_program(lt_json output) {
  lt_json function = lt_json_get(output, "function");
  return lt_json_str_eq(function, LT_STR("code.execute")) || lt_json_str_eq(function, LT_STR("execute_typescript")) ||
         lt_json_str_eq(function, LT_STR("exec")) || lt_json_str_eq(function, LT_STR("wait"));
}

static bool eval_check_has_type(lt_json v, const char *type) {
  return lt_json_str_eq(lt_json_get(v, "type"), lt_str_of(type));
}

static void eval_check_put_texts(lt_json_writer *w, lt_json outputs) {
  lt_json_iter it = lt_json_each(outputs);
  lt_json_begin_array(w);
  while (lt_json_next(&it)) {
    if (eval_check_has_type(it.value, "text")) {
      lt_json_put_raw(w, lt_json_text(lt_json_get(it.value, "content")));
    }
  }
  lt_json_end_array(w);
}

static void eval_check_put_calls(lt_json_writer *w, lt_json outputs) {
  lt_json_iter it = lt_json_each(outputs);
  lt_json_begin_array(w);
  while (lt_json_next(&it)) {
    if (!eval_check_has_type(it.value, "tool") || eval_check_is_program(it.value)) {
      continue;
    }
    lt_json result = lt_json_get(it.value, "result");
    bool good = eval_check_has_type(result, "success");
    lt_json_begin_object(w);
    lt_json_key(w, "tool");
    lt_json_put_raw(w, lt_json_text(lt_json_get(it.value, "function")));
    lt_json_key(w, "input");
    lt_json_put_raw(w, lt_json_text(lt_json_get(it.value, "input")));
    lt_json_key(w, good ? "result" : "error");
    lt_json_put_raw(w, lt_json_text(lt_json_get(result, good ? "output" : "error")));
    lt_json_end_object(w);
  }
  lt_json_end_array(w);
}

static void eval_check_put_text(lt_json_writer *w, lt_json outputs, lt_arena *arena) {
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  lt_json_iter it = lt_json_each(outputs);
  while (lt_json_next(&it)) {
    lt_str content;
    if (eval_check_has_type(it.value, "text") && lt_json_str(lt_json_get(it.value, "content"), arena, &content)) {
      lt_buf_addc(&text, text.n > 0 ? "\n" : "");
      lt_buf_add(&text, content);
    }
  }
  lt_json_put_str(w, lt_buf_view(&text));
}

static lt_status eval_check_put_input(const lt_eval_task *task, lt_str outputs, lt_buf *out, lt_err *err) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  lt_status status = lt_json_parse(&arena, outputs, &doc, err);
  if (status == LT_OK) {
    lt_json_writer w = lt_json_writer_on(out);
    lt_json_begin_object(&w);
    lt_json_key(&w, "text");
    eval_check_put_text(&w, lt_json_root(&doc), &arena);
    lt_json_key(&w, "outputs");
    eval_check_put_texts(&w, lt_json_root(&doc));
    lt_json_key(&w, "calls");
    eval_check_put_calls(&w, lt_json_root(&doc));
    lt_json_key(&w, "wanted");
    if (task->kind == LT_EVAL_JSON) {
      lt_json_put_raw(&w, task->wanted);
    } else {
      lt_json_put_str(&w, task->wanted);
    }
    lt_json_end_object(&w);
    status = lt_fail_if(err, out->status, "the outputs are too long to be checked");
  }
  return status;
}

static lt_status eval_check_run_check(lt_runner *runner, const lt_run_request *request, bool *ret_right, lt_buf *why,
                                      lt_err *err) LT_YIELDS {
  lt_run_result result;
  lt_run_result_init(&result);
  lt_status status = lt_runner_run(runner, request, &result, err);
  if (status == LT_OK) {
    *ret_right = result.status == LT_OK && lt_str_eqc(lt_buf_view(&result.value), "true");
    if (result.status != LT_OK) {
      lt_buf_addc(why, "the check failed: ");
      lt_buf_add(why, lt_buf_view(&result.error));
    } else if (!*ret_right) {
      lt_buf_addc(why, "not what was wanted");
    }
  }
  lt_run_result_release(&result);
  return status;
}

lt_status lt_eval_check(lt_runner *runner, const lt_eval_task *task, lt_str outputs, lt_cancel *cancel, bool *ret_right,
                        lt_buf *why, lt_err *err) {
  LT_AUTO_BUF(code, LT_RUN_CODE_MAX_BYTES);
  LT_AUTO_BUF(input, LT_JSON_MAX_BYTES);
  eval_check_put_program(task, &code);
  lt_status status = eval_check_put_input(task, outputs, &input, err);
  if (status == LT_OK) {
    const lt_run_request request = {.code = lt_buf_view(&code),
                                    .lang = LT_LANG_JAVASCRIPT,
                                    .input = lt_buf_view(&input),
                                    .timeout_ms = CHECK_MS,
                                    .cancel = cancel};
    status = eval_check_run_check(runner, &request, ret_right, why, err);
  }
  return status;
}
