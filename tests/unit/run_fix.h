/* What the tests of the QuickJS runner share: a real loop, a real door, a provider "t" that does what it is told, and
 * runs told in a line of text each. */
#ifndef LT_TESTS_RUN_FIX_H
#define LT_TESTS_RUN_FIX_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "json/json.h"
#include "runner/quickjs/quickjs.h"
#include "sandbox/box.h"

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

/* --- The provider ------------------------------------------------------------------------------------------------- */
typedef struct fake {
  lt_provider base;
  lt_loop *loop;
  unsigned calls;
  unsigned open;      /* going on right now */
  unsigned most_open; /* ever */
  unsigned counted;
  unsigned hangs;     /* ever begun */
  unsigned cancelled; /* of those that wait */
  lt_wait *waiting;   /* woken when a hang, or waiting at the gate, has begun */
  lt_wait gate;       /* what the gate waits for */
} fake;

static inline int64_t number_in(lt_str input, const char *key, int64_t otherwise) {
  lt_arena arena;
  lt_arena_init(&arena, LT_GIB);
  lt_json_doc doc;
  int64_t n = otherwise;
  if (lt_json_parse(&arena, input, &doc, NULL) == LT_OK) {
    lt_json_int(lt_json_get(lt_json_root(&doc), key), &n);
  }
  lt_arena_release(&arena);
  return n;
}

static inline lt_status fake_wait(fake *f, uint64_t ms, const lt_invoke_options *options, lt_err *err) {
  lt_wait wait;
  lt_cancel_node node;
  lt_wait_init(&wait, f->loop);
  lt_cancel_add(options->cancel, &node, &wait);
  lt_status status = lt_wait_on(&wait, ms);
  lt_cancel_remove(options->cancel, &node);
  if (status == LT_E_TIMEOUT && (options->cancel == NULL || options->cancel->why == LT_OK)) {
    return LT_OK;
  }
  f->cancelled++;
  return lt_fail(err, status, "the tool was told to stop");
}

static inline void put_filler(lt_buf *out, int64_t bytes) {
  lt_buf_byte(out, '"');
  for (int64_t i = 0; i < bytes; i++) {
    lt_buf_byte(out, 'x');
  }
  lt_buf_byte(out, '"');
}

static inline lt_status fake_tool(fake *f, lt_str name, lt_str input, const lt_invoke_options *options, lt_buf *out,
                                  lt_err *err) {
  if (lt_str_eqc(name, "echo")) {
    lt_buf_add(out, input);
  } else if (lt_str_eqc(name, "slow")) {
    LT_TRY(fake_wait(f, (uint64_t)number_in(input, "ms", 1), options, err));
    lt_buf_add(out, input);
  } else if (lt_str_eqc(name, "fail")) {
    lt_buf_addc(out, "it went wrong");
    return LT_E_TOOL;
  } else if (lt_str_eqc(name, "fail-long")) {
    put_filler(out, number_in(input, "bytes", 0));
    return LT_E_TOOL;
  } else if (lt_str_eqc(name, "broken")) {
    return lt_fail(err, LT_E_IO, "the line is dead");
  } else if (lt_str_eqc(name, "hang")) {
    f->hangs++;
    if (f->waiting != NULL) {
      lt_wait_wake(f->waiting, LT_OK);
    }
    return fake_wait(f, UINT64_MAX, options, err);
  } else if (lt_str_eqc(name, "gate")) {
    lt_wait_init(&f->gate, f->loop);
    lt_wait_wake(f->waiting, LT_OK);
    return lt_wait_on(&f->gate, 20000);
  } else if (lt_str_eqc(name, "big")) {
    put_filler(out, number_in(input, "bytes", 0));
  } else if (lt_str_eqc(name, "count")) {
    lt_buf_printf(out, "%u", ++f->counted);
  } else if (lt_str_eqc(name, "garbage")) {
    lt_buf_addc(out, "{this is not JSON");
  }
  return LT_OK;
}

