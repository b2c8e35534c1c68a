/* A program at rest: it leaves its box, others use the box, and it continues as if nothing had happened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fakes/engine_fix.h"
#include "sandbox/box_memory.h"
#include "sandbox/box_rest.h"

#define WAITS                                                                                                       \
  "const list = [1, 2, 3].map(n => n * 2), typed = new Float64Array(2000).fill(0.5);\n"                             \
  "const shared = new Map([['key', {deep: ['x'.repeat(3000)]}]]), later = Promise.resolve(7);\n"                    \
  "function* counting() { for (let i = 0; ; i++) yield i; }\n"                                                      \
  "const counter = counting(); counter.next();\n"                                                                   \
  "const inside = depth => depth > 0 ? inside(depth - 1) + 1 : (tools['slow'](list), list.push(typed[1999]), 0);\n" \
  "const depth = inside(20);\n"                                                                                     \
  "[depth, list.join(), shared.get('key').deep[0].length, counter.next().value, await later]"
#define VALUE "[20,\"2,4,6,0.5\",3000,1,7]"

typedef struct waiting {
  lt_pool_waiter waiter; /* first */
  unsigned called;
  lt_fiber fiber;
  lt_pool *pool;
  lt_box *box;
  lt_program program;
  lt_box_rest rest;
  fake_host host;
  lt_engine_result result;
} waiting;

static lt_box_shelf shelf;

static const fake_tool slow[] = {{.id = "slow", .text = "null", .yields = 1}, {.id = NULL}};

static void on_box(lt_pool_waiter *waiter) {
  ((waiting *)waiter)->called++;
}

static void run_program(void *arg) {
  waiting *w = arg;
  lt_engine_run(w->box, &w->program, &w->host.host, &w->result);
}

static void begin_in(lt_pool *pool, waiting *w, const char *code) {
  *w = (waiting){
      .pool = pool, .waiter.on_box = on_box, .program = {.code = lt_str_of(code), .file = LT_STR("program.js")}};
  fake_host_init(&w->host);
  w->host.tools = slow;
  lt_engine_result_init(&w->result);
  assert_int_equal(lt_pool_take(pool, &w->box, NULL), LT_OK);
  lt_fiber_init(&w->fiber, w->box->stack, lt_box_stack_bytes(w->box), run_program, w);
  assert_true(lt_fiber_resume(&w->fiber));
}

static void begin(waiting *w, const char *code) {
  begin_in(&engine_pool, w, code);
}

static void forget(waiting *w) {
  fake_host_release(&w->host);
  lt_engine_result_release(&w->result);
}

static void end(waiting *w, const char *value) {
  assert_false(lt_fiber_resume(&w->fiber));
  lt_fiber_release(&w->fiber);
  if (w->result.ending != LT_END_VALUE || !lt_str_eqc(lt_buf_view(&w->result.text), value)) {
    fail_msg("it ended with %.*s", LT_STR_ARG(lt_buf_view(&w->result.text)));
  }
  forget(w);
  lt_pool_give(w->pool, w->box);
}

/* What the program can see, and what its frames are. */
typedef struct picture {
  uint8_t *memory, *stack;
  uint32_t from, size;
  size_t stack_bytes;
} picture;

static uint8_t *copy_of(const void *bytes, size_t n) {
  uint8_t *copy = lt_mem_alloc(n);
  assert_non_null(copy);
  memcpy(copy, bytes, n);
  return copy;
}

static picture take_picture(waiting *w) {
  picture p = {.from = *w->box->module->stack_pointer(w->box->instance), .size = lt_box_size(w->box)};
  p.stack_bytes = lt_fiber_stack_used(&w->fiber);
  p.memory = copy_of(w->box->memory + p.from, p.size - p.from);
  p.stack = lt_mem_alloc(p.stack_bytes);
  assert_non_null(p.stack);
  lt_fiber_stack_save(&w->fiber, p.stack);
  return p;
}

