/* lathe tools --policy: which rule holds for each tool, for people and as JSON. */
#ifndef LT_CLI_TOOLS_POLICY_H
#define LT_CLI_TOOLS_POLICY_H

#include "tool/catalog.h"
#include "tool/policy/policy.h"

/* Appends the report on these tools. `policy` may be NULL: no rules. Errors: LT_E_NOMEM, LT_E_LIMIT. */
lt_status lt_tools_policy_report(const lt_policy *policy, const lt_tool *const *tools, size_t count, bool as_json,
                                 lt_buf *out, lt_err *err);

#endif
