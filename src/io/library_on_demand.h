/* Shared libraries that are opened when they are first needed, so that a start of `lathe` does not pay for unused ones.
 */
#ifndef LT_IO_LIBRARY_ON_DEMAND_H
#define LT_IO_LIBRARY_ON_DEMAND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A function, and the offset of its pointer in a table of function pointers. */
typedef struct lt_symbol {
  const char *name;
  size_t place; /* offsetof */
} lt_symbol;

/* Static. The lock begins as PTHREAD_MUTEX_INITIALIZER. */
typedef struct lt_library {
  const char *file;       /* "libcurl.so.4" */
  const char *needed_for; /* how the message begins when it cannot be used: "HTTP needs libcurl" */
  const char *package;    /* Debian's */
  const lt_symbol *functions;
  size_t count;
  void *table;                    /* of pointers to them */
  lt_status (*init)(lt_err *err); /* the library's own, once it is there; may be NULL */
  pthread_mutex_t lock;
  bool is_open;
} lt_library;

/* Opens the library and fills the table, unless that is done. The library stays open. Any thread. Errors:
 * LT_E_UNSUPPORTED, with the package to install; it is tried again the next time. */
lt_status lt_library_open(lt_library *library, lt_err *err);

#endif
