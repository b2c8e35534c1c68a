#include "sandbox/guest.h"

#include <string.h>

#include "sandbox/qjs_abi.h"

enum { SCALAR_DIGITS = 9 }; /* of a whole number that fits into 32 bits, whichever it is */

#define INSTANCE(guest) ((Z_qjs_instance_t *)(guest)->box->instance)

void lt_guest_init(lt_guest *guest, lt_box *box, const lt_guest_host *host) {
  guest->box = box;
  guest->host = host;
  guest->rejection_count = 0;
  guest->rejections_more = 0;
  guest->image_ns = LT_FREEZE_CLOCK_US * 1000;
  guest->origin_ns = 0;
  guest->random = 0;
  guest->seed = 0;
  guest->random_blocks = 0;
  guest->has_weak_timers = false;
  guest->has_waited = false;
  guest->has_exited = false;
  if (box->image != NULL) {
    guest->context = box->image->head.context;
    guest->runtime = box->image->head.runtime;
    guest->scratch = box->image->head.scratch;
    guest->roots = box->image->head.roots;
  }
  box->owner = guest;
}

lt_str lt_guest_view(const lt_guest *guest, uint32_t at, uint32_t n) {
  if (!lt_box_has(guest->box, at, n)) {
    return LT_STR_NULL;
  }
  return lt_str_from(guest->box->memory + at, n);
}

static void guest_write_bytes(lt_guest *guest, uint32_t at, const void *bytes, size_t n) {
  if (n > 0 && lt_guest_alive(guest) && lt_box_has(guest->box, at, (uint32_t)n)) {
    memcpy(guest->box->memory + at, bytes, n);
  }
}

static uint32_t guest_read_u32(const lt_guest *guest, uint32_t at) {
  uint32_t value = 0;
  lt_str bytes = lt_guest_view(guest, at, sizeof value);
  if (bytes.n == sizeof value) {
    memcpy(&value, bytes.p, sizeof value);
  }
  return value;
}

/* Use it only inside LT_BOX_ENTER, because guest code runs. 0: the guest has no room. */
static uint32_t guest_place(lt_guest *guest, lt_str bytes) {
  if (bytes.n >= UINT32_MAX - 1) {
    return 0;
  }
  uint32_t at = Z_qjsZ_wasm_malloc(INSTANCE(guest), (uint32_t)bytes.n + 1);
  if (at == 0 || !lt_box_has(guest->box, at, (uint32_t)bytes.n + 1)) {
    return 0;
  }
  if (bytes.n > 0) {
    memmove(guest->box->memory + at, bytes.p, bytes.n); /* an out-of-control guest may have its own text there */
  }
  guest->box->memory[at + bytes.n] = 0;
  return at;
}

uint32_t lt_guest_put(lt_guest *guest, lt_str bytes) {
  volatile uint32_t at = 0;
  LT_BOX_ENTER(guest->box, at = guest_place(guest, bytes));
  return lt_guest_alive(guest) ? at : 0;
}

void lt_guest_free(lt_guest *guest, uint32_t at) {
  if (at != 0) {
    LT_BOX_ENTER(guest->box, Z_qjsZ_wasm_free(INSTANCE(guest), at));
  }
}

void lt_guest_free_value(lt_guest *guest, lt_js value) {
  LT_BOX_ENTER(guest->box, Z_qjsZ_JS_FreeValue(INSTANCE(guest), guest->context, value));
}

void lt_guest_free_boxed(lt_guest *guest, uint32_t at) {
  if (at != 0) {
    LT_BOX_ENTER(guest->box, Z_qjsZ_qjs_free_value(INSTANCE(guest), at));
  }
}

/* Use it only inside LT_BOX_ENTER. Copies the bytes into the guest, makes a value of them, and frees the bytes. */
typedef lt_js (*guest_value_maker)(lt_guest *guest, uint32_t at, uint32_t n);

static lt_js guest_make_from(lt_guest *guest, lt_str bytes, guest_value_maker make) {
  uint32_t at = guest_place(guest, bytes);
  if (at == 0) {
    return Z_qjsZ_JS_ThrowOutOfMemory(INSTANCE(guest), guest->context);
  }
  lt_js value = make(guest, at, (uint32_t)bytes.n);
  Z_qjsZ_wasm_free(INSTANCE(guest), at);
  return value;
}

static lt_js guest_make_string(lt_guest *guest, uint32_t at, uint32_t n) {
  return Z_qjsZ_JS_NewStringLen(INSTANCE(guest), guest->context, at, n);
}

/* All values of a text are in use while it is read, so a pass of the engine's collector meanwhile finds nothing in it;
 * a long text would cause several, each longer than the one before. The next pass waits for the text's end, or until
 * the values have half of the memory that the text (which the engine does not count) leaves them. */
