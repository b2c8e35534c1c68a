/* Prompts and programs: what plugins add to them, what they keep, and what they run. */
#include "fakes/host_fix.h"

/* --- A plugin with everything --------------------------------------------------------------------------------------
 * Twice: "own" on its thread, "loop" on the loop. */
static char told[4096]; /* what the last prepare or ready was given */
static char problem[512];

static void echo(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  host->answer(call, in);
}

static void conversation(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->answer(call, host->quote(call, host->conversation(call)));
}

static void note_error(const lathe_host *host, lathe_call *call) {
  snprintf(problem, sizeof problem, "%s", host->error(call).p);
}

/* {"set": state} or nothing: answers with the state. */
static void state(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text set = host->member(call, in, "set"), now;
  if ((set.n > 0 && host->set_state(call, set) != 0) || host->state(call, &now) != 0) {
    host->fail(call, "%s", host->error(call).p);
    return;
  }
  host->answer(call, now.n > 0 ? now : LATHE_TEXT("\"none\""));
}

static void keep(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text id, got, list, none;
  if (host->artifact_put(call, "note", LATHE_TEXT("about hunter2-hunter2"), in, &id) != 0 ||
      host->artifact_get(call, id, &got) != 0 || host->artifact_list(call, &list) != 0 ||
      host->artifact_get(call, LATHE_TEXT("00000000000000000000000000000000"), &none) != 0) {
    host->fail(call, "%s", host->error(call).p);
    return;
  }
  host->answer(call, host->format(call, "{\"id\":%zu,\"data\":%s,\"description\":%s,\"listed\":%s,\"none\":%zu}", id.n,
                                  host->member(call, got, "data").p, host->member(call, got, "description").p,
                                  host->member(call, host->member(call, list, "0"), "type").p, none.n));
}

static void run(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text result;
  lathe_text language = host->member(call, in, "language");
  const lathe_program program = {.size = sizeof program,
                                 .code = host->characters(call, host->member(call, in, "code")),
                                 .language = language.n > 0 ? host->characters(call, language).p : NULL,
                                 .input = host->member(call, in, "input"),
                                 .timeout_ms = host->member(call, in, "quick").n > 0 ? 50 : 0,
                                 .hidden = host->member(call, in, "hide").n > 0 ? "loop.echo" : NULL,
                                 .without_output = host->member(call, in, "mute").n > 0};
  if (host->run_program(call, &program, &result) == 0) {
    host->answer(call, result);
  } else {
    host->fail(call, "%s", host->error(call).p);
  }
}

/* As much stack as lathe_plugin.h promises a plugin on the loop, then what `in` says is run on top of that. */
static void __attribute__((noinline)) stack(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  volatile char room[128 * LT_KIB];
  for (size_t i = 0; i < sizeof room; i += 512) {
    room[i] = (char)i;
  }
  if (host->member(call, in, "code").n > 0) {
    run(host, call, in, arg);
  } else {
    host->answer(call, room[512] == 0 ? LATHE_TEXT("1") : LATHE_TEXT("2"));
  }
}

static const lathe_tool tools[] = {
    {.size = sizeof(lathe_tool), .name = "stack", .invoke = stack},
    {.size = sizeof(lathe_tool), .name = "echo", .invoke = echo},
    {.size = sizeof(lathe_tool), .name = "conversation", .invoke = conversation},
    {.size = sizeof(lathe_tool), .name = "state", .invoke = state},
    {.size = sizeof(lathe_tool), .name = "keep", .invoke = keep},
    {.size = sizeof(lathe_tool), .name = "run", .invoke = run},
};

static void set_up(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in;
  const lathe_function function = {
      .size = sizeof function, .name = arg, .signature = "(...x) → x", .description = "Gives back", .invoke = echo};
  const lathe_function taken = {.size = sizeof taken, .name = "taken", .invoke = echo};
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
    host->add_tool(call, &tools[i]);
  }
  host->add_function(call, &function);
  host->add_function(call, &taken);
  host->add_module(call, "sums", LATHE_TEXT("export const two = 2;"));
  host->add_context(call, LATHE_TEXT("{\"type\":\"always\",\"content\":\"here\"}"));
}

static void on_ready(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text value;
  snprintf(told, sizeof told, "%s", in.p);
  if (host->call_tool(call, LATHE_TEXT("own.echo"), LATHE_TEXT("{}"), &value) != 0) {
    note_error(host, call);
  }
}

