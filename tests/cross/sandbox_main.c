/* The sandbox on another architecture: the essentials of tests/unit/test_box.c and test_engine*.c as one static program
 * that an emulator can run. It freezes its own image from src/sandbox/prelude.js. Prints "ok N checks", or the first
 * one that failed and exits 1. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fakes/fake_host.h"
#include "fakes/madness.h"
#include "sandbox/guest.h"
#include "sandbox/image_packing.h"
#include "sandbox/qjs_abi.h"

static unsigned checks;

#define CHECK(cond)                                             \
  do {                                                          \
    checks++;                                                   \
    if (!(cond)) {                                              \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #cond); \
      exit(1);                                                  \
    }                                                           \
  } while (0)

static lt_buf image_bytes;
static lt_image image;
static lt_pool pool;
static fake_host host;

static const fake_tool tools[] = {
    {.id = "slow", .text = "{\"n\":41}", .yields = 3},
    {.id = "late", .text = "[1,2]", .ms = 50},
    {.id = NULL},
};

static lt_str read_script(const char *path, char *room, size_t max) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  size_t n = fread(room, 1, max, file);
  fclose(file);
  CHECK(n > 0 && n < max);
  return lt_str_from(room, n);
}

/* The image that is made here is not packed, and there is no LZ4 for the other machine. */
lt_status lt_image_unpack(lt_str packed, lt_str plain, uint8_t *bytes, size_t size, lt_err *err) {
  (void)packed, (void)plain, (void)bytes, (void)size;
  return lt_fail(err, LT_E_INTERNAL, "this image should not be packed");
}

static void make_image(void) {
  static char inspect[256 * LT_KIB], prelude[256 * LT_KIB];
  lt_err err = LT_ERR_INIT;
  const lt_engine_script scripts[] = {
      {.file = LT_STR("inspect.js"), .text = read_script("src/sandbox/inspect.js", inspect, sizeof inspect)},
      {.file = LT_STR("prelude.js"), .text = read_script("src/sandbox/prelude.js", prelude, sizeof prelude)},
  };
  lt_buf_init(&image_bytes, 16 * LT_MIB);
  if (lt_engine_freeze(LT_IMAGE_BASE, scripts, 2, LT_STR(""), &image_bytes, &err) != LT_OK ||
      lt_image_open(&image, &lt_qjs_module, lt_buf_view(&image_bytes), LT_STR_NULL, &err) != LT_OK) {
    printf("no image: %s\n", lt_err_msg(&err));
    exit(1);
  }
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */

static void expect(const char *code, lt_call_style calls, const char *want) {
  lt_box *box = NULL;
  lt_engine_result result;
  lt_buf text;
  lt_err err = LT_ERR_INIT;
  if (lt_pool_take(&pool, &box, &err) != LT_OK) {
    printf("no box: %s\n", lt_err_msg(&err));
    exit(1);
  }
  lt_engine_result_init(&result);
  lt_buf_init(&text, LT_MIB);
  fake_run(&host, box,
           &(lt_program){.code = lt_str_of(code),
                         .file = LT_STR("program.js"),
                         .bindings = LT_STR("{\"slow\":\"slow\",\"late\":\"late\"}"),
                         .calls = calls},
           &result);
  fake_text(&result, &text);
  checks++;
  if (!lt_str_eqc(lt_buf_view(&text), want)) {
    printf("%s\n  ended with %s\n  instead of %s\n", code, text.p, want);
    exit(1);
  }
  lt_buf_release(&text);
  lt_engine_result_release(&result);
  lt_pool_give(&pool, box);
}

static void check_programs(void) {
  expect("1 + 2", LT_CALLS_PLAIN, "3");
  expect("[0.1 + 0.2, -7 % 3, 2 ** 53, 1e21, 10n ** 20n, NaN > 1]", LT_CALLS_PLAIN,
         "[0.30000000000000004,-1,9007199254740992,1e+21,\"100000000000000000000\",false]");
  expect("'\\ud83d\\ude00'.length + 'x'.repeat(3)", LT_CALLS_PLAIN, "'2xxx'");
  expect("Math.fround(5.5) + Math.imul(3, 4) + (2 ** 32 >>> 1) + Math.clz32(1) + Math.sqrt(2)", LT_CALLS_PLAIN,
         "49.91421356237309");
  expect("try { null.x } catch (e) { e.message }", LT_CALLS_PLAIN, "'cannot read property 'x' of null'");
  expect("let a = []; try { for (;;) a.push({}) } catch (e) { a = null; e.message }", LT_CALLS_PLAIN,
         "'out of memory'");
}

static void check_calls(void) {
  expect("slow().n + 1", LT_CALLS_PLAIN, "42");
  CHECK(host.suspended == 3);
  expect("await Promise.all([late(), late(), slow()])", LT_CALLS_PROMISE, "[[1,2],[1,2],{\"n\":41}]");
  expect("(await slow()).value.n", LT_CALLS_RESULT, "41");
  host.poll_yields = true;
  expect("let n = 0; for (let i = 0; i < 100000; i++) n += i; n", LT_CALLS_PLAIN, "4999950000");
  host.poll_yields = false;
}

/* The native stack must hold what the engine's own limit allows, on this architecture too. */
static void check_recursion(void) {
  static const char *const shapes[] = {
      "function f() { return f() + 1 } f()",
      "JSON.parse('['.repeat(100000))",
      "JSON.parse('{\"a\":'.repeat(100000))",
      "eval('['.repeat(100000))",
      "eval('('.repeat(100000) + '1' + ')'.repeat(100000))",
      "eval('{'.repeat(100000))",
      "eval('a=>'.repeat(100000) + '1')",
      "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x",
      "function c() { return [2, 1].sort(c) } [2, 1].sort(c)",
      "const o = { toString() { return '' + this } }; '' + o",
      "class A { constructor() { Reflect.construct(A, []) } } new A()",
      "function* g() { yield* g() } [...g()]",
      "let x = []; for (let i = 0; i < 100000; i++) x = [x]; x.flat(Infinity)",
      "let x = []; for (let i = 0; i < 100000; i++) x = [x]; String(x)",
      "const o = { toJSON() { return JSON.stringify(this) } }; JSON.stringify(o)",
      "'aa'.replace(/a/g, function r() { return 'a'.replace(/a/g, r) })",
  };
  for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    expect(shapes[i], LT_CALLS_PLAIN, "RangeError: Maximum call stack size exceeded");
  }
  expect("try { new RegExp('(?='.repeat(10000) + ')'.repeat(10000)) } catch (e) { e.name }", LT_CALLS_PLAIN,
         "'SyntaxError'");
  expect("let o = {}; for (let i = 0; i < 3000; i++) o = { o }; JSON.stringify(o).length", LT_CALLS_PLAIN, "18002");
}

