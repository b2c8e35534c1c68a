/* Calls of plugins: what they answer, on a thread of their own and on the loop; what a slow one costs the others. */
#include "fakes/host_fix.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

/* --- A plugin that does as it is told ------------------------------------------------------------------------------
 * Once with a thread of its own ("own"), once on the loop ("loop"): the same code. */
static sem_t gate;              /* `wait` blocks until it is opened */
static sem_t entered;           /* `wait` has begun */
static atomic_int was_unwanted; /* what cancelled() said after the gate */
static atomic_int finished;     /* calls of `wait` that have come to their end */
static char late_error[256];    /* what a host function said after Lathe had gone */
static sem_t went;

static void echo(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  host->answer(call, in);
}

static void nothing(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)host, (void)call, (void)in, (void)arg;
}

static void twice(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->answer(call, LATHE_TEXT("{\"first\":1}"));
  host->answer(call, LATHE_TEXT("\"second\""));
}

static void broken(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->answer(call, LATHE_TEXT("{\"a\":}"));
}

static void fails(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  host->fail(call, "no %s in %zu bytes", "luck", in.n);
}

static void fails_late(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->answer(call, LATHE_TEXT("1"));
  host->fail(call, "on second thoughts");
}

static void who(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  unsigned char *zeroed = host->memory(call, 1000);
  unsigned sum = 0;
  if (zeroed == NULL) {
    host->fail(call, "no memory");
    return;
  }
  for (int i = 0; i < 1000; i++) {
    sum += zeroed[i];
  }
  host->answer(call, host->format(call, "{\"user\":%s,\"conversation\":%s,\"config\":%s,\"sum\":%u,\"cancelled\":%d}",
                                  host->quote(call, host->user(call)).p, host->quote(call, host->conversation(call)).p,
                                  host->config(call).p, sum, host->cancelled(call)));
}

static void logs(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  host->log(call, LATHE_LOG_WARNING, "red \x1b[31mtext\x1b[0m,\nline two, \x07 \xc2\x9b hunter2-hunter2 %.*s",
            (int)in.n, in.p);
  char *many = host->memory(call, 9000);
  if (many == NULL) {
    host->fail(call, "no memory");
    return;
  }
  memset(many, 'x', 8999);
  host->log(call, LATHE_LOG_INFO, "%s", many);
}

static void parts(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text list = host->member(call, in, "list");
  lathe_text text = host->characters(call, host->member(call, list, "1"));
  host->answer(call, host->format(call, "[%s,%zu,%zu,%zu,%zu]", host->quote(call, text).p, text.n,
                                  host->member(call, in, "none").n, host->member(call, list, "9").n,
                                  host->member(call, list, "x").n));
}

static void wait(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  sem_post(&entered);
  while (sem_wait(&gate) != 0) {
  }
  was_unwanted = host->cancelled(call);
  host->answer(call, LATHE_TEXT("\"late\""));
  finished++;
}

/* Calls the tool named in `in` with its `input`. */
static void through(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text value;
  if (host->call_tool(call, host->characters(call, host->member(call, in, "tool")), host->member(call, in, "input"),
                      &value) == 0) {
    host->answer(call, host->format(call, "{\"through\":%s}", value.p));
  } else {
    host->fail(call, "%s", host->error(call).p);
  }
}

static void after_gate(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  sem_post(&entered);
  while (sem_wait(&gate) != 0) {
  }
  through(host, call, in, arg);
}

/* Calls itself for ever. */
static void deeper(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  lathe_text value;
  if (host->call_tool(call, LATHE_TEXT("loop.deeper"), in, &value) == 0) {
    host->answer(call, value);
  } else {
    host->fail(call, "%s", host->error(call).p);
  }
  (void)arg;
}

static void decides(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)arg;
  lathe_text how = host->member(call, in, "how");
  if (how.n > 0 && how.p[1] == '!') {
    host->fail(call, "do not know");
  } else {
    host->answer(call, how.n > 0 ? how : LATHE_TEXT("null"));
  }
}

