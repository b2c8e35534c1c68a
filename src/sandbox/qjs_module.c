/* QuickJS as a module of the box: its instance and its twelve imports, its only connections to the outside. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "base/time_zone.h"
#include "sandbox/guest.h"
#include "sandbox/qjs_abi.h"

/* --- The instance ------------------------------------------------------------------------------------------------- */
static void qjs_module_instantiate(void *instance, lt_box *box) {
  Z_qjs_init_module();
  Z_qjs_instantiate(instance, (struct Z_env_instance_t *)box, (struct Z_wasi_snapshot_preview1_instance_t *)box);
}

static void qjs_module_rebind(void *instance, lt_box *box) {
  Z_qjs_instance_t *q = instance;
  q->Z_env_instance = (struct Z_env_instance_t *)box;
  q->Z_wasi_snapshot_preview1_instance = (struct Z_wasi_snapshot_preview1_instance_t *)box;
}

static wasm_rt_memory_t *qjs_module_memory(void *instance) {
  return &((Z_qjs_instance_t *)instance)->w2c_memory;
}

static wasm_rt_funcref_table_t *qjs_module_table(void *instance) {
  return &((Z_qjs_instance_t *)instance)->w2c___indirect_function_table;
}

static uint32_t *qjs_module_stack_pointer(void *instance) {
  return &((Z_qjs_instance_t *)instance)->w2c___stack_pointer;
}

const lt_module lt_qjs_module = {
    .name = "quickjs",
    .instance_size = sizeof(Z_qjs_instance_t),
    .instantiate = qjs_module_instantiate,
    .rebind = qjs_module_rebind,
    .memory = qjs_module_memory,
    .table = qjs_module_table,
    .stack_pointer = qjs_module_stack_pointer,
};

/* --- Imports: env ------------------------------------------------------------------------------------------------- */
static lt_box *qjs_module_box_of(struct Z_env_instance_t *env) {
  return (lt_box *)env;
}

static lt_guest *qjs_module_guest_of(struct Z_env_instance_t *env) {
  return qjs_module_box_of(env)->owner;
}

/* As many as there are; the others are undefined. */
static void qjs_module_values_at(const lt_guest *guest, uint32_t at, uint32_t count, lt_js *ret_values) {
  lt_str bytes = lt_guest_view(guest, at, count * (uint32_t)sizeof *ret_values);
  for (uint32_t i = 0; i < LT_GUEST_ARGS_MAX; i++) {
    ret_values[i] = LT_JS_UNDEFINED;
  }
  if (bytes.n > 0) {
    memcpy(ret_values, bytes.p, bytes.n);
  }
}

static lt_js qjs_module_value_at(const lt_guest *guest, uint32_t at) {
  lt_js value = LT_JS_UNDEFINED;
  lt_str bytes = lt_guest_view(guest, at, sizeof value);
  if (bytes.n == sizeof value) {
    memcpy(&value, bytes.p, sizeof value);
  }
  return value;
}

u64 Z_envZ_host_function(struct Z_env_instance_t *env, u32 letter, u32 argc, u32 argv) LT_YIELDS {
  LT_BOX_HOST_BEGIN(qjs_module_box_of(env));
  lt_guest *guest = qjs_module_guest_of(env);
  lt_js args[LT_GUEST_ARGS_MAX];
  qjs_module_values_at(guest, argv, argc < LT_GUEST_ARGS_MAX ? argc : LT_GUEST_ARGS_MAX, args);
  lt_guest_held held = {.count = 0};
  lt_js value = lt_guest_host_call(guest, (char)letter, args, &held);
  lt_guest_drop(guest, &held);
  LT_BOX_HOST_END(qjs_module_box_of(env));
  return value;
}

/* Also after every suspension, because the time may be up. */
static bool qjs_module_must_stop(lt_guest *guest) LT_YIELDS {
  return guest->host != NULL && guest->host->poll != NULL && guest->host->poll(guest->host->arg);
}

u32 Z_envZ_host_interrupt(struct Z_env_instance_t *env) LT_YIELDS {
  LT_BOX_HOST_BEGIN(qjs_module_box_of(env));
  if (qjs_module_must_stop(qjs_module_guest_of(env))) {
    lt_box_stop(qjs_module_box_of(env));
  }
  LT_BOX_HOST_END(qjs_module_box_of(env));
  return qjs_module_guest_of(env)->has_exited; /* then the engine throws, as exit() did */
}

