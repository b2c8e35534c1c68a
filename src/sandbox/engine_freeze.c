/* Builds an image: makes a blank box, starts the engine, loads the prelude, and records the addresses that later runs
 * need.
 *
 * Scripts are compiled in a box of their own, and the image reads only their bytecode: what the parser leaves behind
 * would stay in the image as holes. */
#include <string.h>

#include "sandbox/block_order.h"
#include "sandbox/block_training.h"
#include "sandbox/engine.h"
#include "sandbox/guest.h"
#include "sandbox/qjs_abi.h"

/* The engine counts references. Only cycles wait for its collector, whose pass touches every page. Most programs end
 * before they have allocated this much beyond the image. */
#define GC_AFTER_BYTES (8u << 20)

typedef struct image_freezer {
  lt_guest guest;
  lt_image_header head;
  lt_image_kind kind;
  const lt_engine_script *scripts; /* to be compiled: one; to be run: bytecode */
  size_t count;
  lt_block_order *order;
  lt_block_phase phase;
  lt_buf *out;
  lt_status status;
  lt_err *err;
} image_freezer;

static Z_qjs_instance_t *engine_freeze_instance_of(image_freezer *f) {
  return f->guest.box->instance;
}

static bool engine_freeze_start_engine(image_freezer *f) {
  Z_qjs_instance_t *q = engine_freeze_instance_of(f);
  volatile uint32_t engine_freeze_failed = 1;
  LT_BOX_ENTER(f->guest.box, {
    Z_qjsZ__initialize(q);
    engine_freeze_failed = Z_qjsZ_qjs_init(q);
    Z_qjsZ_qjs_set_max_stack_size(q, LT_BOX_GUEST_STACK_BYTES);
    Z_qjsZ_qjs_set_memory_limit(q, LT_RUN_MEMORY_BYTES);
    Z_qjsZ_qjs_set_interrupt_handler(q, 1);
    Z_qjsZ_qjs_set_module_loader(q, 1);
    Z_qjsZ_qjs_set_promise_rejection_handler(q, 1);
    f->head.context = Z_qjsZ_qjs_get_context_ptr(q);
    f->head.runtime = Z_qjsZ_qjs_get_runtime_ptr(q);
  });
  f->guest.context = f->head.context;
  f->guest.runtime = f->head.runtime;
  return engine_freeze_failed == 0 && lt_guest_alive(&f->guest);
}

/* Whether strings are where lt_guest_view_string looks for them. */
static bool engine_freeze_finds_strings(image_freezer *f) {
  lt_str text = LT_STR("a string"), viewed;
  lt_js string = lt_guest_string(&f->guest, text), wide = lt_guest_string(&f->guest, LT_STR("\u4e00"));
  bool is_found = lt_guest_view_string(&f->guest, string, &viewed) && lt_str_eq(viewed, text) &&
                  !lt_guest_view_string(&f->guest, wide, &viewed);
  lt_guest_free_value(&f->guest, string);
  lt_guest_free_value(&f->guest, wide);
  return is_found;
}

static void engine_freeze_take_names(image_freezer *f) {
  uint32_t name = lt_guest_put(&f->guest, LT_STR("toJSON"));
  LT_BOX_ENTER(f->guest.box, f->head.to_json = Z_qjsZ_JS_NewAtom(engine_freeze_instance_of(f), f->head.context, name));
  lt_guest_free(&f->guest, name);
}

/* A small block, as all that programs write to (block_order.h). */
static bool engine_freeze_make_scratch(image_freezer *f) {
  static const char file[] = "answer"; /* of parsed JSON, as errors name it */
  lt_box *box = f->guest.box;
  Z_qjs_instance_t *q = engine_freeze_instance_of(f);
  LT_BOX_ENTER(box, f->head.scratch = Z_qjsZ_js_mallocz(q, f->head.context, LT_SCRATCH_BYTES));
  f->guest.scratch = f->head.scratch;
  if (f->head.scratch != 0) {
    memcpy(box->memory + f->head.scratch + LT_SCRATCH_NAMES, file, sizeof file);
  }
  return f->head.scratch != 0;
}

#define DRAWS_MAX 64

/* One draw of QuickJS's Math.random (xorshift64star). */
static uint64_t engine_freeze_next_random_state(uint64_t x) {
  x ^= x >> 12;
  x ^= x << 25;
  return x ^ (x >> 27);
}