static const lathe_tool tools[] = {
    {.size = sizeof(lathe_tool), .name = "echo", .invoke = echo},
    {.size = sizeof(lathe_tool), .name = "nothing", .invoke = nothing},
    {.size = sizeof(lathe_tool), .name = "twice", .invoke = twice},
    {.size = sizeof(lathe_tool), .name = "broken", .invoke = broken},
    {.size = sizeof(lathe_tool), .name = "fails", .invoke = fails},
    {.size = sizeof(lathe_tool), .name = "fails-late", .invoke = fails_late},
    {.size = sizeof(lathe_tool), .name = "who", .invoke = who},
    {.size = sizeof(lathe_tool), .name = "logs", .invoke = logs},
    {.size = sizeof(lathe_tool), .name = "parts", .invoke = parts},
    {.size = sizeof(lathe_tool), .name = "wait", .invoke = wait},
    {.size = sizeof(lathe_tool), .name = "through", .invoke = through},
    {.size = sizeof(lathe_tool), .name = "deeper", .invoke = deeper},
    {.size = sizeof(lathe_tool), .name = "after-gate", .invoke = after_gate},
    {.size = sizeof(lathe_tool), .name = "careful", .invoke = echo, .approval = "it is for good"},
    {.size = sizeof(lathe_tool), .name = "asks", .invoke = echo, .needs_approval = decides},
};

static void set_up(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
    if (host->add_tool(call, &tools[i]) != 0) {
      host->fail(call, "%s", host->error(call).p);
    }
  }
}

static const lathe_plugin *own_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "own", .setup = set_up};
  return &plugin;
}

static const lathe_plugin *loop_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "loop", .setup = set_up, .flags = LATHE_ON_LOOP};
  return &plugin;
}

/* --- What is answered --------------------------------------------------------------------------------------------- */
static void assert_call(host_fix *f, const char *tool, const char *input, lt_status status, const char *out) {
  assert_int_equal(host_fix_call(f, tool, input), status);
  assert_out(f, out);
}

static void check_answers(host_fix *f, const char *id) {
  char name[64];
#define TOOL(tool) (snprintf(name, sizeof name, "%s.%s", id, tool), name)
  assert_call(f, TOOL("echo"), "{\"a\":[1,2.50,\"\\u00e9\"]}", LT_OK, "{\"a\":[1,2.50,\"\\u00e9\"]}");
  assert_call(f, TOOL("nothing"), "{}", LT_OK, "null");
  assert_call(f, TOOL("twice"), "{}", LT_OK, "\"second\"");
  assert_call(f, TOOL("fails"), "{}", LT_E_TOOL, "no luck in 2 bytes");
  assert_call(f, TOOL("fails-late"), "{}", LT_E_TOOL, "on second thoughts");
  assert_int_equal(host_fix_call(f, TOOL("broken"), "{}"), LT_E_PROTOCOL);
  assert_has(f->out.p, "answered something that is not JSON");
  assert_call(f, TOOL("who"), "{}", LT_OK,
              "{\"user\":\"ann\",\"conversation\":\"\",\"config\":{},\"sum\":0,\"cancelled\":0}");
  assert_call(f, TOOL("parts"), "{\"list\":[1,\"a\\u0000b\\n\"]}", LT_OK, "[\"a\\u0000b\\n\",4,0,0,0]");
#undef TOOL
}

/* Over LT_CALL_INLINE_BYTES: checked elsewhere. */
static void check_long(host_fix *f, const char *tool) {
  size_t n = LT_CALL_INLINE_BYTES + 100;
  char *text = malloc(n + 1);
  memset(text, 'x', n);
  memcpy(text, "{\"a\":\"", 6);
  strcpy(text + n - 2, "\"}");
  assert_call(f, tool, text, LT_OK, text);
  free(text);
}

