/* The box: traps and where they come back to, revoking, cleaning, making boxes when there is no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fakes/engine_fix.h"
#include "fakes/sanitizer.h"
#include "sandbox/guest.h"
#include "sandbox/qjs_abi.h"

#define WILD 0xf0000000u /* an address far above what any program here has */

/* --- Running something on a box's own stack ----------------------------------------------------------------------- */
typedef struct visit {
  lt_box *box;
  lt_guest guest;
  int depth;
  int returned; /* host frames that went on after a trap further in */
  lt_engine_result *result;
  struct reading *reading;
} visit;

static void on_stack(lt_box *box, lt_fiber_fn fn, void *arg) {
  lt_fiber fiber;
  lt_fiber_init(&fiber, box->stack, lt_box_stack_bytes(box), fn, arg);
  assert_false(lt_fiber_resume(&fiber));
  lt_fiber_release(&fiber);
}

static lt_box *take(void) {
  lt_box *box = NULL;
  assert_int_equal(lt_pool_take(&engine_pool, &box, NULL), LT_OK);
  return box;
}

static void visit_fresh(lt_fiber_fn fn, visit *v) {
  v->box = take();
  lt_guest_init(&v->guest, v->box, &engine_host.host);
  on_stack(v->box, fn, v);
}

static Z_qjs_instance_t *instance(visit *v) {
  return v->box->instance;
}

/* --- Reading JSON ------------------------------------------------------------------------------------------------- */
typedef struct reading {
  lt_str json;
  uint32_t before, after; /* bytes from which on the engine's collector makes a pass */
  lt_js value;
} reading;

static void read_json(void *arg) {
  visit *v = arg;
  reading *r = v->reading;
  LT_BOX_ENTER(v->box, r->before = Z_qjsZ_qjs_get_gc_threshold(instance(v)));
  r->value = lt_guest_parse(&v->guest, r->json);
  LT_BOX_ENTER(v->box, r->after = Z_qjsZ_qjs_get_gc_threshold(instance(v)));
}

/* Reads so many members in a box of 64 MiB. Whether the collector made a pass: each sets another ceiling. */
static bool collects_while_it_reads(int members) {
  lt_buf json;
  lt_buf_init(&json, 16 * LT_MIB);
  for (int i = 0; i < members; i++) {
    lt_buf_add(&json, i == 0 ? LT_STR("[{}") : LT_STR(",{}"));
  }
  lt_buf_byte(&json, ']');
  reading r = {.json = lt_buf_view(&json)};
  visit v = {.reading = &r};
  visit_fresh(read_json, &v);
  lt_pool_give(&engine_pool, v.box);
  lt_buf_release(&json);
  assert_int_equal(LT_JS_TAG(r.value), LT_TAG_OBJECT);
  return r.after != r.before;
}

static void collector_waits_while_json_is_read(void **state) {
  (void)state;
  assert_false(collects_while_it_reads(250000)); /* less than half of the box ... */
  assert_true(collects_while_it_reads(500000));  /* ... and more */
}

/* --- Traps -------------------------------------------------------------------------------------------------------- */
static void touch_wildly(void *arg) {
  visit *v = arg;
  LT_BOX_ENTER(v->box, Z_qjsZ_memcpy(instance(v), 16, WILD, 8));
}

static void write_wildly(void *arg) {
  visit *v = arg;
  LT_BOX_ENTER(v->box, Z_qjsZ_memset(instance(v), lt_box_size(v->box) - 4, 1, 4096));
}

static void give_up(void *arg) {
  visit *v = arg;
  LT_BOX_ENTER(v->box, Z_qjsZ_abort(instance(v)));
}

static __attribute__((noinline)) unsigned recurse(unsigned n) {
  volatile char frame[512];
  frame[n % sizeof frame] = (char)n;
  return n == 0 ? 0 : recurse(n - 1) + (unsigned)frame[n % sizeof frame];
}

static void overflow_the_stack(void *arg) {
  visit *v = arg;
  LT_BOX_ENTER(v->box, recurse(UINT32_MAX));
}