/* --- Traps -------------------------------------------------------------------------------------------------------- */

static void on_stack(lt_box *box, lt_fiber_fn fn, void *arg) {
  lt_fiber fiber;
  lt_fiber_init(&fiber, box->stack, lt_box_stack_bytes(box), fn, arg);
  CHECK(!lt_fiber_resume(&fiber));
  lt_fiber_release(&fiber);
}

static void touch_wildly(void *arg) {
  lt_box *box = arg;
  LT_BOX_ENTER(box, Z_qjsZ_memcpy(box->instance, 16, 0xf0000000u, 8));
}

static void give_up(void *arg) {
  lt_box *box = arg;
  LT_BOX_ENTER(box, Z_qjsZ_abort(box->instance));
}

static __attribute__((noinline)) unsigned recurse(unsigned n) {
  volatile char frame[512];
  frame[n % sizeof frame] = (char)n;
  return n == 0 ? 0 : recurse(n - 1) + (unsigned)frame[n % sizeof frame];
}

static void overflow_the_stack(void *arg) {
  lt_box *box = arg;
  LT_BOX_ENTER(box, recurse(UINT32_MAX));
}

static void expect_trap(lt_fiber_fn fn, lt_trap trap) {
  lt_box *box = NULL;
  CHECK(lt_pool_take(&pool, &box, NULL) == LT_OK);
  on_stack(box, fn, box);
  CHECK(box->trap == trap);
  CHECK(!lt_box_clean(box));
  lt_pool_give(&pool, box);
}

static void check_traps(void) {
  for (int i = 0; i < 5; i++) {
    expect_trap(touch_wildly, LT_TRAP_MEMORY);
    expect_trap(give_up, LT_TRAP_UNREACHABLE);
    expect_trap(overflow_the_stack, LT_TRAP_STACK);
  }
  expect("1 + 2", LT_CALLS_PLAIN, "3");
}

/* --- Revoking ----------------------------------------------------------------------------------------------------- */

static void run_for_ever(void *arg) {
  lt_box *box = arg;
  lt_guest guest;
  lt_guest_host nobody = {.poll = NULL};
  lt_guest_init(&guest, box, &nobody);
  lt_guest_eval(&guest, LT_STR("for (;;) [3, 1, 2].sort()"), LT_STR("loop.js"), false);
}

