/* The library, from one thread: runs, their events, tools and answers, and what a host can do wrong. */
#include "embed_fix.h"

#include <dirent.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

/* --- lathe_run ---------------------------------------------------------------------------------------------------- */
/* What on_event has seen. */
typedef struct seen {
  char tools[200];
  char texts[200];
  uint64_t run;
  void *data;
  bool nests;
} seen;

static void on_event(lathe_env *env, const lathe_event *event, void *arg) {
  seen *s = arg;
  s->run = event->run;
  s->data = event->data;
  strncat(s->tools, event->tool, 50);
  strncat(s->texts, event->text, 50);
  if (event->type == LATHE_EVENT_APPROVAL) {
    assert_int_equal(lathe_approve(env, event->call, NULL, NULL), LATHE_OK);
  } else if (event->type == LATHE_EVENT_CALL && s->nests) {
    char *report = NULL;
    const lathe_run_options inner = {.size = sizeof inner, .code = "6 * 7"};
    assert_int_equal(lathe_run(env, &inner, NULL, NULL, &report, NULL), LATHE_OK);
    assert_int_equal(lathe_answer(env, event->call, report, NULL), LATHE_OK);
    lathe_free(report);
  } else if (event->type == LATHE_EVENT_CALL) {
    assert_string_equal(event->json, "{\"n\":1}");
    assert_int_equal(lathe_answer(env, event->call, "{\"n\": 41}", NULL), LATHE_OK);
  }
}

static void test_run(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  char *report = NULL;
  seen s = {.tools = ""};
  int mark = 0;
  embed_add_tool(env, "t.count", "it counts");
  const lathe_run_options options = {.size = sizeof options,
                                     .code = "output('a'); console.log('b'); input.x + tCount({n: 1}).n",
                                     .input = "{\"x\": 1}",
                                     .data = &mark};
  assert_int_equal(lathe_run(env, &options, on_event, &s, &report, NULL), LATHE_OK);
  assert_has(report, "\"result\":42");
  assert_has(report, "\"outputs\":[\"a\"]");
  assert_string_equal(s.tools, "t.countt.count"); /* the question, then the call */
  assert_has(s.texts, "it counts");
  assert_ptr_equal(s.data, &mark);
  assert_int_not_equal(s.run, 0);
  lathe_free(report);
  lathe_close(env);
}

static void test_failed_program(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  char *report = NULL;
  lathe_error error = {.size = sizeof error};
  const lathe_run_options options = {.size = sizeof options, .code = "let a = 1;\nnull.x"};
  assert_int_equal(lathe_run(env, &options, NULL, NULL, &report, &error), LATHE_E_PROGRAM);
  assert_int_equal(error.status, LATHE_E_PROGRAM);
  assert_has(error.message, "null");
  assert_has(report, "\"line\":2");
  lathe_free(report);
  lathe_close(env);
}

static void test_run_of_typescript(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  char *report = NULL;
  const lathe_run_options options = {
      .size = sizeof options, .code = "const n: number = 2;\nreturn n as number", .language = "ts"};
  assert_int_equal(lathe_run(env, &options, NULL, NULL, &report, NULL), LATHE_OK);
  assert_has(report, "\"result\":2");
  lathe_free(report);
  lathe_close(env);
}

/* Without on_event nobody would answer, so that a call does not wait. */
static void test_run_without_listener(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  lathe_error error = {.size = sizeof error};
  embed_add_tool(env, "plain", NULL);
  embed_add_tool(env, "asked", "why not");
  const lathe_run_options calls = {.size = sizeof calls, .code = "plain({})"};
  assert_int_equal(lathe_run(env, &calls, NULL, NULL, NULL, &error), LATHE_E_PROGRAM);
  assert_has(error.message, "on_event");
  const lathe_run_options asks = {.size = sizeof asks, .code = "asked({})"};
  assert_int_equal(lathe_run(env, &asks, NULL, NULL, NULL, &error), LATHE_E_PROGRAM);
  lathe_close(env);
}

