#include "sandbox/wasm_rt.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "sandbox/box.h"
#include "sandbox/box_trap.h"

#define REFUSALS      2    /* the guest's malloc asks twice before it fails: the spare room is for what follows */
#define TABLE_MAX     1024 /* functions called by pointer: QuickJS has 532 */
#define TYPES_MAX     256
#define TYPE_SLOTS    1024 /* a power of two */
#define TYPE_ARGS_MAX 32
#define TEMPLATE_MAX  256 /* bytes of an instance: QuickJS has 88 */

/* The places of the memory and the table of the instance under construction; valid under the lock. The translated code
 * cannot handle a failure in the middle, so everything that can fail is done before. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *making_memory;
static wasm_rt_funcref_t *making_table;

const void *lt_wasm_rt_template(const lt_module *module) {
  static wasm_rt_funcref_t table[TABLE_MAX];
  static _Alignas(max_align_t) uint8_t instance[TEMPLATE_MAX];
  static const lt_module *made;
  pthread_mutex_lock(&making);
  if (made == NULL) {
    LT_CHECK(module->instance_size <= sizeof instance);
    module->memory(instance)->data = instance; /* it has one: none is filled (scripts/generate.mk) */
    making_table = table;
    module->instantiate(instance, NULL);
    made = module;
  }
  pthread_mutex_unlock(&making);
  LT_CHECK(made == module);
  return instance;
}

bool lt_wasm_rt_instantiate(const lt_module *module, void *instance, lt_box *box, uint8_t *memory) {
  LT_CHECK((uint8_t *)instance + module->instance_size == memory); /* the translated code relies on it */
  wasm_rt_funcref_t *table = lt_mem_zalloc(TABLE_MAX, sizeof *table);
  if (table == NULL) {
    return false;
  }
  pthread_mutex_lock(&making);
  making_memory = memory;
  making_table = table;
  module->instantiate(instance, box);
  making_memory = NULL;
  LT_CHECK(making_table == NULL); /* the instance has taken them */
  pthread_mutex_unlock(&making);
  return true;
}

void wasm_rt_init(void) {
}

bool wasm_rt_is_initialized(void) {
  return true;
}

void wasm_rt_free(void) {
}

void wasm_rt_allocate_memory(wasm_rt_memory_t *memory, uint32_t initial_pages, uint32_t max_pages) {
  size_t bytes = (size_t)initial_pages * LT_WASM_PAGE;
  LT_CHECK(making_memory != NULL);
  LT_CHECK(mprotect(making_memory, bytes, PROT_READ | PROT_WRITE) == 0);
  memory->data = making_memory;
  memory->pages = initial_pages;
  memory->max_pages = max_pages;
  memory->size = (uint32_t)bytes;
}

void wasm_rt_free_memory(wasm_rt_memory_t *memory) {
  (void)memory; /* the box unmaps it */
}

/* memory.grow (WebAssembly core specification, 4.4.7): the old size in pages, or -1. */
uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *memory, uint32_t delta) {
  lt_box *box = lt_box_trap_running_box();
  uint64_t pages = (uint64_t)memory->pages + delta;
  if (box == NULL) {
    return UINT32_MAX;
  }
  uint32_t spare = box->refused >= REFUSALS ? LT_BOX_SPARE_BYTES / LT_WASM_PAGE : 0;
  if (pages > box->max_pages + spare) {
    box->refused++;
    return UINT32_MAX;
  }
  uint32_t old = memory->pages;
  if (delta > 0) {
    size_t bytes = (size_t)delta * LT_WASM_PAGE;
    if (mprotect(memory->data + memory->size, bytes, PROT_READ | PROT_WRITE) != 0) {
      return UINT32_MAX;
    }
    memory->pages = (uint32_t)pages;
    memory->size = (uint32_t)(pages * LT_WASM_PAGE);
    box->has_grown = true;
  }
  return old;
}

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *table, uint32_t elements, uint32_t max_elements) {
  LT_CHECK(making_table != NULL && elements <= TABLE_MAX);
  table->data = making_table;
  making_table = NULL;
  table->size = elements;
  table->max_size = max_elements;
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t *table) {
  lt_mem_free(table->data);
  table->data = NULL;
}