static void answers(host_fix *f) {
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  check_long(f, "own.echo");
  check_long(f, "loop.echo");
  check_answers(f, "own");
  check_answers(f, "loop");
}

static void test_answers(void **state) {
  host_fix_run(*state, answers);
}

/* Every allocation of a call may fail: it does, or does without, and the next one is well. */
static void sweep_call(host_fix *f, const char *tool, const char *input) {
  for (long n = 0;; n++) {
    lt_mem_fail_at(n);
    lt_status status = host_fix_call(f, tool, input);
    bool failed = lt_mem_failed();
    lt_mem_fail_at(-1);
    assert_int_equal(host_fix_call(f, tool, input), LT_OK);
    if (!failed) {
      assert_int_equal(status, LT_OK);
      assert_true(n > 3);
      return;
    }
  }
}

static void sweeps(host_fix *f) {
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  sweep_call(f, "own.who", "{}");
  sweep_call(f, "loop.who", "{}");
  sweep_call(f, "own.through", "{\"tool\":\"loop.parts\",\"input\":{\"list\":[1,\"a\"]}}");
  sweep_call(f, "loop.through", "{\"tool\":\"own.logs\"}");
}

static void test_every_allocation_may_fail(void **state) {
  host_fix_run(*state, sweeps);
}

static void lines(host_fix *f) {
  host_fix_add(f, own_entry);
  assert_int_equal(host_fix_call(f, "own.logs", "{\"k\":\"v\"}"), LT_OK);
  assert_has(f->lines, "! plugin own: red text, line two,   *** {\"k\":\"v\"}\n");
  assert_has(f->lines, "xxx...\n");
  assert_true(strlen(f->lines) < 5000);
}

static void test_lines_are_cleaned_masked_and_cut(void **state) {
  host_fix_run(*state, lines);
}

/* --- Slow ones ---------------------------------------------------------------------------------------------------- */
static void late(host_fix *f) {
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  const lt_invoke_options soon = {.caller = &f->caller, .timeout_ms = 30};
  assert_int_equal(host_fix_call_with(f, "own.wait", "{}", &soon), LT_E_TIMEOUT);
  assert_out(f, "plugin \"own\" has not answered \"own.wait\" within 30 ms");
  /* The others go on; what comes after it says whom it waits for. */
  assert_call(f, "loop.echo", "{\"b\":1}", LT_OK, "{\"b\":1}");
  assert_int_equal(host_fix_call_with(f, "own.echo", "{}", &soon), LT_E_TIMEOUT);
  assert_out(f, "plugin \"own\" is busy with \"own.wait\" since 0 s");
  sem_post(&gate);
  /* Its late answer is nobody's. */
  assert_call(f, "own.echo", "{\"c\":2}", LT_OK, "{\"c\":2}");
  assert_int_equal(was_unwanted, 1);
}

static void test_late_answers_are_dropped(void **state) {
  host_fix_run(*state, late);
}

static void cancel_soon(void *arg) {
  sem_wait(&entered); /* the loop may wait here: the plugin has its own thread */
  lt_cancel_fire(arg, LT_E_CANCELLED);
}

static void cancelled(host_fix *f) {
  host_fix_add(f, own_entry);
  lt_cancel cancel;
  lt_cancel_init(&cancel);
  while (sem_trywait(&entered) == 0) {
  }
  assert_int_equal(lt_loop_spawn(f->loop, cancel_soon, &cancel, NULL), LT_OK);
  const lt_invoke_options options = {.caller = &f->caller, .cancel = &cancel};
  assert_int_equal(host_fix_call_with(f, "own.wait", "{}", &options), LT_E_CANCELLED);
  assert_out(f, "plugin \"own\" had not answered \"own.wait\" when the call was cancelled");
  sem_post(&gate);
  assert_call(f, "own.echo", "{}", LT_OK, "{}");
}