static void expect_picture(waiting *w, const picture *before) {
  picture now = take_picture(w);
  assert_int_equal(now.from, before->from);
  assert_int_equal(now.size, before->size);
  assert_int_equal(now.stack_bytes, before->stack_bytes);
  assert_memory_equal(now.memory, before->memory, now.size - now.from);
  assert_memory_equal(now.stack, before->stack, now.stack_bytes);
  lt_mem_free(now.memory);
  lt_mem_free(now.stack);
}

static void release_picture(picture *p) {
  lt_mem_free(p->memory);
  lt_mem_free(p->stack);
}

static void rest(waiting *w) {
  assert_int_equal(lt_box_rest_begin(&shelf, w->box, &w->fiber, &w->rest), LT_OK);
  lt_pool_rest(w->pool, w->box);
}

static void every_byte_comes_back(void **state) {
  waiting w;
  (void)state;
  engine_traps();
  begin(&w, WAITS);
  picture before = take_picture(&w);
  rest(&w);
  lt_box *fresh = NULL;
  assert_int_equal(lt_box_new(&engine_image, &fresh, NULL), LT_OK);
  assert_int_equal(lt_box_size(w.box), lt_box_size(fresh));
  assert_memory_equal(w.box->memory, fresh->memory, lt_box_size(fresh));
  lt_box_free(fresh);
  memset(w.box->stack + lt_box_stack_bytes(w.box) - 32 * LT_KIB, 0x5a, 32 * LT_KIB); /* as another program's frames */
  assert_int_equal(lt_pool_take_home(&engine_pool, w.box, NULL), LT_OK);
  assert_true(lt_box_rest_end(&shelf, w.box, &w.fiber, &w.rest));
  expect_picture(&w, &before);
  release_picture(&before);
  end(&w, VALUE);
}

static void it_takes_little_memory(void **state) {
  waiting w;
  (void)state;
  engine_traps();
  begin(&w, "const f = [1, 2].map(n => n + 1); tools['slow'](f); f");
  rest(&w);
  assert_in_range(w.rest.n, 1, 32 * LT_KIB);
  assert_int_equal(lt_pool_take_home(&engine_pool, w.box, NULL), LT_OK);
  assert_true(lt_box_rest_end(&shelf, w.box, &w.fiber, &w.rest));
  end(&w, "[2,3]");
}

static void memory_that_has_grown_comes_back(void **state) {
  waiting w;
  (void)state;
  engine_traps();
  begin(&w, "const big = new Uint8Array(5e6).fill(3); tools['slow'](1); big.reduce((s, n) => s + n, 0)");
  uint32_t size = lt_box_size(w.box);
  rest(&w);
  assert_true(lt_box_size(w.box) < size);
  assert_int_equal(lt_pool_take_home(&engine_pool, w.box, NULL), LT_OK);
  assert_true(lt_box_rest_end(&shelf, w.box, &w.fiber, &w.rest));
  assert_int_equal(lt_box_size(w.box), size);
  end(&w, "15000000");
}

/* Its second write needs no page fault, by which a look knows that there is something new. */
static void a_page_of_a_grown_box_is_found_later(void **state) {
  lt_box *box = NULL;
  LT_AUTO_BUF(saved, LT_MIB);
  (void)state;
  assert_int_equal(lt_box_new(&engine_image, &box, NULL), LT_OK);
  volatile uint8_t *byte = box->memory + box->image->head.size - 4 * LT_KIB;
  uint8_t fresh = *byte;
  lt_page_watch_enter(&box->watch);
  assert_true(lt_box_clean(box));
  lt_page_watch_enter(&box->watch);
  assert_true(lt_box_grow(box, box->image->head.size + 64 * LT_KIB));
  *byte = fresh ^ 1;
  uint32_t lowest = lt_box_memory_save(box, &saved);
  assert_true(lt_box_clean_saved(box, lt_buf_view(&saved), lowest));
  assert_int_equal(*byte, fresh);
  lt_page_watch_enter(&box->watch);
  *byte = fresh ^ 1;
  assert_true(lt_box_clean(box));
  assert_int_equal(*byte, fresh);
  lt_box_free(box);
}