static void divide_by_zero(void *arg) {
  visit *v = arg;
  LT_BOX_ENTER(v->box, wasm_rt_trap(WASM_RT_TRAP_DIV_BY_ZERO));
}

static void call_nothing(void *arg) {
  visit *v = arg;
  LT_BOX_ENTER(v->box, wasm_rt_trap(WASM_RT_TRAP_CALL_INDIRECT));
}

static void expect_trap(lt_fiber_fn fn, lt_trap trap) {
  visit v = {.depth = 0};
  visit_fresh(fn, &v);
  assert_int_equal(v.box->trap, trap);
  assert_null(v.box->frame);
  assert_false(lt_box_clean(v.box));
  /* Nothing enters it any more. */
  on_stack(v.box, touch_wildly, &v);
  assert_int_equal(v.box->trap, trap);
  assert_int_equal(lt_guest_put(&v.guest, LT_STR("text")), 0);
  assert_true(lt_js_is_exception(lt_guest_string(&v.guest, LT_STR("text"))));
  lt_pool_give(&engine_pool, v.box);
}

static void traps_come_back_to_the_entry(void **state) {
  (void)state;
  engine_traps();
  expect_trap(touch_wildly, LT_TRAP_MEMORY);
  expect_trap(write_wildly, LT_TRAP_MEMORY);
  expect_trap(give_up, LT_TRAP_UNREACHABLE);
  expect_trap(divide_by_zero, LT_TRAP_ARITHMETIC);
  expect_trap(call_nothing, LT_TRAP_CALL);
  if (!SANITIZED) { /* a sanitizer's own frames do not fit */
    expect_trap(overflow_the_stack, LT_TRAP_STACK);
  }
  for (int trap = LT_TRAP_NONE; trap <= LT_TRAP_STOPPED; trap++) {
    assert_true(strlen(lt_box_trap_text((lt_trap)trap)) > 3);
  }
}

static void many_traps_one_after_the_other(void **state) {
  (void)state;
  engine_traps();
  for (int i = 0; i < 200; i++) {
    expect_trap(i % 2 != 0 ? touch_wildly : give_up, i % 2 != 0 ? LT_TRAP_MEMORY : LT_TRAP_UNREACHABLE);
    ENGINE_EXPECT("[1, 2].map(n => n * 2)", "[2,4]");
  }
}

static bool start_anything(void *arg, lt_str tool, lt_str input, bool is_object, lt_outcome *ret) {
  (void)arg, (void)tool, (void)input, (void)is_object;
  ret->id = 1;
  return true;
}

/* Host code between two visits to the guest goes on after a trap in the inner one, and only then the outer one ends. */
static bool call_inwards(void *arg, uint32_t id, lt_outcome *ret) {
  visit *v = arg;
  (void)id;
  if (v->depth-- > 0) {
    lt_guest_eval(&v->guest, LT_STR("tools['inner'](1); tools['inner'](2)"), LT_STR("inner.js"), false);
  } else {
    LT_BOX_ENTER(v->box, Z_qjsZ_memcpy(instance(v), 16, WILD, 8));
  }
  v->returned++;
  *ret = (lt_outcome){.ok = true, .text = LT_STR("1")};
  return true;
}

static bool resolve_anything(void *arg, lt_str name, lt_outcome *ret) {
  (void)arg;
  ret->text = name;
  return true;
}

static void eval_outer(void *arg) {
  visit *v = arg;
  lt_js value = lt_guest_eval(&v->guest, LT_STR("try { tools['outer'](1) } finally { tools['outer'](2) }"),
                              LT_STR("outer.js"), false);
  assert_true(lt_js_is_exception(value));
}

static void traps_in_nested_visits(void **state) {
  (void)state;
  engine_traps();
  for (int depth = 0; depth < 6; depth++) {
    visit v = {.depth = depth, .box = take()};
    lt_guest_host host = {.arg = &v, .start = start_anything, .wait = call_inwards, .resolve = resolve_anything};
    lt_guest_init(&v.guest, v.box, &host);
    on_stack(v.box, eval_outer, &v);
    assert_int_equal(v.box->trap, LT_TRAP_MEMORY);
    assert_int_equal(v.returned, depth + 1);
    assert_null(v.box->frame);
    lt_pool_give(&engine_pool, v.box);
  }
}