static void test_cancelled_at_once(void **state) {
  host_fix_run(*state, cancelled);
}

typedef struct crowd {
  host_fix *f;
  unsigned ok, refused, other, done;
  const char *tool;
} crowd;

static void call_in_crowd(void *arg) {
  crowd *c = arg;
  lt_buf out;
  lt_buf_init(&out, LT_JSON_MAX_BYTES);
  const lt_invoke_options options = {.caller = &c->f->caller};
  lt_status status = lt_door_call(c->f->door, lt_str_of(c->tool), LT_STR("{\"n\":1}"), &options, &out, NULL);
  c->ok += status == LT_OK && strcmp(out.p, "{\"n\":1}") == 0;
  c->refused += status == LT_E_LIMIT;
  c->other += status != LT_OK && status != LT_E_LIMIT;
  lt_buf_release(&out);
  c->done++;
}

static void start_crowd(crowd *c, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    assert_int_equal(lt_loop_spawn(c->f->loop, call_in_crowd, c, NULL), LT_OK);
  }
}

static void queue_full(host_fix *f) {
  crowd c = {.f = f, .tool = "own.echo"};
  host_fix_add(f, own_entry);
  const lt_invoke_options soon = {.caller = &f->caller, .timeout_ms = 20};
  assert_int_equal(host_fix_call_with(f, "own.wait", "{}", &soon), LT_E_TIMEOUT);
  start_crowd(&c, LT_PLUGIN_QUEUE_MAX + 7);
  while (c.done < 7) {
    lt_loop_sleep(f->loop, 1);
  }
  assert_int_equal(c.refused, 7);
  sem_post(&gate);
  while (c.done < LT_PLUGIN_QUEUE_MAX + 7) {
    lt_loop_sleep(f->loop, 1);
  }
  assert_int_equal(c.ok, LT_PLUGIN_QUEUE_MAX);
  assert_int_equal(c.other, 0);
}

static void test_queue_has_an_end(void **state) {
  host_fix_run(*state, queue_full);
}

static void crowds(host_fix *f) {
  crowd own = {.f = f, .tool = "own.echo"}, loop = {.f = f, .tool = "loop.echo"};
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  start_crowd(&own, 300);
  start_crowd(&loop, 300);
  while (own.done + loop.done < 600) {
    lt_loop_sleep(f->loop, 1);
  }
  assert_int_equal(own.ok, 300);
  assert_int_equal(loop.ok, 300);
}

static void test_many_at_once(void **state) {
  host_fix_run(*state, crowds);
}

/* --- Calling others ----------------------------------------------------------------------------------------------- */
static void calls_others(host_fix *f) {
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  assert_call(f, "own.through", "{\"tool\":\"loop.echo\",\"input\":{\"x\":1}}", LT_OK, "{\"through\":{\"x\":1}}");
  assert_call(f, "loop.through", "{\"tool\":\"own.echo\",\"input\":{\"x\":1}}", LT_OK, "{\"through\":{\"x\":1}}");
  assert_call(f, "loop.through", "{\"tool\":\"loop.fails\"}", LT_E_TOOL, "no luck in 2 bytes");
  assert_int_equal(host_fix_call(f, "own.through", "{\"tool\":\"loop.eco\"}"), LT_E_TOOL);
  assert_has(f->out.p, "Did you mean");
  assert_call(f, "loop.who", "{}", LT_OK,
              "{\"user\":\"ann\",\"conversation\":\"\",\"config\":{},\"sum\":0,\"cancelled\":0}");
}

static void test_calls_others(void **state) {
  host_fix_run(*state, calls_others);
}