/* Of the last page of the image: words one after the other, alone, beside each other, across blocks. */
static void change_words(lt_box *box, uint64_t pattern) {
  uint64_t *words = (uint64_t *)(void *)(box->memory + box->image->head.size - LT_IMAGE_PAGE);
  for (size_t i = 0; i < LT_IMAGE_PAGE / sizeof *words; i++) {
    words[i] ^= pattern >> i % 64 & 1;
  }
}

static void each_changed_word_is_saved(void **state) {
  static const uint64_t patterns[] = {
      0,          UINT64_MAX,        1, UINT64_C(1) << 63, 0x5555555555555555, 0x9249249249249249, 0x8000000180000001,
      0xffffffff, 0x00ff000f0f00ff01};
  static uint8_t changed[LT_IMAGE_PAGE];
  lt_box *box = NULL;
  (void)state;
  assert_int_equal(lt_box_new(&engine_image, &box, NULL), LT_OK);
  const uint8_t *page = box->memory + box->image->head.size - LT_IMAGE_PAGE;
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    LT_AUTO_BUF(saved, LT_MIB);
    change_words(box, patterns[i]);
    memcpy(changed, page, sizeof changed);
    uint32_t lowest = lt_box_memory_save(box, &saved);
    assert_int_equal(saved.status, LT_OK);
    assert_true(lt_box_clean_saved(box, lt_buf_view(&saved), lowest));
    assert_memory_equal(page, box->image->bytes + box->image->head.size - LT_IMAGE_PAGE - box->image->head.start,
                        LT_IMAGE_PAGE);
    assert_true(lt_box_memory_load(box, lt_buf_view(&saved)));
    assert_memory_equal(page, changed, sizeof changed);
    assert_true(lt_box_clean(box));
  }
  lt_box_free(box);
}

static void expect_home(waiting *w, lt_status status) {
  assert_int_equal(lt_pool_take_home(w->pool, w->box, NULL), status);
}

/* Two programs with one home: while one of them is in it, the other one waits, and somebody new has no box. */
static void two_programs_share_a_home(void **state) {
  waiting first, second;
  lt_box *none = NULL;
  lt_pool pool;
  (void)state;
  engine_traps();
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = 1});
  begin_in(&pool, &first, WAITS);
  rest(&first);
  begin_in(&pool, &second, "const mine = [1]; tools['slow'](1); mine.push(2); mine");
  assert_ptr_equal(second.box, first.box);
  expect_home(&first, LT_E_LIMIT);
  first.waiter.home = first.box;
  assert_true(lt_pool_wait(&pool, &first.waiter));
  assert_true(lt_pool_wants(first.box));
  assert_int_equal(lt_pool_take(&pool, &none, NULL), LT_E_LIMIT);
  rest(&second); /* gives way to the first */
  assert_int_equal(first.called, 1);
  assert_ptr_equal(first.waiter.box, first.box);
  assert_false(lt_pool_wants(first.box));
  assert_true(lt_box_rest_end(&shelf, first.box, &first.fiber, &first.rest));
  expect_home(&second, LT_E_LIMIT);
  end(&first, VALUE);
  expect_home(&second, LT_OK);
  assert_true(lt_box_rest_end(&shelf, second.box, &second.fiber, &second.rest));
  end(&second, "[1,2]");
  lt_pool_release(&pool);
}

/* Its address is needed, so it is mapped anew. */
static void a_home_survives_a_program_that_traps(void **state) {
  waiting w;
  lt_box *box = NULL;
  lt_pool pool;
  (void)state;
  engine_traps();
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = 1});
  begin_in(&pool, &w, WAITS);
  rest(&w);
  assert_int_equal(lt_pool_take(&pool, &box, NULL), LT_OK);
  assert_ptr_equal(box, w.box);
  memset(box->memory + box->image->head.start, 0x5a, 100 * LT_KIB);
  box->trap = LT_TRAP_MEMORY;
  lt_box_revoke(box);
  lt_pool_give(&pool, box);
  expect_home(&w, LT_OK);
  assert_true(lt_box_rest_end(&shelf, w.box, &w.fiber, &w.rest));
  end(&w, VALUE);
  lt_pool_release(&pool);
}