static unsigned engine_freeze_count_in_memory(image_freezer *f, uint64_t wanted) {
  unsigned found = 0;
  for (uint32_t at = 1048576; at + 8 <= lt_box_size(f->guest.box); at += 8) {
    if (memcmp(f->guest.box->memory + at, &wanted, sizeof wanted) == 0) {
      f->head.random_state = at;
      found++;
    }
  }
  return found;
}

/* QuickJS seeds Math.random from the clock, which stands still here, and draws a few numbers during its start. So one
 * of the following states is in memory, exactly once. */
static bool engine_freeze_find_random_state(image_freezer *f) {
  uint64_t state = LT_FREEZE_CLOCK_US;
  for (unsigned draw = 0; draw < DRAWS_MAX; draw++, state = engine_freeze_next_random_state(state)) {
    unsigned found = engine_freeze_count_in_memory(f, state);
    if (found > 0) {
      return found == 1;
    }
  }
  return false;
}

/* The prelude's H: an object with the host functions. */
static lt_js engine_freeze_host_object(image_freezer *f) {
  lt_guest *guest = &f->guest;
  Z_qjs_instance_t *q = engine_freeze_instance_of(f);
  lt_js object = lt_guest_parse(guest, LT_STR("{}"));
  for (unsigned i = 0; i < lt_guest_function_count; i++) {
    uint32_t name = lt_guest_put(guest, lt_str_from(&lt_guest_functions[i].letter, 1));
    uint32_t property = lt_guest_put(guest, lt_str_of(lt_guest_functions[i].property));
    LT_BOX_ENTER(guest->box, {
      uint32_t boxed = Z_qjsZ_qjs_new_host_function(q, name, 1, 0);
      lt_js function;
      memcpy(&function, guest->box->memory + boxed, sizeof function);
      Z_qjsZ_JS_SetPropertyStr(q, f->head.context, object, property, function);
    });
  }
  return object;
}

static bool engine_freeze_failed(image_freezer *f, const char *what) LT_YIELDS {
  LT_AUTO_BUF(text, 4 * LT_KIB);
  lt_guest_copy_text(&f->guest, lt_guest_exception(&f->guest), &text);
  f->status = lt_fail(f->err, LT_E_INTERNAL, "%s: %.*s (%s)", what, LT_STR_ARG(lt_buf_view(&text)),
                      lt_box_trap_text(f->guest.box->trap));
  return false;
}

/* Appends the bytecode of the only script. */
static bool engine_freeze_compile_script(image_freezer *f) LT_YIELDS {
  Z_qjs_instance_t *q = engine_freeze_instance_of(f);
  const lt_engine_script *script = f->scripts;
  uint32_t at = lt_guest_put(&f->guest, script->text), name = lt_guest_put(&f->guest, script->file);
  volatile lt_js value = LT_JS_EXCEPTION;
  LT_BOX_ENTER(f->guest.box,
               value = Z_qjsZ_JS_Eval(q, f->head.context, at, (uint32_t)script->text.n, name, QJS_EVAL_COMPILE));
  if (lt_js_is_exception(value)) {
    return engine_freeze_failed(f, script->file.p);
  }
  volatile uint32_t bytes = 0;
  uint32_t strip = script->keeps_text ? 0 : QJS_WRITE_STRIP_SOURCE;
  LT_BOX_ENTER(f->guest.box,
               bytes = Z_qjsZ_JS_WriteObject(q, f->head.context, f->head.scratch, value, QJS_WRITE_BYTECODE | strip));
  if (bytes == 0) {
    return engine_freeze_failed(f, script->file.p);
  }
  uint32_t n;
  memcpy(&n, f->guest.box->memory + f->head.scratch, sizeof n);
  lt_buf_add(f->out, lt_guest_view(&f->guest, bytes, n));
  f->status = f->out->status;
  return f->status == LT_OK;
}

static bool engine_freeze_eval(image_freezer *f, const lt_engine_script *script, lt_js *ret) LT_YIELDS {
  Z_qjs_instance_t *q = engine_freeze_instance_of(f);
  uint32_t at = lt_guest_put(&f->guest, script->text);
  if (at == 0) {
    return engine_freeze_failed(f, script->file.p);
  }
  volatile lt_js value = LT_JS_EXCEPTION;
  LT_BOX_ENTER(f->guest.box, {
    value = Z_qjsZ_JS_ReadObject(q, f->head.context, at, (uint32_t)script->text.n, QJS_READ_BYTECODE);
    value = Z_qjsZ_JS_EvalFunction(q, f->head.context, value);
  });
  memset(f->guest.box->memory + at, 0, script->text.n); /* what is not used again packs to nothing */
  lt_guest_free(&f->guest, at);
  *ret = value;
  return !lt_js_is_exception(value) || engine_freeze_failed(f, script->file.p);
}

