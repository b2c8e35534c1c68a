/* execute_code: a Python program as a tool (seed Oasis), for models that call tools one by one. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "json/json.h"
#include "plugin/builtin/plugins.h"

#define ID      "execute_code"
#define NOTHING "(no result set — use set_result(data) to return structured output)"

static lt_str of_text(lathe_text text) {
  return lt_str_from(text.p, text.n);
}

/* --- What came of it ---------------------------------------------------------------------------------------------- */
static void put_lines(lathe_text logs, lt_buf *out) {
  lt_arena arena;
  lt_json_doc doc;
  lt_arena_init(&arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&arena, of_text(logs), &doc, NULL) == LT_OK) {
    lt_json_iter it = lt_json_each(lt_json_root(&doc));
    while (lt_json_next(&it)) {
      lt_str line = LT_STR("");
      (void)lt_json_str(it.value, &arena, &line);
      lt_buf_addc(out, out->n > 0 ? "\n" : "");
      lt_buf_add(out, line);
    }
  }
  lt_arena_release(&arena);
}

/* Whole lines; of one that is too long by itself whole characters. */
static lt_str end_of(lt_str lines, size_t max) {
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

/* Of what was logged, its end: what a program said last is nearest to why it failed. */
static void put_logs(const lathe_host *host, lathe_call *call, lathe_text result, size_t max, lt_buf *out) {
  lt_buf lines;
  lt_buf_init(&lines, LT_PLUGIN_CALL_MAX_BYTES);
  put_lines(host->member(call, result, "logs"), &lines);
  if (lines.n > 0) {
    lt_str end = end_of(lt_buf_view(&lines), max);
    lt_buf_addc(out, "\n\nlogs:\n");
    lt_buf_addc(out, end.n < lines.n ? "... (the beginning is left out)\n" : "");
    lt_buf_add(out, end);
    lt_buf_addc(out, host->member(call, result, "logsCut").n > 0 ? "\n... (truncated)" : "");
  }
  lt_buf_release(&lines);
}

static void put_place(const lathe_host *host, lathe_call *call, lathe_text result, lt_buf *out) {
  lathe_text line = host->member(call, result, "line");
  lathe_text context = host->characters(call, host->member(call, result, "context"));
  lathe_text stack = host->characters(call, host->member(call, result, "stack"));
  if (line.n > 0) {
    lt_buf_printf(out, " (line %s%s%s)", line.p, context.n > 0 ? ": " : "", context.p);
  }
  if (lt_str_find(of_text(stack), LT_STR("\n"), 0) != SIZE_MAX) { /* one line says what was said already */
    lt_buf_addc(out, "\n\n");
    lt_buf_add(out, of_text(stack));
  }
}

static void put_calls(const lathe_host *host, lathe_call *call, lathe_text calls, lt_buf *out) {
  lathe_text one = host->member(call, calls, "0");
  for (unsigned i = 1; one.n > 0; i++) {
    lt_buf_addc(out, i == 1 ? "\n\ntool calls it had made: " : ", ");
    lt_buf_add(out, of_text(host->characters(call, one)));
    one = host->member(call, calls, host->format(call, "%u", i).p);
  }
}

static void fail(const lathe_host *host, lathe_call *call, lathe_text result) {
  lt_buf text;
  lt_buf_init(&text, LT_PLUGIN_CALL_MAX_BYTES);
  lathe_text error = host->characters(call, host->member(call, result, "error"));
  lathe_text value = host->member(call, result, "result");
  lt_buf_add(&text, error.n > 0 ? of_text(error) : LT_STR("the program failed without a message"));
  put_place(host, call, result, &text);
  if (value.n > 0) {
    lt_buf_addc(&text, "\n\nresult set before it failed:\n");
    lt_buf_add(&text, lt_str_sub(of_text(value), 0, LT_RUN_ERROR_BYTES / 4));
    lt_buf_addc(&text, value.n > LT_RUN_ERROR_BYTES / 4 ? "... (truncated)" : "");
  }
  put_calls(host, call, host->member(call, result, "calls"), &text);
  put_logs(host, call, result, LT_RUN_ERROR_BYTES / 2, &text);
  host->fail(call, "%s", text.status == LT_OK ? text.p : error.p);
  lt_buf_release(&text);
}

/* What it set, as the text a model reads: a string as it is, everything else as JSON; its logs after it. */
static void answer_text(const lathe_host *host, lathe_call *call, lathe_text value, lathe_text result) {
  lt_buf text;
  lt_buf_init(&text, LT_PLUGIN_CALL_MAX_BYTES);
  if (value.n == 0) {
    lt_buf_addc(&text, NOTHING);
  } else {
    lt_buf_add(&text, of_text(value.p[0] == '"' ? host->characters(call, value) : value));
  }
  put_logs(host, call, result, LT_ANSWER_MAX_BYTES / 2, &text); /* so that they do not take a short result along */
  if (text.status == LT_OK) {
    host->answer(call, host->quote(call, (lathe_text){text.p, text.n}));
  } else {
    host->fail(call, "there was no memory for the program's answer");
  }
  lt_buf_release(&text);
}

/* Without logs a value stays what it is: one that is long is then put aside as JSON. */
static void answer(const lathe_host *host, lathe_call *call, lathe_text result) {
  lathe_text value = host->member(call, result, "result");
  lathe_text logs = host->member(call, result, "logs");
  bool plain = value.n > 0 && value.p[0] != 'n' && value.p[0] != '"' && host->member(call, logs, "0").n == 0;
  if (plain) {
    host->answer(call, value);
  } else {
    answer_text(host, call, value, result);
  }
}

/* --- The tool ----------------------------------------------------------------------------------------------------- */
/* Digits only: the schema has been checked. */
static uint64_t number_of(lathe_text json) {
  uint64_t n = 0;
  for (size_t i = 0; i < json.n && json.p[i] >= '0' && json.p[i] <= '9'; i++) {
    n = 10 * n + (uint64_t)(json.p[i] - '0');
  }
  return n;
}

static void execute(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  const lathe_program program = {
      .size = sizeof program,
      .code = host->characters(call, host->member(call, in, "code")),
      .language = "python",
      .timeout_ms = number_of(host->member(call, in, "timeout")),
      .hidden = ID,
      .without_output = 1,
  };
  lathe_text result;
  if (lt_str_trim(of_text(program.code)).n == 0) {
    host->fail(call, "execute_code requires non-empty code");
  } else if (host->run_program(call, &program, &result) != 0) {
    lathe_text why = host->error(call);
    host->fail(call, "code execution failed: %.*s", (int)why.n, why.p);
  } else if (host->member(call, result, "error").n > 0) {
    fail(host, call, result);
  } else {
    answer(host, call, result);
  }
}

static void setup(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
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
      .annotations = "{\"idempotentHint\":true}", /* what its program does through tools is on record by itself */
      .invoke = execute,
      .flags = LATHE_NOT_FOR_PROGRAMS | LATHE_ONLY_CALLS,
  };
  if (host->add_tool(call, &tool) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
}

const lathe_plugin *lathe_plugin_python(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin,
      .id = "python",
      .name = "Python",
      .description = "Python programs as a tool",
      .flags = LATHE_ON_LOOP | LATHE_NO_NAMESPACE,
      .setup = setup,
  };
  return &plugin;
}
