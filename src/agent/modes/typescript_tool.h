/* The one tool of TypeScript mode, as its model is shown it; internal to agent/.
 *
 * Pure text of a catalog: the same tools give the same bytes. The declarations of all tools are in its description
 * while they take at most LT_TYPESCRIPT_TOKENS; with more tools their names, by namespace; with still more how many
 * there are; a program finds the rest with discoverTools and toolSchema.
 */
#ifndef LT_AGENT_MODES_TYPESCRIPT_TOOL_H
#define LT_AGENT_MODES_TYPESCRIPT_TOOL_H

#include "runner/runner.h"
#include "tool/catalog.h"

#define LT_TYPESCRIPT_TOOL "execute_typescript"

/* Appends the description. `world`: its functions and modules are listed. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_typescript_tool_describe(const lt_catalog *catalog, const lt_run_request *world, size_t max_tokens,
                                      lt_buf *out, lt_err *err);
/* Appends its definition, in an array, as the API takes it. Errors: the same. */
lt_status lt_typescript_tool_define(const lt_catalog *catalog, const lt_run_request *world, size_t max_tokens,
                                    lt_buf *out, lt_err *err);

#endif