static void prepare(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  snprintf(told, sizeof told, "%s", in.p);
  const lathe_tool tool = {.size = sizeof tool, .name = "prompted", .invoke = conversation};
  const lathe_function late = {.size = sizeof late, .name = "tooLate", .invoke = echo};
  host->add_tool(call, &tool);
  host->add_context(call, host->format(call, "{\"type\":\"note\",\"id\":\"%s\",\"content\":%s}", "n",
                                       host->quote(call, host->conversation(call)).p));
  if (host->add_function(call, &late) != 0) {
    note_error(host, call);
  }
}

#define STATE_SCHEMA "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\"}}}"

static const lathe_plugin *own_entry(void) {
  static char function[] = "ownGive";
  static const lathe_plugin plugin = {.size = sizeof plugin,
                                      .id = "own",
                                      .state_schema = STATE_SCHEMA,
                                      .setup = set_up,
                                      .ready = on_ready,
                                      .prepare = prepare,
                                      .arg = function};
  return &plugin;
}

static const lathe_plugin *loop_entry(void) {
  static char function[] = "loopGive";
  static const lathe_plugin plugin = {.size = sizeof plugin,
                                      .id = "loop",
                                      .state_schema = STATE_SCHEMA,
                                      .flags = LATHE_ON_LOOP,
                                      .setup = set_up,
                                      .prepare = prepare,
                                      .arg = function};
  return &plugin;
}

static void load(host_fix *f) {
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  problem[0] = '\0';
}

static void assert_call(host_fix *f, const char *tool, const char *input, const char *out) {
  if (host_fix_call(f, tool, input) != LT_OK) {
    FAIL_WITH("%s: %s\n", tool, lt_err_msg(&f->err));
  }
  assert_out(f, out);
}

/* --- Registering -------------------------------------------------------------------------------------------------- */
static void taken(host_fix *f) {
  load(f);
  assert_has(f->lines, "! plugin loop: its function \"taken\" is left out");
  assert_has(f->lines, "! plugin loop: its module \"sums\" is left out");
  size_t count;
  lt_host_functions(f->host, &count);
  assert_int_equal(count, 3);
  lt_host_modules(f->host, &count);
  assert_int_equal(count, 1);
}

static void test_taken_names_are_told(void **state_of) {
  host_fix_run(*state_of, taken);
}

static void readies(host_fix *f) {
  load(f);
  lt_host_ready(f->host);
  assert_has(told, "\"own.echo\"");
  assert_has(told, "\"loop.echo\"");
  assert_has(told, "{\"name\":\"ownGive\",\"signature\":\"(...x) → x\",\"description\":\"Gives back\"}");
  assert_has(told, "\"modules\":[\"sums\"]");
  assert_has(problem, "no tools are called in ready"); /* there is no caller, so no policy that would apply */
}

static void test_ready(void **state_of) {
  host_fix_run(*state_of, readies);
}

/* Everything that is wrong with what is registered. */
static unsigned wrongs;
static char wrong_ones[2048];

static void wrong(const lathe_host *host, lathe_call *call, int rc, const char *says) {
  if (rc != -1 || strstr(host->error(call).p, says) == NULL) {
    size_t n = strlen(wrong_ones);
    snprintf(wrong_ones + n, sizeof wrong_ones - n, "\"%s\": %d %s; ", says, rc, host->error(call).p);
  }
  wrongs++;
}

static void registers_badly(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_tool tool = {.size = sizeof tool, .name = "fine", .invoke = echo};
  lathe_function function = {.size = sizeof function, .name = "fine", .invoke = echo};
#define TOOL(member, value, says)                      \
  do {                                                 \
    lathe_tool t = tool;                               \
    t.member = value;                                  \
    wrong(host, call, host->add_tool(call, &t), says); \
  } while (0)
  wrong(host, call, host->add_tool(call, NULL), "sizeof(lathe_tool)");
  TOOL(size, 8, "sizeof(lathe_tool)");
  TOOL(name, NULL, "needs a name");
  TOOL(name, "", "needs a name");
  TOOL(name, "a b", "needs a name");
  TOOL(invoke, NULL, "no function \"invoke\"");
  TOOL(annotations, "7", "annotations");
  function.name = "not one";
  wrong(host, call, host->add_function(call, &function), "JavaScript identifier");
  function.name = "1st";
  wrong(host, call, host->add_function(call, &function), "JavaScript identifier");
  function.size = 1;
  wrong(host, call, host->add_function(call, &function), "sizeof(lathe_function)");
  wrong(host, call, host->add_module(call, "a b", LATHE_TEXT("")), "needs a name");
  wrong(host, call, host->add_context(call, LATHE_TEXT("{}")), "context item");
  wrong(host, call, host->add_context(call, LATHE_TEXT("{\"type\":\"a\",\"content\":7}")), "context item");
  wrong(host, call, host->add_context(call, LATHE_TEXT("nonsense")), "context item");
}

