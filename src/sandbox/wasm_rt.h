/* Our runtime support for code translated by wasm2c: the functions wabt's <wasm-rt.h> declares, without its globals.
 *
 * The box under construction places the instance's memory and table. Traps go to the running box (box_trap.c).
 */
#ifndef LT_SANDBOX_WASM_RT_H
#define LT_SANDBOX_WASM_RT_H

#include <stdbool.h>

#include "sandbox/wasm_module.h"

struct lt_box;

/* The instance that all boxes of images copy, with the table that they share: no memory belongs to it. It is made by
 * the first call, one module per process, and stays. Any thread. */
const void *lt_wasm_rt_template(const lt_module *module);

/* Makes an instance whose memory is at `memory`: address space that is reserved already and mapped here as far as the
 * module's initial size. Its table is allocated (lt_mem_free). One at a time per process. False: no memory. For
 * building images; boxes copy the template. */
bool lt_wasm_rt_instantiate(const lt_module *module, void *instance, struct lt_box *box, uint8_t *memory);

/* Rounding, as the functions of libm without `wasm_rt_`: the translated code calls these (ENGINE_CFLAGS). */
double wasm_rt_floor(double x) __attribute__((const));
double wasm_rt_ceil(double x) __attribute__((const));
double wasm_rt_trunc(double x) __attribute__((const));
double wasm_rt_nearbyint(double x) __attribute__((const));

#endif
