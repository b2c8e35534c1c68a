/* Opens shared libraries when they are first needed, so that a start of `lathe` does not pay for unused ones. */
#ifndef LT_IO_SYMBOLS_H
#define LT_IO_SYMBOLS_H

#include <stddef.h>

#include "base/err.h"

/* A function, and the offset of its pointer in a table of function pointers. */
typedef struct lt_symbol {
  const char *name;
  size_t place; /* offsetof */
} lt_symbol;

/* Opens the library and fills the table. The library stays open; one call per library is enough. Any thread. Errors:
 * LT_E_UNSUPPORTED; the message names the missing library or function. */
lt_status lt_symbols_open(const char *file, const lt_symbol *functions, size_t count, void *table, lt_err *err);

#endif