static void calls_itself(host_fix *f) {
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  assert_int_equal(host_fix_call(f, "own.through", "{\"tool\":\"own.echo\"}"), LT_E_TOOL);
  assert_has(f->out.p, "LATHE_ON_LOOP");
  /* Also round another corner. */
  assert_int_equal(host_fix_call(f, "own.through", "{\"tool\":\"loop.through\",\"input\":{\"tool\":\"own.echo\"}}"),
                   LT_E_TOOL);
  assert_has(f->out.p, "LATHE_ON_LOOP");
  assert_call(f, "loop.through", "{\"tool\":\"loop.echo\"}", LT_OK, "{\"through\":{}}");
}

static void test_calls_itself(void **state) {
  host_fix_run(*state, calls_itself);
}

/* Two on threads, each of which waits for the other: whoever comes last is told. */
static const lathe_plugin *other_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "other", .setup = set_up};
  return &plugin;
}

static lt_status crossed_as;
static bool crossed_ended;

static void cross(void *arg) {
  host_fix *f = arg;
  lt_buf out;
  lt_buf_init(&out, LT_JSON_MAX_BYTES);
  const lt_invoke_options options = {.caller = &f->caller};
  crossed_as = lt_door_call(f->door, LT_STR("other.after-gate"),
                            LT_STR("{\"tool\":\"loop.through\",\"input\":{"
                                   "\"tool\":\"own.echo\",\"input\":{}}}"),
                            &options, &out, NULL);
  crossed_ended = true;
  lt_buf_release(&out);
}

static void waits_crosswise(host_fix *f) {
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  host_fix_add(f, other_entry);
  while (sem_trywait(&entered) == 0) {
  }
  assert_int_equal(lt_loop_spawn(f->loop, cross, f, NULL), LT_OK);
  while (sem_trywait(&entered) != 0) {
    lt_loop_sleep(f->loop, 1);
  }
  /* "other" is about to call "own", which begins to wait for "other" first: one of the two calls is refused, and both
   * come to an end. */
  sem_post(&gate);
  lt_status status = host_fix_call(f, "own.through", "{\"tool\":\"other.echo\"}");
  while (!crossed_ended) {
    lt_loop_sleep(f->loop, 1);
  }
  assert_true(status == LT_OK || crossed_as == LT_OK);
  if (status != LT_OK) {
    assert_has(f->out.p, "LATHE_ON_LOOP");
  }
}

static void test_two_that_wait_for_each_other(void **state) {
  host_fix_run(*state, waits_crosswise);
}

static void depth(host_fix *f) {
  host_fix_add(f, loop_entry);
  assert_int_equal(host_fix_call(f, "loop.deeper", "{}"), LT_E_TOOL);
  assert_has(f->out.p, "deep");
}

static void test_depth_has_an_end(void **state) {
  host_fix_run(*state, depth);
}

/* What was called on a plugin's behalf ends when nobody waits for the plugin any more. */
static void nested_timeout(host_fix *f) {
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  const lt_invoke_options soon = {.caller = &f->caller, .timeout_ms = 40};
  assert_int_equal(host_fix_call_with(f, "loop.through", "{\"tool\":\"own.wait\"}", &soon), LT_E_TOOL);
  assert_has(f->out.p, "plugin \"own\" has not answered");
  sem_post(&gate);
  assert_call(f, "own.echo", "{}", LT_OK, "{}");
}

static void test_nested_timeout(void **state) {
  host_fix_run(*state, nested_timeout);
}

/* --- Approval ----------------------------------------------------------------------------------------------------- */
typedef struct asker {
  lt_approver base;
  lt_loop *loop;
  uint64_t wait_ms;
  unsigned asked;
  char reason[256];
} asker;

static lt_status ask(lt_approver *base, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                     lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  (void)cancel, (void)arena, (void)err;
  asker *a = (asker *)(void *)base;
  a->asked++;
  snprintf(a->reason, sizeof a->reason, "%.*s", LT_STR_ARG(what->reason));
  if (a->wait_ms > 0) {
    lt_loop_sleep(a->loop, a->wait_ms);
  }
  ret_decision->is_approved = true;
  return LT_OK;
}