static void too_late(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  const lathe_tool tool = {.size = sizeof tool, .name = "late", .invoke = echo};
  wrong(host, call, host->add_tool(call, &tool), "in setup, ready and prepare only");
}

static void set_up_badly(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  registers_badly(host, call, in, arg);
  host->add_tool(call, &(lathe_tool){.size = sizeof(lathe_tool), .name = "late", .invoke = too_late});
}

static const lathe_plugin *bad_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "bad", .setup = set_up_badly};
  return &plugin;
}

static void refused(host_fix *f) {
  host_fix_add(f, bad_entry);
  assert_int_equal(host_fix_call(f, "bad.late", "{}"), LT_OK);
  assert_string_equal(wrong_ones, "");
  assert_int_equal(wrongs, 15); /* schemas are checked when a library is loaded (bad-plugins.test.mjs) */
}

static void test_what_cannot_be_registered(void **state_of) {
  host_fix_run(*state_of, refused);
}

/* --- Prompts ------------------------------------------------------------------------------------------------------ */
static void prompts(host_fix *f) {
  lt_prepared_prompt one, two;
  lt_caller other = f->caller;
  load(f);
  lt_run_request defaults = {.timeout_ms = 1234};
  defaults.functions = lt_host_functions(f->host, &defaults.function_count);
  defaults.modules = lt_host_modules(f->host, &defaults.module_count);
  assert_int_equal(lt_host_prepare(f->host, LT_STR("code"), true, LT_STR("c-1"), &defaults, &f->caller, &one, &f->err),
                   LT_OK);
  assert_has(told, "{\"mode\":\"code\",\"tools\":[\"loop.conversation\",");
  assert_has(told, "\"own.prompted\""); /* what the one before it has added is known */
  assert_has(told, "\"name\":\"ownGive\"");
  assert_has(problem, "in setup and ready only");
  assert_string_equal(
      one.context.p,
      "[{\"type\":\"always\",\"content\":\"here\"},{\"type\":\"note\",\"id\":\"n\",\"content\":\"c-1\"},"
      "{\"type\":\"always\",\"content\":\"here\"},{\"type\":\"note\",\"id\":\"n\",\"content\":\"c-1\"}]");
  assert_ptr_equal(f->caller.catalog, one.catalog);
  assert_true(lt_str_eqc(one.user, "ann"));
  assert_true(lt_str_eqc(one.conversation, "c-1"));
  assert_int_equal(one.defaults.timeout_ms, 1234);
  /* Another prompt at the same time has its own; a caller without one has none. */
  assert_int_equal(lt_host_prepare(f->host, LT_STR("run"), true, LT_STR("c-2"), NULL, &other, &two, &f->err), LT_OK);
  assert_call(f, "own.prompted", "{}", "\"c-1\"");
  assert_call(f, "loop.prompted", "{}", "\"c-1\"");
  assert_call(f, "own.conversation", "{}", "\"c-1\"");
  const lt_invoke_options as_other = {.caller = &other};
  assert_int_equal(host_fix_call_with(f, "own.prompted", "{}", &as_other), LT_OK);
  assert_out(f, "\"c-2\"");
  assert_int_equal(host_fix_call_with(f, "own.prompted", "{}", NULL), LT_E_NOTFOUND);
  lt_host_prepared_release(&one);
  lt_host_prepared_release(&two);
  assert_int_equal(f->warnings, 2); /* the taken names */
}

static void test_prompts(void **state_of) {
  host_fix_run(*state_of, prompts);
}