static void test_run_inside_a_run(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  char *report = NULL;
  seen s = {.nests = true};
  embed_add_tool(env, "t.run", NULL);
  const lathe_run_options options = {.size = sizeof options, .code = "tRun({}).result"};
  assert_int_equal(lathe_run(env, &options, on_event, &s, &report, NULL), LATHE_OK);
  assert_has(report, "\"result\":42");
  lathe_free(report);
  lathe_close(env);
}

/* --- The queue ---------------------------------------------------------------------------------------------------- */
static bool is_readable(const lathe_env *env) {
  struct pollfd fd = {.fd = lathe_fd(env), .events = POLLIN};
  return poll(&fd, 1, 0) == 1 && (fd.revents & POLLIN) != 0;
}

static void test_events(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  const lathe_event *event = NULL;
  embed_add_tool(env, "clock", NULL);
  assert_int_equal(lathe_next(env, 0, &event), LATHE_E_TIMEOUT);
  assert_null(event);
  assert_false(is_readable(env));
  uint64_t run = embed_start(env, "output('one'); console.error('two'); clock({}) + 1");
  event = embed_next(env, LATHE_EVENT_OUTPUT);
  assert_string_equal(event->text, "one");
  assert_int_equal(event->run, run);
  assert_int_equal(event->size, sizeof *event);
  lathe_event_free(event);
  event = embed_next(env, LATHE_EVENT_LOG);
  assert_string_equal(event->text, "two");
  lathe_event_free(event);
  event = embed_next(env, LATHE_EVENT_CALL);
  assert_string_equal(event->tool, "clock");
  assert_string_equal(event->json, "{}");
  assert_false(is_readable(env));
  assert_int_equal(lathe_answer(env, event->call, "1", NULL), LATHE_OK);
  lathe_event_free(event);
  struct pollfd fd = {.fd = lathe_fd(env), .events = POLLIN};
  assert_int_equal(poll(&fd, 1, EMBED_EVENT_MS), 1);
  embed_assert_end(env, LATHE_OK, "\"result\":2", "");
  assert_false(is_readable(env));
  assert_int_equal(lathe_next(env, 1, &event), LATHE_E_TIMEOUT);
  lathe_close(env);
}

