/* Describes a module translated by wasm2c to the box: how to make an instance, and where its parts are. */
#ifndef LT_SANDBOX_WASM_MODULE_H
#define LT_SANDBOX_WASM_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include <wasm-rt.h>

struct lt_box;

typedef struct lt_module {
  const char *name;
  size_t instance_size;
  /* Makes the instance in `instance`, calling wasm_rt_allocate_memory and ..._table on the way. `box` is what the
   * module's imports will be handed. */
  void (*instantiate)(void *instance, struct lt_box *box);
  /* Hands a copied instance to another box. */
  void (*rebind)(void *instance, struct lt_box *box);
  wasm_rt_memory_t *(*memory)(void *instance);
  wasm_rt_funcref_table_t *(*table)(void *instance);
  uint32_t *(*stack_pointer)(void *instance);
} lt_module;

/* QuickJS (quickjs-wasi). */
extern const lt_module lt_qjs_module;

#endif
