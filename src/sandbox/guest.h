/* Reaching into a QuickJS guest: values, strings and calls, each safe against a guest that traps or lies.
 *
 * A value is QuickJS's own 64-bit NaN-boxed JSValue; the caller of a function that returns one owns a reference to it.
 * References are seldom released, because the whole box is cleaned after the run. Every function enters the guest at
 * most once. After a trap every function does nothing and returns LT_JS_EXCEPTION, 0 or false.
 *
 * Functions that run the program's code may suspend: the program calls host functions, and its `poll` runs regularly.
 */
#ifndef LT_SANDBOX_GUEST_H
#define LT_SANDBOX_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "sandbox/box.h"
#include "sandbox/engine.h"

typedef uint64_t lt_js;

/* QuickJS-ng 0.17, quickjs.h, JS_NAN_BOXING: the tag is the upper half. */
#define LT_JS_TAG(v)       ((int32_t)((v) >> 32))
#define LT_JS_MK(tag, low) (((uint64_t)(uint32_t)(tag) << 32) | (uint32_t)(low))
enum {
  LT_TAG_STRING = -7,
  LT_TAG_ROPE = -6,
  LT_TAG_OBJECT = -1,
  LT_TAG_INT = 0,
  LT_TAG_BOOL = 1,
  LT_TAG_NULL = 2,
  LT_TAG_UNDEFINED = 3,
  LT_TAG_UNINITIALIZED = 4,
  LT_TAG_EXCEPTION = 6
};
#define LT_JS_NULL      LT_JS_MK(LT_TAG_NULL, 0)
#define LT_JS_UNDEFINED LT_JS_MK(LT_TAG_UNDEFINED, 0)
#define LT_JS_EXCEPTION LT_JS_MK(LT_TAG_EXCEPTION, 0)

/* Guest memory for small arguments and results of host calls. It is part of the image. */
#define LT_SCRATCH_BYTES 256
enum { LT_SCRATCH_LEN = 0, LT_SCRATCH_CONTEXT = 8, LT_SCRATCH_ARGS = 16, LT_SCRATCH_NAMES = 128 };
#define LT_GUEST_ARGS_MAX 8

/* Functions of the prelude: their index in the image's roots. */
enum {
  LT_ROOT_START,
  LT_ROOT_SETTLE,
  LT_ROOT_FINISH,
  LT_ROOT_RENDER,
  LT_ROOT_DESCRIBE,
  LT_ROOT_STRIP,
  LT_ROOT_LAST,
  LT_ROOT_UNREAD,
  LT_ROOT_SHOW
};

#define LT_REJECTIONS_MAX 32 /* unhandled rejections that are kept; the first one is reported */

typedef struct lt_rejection {
  lt_js promise;
  lt_js reason;
} lt_rejection;

/* One program in a box; on the stack of lt_engine_run. */
typedef struct lt_guest {
  lt_box *box;
  uint32_t context;
  uint32_t runtime;
  uint32_t scratch;
  const uint64_t *roots;
  const lt_guest_host *host;
  uint64_t origin_ns;     /* the guest's monotonic clock began here ... */
  uint64_t image_ns;      /* ... at this reading */
  lt_str time_zone;       /* rule of its local time (base/time_zone.h); empty: UTC */
  uint64_t random;        /* state of reproducible random bytes; 0: the kernel's random bytes */
  uint64_t seed;          /* of the program's random bytes; 0: the kernel's */
  uint64_t random_blocks; /* of them used so far */
  bool has_weak_timers;   /* there are timers that the program may not wait for at its end */
  bool has_exited;        /* exit() was called: the program has ended, whatever it threw */
  bool has_waited;        /* for a promise that was not settled: the program is asynchronous */
  lt_rejection rejections[LT_REJECTIONS_MAX];
  uint32_t rejection_count;
  uint32_t rejections_more; /* rejections that did not fit above */
} lt_guest;

void lt_guest_init(lt_guest *guest, lt_box *box, const lt_guest_host *host);

static inline bool lt_guest_alive(const lt_guest *guest) {
  return guest->box->trap == LT_TRAP_NONE;
}

/* Copies bytes into fresh guest memory with a NUL after them; 0 when the guest has no room. */
uint32_t lt_guest_put(lt_guest *guest, lt_str bytes);
void lt_guest_free(lt_guest *guest, uint32_t at);
/* The first releases one reference to a value. The second does so for a value in guest memory, and frees that memory.
 * */
void lt_guest_free_value(lt_guest *guest, lt_js value);
void lt_guest_free_boxed(lt_guest *guest, uint32_t at);

lt_js lt_guest_string(lt_guest *guest, lt_str text);
/* A value from JSON text; LT_JS_EXCEPTION with the exception pending when it is none or does not fit. */
lt_js lt_guest_parse(lt_guest *guest, lt_str json);

