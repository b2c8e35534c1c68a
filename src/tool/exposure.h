/* Where a tool can be called from: the rules of `tools.expose`. Pure. */
#ifndef LT_TOOL_EXPOSURE_H
#define LT_TOOL_EXPOSURE_H

#include <stddef.h>

#include "base/str.h"

typedef enum lt_exposure {
  LT_EXPOSURE_CODE,   /* programs call it */
  LT_EXPOSURE_DIRECT, /* models call it one by one, and clients of the gateway */
  LT_EXPOSURE_BOTH,
  LT_EXPOSURE_HIDDEN, /* nobody sees it */
} lt_exposure;

typedef struct lt_exposure_rule {
  lt_str match; /* glob on tool ids, as in the policy */
  lt_exposure as;
} lt_exposure_rule;

/* What the first rule that matches "<ns>.<name>" says; CODE where none does. `ns` may be empty: the id is the name. */
lt_exposure lt_exposure_of(const lt_exposure_rule *rules, size_t count, lt_str ns, lt_str name);

#endif