static void run_for_ever(void *arg) {
  visit *v = arg;
  lt_js value = lt_guest_eval(&v->guest, LT_STR("for (;;);"), LT_STR("loop.js"), false);
  assert_true(lt_js_is_exception(value));
}

static void *revoke_soon(void *arg) {
  lt_box *box = arg;
  while (atomic_load(&box->state) != LT_BOX_GUEST) {
    usleep(100);
  }
  usleep(2000);
  lt_box_revoke(box);
  return NULL;
}

static void revoked_while_the_guest_runs(void **state) {
  (void)state;
  engine_traps();
  for (int i = 0; i < 20; i++) {
    pthread_t revoker;
    lt_guest_host host = {.poll = NULL};
    visit v = {.box = take()};
    lt_guest_init(&v.guest, v.box, &host);
    assert_int_equal(pthread_create(&revoker, NULL, revoke_soon, v.box), 0);
    on_stack(v.box, run_for_ever, &v);
    pthread_join(revoker, NULL);
    assert_int_equal(v.box->trap, LT_TRAP_REVOKED);
    lt_pool_give(&engine_pool, v.box);
    ENGINE_EXPECT("1 + 1", "2");
  }
}

/* In host code nothing is taken away before it has returned: it may be reading the guest's memory. */
static bool revoke_and_read(void *arg, uint32_t id, lt_outcome *ret) {
  visit *v = arg;
  (void)id;
  lt_box_revoke(v->box);
  unsigned sum = 0;
  for (uint32_t i = 0; i < lt_box_size(v->box); i += 4096) {
    sum += v->box->memory[i];
  }
  v->returned += sum > 0;
  LT_BOX_ENTER(v->box, v->returned += 100); /* not into the guest any more */
  *ret = (lt_outcome){.ok = true, .text = LT_STR("1")};
  return true;
}

static bool stop_and_enter(void *arg, uint32_t id, lt_outcome *ret) {
  visit *v = arg;
  (void)id;
  lt_box_stop(v->box);
  v->returned++;
  LT_BOX_ENTER(v->box, v->returned += 100);
  *ret = (lt_outcome){.ok = true, .text = LT_STR("1")};
  return true;
}

static void expect_end_in_host_code(bool (*wait)(void *, uint32_t, lt_outcome *), lt_trap trap) {
  visit v = {.box = take()};
  lt_guest_host host = {.arg = &v, .start = start_anything, .wait = wait, .resolve = resolve_anything};
  lt_guest_init(&v.guest, v.box, &host);
  on_stack(v.box, eval_outer, &v);
  assert_int_equal(v.box->trap, trap);
  assert_int_equal(v.returned, 1);
  assert_false(lt_box_clean(v.box));
  lt_pool_give(&engine_pool, v.box);
}

static void revoked_or_stopped_in_host_code(void **state) {
  (void)state;
  engine_traps();
  expect_end_in_host_code(revoke_and_read, LT_TRAP_REVOKED);
  expect_end_in_host_code(stop_and_enter, LT_TRAP_STOPPED);
}

static void revoked_before_it_starts(void **state) {
  (void)state;
  engine_traps();
  visit v = {.box = take()};
  lt_guest_init(&v.guest, v.box, &engine_host.host);
  lt_box_revoke(v.box);
  on_stack(v.box, touch_wildly, &v);
  assert_int_equal(v.box->trap, LT_TRAP_REVOKED);
  lt_pool_give(&engine_pool, v.box);
}

/* --- A guest gone mad --------------------------------------------------------------------------------------------- */
static lt_js host_call(visit *v, char letter, lt_js first, lt_js second) {
  lt_guest_held held = {.count = 0};
  lt_js args[LT_GUEST_ARGS_MAX] = {first, second};
  lt_js value = lt_guest_host_call(&v->guest, letter, args, &held);
  lt_guest_drop(&v->guest, &held);
  return value;
}

