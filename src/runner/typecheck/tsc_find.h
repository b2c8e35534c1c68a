/* Finds TypeScript's compiler, version 7: a native program. */
#ifndef LT_RUNNER_TYPECHECK_TSC_FIND_H
#define LT_RUNNER_TYPECHECK_TSC_FIND_H

/* `configured`: typescript.path, or NULL. NULL: there is none. Owns: the caller, lt_mem_free. */
char *lt_tsc_find(const char *configured);

#endif
