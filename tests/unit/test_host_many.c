/* call_tools of plugins, tools without a namespace, and tools that are not for programs. */
#include "fakes/host_fix.h"
#include "json/schema.h"
#include "plugin/builtin/builtin_plugins.h"

static unsigned open_calls, most_open; /* of "wait" */
static lt_loop *the_loop;

/* --- Plugins ------------------------------------------------------------------------------------------------------ */
static void echo(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  host->answer(call, in);
}

static void fails(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->fail(call, "it went wrong");
}

static void waits(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  open_calls++;
  most_open = open_calls > most_open ? open_calls : most_open;
  lt_loop_sleep(the_loop, 5);
  open_calls--;
  host->answer(call, LATHE_TEXT("1"));
}

static void many(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text results;
  lathe_text calls = host->member(call, in, "raw");
  calls = calls.n > 0 ? host->characters(call, calls) : host->member(call, in, "calls");
  lathe_text at_once = host->member(call, in, "atOnce");
  if (host->call_tools(call, calls, at_once.n > 0 ? (unsigned)atoi(at_once.p) : 0, &results) == 0) {
    host->answer(call, results);
  } else {
    host->fail(call, "%s", host->error(call).p);
  }
}

static void run(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  lathe_text result;
  const lathe_program program = {.size = sizeof program,
                                 .code = host->characters(call, host->member(call, in, "code")),
                                 .language = arg,
                                 .hidden = "bare"};
  if (host->run_program(call, &program, &result) == 0) {
    host->answer(call, result);
  } else {
    host->fail(call, "%s", host->error(call).p);
  }
}

static void set_up(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  static char klingon[] = "klingon";
  const lathe_tool tools[] = {
      {.size = sizeof(lathe_tool), .name = "echo", .invoke = echo},
      {.size = sizeof(lathe_tool), .name = "get-it", .invoke = echo},
      {.size = sizeof(lathe_tool), .name = "fail", .invoke = fails},
      {.size = sizeof(lathe_tool), .name = "many", .invoke = many},
      {.size = sizeof(lathe_tool), .name = "run", .invoke = run},
      {.size = sizeof(lathe_tool), .name = "run-klingon", .invoke = run, .arg = klingon},
      {.size = sizeof(lathe_tool), .name = "ask", .invoke = echo, .approval = "it is asked about"},
      {.size = sizeof(lathe_tool), .name = "wait", .invoke = waits},
  };
  size_t count = sizeof tools / sizeof tools[0] - (arg == NULL); /* only the loop's own waits on it */
  for (size_t i = 0; i < count; i++) {
    if (host->add_tool(call, &tools[i]) != 0) {
      host->fail(call, "%s", host->error(call).p);
    }
  }
}

static const lathe_plugin *loop_entry(void) {
  static char yes[] = "yes";
  static const lathe_plugin plugin = {
      .size = sizeof plugin, .id = "loop", .flags = LATHE_ON_LOOP, .setup = set_up, .arg = yes};
  return &plugin;
}

static const lathe_plugin *own_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "own", .setup = set_up};
  return &plugin;
}

static void set_up_bare(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_tool tool = {.size = sizeof tool, .name = "bare", .invoke = many, .flags = LATHE_NOT_FOR_PROGRAMS};
  if (host->add_tool(call, &tool) != 0) {
    host->fail(call, "%s", host->error(call).p);
  }
  tool.name = "unknown-flags";
  tool.flags = 0x80;
  if (host->add_tool(call, &tool) == 0 || strstr(host->error(call).p, "flags that this Lathe does not know") == NULL) {
    host->fail(call, "flags that nobody knows were taken");
  }
  tool.flags = 0;
  tool.name = "bank.transfer";
  if (host->add_tool(call, &tool) == 0 || strstr(host->error(call).p, "has a dot in its name") == NULL) {
    host->fail(call, "a tool without a namespace took the id of another's");
  }
}

static const lathe_plugin *bare_entry(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin, .id = "bare-one", .flags = LATHE_ON_LOOP | LATHE_NO_NAMESPACE, .setup = set_up_bare};
  return &plugin;
}

static void load(host_fix *f) {
  the_loop = f->loop;
  host_fix_add(f, loop_entry);
  host_fix_add(f, own_entry);
  host_fix_add(f, bare_entry);
}

