#include "gateway/gateway_session.h"

#include <ctype.h>
#include <string.h>

#include "base/limits.h"

static bool gateway_session_is_name(lt_str name) {
  for (size_t i = 0; i < name.n; i++) {
    unsigned char c = (unsigned char)name.p[i];
    if (c >= 0x80 || (!isalnum(c) && strchr("._-", c) == NULL) || c == '\0') {
      return false;
    }
  }
  return name.n > 0 && name.n <= LT_SESSION_NAME_BYTES;
}

lt_status lt_gateway_session_read(lt_json arguments, lt_arena *arena, lt_str language, lt_str *ret_name, lt_err *err) {
  lt_json session = lt_json_get(arguments, "session");
  *ret_name = LT_STR_NULL;
  if (!lt_json_exists(session) || lt_json_typeof(session) == LT_JSON_NULL || lt_json_str_eq(session, LT_STR(""))) {
    return LT_OK;
  }
  if (!lt_json_str(session, arena, ret_name) || !gateway_session_is_name(*ret_name)) {
    return lt_fail(err, LT_E_INVALID, "session: expected a name of 1 to %d letters, digits, \".\", \"_\" and \"-\"",
                   LT_SESSION_NAME_BYTES);
  }
  if (lt_str_eqc(language, "python")) {
    return lt_fail(
        err, LT_E_INVALID,
        "session: Python programs keep nothing from one call to the next: leave it out, or write JavaScript");
  }
  return LT_OK;
}
