#include "sandbox/block_training.h"

#include <string.h>

#include "sandbox/engine.h"
#include "sandbox/qjs_abi.h"

/* Calls and timers of a program. */
#define OPEN_MAX 64

/* Before each program. */
#define PROGRAM_LINE LT_STR("\n//---\n")

typedef struct trainee {
  lt_block_order *order;
  lt_box *box;
  lt_str program;
  uint32_t ids;  /* given so far */
  uint64_t open; /* of the last ones */
  lt_engine_result result;
} trainee;

/* --- What programs reach ------------------------------------------------------------------------------------------ */
static lt_outcome training_answer(uint32_t id) {
  return (lt_outcome){
      .id = id,
      .ok = true,
      .text = LT_STR("{\"path\":\"src/a.txt\",\"content\":\"one\\ntwo\\nthree\",\"total\":3,\"items\":"
                     "[{\"name\":\"a\",\"size\":12,\"tags\":[\"x\",\"y\"]},{\"name\":\"b\",\"size\":3.5,"
                     "\"tags\":[]}],\"next\":null,\"isLast\":true}")};
}

static uint32_t training_open(trainee *t) {
  uint32_t id = t->ids++ % OPEN_MAX;
  t->open |= 1ull << id;
  return id + 1;
}

static bool training_start(void *arg, lt_str tool, lt_str input, bool is_object, lt_outcome *ret) {
  (void)tool, (void)input, (void)is_object;
  ret->id = training_open(arg);
  return true;
}

static uint32_t training_timer(void *arg, uint64_t ms) {
  (void)ms;
  return training_open(arg);
}

static bool training_wait(void *arg, uint32_t id, lt_outcome *ret) {
  trainee *t = arg;
  if (t->open == 0) {
    return false;
  }
  uint32_t which = id != 0 ? id - 1 : (uint32_t)__builtin_ctzll(t->open);
  t->open &= ~(1ull << which);
  *ret = training_answer(which + 1);
  return true;
}

static void training_output(void *arg, lt_str text) {
  (void)arg, (void)text;
}

static void training_log(void *arg, lt_log_level level, lt_str text) {
  (void)arg, (void)level, (void)text;
}

static void training_done(void *arg) {
  (void)arg;
}

static bool training_store(void *arg, lt_str key, lt_str json, lt_outcome *ret) {
  (void)arg, (void)key, (void)json, (void)ret;
  return true;
}

static lt_str training_recall(void *arg, lt_str key) {
  (void)arg, (void)key;
  return LT_STR("{\"seen\":[1,2,3]}");
}

static lt_outcome training_discover(void *arg, lt_str query) {
  (void)arg, (void)query;
  return training_answer(0);
}

static bool training_resolve(void *arg, lt_str name, lt_outcome *ret) {
  (void)arg;
  ret->text = name;
  return true;
}

static bool training_module(void *arg, lt_str name, lt_str *ret_source) {
  (void)arg, (void)name, (void)ret_source;
  return false;
}

static uint64_t training_now(void *arg) {
  (void)arg;
  return 1700000000000000000;
}

/* The engine counts down to the next poll: it comes with the next call of a function, or round of a loop. */
static void training_poll_soon(const trainee *t) {
  const int32_t soon = 1;
  int32_t left;
  uint8_t *at = t->box->memory + t->box->image->head.context + QJS_CONTEXT_POLL;
  memcpy(&left, at, sizeof left);
  LT_CHECK(left > 0 && left <= QJS_POLL_AFTER);
  memcpy(at, &soon, sizeof soon);
}

/* What is held only during a call is seen here. */
static bool training_poll(void *arg) {
  trainee *t = arg;
  training_poll_soon(t);
  lt_block_order_look(t->order);
  return false;
}

/* --- Running ------------------------------------------------------------------------------------------------------ */
/* As programs are told apart by their tokens (docs/internals/engine.md). */
static lt_call_style training_style(lt_str program) {
  bool has_results = lt_str_find(program, LT_STR(".success"), 0) != SIZE_MAX;
  bool has_promises = lt_str_find(program, LT_STR("Promise"), 0) != SIZE_MAX;
  return has_results ? LT_CALLS_RESULT : has_promises ? LT_CALLS_PROMISE : LT_CALLS_PLAIN;
}

static void training_run_program(void *arg) {
  trainee *t = arg;
  const lt_guest_host host = {.arg = t,
                              .start = training_start,
                              .timer = training_timer,
                              .wait = training_wait,
                              .output = training_output,
                              .log = training_log,
                              .done = training_done,
                              .store = training_store,
                              .recall = training_recall,
                              .discover = training_discover,
                              .schema = training_discover,
                              .resolve = training_resolve,
                              .module = training_module,
                              .now = training_now,
                              .poll = training_poll};
  const lt_program program = {.code = t->program,
                              .file = LT_STR("program.js"),
                              .bindings = LT_STR("{\"filesRead\":\"files.read\",\"filesList\":\"files.list\"}"),
                              .calls = training_style(t->program),
                              .seed = 1};
  training_poll_soon(t);
  lt_engine_run(t->box, &program, &host, &t->result);
}

static lt_status training_run_one(lt_block_order *order, const lt_image *image, lt_str program, lt_err *err) {
  trainee t = {.order = order, .program = program};
  LT_TRY(lt_box_new(image, &t.box, err));
  lt_engine_result_init(&t.result);
  lt_block_order_begin(order, LT_BLOCKS_WATCHED, t.box);
  lt_fiber fiber;
  lt_fiber_init(&fiber, t.box->stack, lt_box_stack_bytes(t.box), training_run_program, &t);
  while (lt_fiber_resume(&fiber)) {
  }
  lt_fiber_release(&fiber);
  bool ended = t.result.ending <= LT_END_UNDEFINED;
  lt_status status = ended ? lt_block_order_end(order, err)
                           : lt_fail(err, LT_E_INTERNAL, "a program fails: %.*s\n%.*s",
                                     LT_STR_ARG(lt_buf_view(&t.result.text)), LT_STR_ARG(program));
  lt_engine_result_release(&t.result);
  lt_box_free(t.box);
  return status;
}

lt_status lt_block_training_run(lt_block_order *order, const lt_image *image, lt_str programs, lt_err *err) {
  size_t at = lt_str_find(programs, PROGRAM_LINE, 0);
  while (at != SIZE_MAX) {
    size_t from = at + PROGRAM_LINE.n, next = lt_str_find(programs, PROGRAM_LINE, from);
    LT_TRY(training_run_one(order, image, lt_str_sub(programs, from, next), err));
    at = next;
  }
  lt_box *fresh = NULL;
  LT_TRY(lt_box_new(image, &fresh, err));
  lt_status status = lt_block_order_settle(order, fresh, err);
  lt_box_free(fresh);
  return status;
}
