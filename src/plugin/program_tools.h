/* Saved programs (store/store_programs.h) as tools of the namespace "programs", and as modules "programs/NAME".
 *
 * They are read once, when they are opened; a later version is there for the next process. A run that is repeated by
 * its record goes on with the version that it began with. Loop thread only.
 */
#ifndef LT_PLUGIN_PROGRAM_TOOLS_H
#define LT_PLUGIN_PROGRAM_TOOLS_H

#include "plugin/host.h"

typedef struct lt_program_tools lt_program_tools;

/* Reads the programs, where any were ever saved, and gives them to the door. LT_YIELDS. Errors: LT_E_INVALID (another
 * provider has the namespace), the store's. `ret_tools` is NULL when there are none. Borrows `host` and what is in
 * `options`. Owns: the caller, lt_program_tools_close. */
lt_status lt_program_tools_open(lt_host *host, const lt_host_options *options, lt_program_tools **ret_tools,
                                lt_err *err) LT_YIELDS;
/* Takes them from the door. No call may be open. NULL is allowed. */
void lt_program_tools_close(lt_program_tools *tools);
/* The modules, in the order of their names. Borrows: until the close. NULL is allowed. */
const lt_run_module *lt_program_tools_modules(const lt_program_tools *tools, size_t *ret_count);

#endif
