#include "tool/exposure.h"

#include "base/buf.h"
#include "base/limits.h"
#include "tool/policy/policy_text.h"

/* An id that is too long for a glob to be asked about is what a broken server sends: nobody gets to see it. */
lt_exposure lt_exposure_of(const lt_exposure_rule *rules, size_t count, lt_str ns, lt_str name) {
  if (count == 0) {
    return LT_EXPOSURE_CODE;
  }
  LT_AUTO_BUF(id, LT_MIB);
  lt_buf_add(&id, ns);
  lt_buf_addc(&id, ns.n > 0 ? "." : "");
  lt_buf_add(&id, name);
  if (id.status != LT_OK) {
    return LT_EXPOSURE_HIDDEN;
  }
  for (size_t i = 0; i < count; i++) {
    if (lt_policy_glob(rules[i].match, lt_buf_view(&id))) {
      return rules[i].as;
    }
  }
  return LT_EXPOSURE_CODE;
}