static void *revoke_soon(void *arg) {
  lt_box *box = arg;
  while (atomic_load(&box->state) != LT_BOX_GUEST) {
    usleep(100);
  }
  usleep(3000);
  lt_box_revoke(box);
  return NULL;
}

static void check_revoking(void) {
  for (int i = 0; i < 5; i++) {
    lt_box *box = NULL;
    pthread_t revoker;
    CHECK(lt_pool_take(&pool, &box, NULL) == LT_OK);
    CHECK(pthread_create(&revoker, NULL, revoke_soon, box) == 0);
    on_stack(box, run_for_ever, box);
    pthread_join(revoker, NULL);
    CHECK(box->trap == LT_TRAP_REVOKED);
    lt_pool_give(&pool, box);
  }
  expect("1 + 2", LT_CALLS_PLAIN, "3");
}

/* Its memory taken away, it goes on: a signal ends it. */
static void loop_in_registers(void *arg) {
  lt_box *box = arg;
  lt_guest guest;
  lt_guest_host nobody = {.poll = NULL};
  lt_guest_init(&guest, box, &nobody);
  lt_guest_eval(&guest, LT_STR(MAD_CODE), LT_STR("mad.js"), false);
}

static pthread_t nudged;
static atomic_bool ended;

static void *revoke_and_nudge(void *arg) {
  usleep(100000);
  lt_box_revoke(arg);
  while (!atomic_load(&ended)) {
    usleep(10000);
    lt_box_nudge(nudged);
  }
  return NULL;
}

static void check_nudging(void) {
  lt_box *box = NULL;
  pthread_t revoker;
  nudged = pthread_self();
  CHECK(lt_pool_take(&pool, &box, NULL) == LT_OK);
  CHECK(madden(box));
  CHECK(pthread_create(&revoker, NULL, revoke_and_nudge, box) == 0);
  on_stack(box, loop_in_registers, box);
  atomic_store(&ended, true);
  pthread_join(revoker, NULL);
  CHECK(box->trap == LT_TRAP_REVOKED);
  lt_pool_give(&pool, box);
  expect("String(0.1)", LT_CALLS_PLAIN, "'0.1'");
}

/* --- Cleaning ----------------------------------------------------------------------------------------------------- */

static void check_cleaning(void) {
  lt_box *box = NULL;
  lt_box *fresh = NULL;
  lt_engine_result result;
  CHECK(lt_pool_take(&pool, &box, NULL) == LT_OK);
  CHECK(lt_box_new(&image, &fresh, NULL) == LT_OK);
  lt_engine_result_init(&result);
  fake_run(&host, box,
           &(lt_program){.code = LT_STR("const a = []; for (let i = 0; i < 30000; i++) a.push('marker' + i);"
                                        "function f(s) { return f(s + 'marker') + s } try { f('') } catch { } "
                                        "globalThis.kept = a; null['marker']"),
                         .file = LT_STR("marker.js")},
           &result);
  lt_engine_result_release(&result);
  CHECK(memmem(box->memory, lt_box_size(box), "marker", 6) != NULL);
  CHECK(lt_box_clean(box));
  CHECK(lt_box_size(box) == lt_box_size(fresh));
  CHECK(memcmp(box->memory, fresh->memory, lt_box_size(fresh)) == 0);
  lt_box_free(fresh);
  lt_pool_give(&pool, box);
}

/* --- Our own faults ----------------------------------------------------------------------------------------------- */

static volatile int *volatile nowhere = (int *)64;

static void check_own_faults(void) {
  int status = 0;
  fflush(NULL);
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    if (freopen("/dev/null", "w", stderr) != NULL) { /* the emulator says that it saw it */
      *nowhere = 1;
    }
    _exit(0);
  }
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void) {
  CHECK(lt_box_thread_init(NULL) == LT_OK);
  fake_host_init(&host);
  host.tools = tools;
  make_image();
  lt_pool_init(&pool, &image, &(lt_pool_limits){.most = 4096});
  check_programs();
  check_calls();
  check_recursion();
  check_traps();
  check_revoking();
  check_nudging();
  check_cleaning();
  check_own_faults();
  lt_pool_release(&pool);
  lt_image_close(&image);
  lt_buf_release(&image_bytes);
  fake_host_release(&host);
  printf("ok %u checks\n", checks);
  return 0;
}