/* What a model is told has no secrets in it. */
static void secrets_in_context(host_fix *f) {
  lt_prepared_prompt p;
  load(f);
  assert_int_equal(
      lt_host_prepare(f->host, LT_STR("code"), true, LT_STR("hunter2-hunter2"), NULL, &f->caller, &p, &f->err), LT_OK);
  assert_has(p.context.p, "\"content\":\"***\"");
  assert_null(strstr(p.context.p, "hunter2"));
  lt_host_prepared_release(&p);
}

static void test_context_without_secrets(void **state_of) {
  host_fix_run(*state_of, secrets_in_context);
}

/* A plugin that tells of its key wherever it can. */
static void fail_with_key(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->fail(call, "the key hunter2-hunter2 is wrong");
}

static void keep_by_key(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_text id, got = LATHE_TEXT("1");
  if (host->artifact_put(call, "hunter2-hunter2", LATHE_TEXT(""), LATHE_TEXT("1"), &id) == 0) {
    host->artifact_get(call, id, &got);
  }
  host->answer(call, host->member(call, got, "type"));
}

static void set_up_leaky(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  const lathe_function fails = {.size = sizeof fails,
                                .name = "fails",
                                .signature = "(key = \"hunter2-hunter2\")",
                                .description = "Not with hunter2-hunter2",
                                .invoke = fail_with_key};
  const lathe_function keeps = {.size = sizeof keeps, .name = "keeps", .invoke = keep_by_key};
  host->add_function(call, &fails);
  host->add_function(call, &keeps);
}

static const lathe_plugin *leaky_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "leaky", .setup = set_up_leaky};
  return &plugin;
}

static void secrets_in_functions(host_fix *f) {
  size_t count;
  load(f);
  host_fix_add(f, leaky_entry);
  const lt_run_function *functions = lt_host_functions(f->host, &count);
  for (size_t i = 0; i < count; i++) {
    assert_true(lt_str_find(functions[i].signature, LT_STR("hunter2"), 0) == SIZE_MAX);
    assert_true(lt_str_find(functions[i].description, LT_STR("hunter2"), 0) == SIZE_MAX);
  }
  assert_call(f, "loop.run", "{\"code\":\"let m; try { fails() } catch (e) { m = e.message } [m, keeps()]\"}",
              "{\"result\":[\"the key *** is wrong\",\"***\"],\"logs\":[],\"outputs\":[]}");
}

static void test_functions_without_secrets(void **state_of) {
  host_fix_run(*state_of, secrets_in_functions);
}

static void hides(host_fix *f) {
  lt_prepared_prompt p;
  load(f);
  f->caller.hidden = LT_STR("own.echo");
  assert_int_equal(lt_host_prepare(f->host, LT_STR("code"), true, LT_STR(""), NULL, &f->caller, &p, &f->err), LT_OK);
  assert_null(strstr(told, "\"own.echo\""));
  lt_host_prepared_release(&p);
}

static void test_hidden_tools_are_not_told(void **state_of) {
  host_fix_run(*state_of, hides);
}

static void fails(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->add_tool(call, &(lathe_tool){.size = sizeof(lathe_tool), .name = "gone", .invoke = echo});
  host->fail(call, "out of ideas");
}

static const lathe_plugin *fails_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "fails", .prepare = fails};
  return &plugin;
}

static void prepare_fails(host_fix *f) {
  lt_prepared_prompt p;
  host_fix_add(f, fails_entry);
  host_fix_add(f, loop_entry);
  for (int i = 0; i < 3; i++) {
    lt_caller caller = f->caller;
    assert_int_equal(lt_host_prepare(f->host, LT_STR("code"), true, LT_STR(""), NULL, &caller, &p, &f->err), LT_OK);
    assert_null(lt_catalog_find(p.catalog, LT_STR("fails.gone")));
    assert_non_null(lt_catalog_find(p.catalog, LT_STR("loop.prompted")));
    lt_host_prepared_release(&p);
  }
  assert_string_equal(f->lines, "! plugin fails: it could not prepare the prompt: out of ideas\n"); /* once */
}

static void test_prepare_fails(void **state_of) {
  host_fix_run(*state_of, prepare_fails);
}

