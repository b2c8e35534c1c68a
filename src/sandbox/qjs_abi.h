/* The names of the translated engine, in one place: another wabt or another quickjs-wasi is a change here.
 *
 * wabt 1.0.32 calls the export `f` of module `qjs` Z_qjsZ_f and the import `env.f` Z_envZ_f. The imports' instance
 * pointers are ours to choose: both are the lt_box.
 */
#ifndef LT_SANDBOX_QJS_ABI_H
#define LT_SANDBOX_QJS_ABI_H

#include <stdint.h>

#include "base/fiber.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <qjs.h>
#pragma GCC diagnostic pop

/* Instead of Z_envZ_host_call (scripts/engine-rewrite.mjs): a host function is called by its letter, with `argc` values
 * at `argv`. Returns its value, or an exception. */
uint64_t Z_envZ_host_function(struct Z_env_instance_t *env, uint32_t letter, uint32_t argc, uint32_t argv) LT_YIELDS;

/* Called before each allocation of the engine, of `bytes` from `runtime`; NULL except while an image is built
 * (block_order.h). Defined by scripts/engine-rewrite.mjs. */
extern void (*Z_qjs_before_block)(Z_qjs_instance_t *q, uint32_t runtime, uint32_t bytes);

/* quickjs.c, JSString: a word with the length and QJS_STRING_IS_WIDE, a word with QJS_STRING_KINDS (0: the characters
 * are here), ..., the characters. */
#define QJS_STRING_IS_WIDE    (1u << 31)
#define QJS_STRING_KINDS      (3u << 28)
#define QJS_STRING_CHARACTERS 24u

/* quickjs.c, JSContext: the polls' counter, which begins with JS_INTERRUPT_COUNTER_INIT. */
#define QJS_CONTEXT_POLL 292u
#define QJS_POLL_AFTER   10000

/* quickjs.h, JS_EVAL_*. */
#define QJS_EVAL_MODULE  1u
#define QJS_EVAL_COMPILE (1u << 5)
#define QJS_EVAL_ASYNC   (1u << 7)
/* JS_WRITE_OBJ_*, JS_READ_OBJ_*. */
#define QJS_WRITE_BYTECODE     1u
#define QJS_WRITE_STRIP_SOURCE (1u << 4)
#define QJS_READ_BYTECODE      1u

/* JS_CLASS_OBJECT; JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY; JS_PROP_TMASK: other than 0 for what is not data. */
#define QJS_CLASS_OBJECT     1u
#define QJS_NAMES_ENUMERABLE 0x11u
#define QJS_PROP_KINDS       0x30u

/* JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE. */
#define QJS_PROP_HIDDEN 3u

#endif