/* The globals that only greater images have, by the kind of image. */
static lt_js engine_freeze_words(image_freezer *f) {
  lt_js object = lt_guest_parse(&f->guest, LT_STR("{}"));
  for (size_t i = 0; i < lt_image_word_count; i++) {
    const lt_image_word *it = &lt_image_words[i];
    if (it->is_global && it->kind > f->kind) {
      uint32_t name = lt_guest_put(&f->guest, it->word);
      LT_BOX_ENTER(f->guest.box, Z_qjsZ_JS_SetPropertyStr(engine_freeze_instance_of(f), f->head.context, object, name,
                                                          LT_JS_MK(LT_TAG_INT, it->kind)));
    }
  }
  return object;
}

/* Root 0 is free until the roots are taken. */
static bool engine_freeze_run_script(image_freezer *f, const lt_engine_script *script, lt_js host,
                                     lt_js roots) LT_YIELDS {
  lt_js function;
  if (!engine_freeze_eval(f, script, &function)) {
    return false;
  }
  if (!lt_js_is_object(function)) {
    return true;
  }
  f->head.roots[0] = function;
  lt_js args[] = {host, roots, engine_freeze_words(f)};
  if (lt_js_is_exception(lt_guest_call_root(&f->guest, 0, args, 3))) {
    return engine_freeze_failed(f, script->file.p);
  }
  lt_guest_free_value(&f->guest, function);
  return true;
}

static bool engine_freeze_run_scripts(image_freezer *f) LT_YIELDS {
  static const char *const names[] = {"start", "settle", "finish", "render", "describe",
                                      "strip", "last",   "unread", "show"};
  lt_js host = engine_freeze_host_object(f), roots = lt_guest_parse(&f->guest, LT_STR("{}"));
  f->guest.roots = f->head.roots;
  for (size_t i = 0; i < f->count; i++) {
    if (!engine_freeze_run_script(f, &f->scripts[i], host, roots)) {
      return false;
    }
    if (i + 1 == LT_ENGINE_BASE_SCRIPTS) {
      f->head.extra = lt_box_size(f->guest.box);
    }
  }
  f->head.extra = lt_box_size(f->guest.box) - f->head.extra;
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
    f->head.roots[i] = lt_guest_get(&f->guest, roots, names[i]);
  }
  return true;
}

static void engine_freeze_write_image(image_freezer *f) {
  lt_box *box = f->guest.box;
  f->head.magic = LT_IMAGE_MAGIC;
  /* The module was linked stack-first: below the data is the shadow stack, which starts empty. */
  f->head.start = 1048576;
  f->head.size = lt_box_size(box);
  f->head.stack_pointer = *box->module->stack_pointer(box->instance);
  memset(box->memory + f->head.random_state, 0, 8); /* makes a missing reseed visible */
  f->head.fingerprint = lt_str_hash(lt_str_from(box->memory + f->head.start, f->head.size - f->head.start));
  lt_buf_add(f->out, lt_str_from(&f->head, sizeof f->head));
  lt_buf_add(f->out, lt_str_from(box->memory + f->head.start, f->head.size - f->head.start));
  f->status = f->out->status;
}

/* Both kinds of work begin with the same engine; what it compiles is the same in each. */
static bool engine_freeze_begin(image_freezer *f) {
  if (!engine_freeze_start_engine(f) || !engine_freeze_make_scratch(f)) {
    f->status = lt_fail(f->err, LT_E_INTERNAL, "the engine does not start");
    return false;
  }
  return true;
}

static void engine_freeze_compile(void *arg) {
  image_freezer *f = arg;
  (void)(engine_freeze_begin(f) && engine_freeze_compile_script(f));
}

static bool engine_freeze_load(image_freezer *f) LT_YIELDS {
  Z_qjs_instance_t *q = engine_freeze_instance_of(f);
  if (!engine_freeze_begin(f)) {
    return false;
  }
  if (!engine_freeze_find_random_state(f)) {
    f->status = lt_fail(f->err, LT_E_INTERNAL, "the state of Math.random is not where it is looked for");
    return false;
  }
  if (!engine_freeze_finds_strings(f)) {
    f->status = lt_fail(f->err, LT_E_INTERNAL, "a string's characters are not where they are looked for");
    return false;
  }
  engine_freeze_take_names(f);
  if (!engine_freeze_run_scripts(f)) {
    return false;
  }
  LT_BOX_ENTER(f->guest.box, Z_qjsZ_qjs_run_gc(q));
  uint32_t live = lt_box_size(f->guest.box);
  LT_BOX_ENTER(f->guest.box, Z_qjsZ_qjs_set_gc_threshold(q, live + GC_AFTER_BYTES));
  return true;
}