static void test_event_outlives_its_environment(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_start(env, "'kept'");
  const lathe_event *event = embed_next(env, LATHE_EVENT_END);
  lathe_close(env);
  assert_has(event->json, "kept");
  lathe_event_free(event);
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */
static void test_answers(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  lathe_error error = {.size = sizeof error};
  embed_add_tool(env, "t", NULL);
  embed_start(env, "[t({}), t({})]");
  uint64_t call = embed_next_call(env, LATHE_EVENT_CALL);
  assert_int_equal(lathe_answer(env, call, "{a: 1}", &error), LATHE_E_SYNTAX);
  assert_has(error.message, "JSON");
  assert_int_equal(lathe_approve(env, call, NULL, &error), LATHE_E_INVALID);
  assert_has(error.message, "lathe_answer");
  assert_int_equal(lathe_answer(env, call + 1, "1", &error), LATHE_E_NOTFOUND);
  assert_int_equal(lathe_answer(env, 0, "1", NULL), LATHE_E_NOTFOUND);
  assert_int_equal(lathe_answer(env, call, NULL, NULL), LATHE_OK);
  assert_int_equal(lathe_answer(env, call, "2", &error), LATHE_E_NOTFOUND);
  assert_has(error.message, "answered");
  assert_int_equal(lathe_answer(env, embed_next_call(env, LATHE_EVENT_CALL), "[\"\\u0000\"]", NULL), LATHE_OK);
  embed_assert_end(env, LATHE_OK, "\"result\":[null,[\"\\u0000\"]]", "");
  lathe_close(env);
}

static void test_large_answer(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  size_t bytes = 100 * LT_MIB;
  char *json = malloc(bytes + 1);
  assert_non_null(json);
  memset(json, 'x', bytes);
  json[0] = json[bytes - 1] = '"';
  json[bytes] = '\0';
  embed_add_tool(env, "t", NULL);
  embed_start(env, "t({}).length");
  uint64_t call = embed_next_call(env, LATHE_EVENT_CALL);
  assert_int_equal(lathe_answer(env, call, json, NULL), LATHE_E_LIMIT);
  json[LT_MIB - 1] = '"';
  json[LT_MIB] = '\0';
  assert_int_equal(lathe_answer(env, call, json, NULL), LATHE_OK);
  free(json);
  embed_assert_end(env, LATHE_OK, "\"result\":1048574", "");
  lathe_close(env);
}

static void test_failed_tool(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  embed_start(env, "try { t({}) } catch (e) { return e.message }");
  assert_int_equal(lathe_fail(env, embed_next_call(env, LATHE_EVENT_CALL), "the till is empty", NULL), LATHE_OK);
  embed_assert_end(env, LATHE_OK, "the till is empty", "");
  embed_start(env, "t({})");
  assert_int_equal(lathe_fail(env, embed_next_call(env, LATHE_EVENT_CALL), NULL, NULL), LATHE_OK);
  embed_assert_end(env, LATHE_E_PROGRAM, "\"error\"", "failed without a message");
  lathe_close(env);
}

static void test_approvals(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  const lathe_tool_options tool = {
      .size = sizeof tool,
      .name = "bank.pay",
      .input_schema =
          "{\"type\": \"object\", \"properties\": {\"sum\": {\"type\": \"number\"}}, \"required\": [\"sum\"]}",
      .approval = "it is money"};
  assert_int_equal(lathe_add_tool(env, &tool, NULL), LATHE_OK);
  embed_start(env, "bankPay({sum: 5})");
  const lathe_event *event = embed_next(env, LATHE_EVENT_APPROVAL);
  assert_string_equal(event->tool, "bank.pay");
  assert_string_equal(event->json, "{\"sum\":5}");
  assert_string_equal(event->text, "it is money");
  assert_int_equal(lathe_answer(env, event->call, "1", NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_approve(env, event->call, "{", NULL), LATHE_E_SYNTAX);
  assert_int_equal(lathe_approve(env, event->call, "{\"sum\":\"much\"}", NULL), LATHE_OK); /* does not fit */
  lathe_event_free(event);
  event = embed_next(env, LATHE_EVENT_APPROVAL);
  assert_has(event->text, "asked again");
  assert_int_equal(lathe_approve(env, event->call, "{\"sum\":4}", NULL), LATHE_OK);
  lathe_event_free(event);
  event = embed_next(env, LATHE_EVENT_CALL);
  assert_string_equal(event->json, "{\"sum\":4}");
  assert_int_equal(lathe_answer(env, event->call, "\"paid\"", NULL), LATHE_OK);
  lathe_event_free(event);
  embed_assert_end(env, LATHE_OK, "paid", "");
  embed_start(env, "bankPay({sum: 6})");
  assert_int_equal(lathe_reject(env, embed_next_call(env, LATHE_EVENT_APPROVAL), "not today", NULL), LATHE_OK);
  embed_assert_end(env, LATHE_E_PROGRAM, "bank.pay", "not today");
  lathe_close(env);
}

/* --- Ends that nobody answered ------------------------------------------------------------------------------------ */
static void test_cancel(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t.wait", NULL);
  uint64_t run = embed_start(env, "tWait({})");
  uint64_t call = embed_next_call(env, LATHE_EVENT_CALL);
  assert_int_equal(lathe_cancel(env, run, NULL), LATHE_OK);
  assert_int_equal(lathe_cancel(env, call, NULL), LATHE_E_NOTFOUND);
  const lathe_event *event = embed_next(env, LATHE_EVENT_CANCELLED);
  assert_int_equal(event->call, call);
  assert_int_equal(event->run, run);
  assert_string_equal(event->tool, "t.wait");
  lathe_event_free(event);
  embed_assert_end(env, LATHE_E_CANCELLED, "", "");
  assert_int_equal(lathe_answer(env, call, "1", NULL), LATHE_E_NOTFOUND);
  assert_int_equal(lathe_cancel(env, run, NULL), LATHE_E_NOTFOUND);
  run = embed_start(env, "for (;;) {}");
  assert_int_equal(lathe_cancel(env, run, NULL), LATHE_OK);
  embed_assert_end(env, LATHE_E_CANCELLED, "", "");
  lathe_close(env);
}

static void test_timeout(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  const lathe_run_options options = {.size = sizeof options, .code = "t({})", .timeout_ms = 50};
  assert_int_equal(lathe_start(env, &options, NULL, NULL), LATHE_OK);
  uint64_t call = embed_next_call(env, LATHE_EVENT_CALL);
  assert_int_equal(embed_next_call(env, LATHE_EVENT_CANCELLED), call);
  embed_assert_end(env, LATHE_E_TIMEOUT, "\"timeout\":true", "");
  lathe_close(env);
}

static void test_close_with_runs(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", "ask me");
  for (int i = 0; i < 20; i++) {
    embed_start(env, i % 2 == 0 ? "t({})" : "for (;;) {}");
  }
  embed_next_call(env, LATHE_EVENT_APPROVAL);
  lathe_close(env);
  lathe_close(NULL);
}

static size_t threads_of_process(void) {
  size_t count = 0;
  DIR *folder = opendir("/proc/self/task");
  assert_non_null(folder);
  while (readdir(folder) != NULL) {
    count++;
  }
  closedir(folder);
  return count;
}

static void test_waiting_costs_no_thread(void **state) {
  enum { RUNS = 100, LATE_WORKERS = 4 /* a worker starts when there is work for it */ };
  (void)state;
  uint64_t calls[RUNS];
  lathe_env *env = embed_open(NULL);
  embed_add_tool(env, "t", NULL);
  embed_start(env, "t({})");
  calls[0] = embed_next_call(env, LATHE_EVENT_CALL);
  size_t threads = threads_of_process();
  for (int i = 1; i < RUNS; i++) {
    embed_start(env, "t({})");
    calls[i] = embed_next_call(env, LATHE_EVENT_CALL);
  }
  assert_true(threads_of_process() <= threads + LATE_WORKERS);
  for (int i = 0; i < RUNS; i++) {
    assert_int_equal(lathe_answer(env, calls[i], "1", NULL), LATHE_OK);
    embed_assert_end(env, LATHE_OK, "\"result\":1", "");
  }
  lathe_close(env);
}

/* A host that never takes an end cannot start runs for ever. These cannot begin: they need no sandboxes. */
static void test_runs_whose_end_is_not_taken(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  lathe_error error = {.size = sizeof error};
  const lathe_run_options options = {.size = sizeof options, .code = "\xff", .language = "python"};
  size_t started = 0;
  uint64_t run = 0;
  while (lathe_start(env, &options, &run, &error) == LATHE_OK) {
    started++;
  }
  assert_int_equal(started, LT_EMBED_RUNS_MAX);
  assert_int_equal(error.status, LATHE_E_LIMIT);
  assert_int_equal(run, 0);
  embed_assert_end(env, LATHE_E_INVALID, "", "UTF-8");
  assert_int_equal(lathe_start(env, &options, NULL, NULL), LATHE_OK);
  lathe_close(env);
}

/* --- Tools -------------------------------------------------------------------------------------------------------- */
static lathe_status add(lathe_env *env, const char *name, const char *schema, lathe_error *error) {
  const lathe_tool_options tool = {
      .size = sizeof tool, .name = name, .description = "Reads the gauge.", .input_schema = schema};
  return lathe_add_tool(env, &tool, error);
}

static void test_tools(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  char *text = NULL;
  assert_int_equal(add(env, "gauge.read", NULL, NULL), LATHE_OK);
  assert_int_equal(add(env, "gauge.reset", NULL, NULL), LATHE_OK);
  assert_int_equal(lathe_tools(env, NULL, 0, &text, NULL), LATHE_OK);
  assert_has(text, "\"id\":\"gauge.read\",\"jsName\":\"gaugeRead\"");
  lathe_free(text);
  assert_int_equal(lathe_tools(env, "gauge reset", 1, &text, NULL), LATHE_OK);
  assert_has(text, "gauge.reset");
  assert_null(strstr(text, "gauge.read\""));
  lathe_free(text);
  assert_int_equal(lathe_declare(env, "ts", 0, &text, NULL), LATHE_OK);
  assert_has(text, "gauge_read");
  lathe_free(text);
  assert_int_equal(lathe_declare(env, "prompt", 1000, &text, NULL), LATHE_OK);
  assert_has(text, "gaugeRead (ID: gauge.read) - Reads the gauge");
  lathe_free(text);
  assert_int_equal(lathe_declare(env, "cobol", 0, &text, NULL), LATHE_E_INVALID);
  assert_null(text);
  assert_int_equal(lathe_remove_tool(env, "gauge.reset", NULL), LATHE_OK);
  assert_int_equal(lathe_remove_tool(env, "gauge.reset", NULL), LATHE_E_NOTFOUND);
  embed_start(env, "gaugeReset({})");
  embed_assert_end(env, LATHE_E_PROGRAM, "", "gaugeReset");
  lathe_close(env);
}

/* A program keeps the name of a tool that is removed, and learns it at its next call. */
static void test_tool_is_replaced_and_removed(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  const char *schema = "{\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"number\"}}, \"required\": [\"n\"]}";
  assert_int_equal(add(env, "t.a", NULL, NULL), LATHE_OK);
  embed_start(env, "tA({}); tA({})");
  uint64_t call = embed_next_call(env, LATHE_EVENT_CALL);
  assert_int_equal(lathe_remove_tool(env, "t.a", NULL), LATHE_OK);
  assert_int_equal(lathe_answer(env, call, "1", NULL), LATHE_OK);
  embed_assert_end(env, LATHE_E_PROGRAM, "t.a", "");
  assert_int_equal(add(env, "t.a", NULL, NULL), LATHE_OK);
  assert_int_equal(add(env, "t.a", schema, NULL), LATHE_OK);
  embed_start(env, "tA({})");
  embed_assert_end(env, LATHE_E_PROGRAM, "t.a", "n");
  lathe_close(env);
}

static void test_bad_tools(void **state) {
  static const char *const names[] = {NULL, "", ".a", "a.", "artifact.mine", "Interpreter.run"};
  (void)state;
  lathe_env *env = embed_open("{\"mcpServers\": {\"files\": {\"url\": \"http://127.0.0.1:9/\", \"allowHttp\": true}}}");
  lathe_error error = {.size = sizeof error};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_int_equal(add(env, names[i], NULL, &error), LATHE_E_INVALID);
    assert_has(error.message, "name");
  }
  assert_int_equal(add(env, "files.mine", NULL, &error), LATHE_E_INVALID);
  assert_has(error.message, "taken");
  assert_int_equal(add(env, "a", "{", &error), LATHE_E_SYNTAX);
  assert_has(error.message, "input_schema");
  assert_int_equal(add(env, "a", "[]", &error), LATHE_E_INVALID);
  lathe_event_free(embed_next(env, LATHE_EVENT_WARNING)); /* the server is not there */
  lathe_close(env);
}

static void test_check(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  char *faults = NULL;
  const lathe_run_options bad = {.size = sizeof bad, .code = "let a = 1;\nlet b = ;"};
  assert_int_equal(lathe_check(env, &bad, &faults, NULL), LATHE_OK);
  assert_has(faults, "\"line\":2");
  lathe_free(faults);
  const lathe_run_options good = {.size = sizeof good, .code = "1"};
  assert_int_equal(lathe_check(env, &good, &faults, NULL), LATHE_OK);
  assert_string_equal(faults, "[]");
  lathe_free(faults);
  lathe_close(env);
}

/* --- The configuration -------------------------------------------------------------------------------------------- */
static void test_bad_configuration(void **state) {
  (void)state;
  lathe_env *env = (lathe_env *)&env;
  lathe_error error = {.size = sizeof error};
  lathe_options options = {.size = sizeof options, .config = "{\"sandbox\": {\"timeout\": 5}}"};
  assert_int_equal(lathe_open(&options, &env, &error), LATHE_E_CONFIG);
  assert_has(error.message, "timeoutMs");
  assert_null(env);
  options.config_file = "lathe.yaml";
  assert_int_equal(lathe_open(&options, &env, &error), LATHE_E_INVALID);
  options = (lathe_options){.size = sizeof options, .config_file = "no/such/file.yaml"};
  assert_int_equal(lathe_open(&options, &env, &error), LATHE_E_CONFIG);
  assert_has(error.message, "no/such/file.yaml");
}

static void write_file(const char *folder, const char *name, const char *text) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* What a person keeps for Lathe, and what lies in the current folder, is not for a host. */
static void test_reads_only_what_it_is_given(void **state) {
  char folder[] = "/tmp/lathe-embed-XXXXXX", before[300], path[300];
  (void)state;
  assert_non_null(mkdtemp(folder));
  assert_non_null(getcwd(before, sizeof before));
  snprintf(path, sizeof path, "%s/lathe", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file(path, "lathe.yaml", "no: such key\n");
  write_file(folder, "lathe.yaml", "no: such key\n");
  write_file(folder, "mine.yaml",
             "modules: [{name: m, path: m.js}]\ntools: {policy: [{match: t.no, action: deny, reason: house rule}]}\n");
  write_file(folder, "m.js", "export const seven = 7;\n");
  setenv("XDG_CONFIG_HOME", folder, 1);
  setenv("XDG_STATE_HOME", folder, 1);
  setenv("LATHE_CONFIG", "no/such/file", 1);
  assert_int_equal(chdir(folder), 0);
  lathe_env *env = embed_open(NULL);
  assert_int_equal(chdir(before), 0);
  lathe_close(env);
  snprintf(path, sizeof path, "%s/mine.yaml", folder);
  const lathe_options options = {.size = sizeof options, .config_file = path};
  assert_int_equal(lathe_open(&options, &env, NULL), LATHE_OK);
  embed_add_tool(env, "t.no", NULL);
  embed_start(env, "import {seven} from 'm'; output(`${seven}`)");
  lathe_event_free(embed_next(env, LATHE_EVENT_OUTPUT));
  embed_assert_end(env, LATHE_OK, "\"outputs\":[\"7\"]", "");
  embed_start(env, "tNo({})");
  embed_assert_end(env, LATHE_E_PROGRAM, "", "house rule");
  lathe_close(env);
  const lathe_options text = {
      .size = sizeof text, .config = "{\"modules\": [{\"name\": \"m\", \"path\": \"m.js\"}]}", .folder = folder};
  assert_int_equal(lathe_open(&text, &env, NULL), LATHE_OK);
  lathe_close(env);
  unsetenv("LATHE_CONFIG");
  unsetenv("XDG_CONFIG_HOME");
  snprintf(path, sizeof path, "rm -r %s", folder);
  assert_int_equal(system(path), 0);
}

/* A value that the configuration has from the environment is in no event and no message. */
static void test_secrets(void **state) {
  (void)state;
  setenv("LATHE_TEST_SECRET", "hush-hush-0123456789", 1);
  lathe_env *env = embed_open(
      "{\"mcpServers\": {\"files\": {\"url\": \"http://127.0.0.1:9/\", \"allowHttp\": true,"
      " \"headers\": {\"Authorization\": \"Bearer ${LATHE_TEST_SECRET}\"}}}}");
  unsetenv("LATHE_TEST_SECRET");
  lathe_event_free(embed_next(env, LATHE_EVENT_WARNING)); /* the server is not there */
  embed_add_tool(env, "t", NULL);
  embed_start(env, "const s = t({}); console.log(s); throw new Error(s)");
  assert_int_equal(lathe_answer(env, embed_next_call(env, LATHE_EVENT_CALL), "\"it is hush-hush-0123456789\"", NULL),
                   LATHE_OK);
  const lathe_event *event = embed_next(env, LATHE_EVENT_LOG);
  assert_string_equal(event->text, "it is ***");
  lathe_event_free(event);
  event = embed_next(env, LATHE_EVENT_END);
  assert_has(event->text, "it is ***");
  assert_null(strstr(event->text, "hush"));
  assert_null(strstr(event->json, "hush"));
  lathe_event_free(event);
  lathe_close(env);
}

/* --- Without memory ----------------------------------------------------------------------------------------------- */
static lathe_status answer_somehow(lathe_env *env, uint64_t call) {
  lathe_status status;
  do {
    status = lathe_answer(env, call, "1", NULL);
  } while (status == LATHE_E_NOMEM);
  return status;
}

/* The run ends, whatever it lacks. */
static void await_end(lathe_env *env) {
  const lathe_event *event;
  int type;
  do {
    assert_int_equal(lathe_next(env, EMBED_EVENT_MS, &event), LATHE_OK);
    type = event->type;
    if (type == LATHE_EVENT_CALL) {
      assert_int_equal(answer_somehow(env, event->call), LATHE_OK);
    }
    lathe_event_free(event);
  } while (type != LATHE_EVENT_END);
}

static bool is_done_or_out_of_memory(lathe_status status) {
  return status == LATHE_OK || status == LATHE_E_NOMEM;
}

/* Each allocation fails in turn, on whichever thread it is. */
static void test_without_memory(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  const lathe_tool_options tool = {.size = sizeof tool, .name = "t"};
  const lathe_run_options options = {.size = sizeof options, .code = "t({})", .input = "1"};
  embed_add_tool(env, "t", NULL);
  embed_start(env, "1");
  await_end(env);
  bool has_failed = true;
  for (long n = 0; has_failed; n++) {
    char *json = NULL;
    lt_mem_fail_at(n);
    assert_true(is_done_or_out_of_memory(lathe_add_tool(env, &tool, NULL)));
    lathe_status listed = lathe_tools(env, NULL, 0, &json, NULL);
    assert_true(is_done_or_out_of_memory(listed));
    assert_int_equal(json != NULL, listed == LATHE_OK);
    lathe_free(json);
    lathe_status started = lathe_start(env, &options, NULL, NULL);
    assert_true(is_done_or_out_of_memory(started));
    if (started == LATHE_OK) {
      await_end(env);
    }
    has_failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
  }
  lathe_close(env);
}

/* --- Bad arguments ------------------------------------------------------------------------------------------------ */
static void test_struct_sizes(void **state) {
  (void)state;
  struct {
    lathe_run_options options;
    char more[8];
  } newer = {.options = {.size = sizeof newer, .code = "1"}};
  lathe_env *env = embed_open(NULL);
  lathe_error error = {.size = sizeof error};
  lathe_run_options bad = {.size = 0, .code = "1"};
  assert_int_equal(lathe_start(env, &bad, NULL, &error), LATHE_E_INVALID);
  assert_has(error.message, "sizeof(lathe_run_options)");
  bad.size = offsetof(lathe_run_options, data); /* its first version ended behind this member */
  assert_int_equal(lathe_start(env, &bad, NULL, NULL), LATHE_E_INVALID);
  bad.size = (size_t)-1;
  assert_int_equal(lathe_start(env, &bad, NULL, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_run(env, &newer.options, NULL, NULL, NULL, NULL), LATHE_OK);
  newer.more[7] = 1;
  assert_int_equal(lathe_run(env, &newer.options, NULL, NULL, NULL, &error), LATHE_E_UNSUPPORTED);
  assert_has(error.message, lathe_version());
  error = (lathe_error){.size = 3, .message = "untouched"};
  assert_int_equal(lathe_start(env, &bad, NULL, &error), LATHE_E_INVALID);
  assert_string_equal(error.message, "untouched");
  lathe_close(env);
}

static void test_nothing(void **state) {
  (void)state;
  const lathe_event *event = NULL;
  char *text = NULL;
  lathe_env *env = embed_open(NULL);
  lathe_run_options options = {.size = sizeof options};
  assert_int_equal(lathe_open(NULL, NULL, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_start(NULL, &options, NULL, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_start(env, NULL, NULL, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_start(env, &options, NULL, NULL), LATHE_E_INVALID); /* no code */
  options.code = "1";
  options.language = "cobol";
  assert_int_equal(lathe_start(env, &options, NULL, NULL), LATHE_E_INVALID);
  options.language = NULL;
  options.input = "{";
  assert_int_equal(lathe_start(env, &options, NULL, NULL), LATHE_E_SYNTAX);
  options.input = NULL;
  options.timeout_ms = 600001;
  assert_int_equal(lathe_start(env, &options, NULL, NULL), LATHE_E_INVALID);
  options.timeout_ms = 0;
  options.memory_bytes = 1;
  assert_int_equal(lathe_start(env, &options, NULL, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_next(env, 0, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_next(NULL, 0, &event), LATHE_E_INVALID);
  assert_int_equal(lathe_add_tool(env, NULL, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_tools(env, NULL, 0, NULL, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_declare(env, NULL, 0, &text, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_check(env, NULL, &text, NULL), LATHE_E_INVALID);
  assert_int_equal(lathe_fd(NULL), -1);
  lathe_event_free(NULL);
  lathe_free(NULL);
  lathe_close(env);
  assert_string_equal(lathe_status_text((lathe_status)77), "unknown status");
  assert_string_equal(lathe_status_text(LATHE_E_TIMEOUT), "timed out");
}

/* A message that is too long for lathe_error ends between characters. */
static void test_long_message(void **state) {
  (void)state;
  lathe_env *env = embed_open(NULL);
  static const char *const programs[] = {"throw new Error('\u00e4'.repeat(2000))",
                                         "throw new Error('a' + '\u00e4'.repeat(2000))"};
  for (size_t i = 0; i < 2; i++) {
    lathe_error error = {.size = sizeof error};
    const lathe_run_options options = {.size = sizeof options, .code = programs[i]};
    assert_int_equal(lathe_run(env, &options, NULL, NULL, NULL, &error), LATHE_E_PROGRAM);
    size_t bytes = strlen(error.message);
    assert_true(bytes >= sizeof error.message - 2);
    assert_string_equal(error.message + bytes - 2, "\u00e4");
  }
  lathe_close(env);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_message),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_failed_program),
      cmocka_unit_test(test_run_of_typescript),
      cmocka_unit_test(test_run_without_listener),
      cmocka_unit_test(test_run_inside_a_run),
      cmocka_unit_test(test_events),
      cmocka_unit_test(test_event_outlives_its_environment),
      cmocka_unit_test(test_answers),
      cmocka_unit_test(test_large_answer),
      cmocka_unit_test(test_failed_tool),
      cmocka_unit_test(test_approvals),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_timeout),
      cmocka_unit_test(test_close_with_runs),
      cmocka_unit_test(test_waiting_costs_no_thread),
      cmocka_unit_test(test_runs_whose_end_is_not_taken),
      cmocka_unit_test(test_tools),
      cmocka_unit_test(test_tool_is_replaced_and_removed),
      cmocka_unit_test(test_bad_tools),
      cmocka_unit_test(test_check),
      cmocka_unit_test(test_bad_configuration),
      cmocka_unit_test(test_reads_only_what_it_is_given),
      cmocka_unit_test(test_secrets),
      cmocka_unit_test(test_without_memory),
      cmocka_unit_test(test_struct_sizes),
      cmocka_unit_test(test_nothing),
  };
  return embed_install_handlers() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
