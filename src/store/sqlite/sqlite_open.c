#include "store/sqlite/sqlite_open.h"

#include "io/library_on_demand.h"
#include "store/store.h"

lt_sqlite_functions lt_sqlite;

static const lt_symbol functions[] = {
#define LT_SQLITE_ENTRY(name) {"sqlite3_" #name, offsetof(lt_sqlite_functions, name)},
    LT_SQLITE_FUNCTIONS(LT_SQLITE_ENTRY)
#undef LT_SQLITE_ENTRY
};

static bool is_process_own;

void lt_store_set_process_own(void) {
  is_process_own = true;
}

static lt_status sqlite_open_init(lt_err *err) {
  (void)err;
  if (is_process_own) {
    (void)lt_sqlite.config(SQLITE_CONFIG_MEMSTATUS, 0);
  }
  return LT_OK;
}

static lt_library library = {
    .file = "libsqlite3.so.0",
    .needed_for = "a database needs SQLite",
    .package = "libsqlite3-0",
    .functions = functions,
    .count = sizeof functions / sizeof functions[0],
    .table = &lt_sqlite,
    .init = sqlite_open_init,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

lt_status lt_sqlite_open(lt_err *err) {
  return lt_library_open(&library, err);
}