static void sweep(host_fix *f) {
  load(f);
  for (long n = 0;; n++) {
    lt_prepared_prompt p;
    lt_caller caller = f->caller;
    lt_mem_fail_at(n);
    lt_status status = lt_host_prepare(f->host, LT_STR("code"), true, LT_STR("c"), NULL, &caller, &p, &f->err);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (status == LT_OK) {
      lt_host_prepared_release(&p);
    } else {
      assert_null(caller.prompt);
    }
    if (!failed) {
      assert_int_equal(status, LT_OK);
      return;
    }
  }
}

static void test_every_allocation_may_fail(void **state_of) {
  host_fix_run(*state_of, sweep);
}

/* --- Keeping ------------------------------------------------------------------------------------------------------ */
/* For want of memory there is no state to be had; that there is none is not said. */
static void state_sweep(host_fix *f) {
  load(f);
  assert_call(f, "loop.state", "{\"set\":{\"n\":1}}", "{\"n\":1}");
  for (long n = 0;; n++) {
    lt_mem_fail_at(n);
    lt_status status = host_fix_call(f, "loop.state", "{}");
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    if (status == LT_OK) {
      assert_out(f, "{\"n\":1}");
    }
    if (!failed) {
      assert_int_equal(status, LT_OK);
      return;
    }
  }
}

static void test_no_memory_is_not_no_state(void **state_of) {
  host_fix_run(*state_of, state_sweep);
}

static void states(host_fix *f) {
  lt_prepared_prompt p;
  load(f);
  assert_call(f, "own.state", "{}", "\"none\"");
  assert_call(f, "own.state", "{\"set\":{\"n\":1}}", "{\"n\":1}");
  assert_call(f, "loop.state", "{}", "\"none\"");
  assert_call(f, "own.state", "{}", "{\"n\":1}");
  assert_int_equal(host_fix_call(f, "own.state", "{\"set\":{\"n\":\"one\"}}"), LT_E_TOOL);
  assert_has(f->out.p, "state.n: expected number, got string");
  assert_call(f, "own.state", "{}", "{\"n\":1}");
  /* Each user and conversation has its own. */
  f->caller.user = LT_STR("bob");
  assert_call(f, "own.state", "{}", "\"none\"");
  f->caller.user = LT_STR("ann");
  assert_int_equal(lt_host_prepare(f->host, LT_STR("code"), true, LT_STR("c"), NULL, &f->caller, &p, &f->err), LT_OK);
  assert_call(f, "own.state", "{}", "\"none\"");
  lt_host_prepared_release(&p);
  f->caller.catalog = NULL;
  f->caller.prompt = NULL;
  /* What an older version of the plugin kept does not fit any more. */
  assert_int_equal(lt_store_state_put(f->db, LT_STR("own"), LT_STR("ann"), LT_STR(""), LT_STR("[7]"), &f->err), LT_OK);
  assert_call(f, "own.state", "{}", "\"none\"");
  assert_has(f->lines,
             "! plugin own: the state kept for user \"ann\" does not fit any more and counts as empty: state: "
             "expected object, got array");
}

static void test_state(void **state_of) {
  host_fix_run(*state_of, states);
}

static void artifacts(host_fix *f) {
  load(f);
  assert_call(f, "own.keep", "{\"pass\":\"hunter2-hunter2\"}",
              "{\"id\":32,\"data\":{\"pass\":\"***\"},\"description\":\"about ***\",\"listed\":\"note\",\"none\":0}");
  assert_int_equal(lt_secrets_add(f->secrets, LT_STR("31415926")), LT_OK);
  assert_call(f, "own.keep", "{\"pin\":31415926}",
              "{\"id\":32,\"data\":{\"pin\":\"***\"},\"description\":\"about ***\",\"listed\":\"note\",\"none\":0}");
  assert_call(f, "loop.keep", "{\"a\":1}",
              "{\"id\":32,\"data\":{\"a\":1},\"description\":\"about ***\",\"listed\":\"note\",\"none\":0}");
}

