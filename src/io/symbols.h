/* Shared libraries that are opened when they are first needed: starting `lathe` pays nothing for those it does not use.
 */
#ifndef LT_IO_SYMBOLS_H
#define LT_IO_SYMBOLS_H

#include <stddef.h>

#include "base/err.h"

/* A function, and where its address goes in a table of pointers to functions. */
typedef struct lt_symbol {
  const char *name;
  size_t place; /* offsetof */
} lt_symbol;

/* Opens the library for the rest of the process and fills the table. Any thread; once per library is enough.
 * LT_E_UNSUPPORTED: it is not there, or has no such function; the message says which. */
lt_status lt_symbols_open(const char *file, const lt_symbol *functions, size_t count, void *table, lt_err *err);

#endif
