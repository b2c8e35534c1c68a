/* The interpreter: a program as a tool, for models that call tools one by one.
 *
 * The program has the tools of whoever calls this one, but not this one itself.
 */
#include "plugin/builtin/plugins.h"

#define ID "interpreter.run-code"

static void fail_as_said(const lathe_host *host, lathe_call *call) {
  lathe_text why = host->error(call);
  host->fail(call, "%.*s", (int)why.n, why.p);
}

/* --- The tool ----------------------------------------------------------------------------------------------------- */
/* "; tools called before: a, b (failed)", or nothing. */
static lathe_text calls_of(const lathe_host *host, lathe_call *call, lathe_text result) {
  lathe_text calls = host->member(call, result, "calls"), text = LATHE_TEXT("");
  lathe_text one = host->member(call, calls, "0");
  for (unsigned i = 1; one.n > 0; i++) {
    text =
        host->format(call, "%s%s%s", text.p, i == 1 ? "; tools called before: " : ", ", host->characters(call, one).p);
    one = host->member(call, calls, host->format(call, "%u", i).p);
  }
  return text;
}

static void fail_as_program(const lathe_host *host, lathe_call *call, lathe_text result) {
  lathe_text error = host->characters(call, host->member(call, result, "error"));
  lathe_text line = host->member(call, result, "line");
  lathe_text column = host->member(call, result, "column");
  lathe_text context = host->characters(call, host->member(call, result, "context"));
  const char *calls = calls_of(host, call, result).p;
  if (line.n == 0) {
    host->fail(call, "%s%s", error.p, calls);
  } else if (context.n == 0) {
    host->fail(call, "%s (line %s, column %s)%s", error.p, line.p, column.n > 0 ? column.p : "1", calls);
  } else {
    host->fail(call, "%s (line %s, column %s: %s)%s", error.p, line.p, column.n > 0 ? column.p : "1", context.p, calls);
  }
}

/* The program's result; with what it logged, if anything. */
static void answer(const lathe_host *host, lathe_call *call, lathe_text result) {
  lathe_text value = host->member(call, result, "result");
  lathe_text logs = host->member(call, result, "logs");
  if (host->member(call, logs, "0").n == 0) {
    host->answer(call, value.n > 0 ? value : LATHE_TEXT("null"));
  } else {
    host->answer(call, host->format(call, "{\"result\":%s,\"logs\":%s}", value.n > 0 ? value.p : "null", logs.p));
  }
}

/* Digits only: the schema has been checked. */
static uint64_t number_of(lathe_text json) {
  uint64_t n = 0;
  for (size_t i = 0; i < json.n && json.p[i] >= '0' && json.p[i] <= '9'; i++) {
    n = 10 * n + (uint64_t)(json.p[i] - '0');
  }
  return n;
}

static void run_code(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  const lathe_program program = {
      .size = sizeof program,
      .code = host->characters(call, host->member(call, in, "code")),
      .input = host->member(call, in, "input"),
      .timeout_ms = number_of(host->member(call, in, "timeout")),
      .hidden = ID,
      .without_output = 1,
  };
  lathe_text result;
  if (host->run_program(call, &program, &result) != 0) {
    fail_as_said(host, call);
  } else if (host->member(call, result, "error").n > 0) {
    fail_as_program(host, call, result);
  } else {
    answer(host, call, result);
  }
}

/* --- Its description ---------------------------------------------------------------------------------------------- */
static const char about[] =
    "Run JavaScript code that calls tools as functions: for several calls at once, loops, and work on their results "
    "that need not be seen. Each tool is a function with a camelCase name (weather.get-weather is weatherGetWeather) "
    "that takes one object and returns the result; no await is needed. The value of the last expression is the "
    "result. parallel([{tool, input}]) calls several tools at once; log(...) adds to what is returned.";

/* " Functions: a(x), b(y)." of the list that `in` has under this name; "" when it has none. */
static lathe_text names_of(const lathe_host *host, lathe_call *call, lathe_text list, const char *before,
                           const char *name, const char *signature) {
  lathe_text text = LATHE_TEXT("");
  for (unsigned i = 0;; i++) {
    lathe_text item = host->member(call, list, host->format(call, "%u", i).p);
    if (item.n == 0) {
      return text.n > 0 ? host->format(call, "%s.", text.p) : text;
    }
    lathe_text one = host->characters(call, name != NULL ? host->member(call, item, name) : item);
    lathe_text how = signature != NULL ? host->characters(call, host->member(call, item, signature)) : LATHE_TEXT("");
    text = host->format(call, "%s%s%s%s", text.p, i == 0 ? before : ", ", one.p, how.p);
  }
}

/* When all functions and modules are known. */
static void ready(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text functions = names_of(host, call, host->member(call, in, "functions"), " Functions: ", "name", "signature");
  lathe_text modules = names_of(host, call, host->member(call, in, "modules"), " Modules to import: ", NULL, NULL);
  const lathe_tool tool = {
      .size = sizeof tool,
      .name = "run-code",
      .description = host->format(call, "%s%s%s", about, functions.p, modules.p).p,
      .input_schema =
          "{\"type\":\"object\",\"properties\":{"
          "\"code\":{\"type\":\"string\",\"description\":\"The program\"},"
          "\"input\":{\"description\":\"What the program finds in the variable input\"},"
          "\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"Milliseconds, 30000 unless said\"}},"
          "\"required\":[\"code\"]}",
      .annotations = "{\"idempotentHint\":true}", /* what its program does is on record by itself */
      .invoke = run_code,
      .flags = LATHE_ONLY_CALLS,
  };
  if (host->add_tool(call, &tool) != 0) {
    fail_as_said(host, call);
  }
}

const lathe_plugin *lathe_plugin_interpreter(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin,
      .id = "interpreter",
      .name = "Interpreter",
      .description = "Programs as a tool",
      .flags = LATHE_ON_LOOP,
      .ready = ready,
  };
  return &plugin;
}