/* --- Function types: equal signatures get equal numbers ----------------------------------------------------------- */
typedef struct wasm_func_type {
  uint32_t params;
  uint32_t results;
  uint8_t types[TYPE_ARGS_MAX];
} wasm_func_type;

static wasm_func_type func_types[TYPES_MAX];
static uint32_t func_type_count;
static uint16_t func_type_slots[TYPE_SLOTS]; /* numbers of types by their hash, or beside it; 0: free */

/* FNV-1a, of the whole signature. */
static uint32_t wasm_rt_hash_type(const wasm_func_type *type) {
  uint32_t hash = (2166136261u ^ type->params) * 16777619u;
  for (uint32_t i = 0; i < type->params + type->results; i++) {
    hash = (hash ^ type->types[i]) * 16777619u;
  }
  return hash;
}

static bool wasm_rt_same_type(const wasm_func_type *a, const wasm_func_type *b) {
  return a->params == b->params && a->results == b->results && memcmp(a->types, b->types, a->params + a->results) == 0;
}

uint32_t wasm_rt_register_func_type(uint32_t params, uint32_t results, ...) {
  LT_CHECK(params + results <= TYPE_ARGS_MAX);
  wasm_func_type type = {.params = params, .results = results};
  va_list args;
  va_start(args, results);
  for (uint32_t i = 0; i < params + results; i++) {
    type.types[i] = (uint8_t)va_arg(args, int);
  }
  va_end(args);
  uint16_t *slot = &func_type_slots[wasm_rt_hash_type(&type) % TYPE_SLOTS];
  while (*slot != 0 && !wasm_rt_same_type(&func_types[*slot - 1], &type)) {
    slot = slot < func_type_slots + TYPE_SLOTS - 1 ? slot + 1 : func_type_slots;
  }
  if (*slot == 0) {
    LT_CHECK(func_type_count < TYPES_MAX);
    func_types[func_type_count++] = type;
    *slot = (uint16_t)func_type_count;
  }
  return *slot;
}

/* --- Rounding ----------------------------------------------------------------------------------------------------- */
#define NO_FRACTION 4503599627370496.0 /* 2^52: no double from here on has a fraction; nor is NaN below it */

double wasm_rt_trunc(double x) {
  return fabs(x) < NO_FRACTION ? copysign((double)(int64_t)x, x) : x;
}

double wasm_rt_floor(double x) {
  double whole = wasm_rt_trunc(x);
  return whole > x ? whole - 1 : whole;
}

double wasm_rt_ceil(double x) {
  double whole = wasm_rt_trunc(x);
  return whole < x ? copysign(whole + 1, x) : whole;
}

/* To the even one of two that are as near: the sum has no room for a fraction. */
double wasm_rt_nearbyint(double x) {
  return fabs(x) < NO_FRACTION ? copysign(fabs(x) + NO_FRACTION - NO_FRACTION, x) : x;
}

/* --- Traps -------------------------------------------------------------------------------------------------------- */
static lt_trap wasm_rt_trap_of(wasm_rt_trap_t code) {
  switch (code) {
    case WASM_RT_TRAP_OOB:
      return LT_TRAP_MEMORY;
    case WASM_RT_TRAP_INT_OVERFLOW:
    case WASM_RT_TRAP_DIV_BY_ZERO:
    case WASM_RT_TRAP_INVALID_CONVERSION:
      return LT_TRAP_ARITHMETIC;
    case WASM_RT_TRAP_CALL_INDIRECT:
      return LT_TRAP_CALL;
    case WASM_RT_TRAP_EXHAUSTION:
      return LT_TRAP_STACK;
    case WASM_RT_TRAP_NONE:
    case WASM_RT_TRAP_UNREACHABLE:
    case WASM_RT_TRAP_UNCAUGHT_EXCEPTION:
      break;
  }
  return LT_TRAP_UNREACHABLE;
}

void wasm_rt_trap(wasm_rt_trap_t code) {
  lt_box_trap_unwind(lt_box_trap_running_box(), wasm_rt_trap_of(code));
}
