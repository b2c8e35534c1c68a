/* The definitions of the two tools of mode codex, `exec` and `wait`. Internal to agent/.
 *
 * The same catalog gives the same bytes. The description of `exec` has the declarations of all tools while they take at
 * most LT_TYPESCRIPT_TOKENS; of the others, programs find names and descriptions in ALL_TOOLS. */
#ifndef LT_AGENT_MODES_CODEX_TOOL_H
#define LT_AGENT_MODES_CODEX_TOOL_H

#include "model/model.h"
#include "runner/run_request.h"
#include "tool/catalog.h"

#define LT_CODEX_EXEC "exec"
#define LT_CODEX_WAIT "wait"

extern const lt_freeform_tool lt_codex_freeform;

/* Appends the definitions, a JSON array. `world`: the modules of programs. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_codex_tool_define(const lt_catalog *catalog, const lt_run_request *world, size_t max_tokens, lt_buf *out,
                               lt_err *err);

#endif