static void approval(host_fix *f) {
  asker a = {.base = {.ask = ask}, .loop = f->loop};
  f->caller.approver = &a.base;
  host_fix_add(f, own_entry);
  assert_call(f, "own.careful", "{}", LT_OK, "{}");
  assert_string_equal(a.reason, "it is for good");
  assert_call(f, "own.asks", "{}", LT_OK, "{}");
  assert_int_equal(a.asked, 1);
  assert_call(f, "own.asks", "{\"how\":\"because\"}", LT_OK, "{\"how\":\"because\"}");
  assert_int_equal(a.asked, 2);
  assert_string_equal(a.reason, "because");
  assert_call(f, "own.asks", "{\"how\":\"!\"}", LT_OK, "{\"how\":\"!\"}"); /* cannot say: rather ask */
  assert_int_equal(a.asked, 3);
  assert_has(a.reason, "do not know");
}

static void test_approval(void **state) {
  host_fix_run(*state, approval);
}

static void approval_clock(host_fix *f) {
  asker a = {.base = {.ask = ask}, .loop = f->loop, .wait_ms = 150};
  f->caller.approver = &a.base;
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  const lt_invoke_options soon = {.caller = &f->caller, .timeout_ms = 100};
  assert_int_equal(host_fix_call_with(f, "own.through", "{\"tool\":\"loop.careful\"}", &soon), LT_OK);
  assert_int_equal(a.asked, 1);
}

static void test_asking_stops_the_clock(void **state) {
  host_fix_run(*state, approval_clock);
}

static void policy(host_fix *f) {
  const lt_policy_rule rule = {.match = LT_STR("loop.*"), .reason = LT_STR("not today"), .action = LT_ACTION_DENY};
  assert_int_equal(lt_policy_new(&rule, 1, NULL, 0, &f->policy, &f->err), LT_OK);
  f->caller.policy = f->policy;
  host_fix_add(f, own_entry);
  host_fix_add(f, loop_entry);
  assert_int_equal(host_fix_call(f, "own.through", "{\"tool\":\"loop.echo\"}"), LT_E_TOOL);
  assert_has(f->out.p, "not today");
}

static void test_policy_applies_to_what_plugins_call(void **state) {
  host_fix_run(*state, policy);
}

/* --- The end ------------------------------------------------------------------------------------------------------ */
static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void outlive(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_text value;
  while (sem_wait(&gate) != 0) {
  }
  host->log(call, LATHE_LOG_INFO, "is anybody there?");
  int rc = host->call_tool(call, LATHE_TEXT("loop.echo"), LATHE_TEXT("{}"), &value);
  snprintf(late_error, sizeof late_error, "%d %s", rc, host->error(call).p);
  host->answer(call, LATHE_TEXT("1"));
  sem_post(&went);
}

static void set_up_outlive(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  host->add_tool(call, &(lathe_tool){.size = sizeof(lathe_tool), .name = "live", .invoke = outlive});
}

static const lathe_plugin *outlive_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "out", .setup = set_up_outlive};
  return &plugin;
}

static void leaves(host_fix *f) {
  host_fix_add(f, outlive_entry);
  const lt_invoke_options soon = {.caller = &f->caller, .timeout_ms = 10};
  assert_int_equal(host_fix_call_with(f, "out.live", "{}", &soon), LT_E_TIMEOUT);
  uint64_t before = now_ms();
  host_fix_close_host(f);
  uint64_t took = now_ms() - before;
  assert_true(took >= LT_PLUGIN_END_MS - 100 && took < 3 * LT_PLUGIN_END_MS);
  sem_post(&gate);
  sem_wait(&went);
  assert_has(late_error, "-1 Lathe has ended");
}

static void test_the_end_does_not_wait_for_ever(void **state) {
  host_fix_run(*state, leaves);
}

static lt_status interrupted_as;

