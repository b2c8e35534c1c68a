#include "io/edit_open.h"

#include <stdbool.h>

#include "io/symbols.h"

static const lt_symbol functions[] = {
#define LT_EDIT_ENTRY(name) {#name, offsetof(lt_edit, name)},
    LT_EDIT_FUNCTIONS(LT_EDIT_ENTRY)
#undef LT_EDIT_ENTRY
};

lt_status lt_edit_open(const lt_edit **ret_edit, lt_err *err) {
  static lt_edit edit;
  static bool loaded;
  if (!loaded) {
    lt_err why = LT_ERR_INIT;
    if (lt_symbols_open("libedit.so.2", functions, sizeof functions / sizeof functions[0], &edit, &why) != LT_OK) {
      return lt_fail(err, LT_E_UNSUPPORTED,
                     "editing lines needs libedit, which cannot be used (%s): install it (Debian package libedit2)",
                     lt_err_msg(&why));
    }
    loaded = true;
  }
  *ret_edit = &edit;
  return LT_OK;
}