/* Both values must be freed here (the trampoline passes its own references). The promise and its reason are kept until
 * the rejection is handled, so that the promise's address cannot be reused. */
static void qjs_module_remember_rejection(lt_guest *guest, u32 promise_at, u32 reason_at) {
  if (guest->rejection_count < LT_REJECTIONS_MAX) {
    guest->rejections[guest->rejection_count++] = (lt_rejection){.promise = qjs_module_value_at(guest, promise_at),
                                                                 .reason = qjs_module_value_at(guest, reason_at)};
  } else {
    guest->rejections_more++;
  }
}

static void qjs_module_forget_rejection(lt_guest *guest, lt_js promise) {
  for (uint32_t i = 0; i < guest->rejection_count; i++) {
    if (guest->rejections[i].promise == promise) {
      lt_guest_free_value(guest, guest->rejections[i].promise);
      lt_guest_free_value(guest, guest->rejections[i].reason);
      guest->rejection_count--;
      memmove(&guest->rejections[i], &guest->rejections[i + 1],
              (guest->rejection_count - i) * sizeof guest->rejections[0]);
      return;
    }
  }
  guest->rejections_more -= guest->rejections_more > 0;
}

void Z_envZ_host_promise_rejection(struct Z_env_instance_t *env, u32 promise_at, u32 reason_at, u32 handled) {
  LT_BOX_HOST_BEGIN(qjs_module_box_of(env));
  lt_guest *guest = qjs_module_guest_of(env);
  if (handled == 0) {
    qjs_module_remember_rejection(guest, promise_at, reason_at);
    lt_guest_free(guest, promise_at);
    lt_guest_free(guest, reason_at);
  } else {
    qjs_module_forget_rejection(guest, qjs_module_value_at(guest, promise_at));
    lt_guest_free_boxed(guest, promise_at);
    lt_guest_free_boxed(guest, reason_at);
  }
  LT_BOX_HOST_END(qjs_module_box_of(env));
}

/* Module names are not paths: a registered module is found by its exact name. */
u32 Z_envZ_host_module_normalize(struct Z_env_instance_t *env, u32 base, u32 name) {
  (void)base;
  LT_BOX_HOST_BEGIN(qjs_module_box_of(env));
  lt_guest *guest = qjs_module_guest_of(env);
  uint32_t room = lt_box_size(guest->box) - (name < lt_box_size(guest->box) ? name : 0);
  lt_str rest = lt_guest_view(guest, name, room);
  u32 copy = lt_guest_put(guest, lt_str_from(rest.p, strnlen(rest.p ? rest.p : "", rest.n)));
  LT_BOX_HOST_END(qjs_module_box_of(env));
  return copy;
}

static u32 qjs_module_load_module(lt_guest *guest, lt_str name, u32 len_at) {
  lt_str source;
  if (guest->host == NULL || !guest->host->module(guest->host->arg, name, &source)) {
    char text[256];
    int n = snprintf(text, sizeof text, "Module not found: %.*s", LT_STR_ARG(lt_str_sub(name, 0, 200)));
    lt_guest_throw_error(guest, lt_str_from(text, n > 0 ? (size_t)n : 0));
    return 0;
  }
  u32 at = lt_guest_put(guest, source);
  uint32_t n = (uint32_t)source.n;
  if (at != 0 && lt_box_has(guest->box, len_at, sizeof n)) {
    memcpy(guest->box->memory + len_at, &n, sizeof n);
  }
  return at;
}

u32 Z_envZ_host_module_load(struct Z_env_instance_t *env, u32 name, u32 len_at) {
  LT_BOX_HOST_BEGIN(qjs_module_box_of(env));
  lt_guest *guest = qjs_module_guest_of(env);
  lt_str rest = lt_guest_view(guest, name, lt_box_size(guest->box) - (name < lt_box_size(guest->box) ? name : 0));
  u32 at = qjs_module_load_module(guest, lt_str_from(rest.p, strnlen(rest.p ? rest.p : "", rest.n)), len_at);
  LT_BOX_HOST_END(qjs_module_box_of(env));
  return at;
}

/* Programs run in UTC, or in the zone that the program was given, so that their output does not depend on the server.
 * The time is in seconds since 1970. */