static lt_js guest_make_parsed(lt_guest *guest, uint32_t at, uint32_t n) {
  Z_qjs_instance_t *engine = INSTANCE(guest);
  uint64_t most = lt_box_max_bytes(guest->box);
  uint32_t usual = Z_qjsZ_qjs_get_gc_threshold(engine), half = most > n ? (uint32_t)((most - n) / 2) : 0;
  if (half > usual) {
    Z_qjsZ_qjs_set_gc_threshold(engine, half);
  }
  lt_js value = Z_qjsZ_JS_ParseJSON(engine, guest->context, at, n, guest->scratch + LT_SCRATCH_NAMES);
  if (half > usual && Z_qjsZ_qjs_get_gc_threshold(engine) == half) { /* or there was a pass, which has set another */
    Z_qjsZ_qjs_set_gc_threshold(engine, usual);
  }
  return value;
}

lt_js lt_guest_string(lt_guest *guest, lt_str text) {
  volatile lt_js value = LT_JS_EXCEPTION;
  LT_BOX_ENTER(guest->box, value = guest_make_from(guest, text, guest_make_string));
  return value;
}

/* A small whole number. -0 is none: it is no integer to the engine. */
static bool guest_read_int(lt_str json, lt_js *ret_value) {
  bool is_negative = json.n > 0 && json.p[0] == '-';
  size_t first = is_negative ? 1 : 0, digits = json.n - first;
  if (digits == 0 || digits > SCALAR_DIGITS || (json.p[first] == '0' && json.n > 1)) {
    return false;
  }
  int32_t number = 0;
  for (size_t i = first; i < json.n; i++) {
    if (json.p[i] < '0' || json.p[i] > '9') {
      return false;
    }
    number = 10 * number + (json.p[i] - '0');
  }
  *ret_value = LT_JS_MK(LT_TAG_INT, is_negative ? -number : number);
  return true;
}

/* A value that needs no memory of the guest, so that nothing is copied and no code of the guest runs. */
static bool guest_read_scalar(lt_str json, lt_js *ret_value) {
  if (guest_read_int(json, ret_value)) {
    return true;
  }
  bool is_bool = lt_str_eqc(json, "true") || lt_str_eqc(json, "false");
  *ret_value = is_bool ? LT_JS_MK(LT_TAG_BOOL, json.p[0] == 't') : LT_JS_NULL;
  return is_bool || lt_str_eqc(json, "null");
}

lt_js lt_guest_parse(lt_guest *guest, lt_str json) {
  lt_js scalar;
  if (lt_guest_alive(guest) && guest_read_scalar(json, &scalar)) {
    return scalar;
  }
  volatile lt_js value = LT_JS_EXCEPTION;
  LT_BOX_ENTER(guest->box, value = guest_make_from(guest, json, guest_make_parsed));
  return value;
}

bool lt_guest_view_string(const lt_guest *guest, lt_js value, lt_str *ret_text) {
  uint32_t at = (uint32_t)value;
  if (LT_JS_TAG(value) != LT_TAG_STRING || !lt_guest_alive(guest) ||
      !lt_box_has(guest->box, at, QJS_STRING_CHARACTERS)) {
    return false;
  }
  uint32_t words[2]; /* its length, and where its characters are */
  memcpy(words, guest->box->memory + at, sizeof words);
  if ((words[0] & QJS_STRING_IS_WIDE) != 0 || (words[1] & QJS_STRING_KINDS) != 0 ||
      !lt_box_has(guest->box, at + QJS_STRING_CHARACTERS, words[0])) {
    return false;
  }
  *ret_text = lt_str_from(guest->box->memory + at + QJS_STRING_CHARACTERS, words[0]);
  return lt_str_is_ascii(*ret_text);
}

/* What the guest's ToString makes of the values. */
static bool guest_make_texts(lt_guest *guest, const lt_js *values, unsigned count, lt_guest_held *held) LT_YIELDS {
  volatile uint32_t at[LT_GUEST_TEXTS_MAX] = {0};
  volatile uint32_t n[LT_GUEST_TEXTS_MAX] = {0};
  /* LT_YIELDS: the program's code calls host functions */
  LT_BOX_ENTER(guest->box, {
    for (unsigned i = 0; i < count; i++) {
      at[i] = Z_qjsZ_JS_ToCStringLen2(INSTANCE(guest), guest->context, guest->scratch + LT_SCRATCH_LEN, values[i], 0);
      n[i] = at[i] != 0 ? guest_read_u32(guest, guest->scratch + LT_SCRATCH_LEN) : 0;
    }
  });
  if (!lt_guest_alive(guest)) {
    return false;
  }
  bool all = true;
  for (unsigned i = 0; i < count; i++) {
    all = all && at[i] != 0 && lt_box_has(guest->box, at[i], n[i]);
    if (at[i] != 0) {
      held->at[held->count++] = at[i];
      held->text[i] = lt_guest_view(guest, at[i], n[i]);
    }
  }
  return all;
}