static void engine_freeze_freeze(void *arg) {
  image_freezer *f = arg;
  lt_block_order_begin(f->order, f->phase, f->guest.box);
  if (engine_freeze_load(f)) {
    f->status = lt_block_order_end(f->order, f->err);
  }
  if (f->status == LT_OK) {
    engine_freeze_write_image(f);
  }
}

/* Does the work in a box and on a fiber of its own. */
static lt_status engine_freeze_in_box(image_freezer *f, lt_fiber_fn work) {
  lt_box *box = NULL;
  LT_TRY(lt_box_new_blank(&lt_qjs_module, &box, f->err));
  lt_guest_init(&f->guest, box, NULL);
  lt_fiber fiber;
  lt_fiber_init(&fiber, box->stack, lt_box_stack_bytes(box), work, f);
  while (lt_fiber_resume(&fiber)) {
  }
  lt_fiber_release(&fiber);
  lt_box_free(box);
  return f->status;
}

/* Compiles each script into `bytecode`, one after the other; ret_compiled[i] borrows from it. */
static lt_status engine_freeze_compile_all(const lt_engine_script *scripts, size_t count, lt_buf *bytecode,
                                           lt_engine_script *ret_compiled, lt_err *err) {
  for (size_t i = 0; i < count; i++) {
    size_t start = bytecode->n;
    image_freezer f = {.scripts = &scripts[i], .count = 1, .out = bytecode, .err = err, .status = LT_OK};
    LT_TRY(engine_freeze_in_box(&f, engine_freeze_compile));
    ret_compiled[i] = (lt_engine_script){.file = scripts[i].file, .text = {.n = bytecode->n - start}};
  }
  const char *at = lt_buf_view(bytecode).p;
  for (size_t i = 0; i < count; i++) { /* only now: the buffer moves no more */
    ret_compiled[i].text.p = at;
    at += ret_compiled[i].text.n;
  }
  return LT_OK;
}

/* Which blocks lie together is found in an image that has only the base scripts. The kind is that of the image to be
 * made: the prelude does something for each word that is not in it. */
static lt_status engine_freeze_order(lt_image_kind kind, const lt_engine_script *compiled, lt_str programs,
                                     lt_block_order *order, lt_err *err) {
  LT_AUTO_BUF(plain, 64 * LT_MIB);
  image_freezer f = {.kind = kind,
                     .scripts = compiled,
                     .count = LT_ENGINE_BASE_SCRIPTS,
                     .order = order,
                     .phase = LT_BLOCKS_NOTED,
                     .out = &plain,
                     .err = err,
                     .status = LT_OK};
  LT_TRY(engine_freeze_in_box(&f, engine_freeze_freeze));
  lt_image image;
  LT_TRY(lt_image_open(&image, &lt_qjs_module, lt_buf_view(&plain), LT_STR_NULL, err));
  lt_status status = lt_block_training_run(order, &image, programs, err);
  lt_image_close(&image);
  return status;
}

lt_status lt_engine_freeze(lt_image_kind kind, const lt_engine_script *scripts, size_t count, lt_str programs,
                           lt_buf *out, lt_err *err) {
  if (count < LT_ENGINE_BASE_SCRIPTS || count > LT_ENGINE_SCRIPTS_MAX) {
    return lt_fail(err, LT_E_INVALID, "an image needs inspect.js and prelude.js, and has at most %d scripts",
                   LT_ENGINE_SCRIPTS_MAX);
  }
  lt_engine_script compiled[LT_ENGINE_SCRIPTS_MAX];
  LT_AUTO_BUF(bytecode, 64 * LT_MIB);
  lt_block_order order;
  LT_TRY(lt_box_thread_init(err));
  LT_TRY(engine_freeze_compile_all(scripts, count, &bytecode, compiled, err));
  LT_TRY(lt_block_order_init(&order, err));
  image_freezer f = {.kind = kind,
                     .scripts = compiled,
                     .count = count,
                     .order = &order,
                     .phase = LT_BLOCKS_PLACED,
                     .out = out,
                     .err = err,
                     .status = LT_OK};
  lt_status status = engine_freeze_order(kind, compiled, programs, &order, err);
  if (status == LT_OK) {
    status = engine_freeze_in_box(&f, engine_freeze_freeze);
  }
  lt_block_order_release(&order);
  return status;
}