/* Bytes of guest memory, in host terms; empty when they are not inside it. Borrows: until the guest runs again. */
lt_str lt_guest_view(const lt_guest *guest, uint32_t at, uint32_t n);
/* Characters of a string that is ASCII, where the engine has them. False: it is something else. Borrows: until the
 * guest runs again; the caller has a reference to the value. */
bool lt_guest_view_string(const lt_guest *guest, lt_js value, lt_str *ret_text);
/* Characters (WTF-8) of several values, as the guest's ToString gives them. Strings of ASCII are read where they are;
 * for others the guest is entered, once for all of them. */
#define LT_GUEST_TEXTS_MAX 2
typedef struct lt_guest_held {
  lt_str text[LT_GUEST_TEXTS_MAX];
  uint32_t at[LT_GUEST_TEXTS_MAX]; /* guest memory to be freed */
  unsigned count;
} lt_guest_held;
/* Borrows: the texts, until they are dropped; the guest must not run meanwhile. False when a ToString threw (the
 * exception is pending); call lt_guest_drop in any case. */
bool lt_guest_texts(lt_guest *guest, const lt_js *values, unsigned count, lt_guest_held *held) LT_YIELDS;
void lt_guest_drop(lt_guest *guest, lt_guest_held *held);
/* One value's characters into a buffer. */
bool lt_guest_copy_text(lt_guest *guest, lt_js value, lt_buf *out) LT_YIELDS;

lt_js lt_guest_eval(lt_guest *guest, lt_str code, lt_str file, bool module) LT_YIELDS;
/* Only compiles: the value is of no use, or an exception that says what is wrong. */
lt_js lt_guest_compile(lt_guest *guest, lt_str code, lt_str file, bool module) LT_YIELDS;
lt_js lt_guest_call_root(lt_guest *guest, unsigned root, const lt_js *args, unsigned count) LT_YIELDS;
lt_js lt_guest_get(lt_guest *guest, lt_js object, const char *name) LT_YIELDS;
lt_js lt_guest_item(lt_guest *guest, lt_js array, uint32_t index);
/* Takes `value`. */
void lt_guest_set_item(lt_guest *guest, lt_js array, uint32_t index, lt_js value);
/* Takes the pending exception; a value with LT_TAG_UNINITIALIZED when there is none. */
lt_js lt_guest_exception(lt_guest *guest);
/* Makes `value` the pending exception. */
void lt_guest_throw(lt_guest *guest, lt_js value);
/* Makes a string the pending exception (the prelude makes an error of it), or an Error. */
void lt_guest_throw_text(lt_guest *guest, lt_str message);
void lt_guest_throw_error(lt_guest *guest, lt_str message);
/* Makes an error the pending exception that no `catch` and no `finally` sees. */
void lt_guest_throw_uncatchable(lt_guest *guest);
/* -1: not a promise; 0: pending; 1: fulfilled; 2: rejected. */
int lt_guest_promise_state(lt_guest *guest, lt_js value);
lt_js lt_guest_promise_result(lt_guest *guest, lt_js promise);
/* Runs one job. Returns 1 after a job, 0 when the queue is empty, -1 when the job threw an uncatchable error. */
int lt_guest_job(lt_guest *guest) LT_YIELDS;

static inline bool lt_js_is_string(lt_js v) {
  return LT_JS_TAG(v) == LT_TAG_STRING || LT_JS_TAG(v) == LT_TAG_ROPE;
}
static inline bool lt_js_is_object(lt_js v) {
  return LT_JS_TAG(v) == LT_TAG_OBJECT;
}
static inline bool lt_js_is_exception(lt_js v) {
  return LT_JS_TAG(v) == LT_TAG_EXCEPTION;
}
static inline bool lt_js_is_undefined(lt_js v) {
  return LT_JS_TAG(v) == LT_TAG_UNDEFINED;
}

/* The handler of Z_envZ_host_function (guest_functions.c): dispatches on the function's letter. `argv` has
 * LT_GUEST_ARGS_MAX values. The caller drops `held` afterwards. */
lt_js lt_guest_host_call(lt_guest *guest, char letter, const lt_js *argv, lt_guest_held *held) LT_YIELDS;

/* The value of an outcome; LT_JS_EXCEPTION with the message, a string, pending when it failed or does not fit. */
lt_js lt_guest_answer(lt_guest *guest, const lt_outcome *outcome);

/* The names the prelude gives the host functions, and their letters. */
typedef struct lt_guest_function {
  const char *property; /* in the prelude's H */
  char letter;
} lt_guest_function;
extern const lt_guest_function lt_guest_functions[];
extern const unsigned lt_guest_function_count;

/* The reading of both guest clocks while an image is built: also how Math.random's state is found in memory. */
#define LT_FREEZE_CLOCK_US 0x0005c1a7e2d3b4f5ULL

#endif