static void assert_call(host_fix *f, const char *tool, const char *input, const char *out) {
  if (host_fix_call(f, tool, input) != LT_OK) {
    FAIL_WITH("%s: %s\n", tool, lt_err_msg(&f->err));
  }
  assert_out(f, out);
}

/* --- Many calls at once ------------------------------------------------------------------------------------------- */
static void results_of(host_fix *f, const char *plugin) {
  char tool[32];
  snprintf(tool, sizeof tool, "%s.many", plugin);
  assert_call(f, tool, "{\"calls\":[]}", "[]");
  /* By id, JavaScript's name, what a model writes; a number stays as it is written; one that fails is one that fails.
   */
  assert_call(f, tool,
              "{\"calls\":[{\"tool\":\"loop.echo\",\"input\":{\"n\":1.10}},{\"tool\":\"loopGetIt\"},"
              "{\"tool\":\"loop_get-it\",\"input\":null},{\"tool\":\"loop.fail\"}]}",
              "[{\"step\":0,\"tool\":\"loop.echo\",\"status\":\"ok\",\"result\":{\"n\":1.10}},"
              "{\"step\":1,\"tool\":\"loopGetIt\",\"status\":\"ok\",\"result\":{}},"
              "{\"step\":2,\"tool\":\"loop_get-it\",\"status\":\"ok\",\"result\":{}},"
              "{\"step\":3,\"tool\":\"loop.fail\",\"status\":\"error\",\"error\":\"it went wrong\"}]");
  assert_int_equal(host_fix_call(f, tool, "{\"calls\":[{\"tool\":\"loop.nope\"}]}"), LT_OK);
  assert_has(f->out.p, "\"status\":\"error\",\"error\":\"Tool \\\"loop.nope\\\" not found");
}

static void results(host_fix *f) {
  load(f);
  results_of(f, "loop");
  results_of(f, "own");
}

static void test_results(void **state) {
  host_fix_run(*state, results);
}

static void bad_ones(host_fix *f) {
  load(f);
  assert_int_equal(host_fix_call(f, "loop.many", "{\"calls\":{}}"), LT_E_TOOL);
  assert_has(f->out.p, "several calls are an array");
  assert_int_equal(host_fix_call(f, "loop.many", "{\"calls\":[{\"input\":{}}]}"), LT_E_TOOL);
  assert_has(f->out.p, "names no tool");
  assert_int_equal(host_fix_call(f, "loop.many", "{\"calls\":[7]}"), LT_E_TOOL);
  assert_int_equal(host_fix_call(f, "own.many", "{\"raw\":\"[\"}"), LT_E_TOOL);
  assert_has(f->out.p, "line 1");
}

static void test_bad_ones(void **state) {
  host_fix_run(*state, bad_ones);
}

#define WAIT "{\"tool\":\"loop.wait\"}"
#define TEN  WAIT "," WAIT "," WAIT "," WAIT "," WAIT "," WAIT "," WAIT "," WAIT "," WAIT "," WAIT

static void at_once(host_fix *f) {
  load(f);
  most_open = 0;
  assert_int_equal(host_fix_call(f, "loop.many", "{\"calls\":[" TEN "]}"), LT_OK);
  assert_int_equal(most_open, 10);
  most_open = 0;
  assert_int_equal(host_fix_call(f, "own.many", "{\"atOnce\":3,\"calls\":[" TEN "]}"), LT_OK);
  assert_int_equal(most_open, 3);
}

static void test_so_many_at_once(void **state) {
  host_fix_run(*state, at_once);
}

static lt_status ask_slowly(lt_approver *base, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                            lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  (void)base, (void)what, (void)cancel, (void)arena, (void)err;
  lt_loop_sleep(the_loop, 60);
  ret_decision->reason = most_open > 0 ? LT_STR("others went on") : LT_STR("nobody went on");
  return LT_OK;
}

