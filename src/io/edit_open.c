#include "io/edit_open.h"

#include "io/library_on_demand.h"

static lt_edit edit;

static const lt_symbol functions[] = {
#define LT_EDIT_ENTRY(name) {#name, offsetof(lt_edit, name)},
    LT_EDIT_FUNCTIONS(LT_EDIT_ENTRY)
#undef LT_EDIT_ENTRY
};

static lt_library library = {
    .file = "libedit.so.2",
    .needed_for = "editing lines needs libedit",
    .package = "libedit2",
    .functions = functions,
    .count = sizeof functions / sizeof functions[0],
    .table = &edit,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

lt_status lt_edit_open(const lt_edit **ret_edit, lt_err *err) {
  LT_TRY(lt_library_open(&library, err));
  *ret_edit = &edit;
  return LT_OK;
}