static inline lt_status fake_invoke(lt_provider *base, lt_str name, lt_str input, const lt_invoke_options *options,
                                    lt_buf *out, lt_err *err) {
  fake *f = (fake *)(void *)base;
  f->calls++;
  f->open++;
  f->most_open = f->open > f->most_open ? f->open : f->most_open;
  lt_status status = fake_tool(f, name, input, options, out, err);
  f->open--;
  return status;
}

static const lt_tool_spec fake_specs[] = {
    {.name = TEXT("echo"), .description = TEXT("Gives back what it gets")},
    {.name = TEXT("slow"),
     .input_schema = TEXT("{\"type\":\"object\",\"properties\":{\"ms\":{\"type\":\"integer\"}}}")},
    {.name = TEXT("fail")},
    {.name = TEXT("fail-long")},
    {.name = TEXT("broken")},
    {.name = TEXT("hang")},
    {.name = TEXT("gate")},
    {.name = TEXT("big")},
    {.name = TEXT("count")},
    {.name = TEXT("garbage")},
    {.name = TEXT("strict"),
     .input_schema = TEXT("{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"type\":\"number\"}}}")},
};
#define FAKE_SPECS (sizeof fake_specs / sizeof fake_specs[0])

/* --- Faults ------------------------------------------------------------------------------------------------------- */
/* cmocka puts its own handlers in place for every test; a box needs its. */
static struct sigaction on_segv, on_bus;

static inline int run_all_tests(const struct CMUnitTest *tests, size_t count) {
  assert_int_equal(lt_box_thread_init(NULL), LT_OK);
  sigaction(SIGSEGV, NULL, &on_segv);
  sigaction(SIGBUS, NULL, &on_bus);
  return _cmocka_run_group_tests("run", tests, count, NULL, NULL);
}

static inline void take_faults_back(void) {
  sigaction(SIGSEGV, &on_segv, NULL);
  sigaction(SIGBUS, &on_bus, NULL);
}

/* --- The world ---------------------------------------------------------------------------------------------------- */
typedef struct world {
  lt_loop *loop;
  lt_door *door;
  lt_quickjs *quickjs;
  lt_runner *runner; /* that runs; NULL: quickjs */
  fake tools;
  void (*body)(struct world *w);
} world;

static inline void on_world_fiber(void *arg) {
  world *w = arg;
  w->body(w);
}

/* The body on a fiber of the loop; afterwards no call may be going on. */
static inline void in_world(void (*body)(world *w), unsigned workers) {
  world w = {.body = body};
  take_faults_back();
  w.tools.base = (lt_provider){.name = LT_STR("t"), .invoke = fake_invoke};
  assert_int_equal(lt_loop_new(&w.loop, NULL), LT_OK);
  w.tools.loop = w.loop;
  assert_int_equal(lt_door_new(w.loop, NULL, &w.door, NULL), LT_OK);
  assert_int_equal(lt_door_set_tools(w.door, &w.tools.base, fake_specs, FAKE_SPECS, NULL), LT_OK);
  assert_int_equal(lt_quickjs_new(w.loop, w.door, workers, &w.quickjs, NULL), LT_OK);
  assert_int_equal(lt_loop_spawn(w.loop, on_world_fiber, &w, NULL), LT_OK);
  lt_loop_run(w.loop);
  assert_int_equal(w.tools.open, 0);
  lt_quickjs_free(w.quickjs);
  lt_door_free(w.door);
  lt_loop_free(w.loop);
}

