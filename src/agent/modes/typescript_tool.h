/* The definition of TypeScript mode's only tool. Internal to agent/.
 *
 * The text depends only on the catalog: the same tools give the same bytes. The description has the declarations of all
 * tools while they take at most LT_TYPESCRIPT_TOKENS. With more tools it has their names by namespace; with still more,
 * only their number. A program finds the rest with discoverTools and toolSchema.
 */
#ifndef LT_AGENT_MODES_TYPESCRIPT_TOOL_H
#define LT_AGENT_MODES_TYPESCRIPT_TOOL_H

#include "runner/runner.h"
#include "tool/catalog.h"

#define LT_TYPESCRIPT_TOOL "execute_typescript"

/* Appends the description. It also lists the functions and modules of `world`. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_typescript_tool_describe(const lt_catalog *catalog, const lt_run_request *world, size_t max_tokens,
                                      lt_buf *out, lt_err *err);
/* Appends the tool's definition in a JSON array, in the form of the API. Errors: the same. */
lt_status lt_typescript_tool_define(const lt_catalog *catalog, const lt_run_request *world, size_t max_tokens,
                                    lt_buf *out, lt_err *err);

/* Puts a line with the names of the modules that programs can import. Nothing when there are none. Mode codex has it,
 * too. */
void lt_typescript_tool_put_modules(const lt_run_request *world, lt_buf *out);

#endif