/* With one at a time, too: who waits for a person holds nobody up. */
static void asked(host_fix *f) {
  lt_approver approver = {.ask = ask_slowly};
  load(f);
  most_open = 0;
  f->caller.approver = &approver;
  assert_call(
      f, "loop.many", "{\"atOnce\":1,\"calls\":[{\"tool\":\"loop.ask\"}," WAIT "]}",
      "[{\"step\":0,\"tool\":\"loop.ask\",\"status\":\"error\",\"error\":\"Tool \\\"loop.ask\\\" was not approved: "
      "others went on\"},{\"step\":1,\"tool\":\"loop.wait\",\"status\":\"ok\",\"result\":1}]");
}

static void test_who_is_asked_about_holds_nobody_up(void **state) {
  host_fix_run(*state, asked);
}

static void on_cancel_fiber(void *arg) {
  lt_cancel_fire(arg, LT_E_CANCELLED);
}

static void cancelled(host_fix *f) {
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  const lt_invoke_options options = {.caller = &f->caller, .cancel = &cancel};
  load(f);
  assert_int_equal(lt_loop_spawn(f->loop, on_cancel_fiber, &cancel, NULL), LT_OK);
  lt_status status = host_fix_call_with(f, "own.many", "{\"atOnce\":1,\"calls\":[" TEN "]}", &options);
  assert_int_equal(status, LT_E_CANCELLED);
  assert_int_equal(open_calls, 0);
}

static void test_cancel(void **state) {
  host_fix_run(*state, cancelled);
}

/* For a model: what is long is put aside, the rest is all there. */
static void put_aside(host_fix *f) {
  char input[60000];
  load(f);
  f->caller.artifacts = f->artifacts;
  int n = snprintf(input, sizeof input, "{\"calls\":[{\"tool\":\"loop.echo\",\"input\":{\"x\":\"");
  memset(input + n, 'x', 50000);
  snprintf(input + n + 50000, sizeof input - (size_t)n - 50000, "\"}},{\"tool\":\"loop.echo\",\"input\":{\"y\":2}}]}");
  const lt_invoke_options options = {.caller = &f->caller, .max_answer_bytes = 32000};
  assert_int_equal(host_fix_call_with(f, "loop.many", input, &options), LT_OK);
  assert_true(f->out.n < 32000);
  assert_has(f->out.p, "\"bytes\":50008,\"artifact\":\"");
  assert_has(f->out.p, "\"status\":\"ok\",\"result\":{\"y\":2}}]");
  assert_int_equal(host_fix_call(f, "loop.many", input), LT_OK); /* a program gets all of it */
  assert_true(f->out.n > 50000);
}

static void test_long_results_are_put_aside(void **state) {
  host_fix_run(*state, put_aside);
}

static void sweep(host_fix *f) {
  static const char *const tools[] = {"loop.many", "own.many"};
  load(f);
  for (size_t t = 0; t < 2; t++) {
    bool failed = true;
    for (long n = 0; failed; n++) {
      lt_mem_fail_at(n);
      lt_status status = host_fix_call(f, tools[t], "{\"calls\":[{\"tool\":\"loop.echo\"},{\"tool\":\"loop.echo\"}]}");
      failed = lt_mem_failed();
      lt_mem_fail_at(-1);
      assert_true(failed || status == LT_OK);
      assert_true(failed || n > 5);
    }
  }
}

static void test_every_allocation_may_fail(void **state) {
  host_fix_run(*state, sweep);
}

/* --- Names and programs ------------------------------------------------------------------------------------------- */
static void bare_names(host_fix *f) {
  lt_catalog *catalog = NULL;
  load(f);
  assert_call(f, "bare", "{\"calls\":[]}", "[]");
  assert_int_equal(lt_door_catalog(f->door, &catalog, &f->err), LT_OK);
  const lt_tool *tool = lt_catalog_find(catalog, LT_STR("bare"));
  assert_non_null(tool);
  assert_true(lt_str_eqc(tool->js_name, "bare"));
  assert_true(lt_str_eqc(tool->ts_name, "bare"));
  lt_catalog_unref(catalog);
}

static void test_tools_without_a_namespace(void **state) {
  host_fix_run(*state, bare_names);
}