/* --- What became of a run ----------------------------------------------------------------------------------------- */
/* `json 5`, `string abc`, `undefined`, or `E_PROGRAM 3:5 TypeError: why [the line]`. */
static inline void tell_end(const lt_run_result *r, lt_buf *out) {
  static const char *const kinds[] = {
      [LT_VALUE_UNDEFINED] = "undefined", [LT_VALUE_STRING] = "string ", [LT_VALUE_JSON] = "json "};
  if (r->status == LT_OK) {
    lt_buf_addc(out, kinds[r->kind]);
    lt_buf_add(out, lt_buf_view(&r->value));
    return;
  }
  lt_buf_printf(out, "%s ", lt_status_name(r->status));
  if (r->line > 0) {
    lt_buf_printf(out, "%u:%u ", r->line, r->column);
  }
  lt_buf_add(out, lt_buf_view(&r->error));
  if (r->context.n > 0) {
    lt_buf_addc(out, " [");
    lt_buf_add(out, lt_buf_view(&r->context));
    lt_buf_byte(out, ']');
  }
}

/* ` o(hello) l(a log line) w() e()`, then ` cut` where something is missing. */
static inline void tell_said(const lt_run_result *r, lt_buf *out) {
  static const char letters[] = {
      [LT_SAID_OUTPUT] = 'o', [LT_SAID_LOG] = 'l', [LT_SAID_WARNING] = 'w', [LT_SAID_ERROR] = 'e'};
  for (const lt_run_text *t = r->texts; t != NULL; t = t->next) {
    lt_buf_printf(out, " %c(%.*s)", letters[t->said], LT_STR_ARG(t->text));
  }
  lt_buf_addc(out, r->output_cut ? " output-cut" : "");
  lt_buf_addc(out, r->log_cut ? " log-cut" : "");
  lt_buf_addc(out, r->done ? " done" : "");
}

/* ` t.echo{"a":1}={"a":1}`, `!why` after a failure, `?` where it was cut short. */
static inline void tell_calls(const lt_run_result *r, lt_buf *out) {
  for (const lt_run_call *c = r->calls; c != NULL; c = c->next) {
    lt_buf_printf(out, " %.*s%.*s", LT_STR_ARG(c->tool), LT_STR_ARG(c->input));
    if (!c->finished) {
      lt_buf_byte(out, '?');
    } else if (c->error.n > 0) {
      lt_buf_printf(out, "!%.*s", LT_STR_ARG(c->error));
    } else {
      lt_buf_printf(out, "=%.*s", LT_STR_ARG(c->result));
    }
  }
}

enum { TELL_END = 1, TELL_SAID = 2, TELL_CALLS = 4, TELL_ALL = 7 };