static void a_program_at_rest_can_be_abandoned(void **state) {
  waiting w;
  lt_pool pool;
  (void)state;
  engine_traps();
  lt_pool_init(&pool, &engine_image, &(lt_pool_limits){.most = 1});
  begin_in(&pool, &w, WAITS);
  rest(&w);
  lt_pool_leave(&pool, w.box);
  lt_fiber_release(&w.fiber);
  lt_box_rest_release(&shelf, &w.rest);
  forget(&w);
  assert_int_equal(lt_pool_count(&pool).pooled, 1);
  lt_pool_release(&pool);
}

static void without_memory_it_stays_in_its_box(void **state) {
  waiting w;
  (void)state;
  engine_traps();
  begin(&w, WAITS);
  bool failed = true;
  for (long n = 0; failed; n++) {
    lt_mem_fail_at(n);
    lt_status status = lt_box_rest_begin(&shelf, w.box, &w.fiber, &w.rest);
    failed = lt_mem_failed() != 0;
    lt_mem_fail_at(-1);
    assert_int_equal(status, failed ? LT_E_NOMEM : LT_OK);
  }
  lt_pool_rest(w.pool, w.box);
  expect_home(&w, LT_OK);
  assert_true(lt_box_rest_end(&shelf, w.box, &w.fiber, &w.rest));
  end(&w, VALUE);
}

/* Small ones only; what is not needed for a while is freed. */
static void memory_of_small_programs_is_kept(void **state) {
  static const char small[] = "tools['slow'](1); 5",
                    large[] = "const a = 'x'.repeat(20000); tools['slow'](1); a.length";
  waiting w;
  (void)state;
  engine_traps();
  lt_box_shelf_release(&shelf);
  lt_box_shelf_init(&shelf);
  const char *used = NULL;
  for (unsigned i = 0; i < 3; i++) {
    begin(&w, small);
    rest(&w);
    assert_true(used == NULL || used == w.rest.bytes);
    used = w.rest.bytes;
    expect_home(&w, LT_OK);
    assert_true(lt_box_rest_end(&shelf, w.box, &w.fiber, &w.rest));
    end(&w, "5");
  }
  assert_int_equal(shelf.count, 1);
  begin(&w, large);
  rest(&w);
  assert_true(w.rest.n > LT_BOX_SHELF_BYTES);
  assert_int_equal(shelf.count, 0);
  expect_home(&w, LT_OK);
  assert_true(lt_box_rest_end(&shelf, w.box, &w.fiber, &w.rest));
  end(&w, "20000");
  assert_false(lt_box_shelf_has_any(&shelf));
  begin(&w, small);
  rest(&w);
  lt_box_shelf_trim(&shelf);
  expect_home(&w, LT_OK);
  assert_true(lt_box_rest_end(&shelf, w.box, &w.fiber, &w.rest));
  end(&w, "5");
  lt_box_shelf_trim(&shelf);
  assert_true(lt_box_shelf_has_any(&shelf)); /* it was used since the last time */
  lt_box_shelf_trim(&shelf);
  assert_false(lt_box_shelf_has_any(&shelf));
}

int main(void) {
  lt_box_shelf_init(&shelf);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_byte_comes_back),
      cmocka_unit_test(it_takes_little_memory),
      cmocka_unit_test(memory_that_has_grown_comes_back),
      cmocka_unit_test(a_page_of_a_grown_box_is_found_later),
      cmocka_unit_test(each_changed_word_is_saved),
      cmocka_unit_test(two_programs_share_a_home),
      cmocka_unit_test(a_home_survives_a_program_that_traps),
      cmocka_unit_test(a_program_at_rest_can_be_abandoned),
      cmocka_unit_test(without_memory_it_stays_in_its_box),
      cmocka_unit_test(memory_of_small_programs_is_kept),
  };
  return cmocka_run_group_tests_name("box_rest", tests, engine_open, engine_close);
}
