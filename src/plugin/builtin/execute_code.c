/* execute_code: a Python program as a tool (seed Oasis), for models that call tools one by one. */
#include "base/limits.h"
#include "plugin/builtin/builtin_plugins.h"
#include "plugin/builtin/builtin_support.h"

#define ID      "execute_code"
#define NOTHING "(no result set — use set_result(data) to return structured output)"

/* --- The answer --------------------------------------------------------------------------------------------------- */
static void execute_code_put_lines(lathe_text logs, lt_buf *out) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  if (lt_json_parse(&arena, lt_builtin_str(logs), &doc, NULL) != LT_OK) {
    return;
  }
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  while (lt_json_next(&it)) {
    lt_str line = LT_STR("");
    (void)lt_json_str(it.value, &arena, &line);
    lt_buf_addc(out, out->n > 0 ? "\n" : "");
    lt_buf_add(out, line);
  }
}

/* The last whole lines within `max` bytes. When the last line is too long: its last whole characters. */
static lt_str execute_code_tail(lt_str lines, size_t max) {
  if (lines.n <= max) {
    return lines;
  }
  size_t at = lt_str_find(lines, LT_STR("\n"), lines.n - max);
  at = at < lines.n ? at + 1 : lines.n - max;
  while (at < lines.n && ((unsigned char)lines.p[at] & 0xC0) == 0x80) {
    at++;
  }
  return lt_str_sub(lines, at, lines.n);
}

/* The end of the log: the last lines tell most about a program's failure. */
static void execute_code_put_logs(const lathe_host *host, lathe_call *call, lathe_text result, size_t max,
                                  lt_buf *out) {
  LT_AUTO_BUF(lines, LT_PLUGIN_CALL_MAX_BYTES);
  execute_code_put_lines(host->member(call, result, "logs"), &lines);
  if (lines.n > 0) {
    lt_str tail = execute_code_tail(lt_buf_view(&lines), max);
    lt_buf_addc(out, "\n\nlogs:\n");
    lt_buf_addc(out, tail.n < lines.n ? "... (the beginning is left out)\n" : "");
    lt_buf_add(out, tail);
    lt_buf_addc(out, host->member(call, result, "logsCut").n > 0 ? "\n... (truncated)" : "");
  }
}

static void execute_code_put_place(const lathe_host *host, lathe_call *call, lathe_text result, lt_buf *out) {
  lathe_text line = host->member(call, result, "line");
  lathe_text context = host->characters(call, host->member(call, result, "context"));
  lathe_text stack = host->characters(call, host->member(call, result, "stack"));
  if (line.n > 0) {
    lt_buf_printf(out, " (line %s%s%s)", line.p, context.n > 0 ? ": " : "", context.p);
  }
  if (lt_str_find(lt_builtin_str(stack), LT_STR("\n"), 0) != SIZE_MAX) { /* a single line only repeats the message */
    lt_buf_addc(out, "\n\n");
    lt_buf_add(out, lt_builtin_str(stack));
  }
}

static void execute_code_fail(const lathe_host *host, lathe_call *call, lathe_text result) {
  LT_AUTO_BUF(text, LT_PLUGIN_CALL_MAX_BYTES);
  lathe_text error = host->characters(call, host->member(call, result, "error"));
  lathe_text value = host->member(call, result, "result");
  lt_buf_add(&text, error.n > 0 ? lt_builtin_str(error) : LT_STR("the program failed without a message"));
  execute_code_put_place(host, call, result, &text);
  if (value.n > 0) {
    lt_buf_addc(&text, "\n\nresult set before it failed:\n");
    lt_buf_add(&text, lt_str_sub(lt_builtin_str(value), 0, LT_RUN_ERROR_BYTES / 4));
    lt_buf_addc(&text, value.n > LT_RUN_ERROR_BYTES / 4 ? "... (truncated)" : "");
  }
  lt_builtin_put_strings(host->member(call, result, "calls"), "\n\ntool calls it had made: ", ", ", &text);
  execute_code_put_logs(host, call, result, LT_RUN_ERROR_BYTES / 2, &text);
  host->fail(call, "%s", text.status == LT_OK ? text.p : error.p);
}