bool lt_guest_texts(lt_guest *guest, const lt_js *values, unsigned count, lt_guest_held *held) {
  LT_CHECK(count <= LT_GUEST_TEXTS_MAX);
  *held = (lt_guest_held){.count = 0};
  unsigned viewed = 0;
  while (viewed < count && lt_guest_view_string(guest, values[viewed], &held->text[viewed])) {
    viewed++;
  }
  return viewed == count || guest_make_texts(guest, values, count, held);
}

/* Use it only inside LT_BOX_ENTER. */
static void guest_drop(lt_guest *guest, lt_guest_held *held) {
  while (held->count > 0) {
    Z_qjsZ_JS_FreeCString(INSTANCE(guest), guest->context, held->at[--held->count]);
  }
}

void lt_guest_drop(lt_guest *guest, lt_guest_held *held) {
  if (held->count > 0 && lt_guest_alive(guest)) {
    LT_BOX_ENTER(guest->box, guest_drop(guest, held));
  }
}

bool lt_guest_copy_text(lt_guest *guest, lt_js value, lt_buf *out) {
  lt_guest_held held;
  bool ok = lt_guest_texts(guest, &value, 1, &held);
  if (ok) {
    lt_buf_add(out, held.text[0]);
  }
  lt_guest_drop(guest, &held);
  return ok;
}

/* Flags of JS_Eval: the script is asynchronous, so that `await` works at its top level. A module goes through qjs_eval,
 * whose promise gives the module's namespace. */
static lt_js guest_eval_script(lt_guest *guest, uint32_t code, uint32_t n, uint32_t file) LT_YIELDS {
  volatile lt_js value = LT_JS_EXCEPTION;
  /* LT_YIELDS: the program's code calls host functions */
  LT_BOX_ENTER(guest->box, value = Z_qjsZ_JS_Eval(INSTANCE(guest), guest->context, code, n, file, QJS_EVAL_ASYNC));
  return value;
}

static lt_js guest_eval_module(lt_guest *guest, uint32_t code, uint32_t n, uint32_t file) LT_YIELDS {
  volatile uint32_t boxed = 0;
  /* LT_YIELDS: the program's code calls host functions */
  LT_BOX_ENTER(guest->box, boxed = Z_qjsZ_qjs_eval(INSTANCE(guest), code, n, file, QJS_EVAL_MODULE));
  lt_js value = LT_JS_EXCEPTION;
  lt_str bytes = lt_guest_view(guest, boxed, sizeof value);
  if (lt_guest_alive(guest) && boxed != 0 && bytes.n == sizeof value) {
    memcpy(&value, bytes.p, sizeof value);
  }
  return value;
}

lt_js lt_guest_eval(lt_guest *guest, lt_str code, lt_str file, bool module) {
  uint32_t code_at = lt_guest_put(guest, code);
  uint32_t file_at = code_at != 0 ? lt_guest_put(guest, file) : 0;
  if (file_at == 0) {
    LT_BOX_ENTER(guest->box, Z_qjsZ_JS_ThrowOutOfMemory(INSTANCE(guest), guest->context));
    return LT_JS_EXCEPTION;
  }
  lt_js value = module ? guest_eval_module(guest, code_at, (uint32_t)code.n, file_at)
                       : guest_eval_script(guest, code_at, (uint32_t)code.n, file_at);
  if (lt_guest_alive(guest)) {
    lt_guest_free(guest, code_at); /* the text can have megabytes, and the name is not worth a call */
  }
  return value;
}

lt_js lt_guest_compile(lt_guest *guest, lt_str code, lt_str file, bool module) {
  uint32_t code_at = lt_guest_put(guest, code), flags = QJS_EVAL_COMPILE | (module ? QJS_EVAL_MODULE : QJS_EVAL_ASYNC);
  uint32_t file_at = code_at != 0 ? lt_guest_put(guest, file) : 0;
  volatile lt_js value = LT_JS_EXCEPTION;
  if (file_at == 0) {
    LT_BOX_ENTER(guest->box, Z_qjsZ_JS_ThrowOutOfMemory(INSTANCE(guest), guest->context));
    return LT_JS_EXCEPTION;
  }
  /* LT_YIELDS: the engine polls */
  LT_BOX_ENTER(guest->box,
               value = Z_qjsZ_JS_Eval(INSTANCE(guest), guest->context, code_at, (uint32_t)code.n, file_at, flags));
  return value;
}