u32 Z_envZ_host_get_timezone_offset(struct Z_env_instance_t *env, u32 hi, u32 lo) {
  LT_BOX_HOST_BEGIN(qjs_module_box_of(env));
  int64_t seconds = (int64_t)((uint64_t)hi << 32 | lo);
  int32_t offset_s = lt_time_zone_offset_s(qjs_module_guest_of(env)->time_zone, seconds);
  LT_BOX_HOST_END(qjs_module_box_of(env));
  return (u32)offset_s;
}

/* --- Imports: WASI ------------------------------------------------------------------------------------------------ */
/* errno values of wasi_snapshot_preview1: 0 success, 8 badf, 21 fault, 70 spipe. */
enum { WASI_OK = 0, WASI_BADF = 8, WASI_FAULT = 21, WASI_SPIPE = 70 };

typedef struct Z_wasi_snapshot_preview1_instance_t wasi_t;

static uint64_t qjs_module_clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The clocks of a blank box stand still, so that an image is the same in every build. A program's monotonic clock
 * continues from there, so that performance.now() begins near zero. */
static uint64_t qjs_module_guest_clock(lt_guest *guest, u32 id) {
  if (guest->box->image == NULL) {
    return LT_FREEZE_CLOCK_US * 1000;
  }
  bool told = guest->host != NULL && guest->host->now != NULL;
  if (id == 0 && !told) {
    return qjs_module_clock_ns(CLOCK_REALTIME);
  }
  uint64_t now = told ? guest->host->now(guest->host->arg) : qjs_module_clock_ns(CLOCK_MONOTONIC);
  if (id == 0) {
    return now;
  }
  if (guest->origin_ns == 0) {
    guest->origin_ns = now;
  }
  return guest->image_ns + (now - guest->origin_ns);
}

u32 Z_wasi_snapshot_preview1Z_clock_time_get(wasi_t *wasi, u32 id, u64 precision, u32 at) {
  (void)precision;
  LT_BOX_HOST_BEGIN((lt_box *)wasi);
  lt_guest *guest = ((lt_box *)wasi)->owner;
  uint64_t now = qjs_module_guest_clock(guest, id);
  u32 status = WASI_FAULT;
  if (lt_box_has(guest->box, at, sizeof now)) {
    memcpy(guest->box->memory + at, &now, sizeof now);
    status = WASI_OK;
  }
  LT_BOX_HOST_END((lt_box *)wasi);
  return status;
}

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
static uint8_t qjs_module_next_byte(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint8_t)(z >> 56);
}

static void qjs_module_fill_random(lt_guest *guest, u32 at, u32 n) {
  if (guest->box->image == NULL) {
    memset(guest->box->memory + at, 0x5a, n); /* an image must not depend on random numbers */
    return;
  }
  if (guest->random != 0) {
    for (u32 i = 0; i < n; i++) {
      guest->box->memory[at + i] = qjs_module_next_byte(&guest->random);
    }
    return;
  }
  (void)lt_random_fill(guest->box->memory + at, n);
}

u32 Z_wasi_snapshot_preview1Z_random_get(wasi_t *wasi, u32 at, u32 n) {
  LT_BOX_HOST_BEGIN((lt_box *)wasi);
  lt_guest *guest = ((lt_box *)wasi)->owner;
  u32 status = WASI_FAULT;
  if (lt_box_has(guest->box, at, n)) {
    qjs_module_fill_random(guest, at, n);
    status = WASI_OK;
  }
  LT_BOX_HOST_END((lt_box *)wasi);
  return status;
}

/* There are no files. Output of the engine's own C code (a failed assertion) is dropped. */
u32 Z_wasi_snapshot_preview1Z_fd_write(wasi_t *wasi, u32 fd, u32 iovs, u32 iovs_len, u32 written_at) {
  (void)wasi, (void)fd, (void)iovs, (void)iovs_len, (void)written_at;
  return WASI_BADF;
}

u32 Z_wasi_snapshot_preview1Z_fd_close(wasi_t *wasi, u32 fd) {
  (void)wasi, (void)fd;
  return WASI_BADF;
}

u32 Z_wasi_snapshot_preview1Z_fd_seek(wasi_t *wasi, u32 fd, u64 offset, u32 whence, u32 at) {
  (void)wasi, (void)fd, (void)offset, (void)whence, (void)at;
  return WASI_SPIPE;
}

u32 Z_wasi_snapshot_preview1Z_fd_fdstat_get(wasi_t *wasi, u32 fd, u32 at) {
  (void)wasi, (void)fd, (void)at;
  return WASI_BADF;
}