static void call_wait(void *arg) {
  host_fix *f = arg;
  interrupted_as = host_fix_call(f, "own.wait", "{}");
}

/* Somebody still waits for a plugin when Lathe ends. */
static void interrupts(host_fix *f) {
  host_fix_add(f, own_entry);
  while (sem_trywait(&entered) == 0) {
  }
  assert_int_equal(lt_loop_spawn(f->loop, call_wait, f, NULL), LT_OK);
  while (sem_trywait(&entered) != 0) {
    lt_loop_sleep(f->loop, 1);
  }
  int before = finished;
  host_fix_close_host(f);
  assert_int_equal(interrupted_as, LT_E_CANCELLED);
  assert_int_equal(finished, before);
  sem_post(&gate);
  while (finished == before) {
    lt_loop_sleep(f->loop, 1);
  }
}

static void test_the_end_interrupts(void **state) {
  host_fix_run(*state, interrupts);
}

static atomic_int torn_down;

static void tear_down(const lathe_host *host, lathe_call *call, lathe_text in, void *arg) {
  (void)in, (void)arg;
  lathe_text rows;
  torn_down += host->sql(call, LATHE_TEXT("SELECT 1 AS one"), LATHE_TEXT(""), &rows) == 0;
}

static const lathe_plugin *tidy_entry(void) {
  static const lathe_plugin plugin = {.size = sizeof plugin, .id = "tidy", .teardown = tear_down};
  return &plugin;
}

static const lathe_plugin *tidy_loop_entry(void) {
  static const lathe_plugin plugin = {
      .size = sizeof plugin, .id = "tidy-loop", .teardown = tear_down, .flags = LATHE_ON_LOOP};
  return &plugin;
}

static void adds_twice(host_fix *f) {
  host_fix_add(f, own_entry);
  assert_int_equal(lt_host_add(f->host, own_entry, LT_STR(""), &f->err), LT_E_INVALID);
  assert_string_equal(lt_err_msg(&f->err), "plugin own: there is a plugin \"own\" already: name each only once");
  assert_int_equal(lt_host_add(f->host, loop_entry, LT_STR("nonsense"), &f->err), LT_E_SYNTAX);
  assert_has(lt_err_msg(&f->err), "plugin loop: its config is not JSON");
  assert_int_equal(lt_host_add(f->host, loop_entry, LT_STR(""), &f->err), LT_E_INVALID); /* known, and out */
}

static void test_one_of_each_id(void **state) {
  host_fix_run(*state, adds_twice);
}

static void ends(host_fix *f) {
  host_fix_add(f, tidy_entry);
  host_fix_add(f, tidy_loop_entry);
  host_fix_close_host(f);
  assert_int_equal(torn_down, 2);
}

static void test_teardown(void **state) {
  host_fix_run(*state, ends);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_answers),
      HOST_TEST(test_every_allocation_may_fail),
      HOST_TEST(test_lines_are_cleaned_masked_and_cut),
      HOST_TEST(test_late_answers_are_dropped),
      HOST_TEST(test_cancelled_at_once),
      HOST_TEST(test_queue_has_an_end),
      HOST_TEST(test_many_at_once),
      HOST_TEST(test_calls_others),
      HOST_TEST(test_calls_itself),
      HOST_TEST(test_two_that_wait_for_each_other),
      HOST_TEST(test_depth_has_an_end),
      HOST_TEST(test_nested_timeout),
      HOST_TEST(test_approval),
      HOST_TEST(test_asking_stops_the_clock),
      HOST_TEST(test_policy_applies_to_what_plugins_call),
      HOST_TEST(test_the_end_does_not_wait_for_ever),
      HOST_TEST(test_the_end_interrupts),
      HOST_TEST(test_one_of_each_id),
      HOST_TEST(test_teardown),
  };
  sem_init(&gate, 0, 0);
  sem_init(&entered, 0, 0);
  sem_init(&went, 0, 0);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