static void test_artifacts(void **state_of) {
  host_fix_run(*state_of, artifacts);
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */
static void check_programs(host_fix *f, const char *tool) {
  assert_call(f, tool, "{\"code\":\"log('a'); output('b'); loopGive(input.x, 2)\",\"input\":{\"x\":1}}",
              "{\"result\":[1,2],\"logs\":[\"a\"],\"outputs\":[\"b\"]}");
  assert_call(f, tool, "{\"code\":\"import {two} from 'sums'; export default two\"}",
              "{\"result\":2,\"logs\":[],\"outputs\":[]}");
  assert_call(f, tool, "{\"code\":\"const s: string = 'typed'; s\",\"language\":\"ts\"}",
              "{\"result\":\"typed\",\"logs\":[],\"outputs\":[]}");
  assert_call(f, tool, "{\"code\":\"1;\\n  nope()\"}",
              "{\"logs\":[],\"outputs\":[],\"error\":\"ReferenceError: nope is not "
              "defined\",\"line\":2,\"column\":3,\"context\":\"nope()\",\"stack\":\"at <program> (2:3)\"}");
  assert_int_equal(host_fix_call(f, tool, "{\"code\":\"for (;;) {}\",\"quick\":1}"), LT_OK);
  assert_has(f->out.p, "\"timeout\":true}");
  assert_call(f, tool, "{\"code\":\"loopGive(typeof loopGive, typeof output)\",\"mute\":1}",
              "{\"result\":[\"function\",\"undefined\"],\"logs\":[],\"outputs\":[]}");
  assert_call(f, tool, "{\"code\":\"tools['loop.echo']({a: 1})\"}",
              "{\"result\":{\"a\":1},\"logs\":[],\"outputs\":[]}");
  assert_int_equal(host_fix_call(f, tool, "{\"code\":\"tools['loop.echo']({a: 1})\",\"hide\":1}"), LT_OK);
  assert_has(f->out.p, "\"error\":");
  assert_int_equal(host_fix_call(f, tool, "{\"code\":\"1\",\"language\":\"cobol\"}"), LT_E_TOOL);
}

static void programs(host_fix *f) {
  load(f);
  check_programs(f, "own.run");
  check_programs(f, "loop.run");
}

static void test_programs(void **state_of) {
  host_fix_run(*state_of, programs);
}

/* A program that its own plugin runs and that calls it again. */
static void programs_call_back(host_fix *f) {
  load(f);
  assert_int_equal(host_fix_call(f, "own.run", "{\"code\":\"tools['own.echo']({})\"}"), LT_OK);
  assert_has(f->out.p, "LATHE_ON_LOOP");
  assert_int_equal(host_fix_call(f, "own.run", "{\"code\":\"ownGive(1)\"}"), LT_OK);
  assert_has(f->out.p, "LATHE_ON_LOOP");
  assert_call(f, "loop.run", "{\"code\":\"tools['loop.run']({code: '[1, tools[\\\"own.echo\\\"]({a: 2})]'})\"}",
              "{\"result\":{\"result\":[1,{\"a\":2}],\"logs\":[],\"outputs\":[]},\"logs\":[],\"outputs\":[]}");
  /* However deep it goes, it ends. */
  assert_int_equal(host_fix_call(f, "loop.run",
                                 "{\"code\":\"const c = 'tools[\\\"loop.run\\\"]({code: input, input})';"
                                 "tools['loop.run']({code: c, input: c})\"}"),
                   LT_OK);
  assert_has(f->out.p, "deep");
}

static void test_programs_call_back(void **state_of) {
  host_fix_run(*state_of, programs_call_back);
}

static void stacks(host_fix *f) {
  load(f);
  assert_call(f, "loop.stack", "{}", "1");
  assert_call(f, "loop.run", "{\"code\":\"tools['loop.stack']({})\"}", "{\"result\":1,\"logs\":[],\"outputs\":[]}");
  assert_call(f, "loop.stack", "{\"code\":\"tools['loop.stack']({code: \\\"tools['loop.stack']({})\\\"})\"}",
              "{\"result\":{\"result\":1,\"logs\":[],\"outputs\":[]},\"logs\":[],\"outputs\":[]}");
}

static void test_stack_of_plugins_on_the_loop(void **state_of) {
  host_fix_run(*state_of, stacks);
}

/* A program of a prompt has the prompt's tools and limits. */
static void programs_in_prompts(host_fix *f) {
  lt_prepared_prompt p;
  load(f);
  lt_run_request defaults = {.timeout_ms = 60};
  assert_int_equal(lt_host_prepare(f->host, LT_STR("classic"), false, LT_STR("c"), &defaults, &f->caller, &p, &f->err),
                   LT_OK);
  assert_call(f, "loop.run", "{\"code\":\"[tools['loop.prompted']({}), typeof ownGive]\"}",
              "{\"result\":[\"c\",\"undefined\"],\"logs\":[],\"outputs\":[]}");
  assert_int_equal(host_fix_call(f, "loop.run", "{\"code\":\"for (;;) {}\"}"), LT_OK);
  assert_has(f->out.p, "\"timeout\":true}");
  lt_host_prepared_release(&p);
}

static void test_programs_in_prompts(void **state_of) {
  host_fix_run(*state_of, programs_in_prompts);
}

/* --- Programs in programs, and somebody who is asked -------------------------------------------------------------- */
typedef struct slow_asker {
  lt_approver base; /* first */
  lt_loop *loop;
  unsigned asked;
} slow_asker;

static lt_status ask_slowly(lt_approver *base, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                            lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  (void)what, (void)arena;
  slow_asker *a = (slow_asker *)(void *)base;
  lt_wait wait;
  lt_cancel_node node;
  a->asked++;
  lt_wait_init(&wait, a->loop);
  lt_cancel_add(cancel, &node, &wait);
  lt_status status = lt_wait_on(&wait, 3000);
  lt_cancel_remove(cancel, &node);
  ret_decision->is_approved = true;
  return status == LT_E_TIMEOUT ? LT_OK : lt_fail(err, status, "nobody waits any more");
}

static lt_status run_asking(host_fix *f, const char *code, double *ret_ms) {
  const lt_policy_rule rule = {.match = LT_STR("own.echo"), .action = LT_ACTION_ASK};
  slow_asker a = {.base = {.ask = ask_slowly}, .loop = f->loop};
  lt_run_result result;
  lt_run_request request = {.code = lt_str_of(code), .timeout_ms = 800, .caller = &f->caller};
  lt_policy_free(f->policy);
  assert_int_equal(lt_policy_new(&rule, 1, NULL, 0, &f->policy, &f->err), LT_OK);
  f->caller.policy = f->policy;
  f->caller.approver = &a.base;
  lt_run_result_init(&result);
  lt_runner *runner = host_fix_runner(f, LT_LANG_JAVASCRIPT, &f->err);
  assert_int_equal(runner->run(runner, &request, &result, &f->err), LT_OK);
  assert_int_equal(a.asked, 1);
  lt_status status = result.status;
  *ret_ms = result.duration_ms;
  lt_run_result_release(&result);
  return status;
}

/* The outer program waits for the inner one, and that for somebody: both have their time. But an inner program that
 * asks and computes on takes the outer one's time, too: who nobody answers would never end otherwise. */
static void asked_within(host_fix *f) {
  double ms;
  load(f);
  assert_int_equal(run_asking(f, "tools['loop.run']({code: \"tools['own.echo']({})\"})", &ms), LT_OK);
  assert_true(ms >= 2999);
  assert_int_equal(
      run_asking(f, "tools['loop.run']({code: \"tools['loop.run']({code: 'tools[`own.echo`]({})'})\"})", &ms), LT_OK);
  assert_true(ms >= 2999);
  assert_int_equal(run_asking(f, "tools['loop.run']({code: \"Promise; tools['own.echo']({}); for (;;) {}\"})", &ms),
                   LT_E_TIMEOUT);
  assert_true(ms < 2900);
}

static void test_who_computes_while_somebody_is_asked_uses_time(void **state_of) {
  host_fix_run(*state_of, asked_within);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_who_computes_while_somebody_is_asked_uses_time),
      HOST_TEST(test_taken_names_are_told),
      HOST_TEST(test_ready),
      HOST_TEST(test_what_cannot_be_registered),
      HOST_TEST(test_prompts),
      HOST_TEST(test_context_without_secrets),
      HOST_TEST(test_functions_without_secrets),
      HOST_TEST(test_hidden_tools_are_not_told),
      HOST_TEST(test_prepare_fails),
      HOST_TEST(test_every_allocation_may_fail),
      HOST_TEST(test_state),
      HOST_TEST(test_no_memory_is_not_no_state),
      HOST_TEST(test_artifacts),
      HOST_TEST(test_programs),
      HOST_TEST(test_programs_call_back),
      HOST_TEST(test_programs_in_prompts),
      HOST_TEST(test_stack_of_plugins_on_the_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