lt_js lt_guest_call_root(lt_guest *guest, unsigned root, const lt_js *args, unsigned count) {
  LT_CHECK(count <= LT_GUEST_ARGS_MAX);
  uint32_t at = guest->scratch + LT_SCRATCH_ARGS;
  guest_write_bytes(guest, at, args, count * sizeof *args);
  volatile lt_js value = LT_JS_EXCEPTION;
  /* LT_YIELDS: the program's code calls host functions */
  LT_BOX_ENTER(guest->box,
               value = Z_qjsZ_JS_Call(INSTANCE(guest), guest->context, guest->roots[root], LT_JS_UNDEFINED, count, at));
  return value;
}

lt_js lt_guest_get(lt_guest *guest, lt_js object, const char *name) {
  uint32_t at = guest->scratch + LT_SCRATCH_ARGS;
  guest_write_bytes(guest, at, name, strlen(name) + 1);
  volatile lt_js value = LT_JS_EXCEPTION;
  /* LT_YIELDS: the program's code calls host functions */
  LT_BOX_ENTER(guest->box, value = Z_qjsZ_JS_GetPropertyStr(INSTANCE(guest), guest->context, object, at));
  return value;
}

lt_js lt_guest_item(lt_guest *guest, lt_js array, uint32_t index) {
  volatile lt_js value = LT_JS_EXCEPTION;
  LT_BOX_ENTER(guest->box, value = Z_qjsZ_JS_GetPropertyUint32(INSTANCE(guest), guest->context, array, index));
  return value;
}

void lt_guest_set_item(lt_guest *guest, lt_js array, uint32_t index, lt_js value) {
  LT_BOX_ENTER(guest->box, Z_qjsZ_JS_SetPropertyUint32(INSTANCE(guest), guest->context, array, index, value));
}

lt_js lt_guest_exception(lt_guest *guest) {
  volatile lt_js value = LT_JS_NULL;
  LT_BOX_ENTER(guest->box, value = Z_qjsZ_JS_GetException(INSTANCE(guest), guest->context));
  return value;
}

void lt_guest_throw(lt_guest *guest, lt_js value) {
  LT_BOX_ENTER(guest->box, Z_qjsZ_JS_Throw(INSTANCE(guest), guest->context, value));
}

void lt_guest_throw_text(lt_guest *guest, lt_str message) {
  lt_js text = lt_guest_string(guest, message);
  if (!lt_js_is_exception(text)) {
    lt_guest_throw(guest, text);
  }
}

void lt_guest_throw_error(lt_guest *guest, lt_str message) {
  lt_js text = lt_guest_string(guest, message);
  if (lt_js_is_exception(text)) {
    return;
  }
  uint32_t at = guest->scratch + LT_SCRATCH_ARGS;
  guest_write_bytes(guest, at, "message", sizeof "message");
  LT_BOX_ENTER(guest->box, {
    lt_js error = Z_qjsZ_JS_NewError(INSTANCE(guest), guest->context);
    Z_qjsZ_JS_DefinePropertyValueStr(INSTANCE(guest), guest->context, error, at, text, QJS_PROP_HIDDEN);
    Z_qjsZ_JS_Throw(INSTANCE(guest), guest->context, error);
  });
}

void lt_guest_throw_uncatchable(lt_guest *guest) {
  LT_BOX_ENTER(guest->box, {
    lt_js error = Z_qjsZ_JS_NewError(INSTANCE(guest), guest->context);
    Z_qjsZ_JS_SetUncatchableError(INSTANCE(guest), guest->context, error);
    Z_qjsZ_JS_Throw(INSTANCE(guest), guest->context, error);
  });
}

int lt_guest_promise_state(lt_guest *guest, lt_js value) {
  if (!lt_js_is_object(value)) {
    return -1;
  }
  volatile int state = -1;
  LT_BOX_ENTER(guest->box, state = (int)Z_qjsZ_JS_PromiseState(INSTANCE(guest), guest->context, value));
  return state;
}

lt_js lt_guest_promise_result(lt_guest *guest, lt_js promise) {
  volatile lt_js value = LT_JS_EXCEPTION;
  LT_BOX_ENTER(guest->box, value = Z_qjsZ_JS_PromiseResult(INSTANCE(guest), guest->context, promise));
  return value;
}

int lt_guest_job(lt_guest *guest) {
  volatile int ran = 0;
  /* LT_YIELDS: the program's code calls host functions */
  LT_BOX_ENTER(guest->box, ran = (int)Z_qjsZ_JS_ExecutePendingJob(INSTANCE(guest), guest->runtime,
                                                                  guest->scratch + LT_SCRATCH_CONTEXT));
  return lt_guest_alive(guest) ? ran : -1;
}