/* NaN-boxed as QuickJS does it. */
static lt_js boxed_double(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits - ((0x7ff80000ULL + 9 + 1) << 32);
}

static void call_madly(void *arg) {
  visit *v = arg;
  lt_js text = lt_guest_string(&v->guest, LT_STR("text"));
  host_call(v, 'l', LT_JS_MK(LT_TAG_INT, 99), text);
  host_call(v, 'l', LT_JS_MK(LT_TAG_INT, -1), text);
  host_call(v, 'l', boxed_double(1e300), text);
  static const double times[] = {-1, 1e300, 0.5, 1e18};
  for (unsigned i = 0; i < 4; i++) {
    host_call(v, 't', boxed_double(times[i]), LT_JS_UNDEFINED);
  }
  assert_true(lt_js_is_exception(host_call(v, 'w', LT_JS_MK(LT_TAG_INT, 12345), LT_JS_UNDEFINED)));
  assert_true(lt_js_is_exception(host_call(v, '?', text, text)));
  host_call(v, 'p', LT_JS_NULL, LT_JS_NULL);
  assert_int_equal(v->box->trap, LT_TRAP_NONE);
  host_call(v, 'o', LT_JS_MK(LT_TAG_OBJECT, WILD), LT_JS_UNDEFINED); /* an object that is none */
  assert_int_equal(v->box->trap, LT_TRAP_MEMORY);
}

