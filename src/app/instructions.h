/* What models are told beside their mode: `instructions` of the configuration, AGENTS.md of the folder and of those
 * above it, and --system.
 *
 * A file that lies in a folder is its owner's word, not the person's: it counts once the person has trusted it, by path
 * and content, in the list that configurations have (app/trust.h). The functions block the thread: use them before the
 * loop starts.
 */
#ifndef LT_APP_INSTRUCTIONS_H
#define LT_APP_INSTRUCTIONS_H

#include "app/report.h"
#include "base/arena.h"
#include "config/config.h"

/* Whether a file of this path is one of instructions, by its name: AGENTS.md, CLAUDE.md. */
bool lt_instructions_is_file(const char *path);
/* Reads such a file: its path, its hash and its text. Errors: LT_E_NOTFOUND, LT_E_CONFIG, LT_E_LIMIT (it is too long),
 * LT_E_NOMEM. Owns: the arena. */
lt_status lt_instructions_inspect(const char *path, lt_arena *arena, lt_config_file *ret_file, lt_str *ret_text,
                                  lt_err *err);

/* Appends the instructions, or nothing. `system`: of the command line, may be empty. A file that is not trusted is
 * reported as a warning that says how to trust it, and so is one that cannot be used or is too long. Errors: LT_E_LIMIT
 * (all of it is too long), LT_E_NOMEM. */
lt_status lt_instructions_put(const lt_config *config, lt_str system, const lt_report *report, lt_buf *out,
                              lt_err *err);

#endif
