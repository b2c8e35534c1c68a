#include "store/sqlite/sqlite_open.h"

#include <pthread.h>

#include "io/symbols.h"

lt_sqlite_functions lt_sqlite;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lt_err failure; /* why the library cannot be used */

static const lt_symbol functions[] = {
#define LT_SQLITE_ENTRY(name) {"sqlite3_" #name, offsetof(lt_sqlite_functions, name)},
    LT_SQLITE_FUNCTIONS(LT_SQLITE_ENTRY)
#undef LT_SQLITE_ENTRY
};

static void sqlite_open_load(void) {
  (void)lt_symbols_open("libsqlite3.so.0", functions, sizeof functions / sizeof functions[0], &lt_sqlite, &failure);
}

lt_status lt_sqlite_open(lt_err *err) {
  pthread_once(&once, sqlite_open_load);
  return failure.status == LT_OK
             ? LT_OK
             : lt_fail(err, LT_E_UNSUPPORTED,
                       "a database needs SQLite, which cannot be used (%s): install it (Debian package libsqlite3-0)",
                       lt_err_msg(&failure));
}