static void host_calls_of_a_guest_gone_mad(void **state) {
  (void)state;
  engine_traps();
  fake_host_clear(&engine_host);
  visit v = {.depth = 0};
  visit_fresh(call_madly, &v);
  engine_asked(&engine_host.logs, "log text\nlog text\nlog text\n");
  for (unsigned i = 0; i < engine_host.open_count; i++) {
    assert_true(engine_host.open[i].due_ms <= LT_RUN_TIMER_MAX_MS);
  }
  assert_int_equal(engine_host.open_count, 4);
  lt_pool_give(&engine_pool, v.box);
  fake_host_clear(&engine_host);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */
static void pointers_are_looked_at(void **state) {
  (void)state;
  engine_traps();
  lt_box *box = take();
  uint32_t size = lt_box_size(box);
  assert_true(lt_box_has(box, 0, size));
  assert_true(lt_box_has(box, size, 0));
  assert_true(lt_box_has(box, size - 1, 1));
  assert_false(lt_box_has(box, size, 1));
  assert_false(lt_box_has(box, size - 1, 2));
  assert_false(lt_box_has(box, UINT32_MAX, UINT32_MAX));
  assert_false(lt_box_has(box, 16, UINT32_MAX - 8));
  lt_pool_give(&engine_pool, box);
}

static void ask_for_pages(void *arg) {
  visit *v = arg;
  wasm_rt_memory_t *memory = v->box->module->memory(v->box->instance);
  uint32_t before = memory->pages;
  volatile uint32_t got[6] = {0};
  LT_BOX_ENTER(v->box, {
    got[0] = wasm_rt_grow_memory(memory, 0);
    got[1] = wasm_rt_grow_memory(memory, 2);
    memset(v->box->memory + memory->size - 65536, 1, 65536);
    got[2] = wasm_rt_grow_memory(memory, UINT32_MAX);
    got[3] = wasm_rt_grow_memory(memory, 1000);
    got[4] = wasm_rt_grow_memory(memory, 1); /* of the spare ones */
    got[5] = wasm_rt_grow_memory(memory, LT_BOX_SPARE_BYTES / 65536);
  });
  assert_int_equal(got[0], before);
  assert_int_equal(got[1], before);
  assert_int_equal(got[2], UINT32_MAX);
  assert_int_equal(got[3], UINT32_MAX);
  assert_int_equal(got[4], before + 2);
  assert_int_equal(got[5], UINT32_MAX);
  assert_int_equal(memory->size, (before + 3) * 65536);
  assert_int_equal(v->box->trap, LT_TRAP_NONE);
}

static void growing_stops_at_the_ceiling(void **state) {
  (void)state;
  engine_traps();
  visit v = {.box = take()};
  lt_box_set_max_bytes(v.box, lt_box_size(v.box) + 2 * 65536);
  lt_guest_init(&v.guest, v.box, &engine_host.host);
  on_stack(v.box, ask_for_pages, &v);
  assert_true(lt_box_clean(v.box));
  assert_int_equal(lt_box_size(v.box), engine_image.head.size);
  assert_int_equal(v.box->max_pages, LT_RUN_MEMORY_BYTES / 65536);
  assert_int_equal(v.box->refused, 0);
  lt_pool_give(&engine_pool, v.box);
}

/* --- Cleaning ----------------------------------------------------------------------------------------------------- */
#define MARKER "qXzMarker"

/* What a program can leave lying about: texts, names, source, patterns, error messages, digits on the C stack. */
static const char *const fills[] = {
    "const a = []; for (let i = 0; i < 20000; i++) a.push('" MARKER "' + i); globalThis.kept = a; a.length",
    "globalThis." MARKER " = { " MARKER "1: Symbol('" MARKER "2'), f: () => '" MARKER "3' }; new RegExp('" MARKER
    "4'); eval('//" MARKER "5') ",
    "function deep(n, s) { return n ? deep(n - 1, s + '" MARKER
    "'.length) : s } "
    "function endless(s) { return endless(s + '" MARKER "') + s } try { endless('') } catch {} deep(1000, '" MARKER
    "')",
    "for (let i = 0; i < 200; i++) { try { null['" MARKER "' + i] } catch {} try { JSON.parse('[\"" MARKER
    "\", x]') } catch {} } 1",
    "const b = new Uint8Array(20000000); for (let i = 0; i + 16 < b.length; i += 4096) b.set([113, 88, 122, 77, 97, "
    "114, "
    "107, 101, 114], i); globalThis.b = b; 1",
    "const b = []; try { for (;;) b.push('" MARKER "'.repeat(1000) + b.length) } catch {} 1",
    "throw new Error('" MARKER "'.repeat(100))",
    "output('" MARKER "'); store('" MARKER "', '" MARKER "'); log('" MARKER "'); tools['" MARKER "']('" MARKER "')",
    "for (let i = 0; i < 50; i++) (1.2345678e300 * i).toString(); 'qXzMarker'.split('').map(c => c.codePointAt(0))",
};

static bool has_marker(const lt_box *box) {
  return memmem(box->memory, lt_box_size(box), MARKER, sizeof MARKER - 1) != NULL;
}

static void grow_to_the_end(void *arg) {
  visit *v = arg;
  volatile uint32_t at = 0;
  LT_BOX_ENTER(v->box, at = Z_qjsZ_malloc(instance(v), 40000000));
  assert_int_not_equal(at, 0);
}

static void expect_pristine(lt_box *box, const lt_box *fresh) {
  assert_int_equal(lt_box_size(box), lt_box_size(fresh));
  assert_memory_equal(box->memory, fresh->memory, lt_box_size(fresh));
  assert_int_equal(*box->module->stack_pointer(box->instance), *fresh->module->stack_pointer(fresh->instance));
  visit v = {.box = box};
  lt_guest_init(&v.guest, box, &engine_host.host);
  on_stack(box, grow_to_the_end, &v);
  assert_true(lt_box_size(box) > 40000000);
  assert_false(has_marker(box));
}

/* Nothing of one program is to be found by the next, wherever it looks: not in what it has, not in what it is given
 * when it asks for more. */
static void cleaned_boxes_are_as_new(void **state) {
  (void)state;
  engine_traps();
  lt_box *fresh = NULL;
  assert_int_equal(lt_box_new(&engine_image, &fresh, NULL), LT_OK);
  for (unsigned i = 0; i < sizeof fills / sizeof fills[0]; i++) {
    lt_box *box = take();
    lt_engine_result result;
    lt_engine_result_init(&result);
    fake_run(
        &engine_host, box,
        &(lt_program){.code = lt_str_of(fills[i]), .file = LT_STR(MARKER ".js"), .input = LT_STR("\"" MARKER "\"")},
        &result);
    assert_true(result.ending != LT_END_TRAP && result.ending != LT_END_STOPPED);
    assert_true(has_marker(box)); /* or this test could not fail */
    lt_engine_result_release(&result);
    assert_true(lt_box_clean(box));
    expect_pristine(box, fresh);
    assert_true(lt_box_clean(box));
    lt_pool_give(&engine_pool, box);
  }
  lt_box_free(fresh);
}

/* A program that was stopped leaves its box in the middle of something: the next one gets another. */
static void after_a_stop_the_next_box_is_new(void **state) {
  (void)state;
  engine_traps();
  engine_host.stop_at_poll = 2;
  ENGINE_EXPECT("globalThis.kept = '" MARKER "'.repeat(100000); for (;;);", "stopped");
  engine_host.stop_at_poll = -1;
  lt_box *box = take();
  lt_box *fresh = NULL;
  assert_int_equal(lt_box_new(&engine_image, &fresh, NULL), LT_OK);
  expect_pristine(box, fresh);
  lt_box_free(fresh);
  lt_pool_give(&engine_pool, box);
}

/* --- When there is no room ---------------------------------------------------------------------------------------- */
static lt_status open_image(lt_image *image, lt_str data) {
  lt_err err = LT_ERR_INIT;
  return lt_image_open(image, &lt_qjs_module, data, lt_image_bytes(LT_IMAGE_BASE), &err);
}

static void images_that_are_none(void **state) {
  (void)state;
  engine_traps();
  lt_str data = lt_image_bytes(LT_IMAGE_BASE);
  char *copy = lt_mem_alloc(data.n);
  lt_image image;
  assert_non_null(copy);
  memcpy(copy, data.p, data.n);
  assert_int_equal(open_image(&image, LT_STR_NULL), LT_E_INTERNAL);
  assert_int_equal(open_image(&image, LT_STR("LIMG")), LT_E_INTERNAL);
  assert_int_equal(open_image(&image, lt_str_from(copy, data.n - 1)), LT_E_INTERNAL);
  assert_int_equal(open_image(&image, lt_str_from(copy, data.n)), LT_OK);
  lt_image_close(&image);
  copy[0] ^= 1;
  assert_int_equal(open_image(&image, lt_str_from(copy, data.n)), LT_E_INTERNAL);
  lt_mem_free(copy);
}

static void a_packed_image_that_is_damaged(void **state) {
  (void)state;
  engine_traps();
  lt_str data = lt_image_bytes(LT_IMAGE_WEB);
  lt_image_header head;
  lt_image image;
  memcpy(&head, data.p, sizeof head);
  assert_int_not_equal(head.packed, 0);
  assert_int_equal(open_image(&image, data), LT_OK);
  lt_image_close(&image);
  char *copy = lt_mem_alloc(data.n);
  assert_non_null(copy);
  memcpy(copy, data.p, data.n);
  head.packed--; /* the last byte is missing */
  memcpy(copy, &head, sizeof head);
  assert_int_equal(open_image(&image, lt_str_from(copy, data.n - 1)), LT_E_INTERNAL);
  memcpy(copy, data.p, sizeof head);
  memset(copy + sizeof head + 100, 0xff, 1000);
  assert_int_equal(open_image(&image, lt_str_from(copy, data.n)), LT_E_INTERNAL);
  lt_mem_free(copy);
}

/* Every allocation fails once, and nothing is lost by it. */
static void allocations_that_fail(void **state) {
  (void)state;
  engine_traps();
  bool failed = true;
  for (long n = 0; failed; n++) {
    lt_image image;
    lt_box *box = NULL;
    lt_err err = LT_ERR_INIT;
    lt_mem_fail_at(n);
    lt_status status = lt_image_open_built_in(&image, LT_IMAGE_BASE, &err);
    if (status == LT_OK) {
      status = lt_box_new(&image, &box, &err);
      lt_box_free(box);
      lt_image_close(&image);
    }
    failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
  }
}

/* Runs `fn` in a child process; returns how that ended, as waitpid says it. */
static int in_child(void (*fn)(void)) {
  int status = 0;
  fflush(NULL);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    if (freopen("/dev/null", "w", stderr) == NULL) { /* a sanitizer has much to say about it */
      _exit(78);
    }
    fn();
    _exit(77);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return status;
}

static bool advises(const lt_err *err) {
  lt_str text = lt_str_of(lt_err_msg(err));
  return lt_str_find(text, LT_STR("ulimit -v"), 0) != SIZE_MAX &&
         lt_str_find(text, LT_STR("vm.max_map_count"), 0) != SIZE_MAX;
}

static void make_a_box_without_address_space(void) {
  lt_box *box = NULL;
  lt_err err = LT_ERR_INIT;
  struct rlimit limit = {.rlim_cur = 4 * LT_GIB, .rlim_max = 4 * LT_GIB};
  setrlimit(RLIMIT_AS, &limit);
  _exit(lt_box_new(&engine_image, &box, &err) == LT_E_NOMEM && box == NULL && advises(&err) ? 0 : 1);
}

static void no_address_space_is_an_error_with_advice(void **state) {
  (void)state;
  engine_traps();
  if (SANITIZED) {
    skip(); /* their shadow memory is over the limit already */
  }
  int status = in_child(make_a_box_without_address_space);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void make_boxes_until_there_is_no_room(void) {
  enum { MOST = 20000 };
  static lt_box *boxes[MOST];
  lt_err err = LT_ERR_INIT;
  lt_status status = LT_OK;
  unsigned count = 0;
  while (count < MOST && (status = lt_box_new(&engine_image, &boxes[count], &err)) == LT_OK) {
    count++;
  }
  if (status != LT_E_NOMEM || !advises(&err) || count < 1000) {
    _exit(1);
  }
  lt_box_free(boxes[--count]);
  if (lt_box_new(&engine_image, &boxes[count], &err) != LT_OK) { /* one place is free again */
    _exit(2);
  }
  for (unsigned i = 0; i <= count; i++) {
    lt_box_free(boxes[i]);
  }
  _exit(0);
}

static void as_many_boxes_as_there_is_room_for(void **state) {
  (void)state;
  engine_traps();
  if (SANITIZED) {
    skip(); /* ThreadSanitizer itself dies when it gets no address space */
  }
  int status = in_child(make_boxes_until_there_is_no_room);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- Faults of our own -------------------------------------------------------------------------------------------- */
static volatile int *volatile nowhere = (int *)64;

static bool fault_on_nothing(void *arg, uint32_t id, lt_outcome *ret) {
  (void)arg, (void)id;
  *nowhere = 1;
  *ret = (lt_outcome){.ok = true};
  return true;
}

/* A fault of the host on the box's own address space is no trap either. */
static bool fault_on_the_box(void *arg, uint32_t id, lt_outcome *ret) {
  visit *v = arg;
  (void)id;
  *(volatile uint8_t *)(v->box->memory + WILD) = 1;
  *ret = (lt_outcome){.ok = true};
  return true;
}

static void run_faulty_host(bool (*wait)(void *, uint32_t, lt_outcome *)) {
  visit v = {.box = take()};
  lt_guest_host host = {.arg = &v, .start = start_anything, .wait = wait, .resolve = resolve_anything};
  lt_guest_init(&v.guest, v.box, &host);
  on_stack(v.box, eval_outer, &v);
}

static void child_faults_on_nothing(void) {
  run_faulty_host(fault_on_nothing);
}

static void child_faults_on_the_box(void) {
  run_faulty_host(fault_on_the_box);
}

static void touch_nowhere(void *arg) {
  visit *v = arg;
  LT_BOX_ENTER(v->box, *nowhere = 1);
}

static void child_faults_elsewhere_as_guest(void) {
  visit v = {.box = NULL};
  visit_fresh(touch_nowhere, &v);
}

static void child_faults_without_a_box(void) {
  *nowhere = 1;
}

/* A signal that somebody sends is no trap either, and does not come again by itself as a fault does. */
static void child_is_sent_the_signal(void) {
  raise(SIGSEGV);
}

/* After a trap the thread runs no guest any more. */
static void child_faults_after_a_trap(void) {
  visit v = {.box = NULL};
  visit_fresh(touch_wildly, &v);
  *(volatile uint8_t *)(v.box->memory + WILD) = 1;
}

static void our_own_faults_are_not_swallowed(void **state) {
  void (*const children[])(void) = {child_faults_on_nothing,         child_faults_on_the_box,
                                    child_faults_elsewhere_as_guest, child_faults_without_a_box,
                                    child_faults_after_a_trap,       child_is_sent_the_signal};
  (void)state;
  engine_traps();
  for (unsigned i = 0; i < sizeof children / sizeof children[0]; i++) {
    int status = in_child(children[i]);
    if (SANITIZED) { /* it reports and exits */
      assert_true(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 77 && WEXITSTATUS(status) != 0));
    } else {
      assert_true(WIFSIGNALED(status));
      assert_int_equal(WTERMSIG(status), SIGSEGV);
    }
  }
}

static bool finds_page(lt_box *box, ptrdiff_t at) {
  lt_box_pages pages = {.has_begun = false};
  bool is_found = false;
  while (lt_box_next_pages(box, &pages)) {
    for (size_t i = 0; i < pages.count; i++) {
      is_found = is_found || pages.from + pages.owned[i] * (ptrdiff_t)LT_IMAGE_PAGE == at;
    }
  }
  return is_found;
}

/* A frame may leave pages out, and the next program's frames need not. */
static void a_hole_in_the_shadow_stack_is_found_when_it_is_filled(void **state) {
  lt_box *box = NULL, *other = NULL;
  ptrdiff_t top = engine_image.head.start, hole = top - 3 * LT_IMAGE_PAGE;
  (void)state;
  assert_int_equal(lt_box_new(&engine_image, &box, NULL), LT_OK);
  assert_int_equal(lt_box_new(&engine_image, &other, NULL), LT_OK);
  lt_page_watch_enter(&box->watch);
  box->memory[top - 5 * LT_IMAGE_PAGE] = box->memory[top - 1] = 1;
  assert_true(lt_box_clean(box));
  lt_page_watch_enter(&other->watch);
  assert_false(finds_page(other, hole)); /* this thread counts its faults anew */
  lt_page_watch_enter(&box->watch);
  box->memory[hole] = 1;
  assert_true(finds_page(box, hole));
  lt_box_free(box);
  lt_box_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(collector_waits_while_json_is_read),
      cmocka_unit_test(traps_come_back_to_the_entry),
      cmocka_unit_test(many_traps_one_after_the_other),
      cmocka_unit_test(traps_in_nested_visits),
      cmocka_unit_test(revoked_while_the_guest_runs),
      cmocka_unit_test(revoked_or_stopped_in_host_code),
      cmocka_unit_test(revoked_before_it_starts),
      cmocka_unit_test(host_calls_of_a_guest_gone_mad),
      cmocka_unit_test(pointers_are_looked_at),
      cmocka_unit_test(growing_stops_at_the_ceiling),
      cmocka_unit_test(cleaned_boxes_are_as_new),
      cmocka_unit_test(after_a_stop_the_next_box_is_new),
      cmocka_unit_test(images_that_are_none),
      cmocka_unit_test(a_packed_image_that_is_damaged),
      cmocka_unit_test(allocations_that_fail),
      cmocka_unit_test(no_address_space_is_an_error_with_advice),
      cmocka_unit_test(as_many_boxes_as_there_is_room_for),
      cmocka_unit_test(our_own_faults_are_not_swallowed),
      cmocka_unit_test(a_hole_in_the_shadow_stack_is_found_when_it_is_filled),
  };
  return cmocka_run_group_tests(tests, engine_open, engine_close);
}