/* The result as a text for a model: a string unchanged, other values as JSON. Its logs follow. */
static void execute_code_answer_text(const lathe_host *host, lathe_call *call, lathe_text value, lathe_text result) {
  LT_AUTO_BUF(text, LT_PLUGIN_CALL_MAX_BYTES);
  if (value.n == 0) {
    lt_buf_addc(&text, NOTHING);
  } else {
    lt_buf_add(&text, lt_builtin_str(lt_builtin_type(value) == LT_JSON_STRING ? host->characters(call, value) : value));
  }
  /* half of an answer's room, so that logs do not make a short result an artifact */
  execute_code_put_logs(host, call, result, LT_ANSWER_MAX_BYTES / 2, &text);
  if (text.status == LT_OK) {
    host->answer(call, host->quote(call, (lathe_text){text.p, text.n}));
  } else {
    host->fail(call, "there was no memory for the program's answer");
  }
}

/* A value without logs stays JSON, so that a long value is stored as JSON. */
static void execute_code_answer(const lathe_host *host, lathe_call *call, lathe_text result) {
  lathe_text value = host->member(call, result, "result");
  lt_json_type type = lt_builtin_type(value);
  bool is_text = type == LT_JSON_NONE || type == LT_JSON_NULL || type == LT_JSON_STRING;
  if (is_text || host->member(call, host->member(call, result, "logs"), "0").n > 0) {
    execute_code_answer_text(host, call, value, result);
  } else {
    host->answer(call, value);
  }
}

/* --- The tool ----------------------------------------------------------------------------------------------------- */
static void execute_code_run(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  const lathe_program program = {
      .size = sizeof program,
      .code = host->characters(call, host->member(call, in, "code")),
      .language = "python",
      .timeout_ms = (uint64_t)lt_builtin_number(host->member(call, in, "timeout"), 0),
      .hidden = ID,
      .without_output = 1,
  };
  lathe_text result;
  if (lt_str_trim(lt_builtin_str(program.code)).n == 0) {
    host->fail(call, "execute_code requires non-empty code");
  } else if (host->run_program(call, &program, &result) != 0) {
    lathe_text why = host->error(call);
    host->fail(call, "code execution failed: %.*s", (int)why.n, why.p);
  } else if (host->member(call, result, "error").n > 0) {
    execute_code_fail(host, call, result);
  } else {
    execute_code_answer(host, call, result);
  }
}

static void execute_code_setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  static const lathe_tool tool = {
      .size = sizeof tool,
      .name = ID,
      .description =
          "Execute Python code in a sandbox, for logic between tool calls: conditions, loops, work on their results. "
          "Set what you want back with set_result(data); print() is for logs. "
          "call_tool('name', {'arg': value}) calls a tool by the name you know it by and returns its value, or raises "
          "ToolError (a RuntimeError); call_tools_parallel([('name', {...}), ...]) calls several at once and returns "
          "their values in "
          "order. There is no network and no subprocess; files can be written in the working directory only. Nothing "
          "is kept from one call to the next.",
      .input_schema =
          "{\"type\":\"object\",\"properties\":{"
          "\"code\":{\"type\":\"string\",\"description\":\"The Python program\"},"
          "\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"Milliseconds, 30000 unless said\"}},"
          "\"required\":[\"code\"]}",
      .annotations = "{\"idempotentHint\":true}", /* the calls of its program are recorded themselves */
      .invoke = execute_code_run,
      .flags = LATHE_NOT_FOR_PROGRAMS | LATHE_ONLY_CALLS,
  };
  if (host->add_tool(call, &tool) != 0) {
    lt_builtin_fail_with_error(host, call);
  }
}

const lathe_plugin *lt_builtin_python(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin,
      .id = "python",
      .name = "Python",
      .description = "Python programs as a tool",
      .flags = LATHE_ON_LOOP | LATHE_NO_NAMESPACE,
      .setup = execute_code_setup,
  };
  return &plugin;
}