/* Whatever way a program tries. */
static void not_for_programs(host_fix *f) {
  lt_prepared_prompt p;
  load(f);
  assert_call(f, "loop.run",
              "{\"code\":\"[typeof bare, discoverTools('bare').filter((t) => t.id === 'bare').length]\"}",
              "{\"result\":[\"undefined\",0],\"logs\":[],\"outputs\":[]}");
  assert_int_equal(host_fix_call(f, "loop.run", "{\"code\":\"tools['bare']({calls: []})\"}"), LT_OK);
  assert_has(f->out.p, "bare cannot be called from within a program");
  /* Not through a tool that calls for it, either. */
  assert_int_equal(
      host_fix_call(f, "loop.run", "{\"code\":\"loopMany({calls: [{tool: 'bare', input: {calls: []}}]})\"}"), LT_OK);
  assert_has(f->out.p, "bare cannot be called from within bare");
  /* Modes of programs do not have it; the classic one does. */
  assert_int_equal(lt_host_prepare(f->host, LT_STR("code"), true, LT_STR(""), NULL, &f->caller, &p, &f->err), LT_OK);
  assert_null(lt_catalog_find(p.catalog, LT_STR("bare")));
  assert_int_equal(host_fix_call(f, "bare", "{\"calls\":[]}"), LT_E_DENIED);
  assert_out(f, "bare cannot be called from within a program");
  lt_host_prepared_release(&p);
  f->caller.catalog = NULL;
  f->caller.prompt = NULL;
  assert_int_equal(lt_host_prepare(f->host, LT_STR("classic"), false, LT_STR(""), NULL, &f->caller, &p, &f->err),
                   LT_OK);
  assert_non_null(lt_catalog_find(p.catalog, LT_STR("bare")));
  assert_call(f, "bare", "{\"calls\":[]}", "[]");
  lt_host_prepared_release(&p);
  f->caller.catalog = NULL;
  f->caller.prompt = NULL;
}

static void test_programs_do_not_have_it(void **state) {
  host_fix_run(*state, not_for_programs);
}

static void languages(host_fix *f) {
  load(f);
  assert_int_equal(host_fix_call(f, "loop.run-klingon", "{\"code\":\"1\"}"), LT_E_TOOL);
  assert_out(f, "a program's language is \"js\", \"ts\" or \"python\"");
}

static void test_languages(void **state) {
  host_fix_run(*state, languages);
}

/* --- Built-in plugins --------------------------------------------------------------------------------------------- */
static void expect_schema(lt_str id, lt_str text) {
  lt_schema *schema = NULL;
  lt_err err = LT_ERR_INIT;
  if (text.n > 0 && lt_schema_new(text, &schema, &err) != LT_OK) {
    FAIL_WITH("%.*s: %s\n", LT_STR_ARG(id), lt_err_msg(&err));
  }
  lt_schema_free(schema);
}

static void compile_builtin_schemas(host_fix *f) {
  lathe_plugin_entry_fn *const entries[] = {lt_builtin_artifact, lt_builtin_interpreter, lt_builtin_python,
                                            lt_builtin_plan};
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    host_fix_add(f, entries[i]);
  }
  lt_host_ready(f->host);
  lt_catalog *catalog = NULL;
  assert_int_equal(lt_door_catalog(f->door, &catalog, &f->err), LT_OK);
  assert_int_equal(lt_catalog_count(catalog), 6);
  for (size_t i = 0; i < lt_catalog_count(catalog); i++) {
    const lt_tool *tool = lt_catalog_at(catalog, i);
    expect_schema(tool->id, tool->checked_schema);
    expect_schema(tool->id, tool->output_schema);
  }
  lt_catalog_unref(catalog);
}

/* They are not compiled when the plugins register their tools. */
static void the_schemas_of_builtin_plugins_can_be_used(void **state) {
  host_fix_run(*state, compile_builtin_schemas);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_results),
      HOST_TEST(test_bad_ones),
      HOST_TEST(test_so_many_at_once),
      HOST_TEST(test_who_is_asked_about_holds_nobody_up),
      HOST_TEST(test_cancel),
      HOST_TEST(test_long_results_are_put_aside),
      HOST_TEST(test_every_allocation_may_fail),
      HOST_TEST(test_tools_without_a_namespace),
      HOST_TEST(test_programs_do_not_have_it),
      HOST_TEST(test_languages),
      HOST_TEST(the_schemas_of_builtin_plugins_can_be_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
