/* The interpreter: a program as a tool, for models that call tools one by one.
 *
 * The program has the tools of the caller, but not this one itself.
 */
#include "base/limits.h"
#include "plugin/builtin/builtin_plugins.h"
#include "plugin/builtin/builtin_support.h"

#define ID "interpreter.run-code"

/* --- The tool ----------------------------------------------------------------------------------------------------- */
/* Writes "it failed (line 3, column 1: the source line); tools called before: a". */
static void interpreter_fail(const lathe_host *host, lathe_call *call, lathe_text result) {
  LT_AUTO_BUF(text, LT_PLUGIN_CALL_MAX_BYTES);
  lathe_text error = host->characters(call, host->member(call, result, "error"));
  lathe_text line = host->member(call, result, "line");
  lathe_text column = host->member(call, result, "column");
  lathe_text context = host->characters(call, host->member(call, result, "context"));
  lt_buf_add(&text, lt_builtin_str(error));
  if (line.n > 0) {
    lt_buf_printf(&text, " (line %s, column %s%s%s)", line.p, column.n > 0 ? column.p : "1", context.n > 0 ? ": " : "",
                  context.p);
  }
  lt_builtin_put_strings(host->member(call, result, "calls"), "; tools called before: ", ", ", &text);
  host->fail(call, "%s", text.status == LT_OK && text.n > 0 ? text.p : error.p);
}

/* Answers with the program's result and its log lines, if there are any. */
static void interpreter_answer(const lathe_host *host, lathe_call *call, lathe_text result) {
  lathe_text value = host->member(call, result, "result");
  lathe_text logs = host->member(call, result, "logs");
  value = value.n > 0 ? value : LATHE_TEXT("null");
  if (host->member(call, logs, "0").n == 0) {
    host->answer(call, value);
    return;
  }
  LT_AUTO_BUF(answer, LT_PLUGIN_CALL_MAX_BYTES);
  lt_json_writer w = lt_json_writer_on(&answer);
  lt_json_begin_object(&w);
  lt_json_key(&w, "result");
  lt_json_put_raw(&w, lt_builtin_str(value));
  lt_json_key(&w, "logs");
  lt_json_put_raw(&w, lt_builtin_str(logs));
  lt_json_end_object(&w);
  lt_builtin_answer(host, call, &answer);
}

static void interpreter_run(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  const lathe_program program = {
      .size = sizeof program,
      .code = host->characters(call, host->member(call, in, "code")),
      .input = host->member(call, in, "input"),
      .timeout_ms = (uint64_t)lt_builtin_number(host->member(call, in, "timeout"), 0),
      .hidden = ID,
      .without_output = 1,
  };
  lathe_text result;
  if (host->run_program(call, &program, &result) != 0) {
    lt_builtin_fail_with_error(host, call);
  } else if (host->member(call, result, "error").n > 0) {
    interpreter_fail(host, call, result);
  } else {
    interpreter_answer(host, call, result);
  }
}

/* --- The description of the tool ---------------------------------------------------------------------------------- */
/* What a program finds, beside the language and the functions of plugins; tests/flow/guide-examples.test.mjs compares.
 */
static const char interpreter_about[] =
    "Run JavaScript code that calls tools as functions: for several calls at once, loops, and work on their results "
    "that need not be seen. Each tool is a function with a camelCase name (weather.get-weather is weatherGetWeather) "
    "that takes one object and returns the result; no await is needed. The value of the last expression, or what a "
    "return at the top level gives, is the result. "
    "parallel([{tool, input}]) calls several tools at once, by their ids, and keeps their order; one that failed is "
    "{error}. tools[\"weather.get-weather\"](input) is a tool by its id; discoverTools(query?) finds tools, "
    "toolSchema(id) says what one takes. "
    "input is what was given; store(key, value) and recall(key) keep values while this program runs. "
    "log(...), console.log(...) and print(...) add to what is returned, which is {result, logs} then. "
    "sleep(ms), setTimeout, setInterval, setImmediate, clearTimeout, clearInterval and clearImmediate are timers. "
    "llm(prompt) and llmJson(prompt) ask a language model, where one is configured. Of the web: AbortController, "
    "AbortSignal, Blob, Crypto, CustomEvent, DOMException, Event, EventTarget, File, FormData, Headers, Intl, "
    "SubtleCrypto, TextDecoder, TextEncoder, URL, URLSearchParams, atob, btoa, crypto, performance, queueMicrotask, "
    "structuredClone; no network, files, process or require.";

/* Writes "BEFORE a(x), b(y)." for a JSON array, and nothing for an empty one. The items are strings, or objects with
 * "name" and "signature". */
static void interpreter_put_names(lathe_text list, const char *before, lt_buf *out) {
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_json_doc doc;
  if (list.n == 0 || lt_json_parse(&arena, lt_builtin_str(list), &doc, NULL) != LT_OK) {
    return;
  }
  lt_json_iter it = lt_json_each(lt_json_root(&doc));
  for (; lt_json_next(&it); before = ", ") {
    lt_str name = LT_STR(""), signature = LT_STR("");
    bool is_object = lt_json_typeof(it.value) == LT_JSON_OBJECT;
    (void)lt_json_str(is_object ? lt_json_get(it.value, "name") : it.value, &arena, &name);
    (void)lt_json_str(lt_json_get(it.value, "signature"), &arena, &signature);
    lt_buf_addc(out, before);
    lt_buf_add(out, name);
    lt_buf_add(out, signature);
  }
  lt_buf_addc(out, lt_json_count(lt_json_root(&doc)) > 0 ? "." : "");
}

/* Runs in ready, when all functions and modules are known. */
static void interpreter_ready(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  LT_AUTO_BUF(description, LT_PLUGIN_CALL_MAX_BYTES);
  lt_buf_addc(&description, interpreter_about);
  interpreter_put_names(host->member(call, in, "functions"), " Functions: ", &description);
  interpreter_put_names(host->member(call, in, "modules"), " Modules to import: ", &description);
  const lathe_tool tool = {
      .size = sizeof tool,
      .name = "run-code",
      .description = description.status == LT_OK ? description.p : interpreter_about,
      .input_schema =
          "{\"type\":\"object\",\"properties\":{"
          "\"code\":{\"type\":\"string\",\"description\":\"The program\"},"
          "\"input\":{\"description\":\"What the program finds in the variable input\"},"
          "\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"Milliseconds, 30000 unless said\"}},"
          "\"required\":[\"code\"]}",
      .annotations = "{\"idempotentHint\":true}", /* the calls of its program are recorded themselves */
      .invoke = interpreter_run,
      .flags = LATHE_ONLY_CALLS,
  };
  if (host->add_tool(call, &tool) != 0) {
    lt_builtin_fail_with_error(host, call);
  }
}

const lathe_plugin *lt_builtin_interpreter(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin,
      .id = "interpreter",
      .name = "Interpreter",
      .description = "Programs as a tool",
      .flags = LATHE_ON_LOOP,
      .ready = interpreter_ready,
  };
  return &plugin;
}