static inline void tell(const lt_run_result *r, unsigned what, lt_buf *out) {
  lt_buf_clear(out);
  if (what & TELL_END) {
    tell_end(r, out);
  }
  if (what & TELL_SAID) {
    tell_said(r, out);
  }
  if (what & TELL_CALLS) {
    tell_calls(r, out);
  }
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */
/* A run on a fiber of its own. */
typedef struct running {
  world *w;
  const lt_run_request *request;
  lt_run_result result;
  lt_wait done;
} running;

static inline void run(world *w, const lt_run_request *request, lt_run_result *result);

static inline void on_run_fiber(void *arg) {
  running *r = arg;
  run(r->w, r->request, &r->result);
  lt_wait_wake(&r->done, LT_OK);
}

static inline void start_run(running *r, world *w, const lt_run_request *request) {
  *r = (running){.w = w, .request = request};
  lt_wait_init(&r->done, w->loop);
  assert_int_equal(lt_loop_spawn(w->loop, on_run_fiber, r, NULL), LT_OK);
}

/* Starts it and comes back when it hangs in a call. */
static inline void start_run_until_hang(running *r, world *w, const lt_run_request *request) {
  lt_wait begun;
  lt_wait_init(&begun, w->loop);
  w->tools.waiting = &begun;
  start_run(r, w, request);
  assert_int_equal(lt_wait_on(&begun, 20000), LT_OK);
  w->tools.waiting = NULL;
}

/* What every run's JSON must be, whatever happened: one object that can be read back and says the same. */
static inline void check_json(const lt_run_result *r) {
  lt_buf text;
  lt_arena arena;
  lt_json_doc doc;
  lt_buf_init(&text, 8 * LT_RUN_RESULT_MAX_BYTES);
  lt_arena_init(&arena, 4 * LT_GIB);
  lt_run_result_json(r, NULL, &text);
  assert_int_equal(text.status, LT_OK);
  if (text.n > LT_JSON_MAX_BYTES) {
    lt_buf_release(&text);
    return;
  }
  lt_err err = LT_ERR_INIT;
  if (lt_json_parse(&arena, lt_buf_view(&text), &doc, &err) != LT_OK) {
    fail_msg("%s in %.*s", lt_err_msg(&err), (int)(text.n < 2000 ? text.n : 2000), text.p);
  }
  lt_json root = lt_json_root(&doc);
  bool failed = r->status != LT_OK;
  assert_int_equal(lt_json_exists(lt_json_get(root, "error")), failed);
  assert_int_equal(lt_json_exists(lt_json_get(root, "result")), !failed && r->kind != LT_VALUE_UNDEFINED);
  assert_int_equal(lt_json_bool(lt_json_get(root, "timeout"), false), r->status == LT_E_TIMEOUT);
  assert_int_equal(lt_json_bool(lt_json_get(root, "memory"), false), r->status == LT_E_NOMEM);
  uint32_t outputs = 0, logs = 0, calls = 0;
  for (const lt_run_text *t = r->texts; t != NULL; t = t->next) {
    *(t->said == LT_SAID_OUTPUT ? &outputs : &logs) += 1;
  }
  for (const lt_run_call *c = r->calls; c != NULL; c = c->next) {
    calls++;
  }
  assert_int_equal(lt_json_count(lt_json_get(root, "outputs")), outputs);
  assert_int_equal(lt_json_count(lt_json_get(root, "logs")), logs);
  assert_int_equal(lt_json_count(lt_json_get(root, "calls")), calls);
  double ms = -1;
  assert_true(lt_json_double(lt_json_get(root, "durationMs"), &ms) && ms >= 0);
  lt_arena_release(&arena);
  lt_buf_release(&text);
}

static inline void run(world *w, const lt_run_request *request, lt_run_result *result) {
  lt_run_result_init(result);
  lt_runner *runner = w->runner != NULL ? w->runner : lt_quickjs_runner(w->quickjs);
  lt_err err = LT_ERR_INIT;
  if (runner->run(runner, request, result, &err) != LT_OK) {
    fail_msg("%s", lt_err_msg(&err));
  }
  check_json(result);
}

/* Runs it and compares; the program is shown when it is not as expected. */
static inline void expect_run(world *w, const lt_run_request *request, unsigned what, const char *expected) {
  lt_run_result result;
  lt_buf text;
  lt_buf_init(&text, LT_GIB);
  run(w, request, &result);
  tell(&result, what, &text);
  const char *got = text.n > 0 ? text.p : "";
  if (strcmp(got, expected) != 0) {
    print_error("program: %.*s\n", LT_STR_ARG(request->code));
  }
  assert_string_equal(got, expected);
  lt_buf_release(&text);
  lt_run_result_release(&result);
}

static inline void expect(world *w, const char *code, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code)};
  expect_run(w, &request, TELL_END, expected);
}

static inline void expect_all(world *w, const char *code, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code)};
  expect_run(w, &request, TELL_ALL, expected);
}

static inline void expect_ts(world *w, const char *code, const char *expected) {
  lt_run_request request = {.code = lt_str_of(code), .lang = LT_LANG_TYPESCRIPT};
  expect_run(w, &request, TELL_END, expected);
}

/* A test whose body runs on a fiber of the loop: IN_WORLD(test_name, workers) { ... w ... } */
#define IN_WORLD(name, workers)          \
  static void name##_on_fiber(world *w); \
  static void name(void **state) {       \
    (void)state;                         \
    in_world(name##_on_fiber, workers);  \
  }                                      \
  static void name##_on_fiber(world *w)

#endif
