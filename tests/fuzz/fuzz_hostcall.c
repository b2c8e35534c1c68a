/* The imports of the box, called as a guest that has gone mad would call them: wild pointers, lengths and values.
 *
 * The input is laid into the guest's memory; then each six words of it are one call. Whatever happens may happen inside
 * the box, and nowhere else: AddressSanitizer watches the host. */
#include <stdlib.h>
#include <string.h>

#include "fakes/fake_host.h"
#include "fuzz/watchdog.h"
#include "sandbox/guest.h"
#include "sandbox/qjs_abi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LAID_AT = 8192, LAID_MAX = 16384, CALLS_MAX = 32, POLLS_MAX = 50, ARGS = 12, ARGS_AT = LAID_AT - 8 * ARGS };

typedef struct madness {
  lt_box *box;
  const uint8_t *data;
  size_t size;
} madness;

static lt_image image;
static fake_host world;

static void open_world(void) {
  watch_init();
  if (lt_image_open_built_in(&image, LT_IMAGE_BASE, NULL) != LT_OK) {
    abort();
  }
  fake_host_init(&world);
}

/* Half of all numbers point into what was laid out, so that calls get past the first check. */
static uint32_t word(const madness *m, size_t i) {
  uint32_t n = 0;
  if (i * 4 + 4 <= m->size) {
    memcpy(&n, m->data + i * 4, sizeof n);
  }
  return (n & 1) != 0 ? LAID_AT + (n >> 1) % LAID_MAX : n;
}

/* What is at `at` in the guest's memory; zeros when nothing is. */
static uint64_t laid(const madness *m, uint32_t at, uint32_t bytes) {
  uint64_t found = 0;
  if (lt_box_has(m->box, at, bytes)) {
    memcpy(&found, m->box->memory + at, bytes);
  }
  return found;
}

/* Arguments whose addresses are at `list`, one after the other. */
static uint32_t gather(const madness *m, uint32_t list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint64_t value = laid(m, (uint32_t)laid(m, list + 4 * i, 4), 8);
    memcpy(m->box->memory + ARGS_AT + 8 * i, &value, sizeof value);
  }
  return ARGS_AT;
}

static void call_import(madness *m, size_t at) {
  struct Z_env_instance_t *env = (struct Z_env_instance_t *)m->box;
  struct Z_wasi_snapshot_preview1_instance_t *wasi = (struct Z_wasi_snapshot_preview1_instance_t *)m->box;
  uint32_t a = word(m, at + 1), b = word(m, at + 2), d = word(m, at + 4), e = word(m, at + 5);
  switch (m->data[at * 4] % 8) {
    case 0:
    case 1:
      Z_envZ_host_function(env, (uint8_t)laid(m, a, 1), d % ARGS, gather(m, e, d % ARGS));
      break;
    case 2:
      Z_envZ_host_function(env, (uint8_t)laid(m, a, 1), d, e);
      break;
    case 3:
      Z_envZ_host_promise_rejection(env, a, b, word(m, at + 3) & 1);
      break;
    case 4:
      Z_envZ_host_module_normalize(env, a, b);
      break;
    case 5:
      Z_envZ_host_module_load(env, a, b);
      break;
    case 6:
      Z_wasi_snapshot_preview1Z_random_get(wasi, a, b);
      break;
    default:
      Z_wasi_snapshot_preview1Z_clock_time_get(wasi, a, 0, b);
      break;
  }
}

static void go_mad(void *arg) {
  madness *m = arg;
  lt_guest guest;
  lt_guest_init(&guest, m->box, &world.host);
  memcpy(m->box->memory + LAID_AT, m->data, m->size < LAID_MAX ? m->size : LAID_MAX);
  for (size_t call = 0; call < CALLS_MAX && (call + 1) * 24 <= m->size; call++) {
    LT_BOX_ENTER(m->box, call_import(m, call * 6));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  madness m = {.data = data, .size = size};
  if (image.module == NULL) {
    open_world();
  }
  if (size < 24 || lt_box_new(&image, &m.box, NULL) != LT_OK) {
    return 0;
  }
  fake_host_clear(&world);
  world.polls = 0;
  world.stop_at_poll = POLLS_MAX;
  watch_begin(m.box);
  lt_fiber fiber;
  lt_fiber_init(&fiber, m.box->stack, lt_box_stack_bytes(m.box), go_mad, &m);
  while (lt_fiber_resume(&fiber)) {
  }
  lt_fiber_release(&fiber);
  watch_end(m.box);
  lt_box_free(m.box);
  return 0;
}
