/* Saved programs (store/store_programs.h) as tools of the namespace "programs", and as modules "programs/NAME".
 *
 * They are read when they are opened, and again after each save here; what other processes save is there for the next
 * process. A run that is repeated by its record goes on with the version that it began with. A user other than
 * LT_SAVED_FOR_ALL has its own programs as tools, beside everybody's; where both have a name, it is everybody's. Loop
 * thread only.
 */
#ifndef LT_PLUGIN_PROGRAM_TOOLS_H
#define LT_PLUGIN_PROGRAM_TOOLS_H

#include "plugin/host.h"

typedef struct lt_program_tools lt_program_tools;

/* Reads everybody's programs, where any were ever saved, and gives them to the door; with `may_save` the tool
 * LT_SAVE_TOOL as well. LT_YIELDS. Errors: LT_E_INVALID (another provider has the namespace), the store's. `ret_tools`
 * is NULL when there are none. Borrows `host` and what is in `options`. Owns: the caller, lt_program_tools_close. */
lt_status lt_program_tools_open(lt_host *host, const lt_host_options *options, bool may_save,
                                lt_program_tools **ret_tools, lt_err *err) LT_YIELDS;
/* Takes them from the door. No call may be open. NULL is allowed. */
void lt_program_tools_close(lt_program_tools *tools);
/* Everybody's programs as modules, in the order of their names: those that were there at the opening. Borrows: until
 * the close. NULL is allowed. */
const lt_run_module *lt_program_tools_modules(const lt_program_tools *tools, size_t *ret_count);
/* The programs of this user alone, for its prompts; `ret_source` has no tools where there are none. The texts are in
 * `arena`. NULL is allowed. LT_YIELDS. Errors: the store's, LT_E_NOMEM. */
lt_status lt_program_tools_of_user(lt_program_tools *tools, lt_str user, lt_arena *arena, lt_catalog_source *ret_source,
                                   lt_err *err) LT_YIELDS;

#endif
