/* Where lathe-exec is, through which the library starts its children. */
#ifndef LT_EMBED_EMBED_HELPER_H
#define LT_EMBED_EMBED_HELPER_H

#include "base/err.h"

/* `named` is the host's choice; NULL: beside the library (or, of liblathe.a, the program), else in libexec/lathe in a
 * folder above it. Where none is, *ret_path is the first of them: the start of a child says that it is not there.
 * Errors: LT_E_INVALID: there is no program of the name that was given; LT_E_NOMEM. Owns: the caller, lt_mem_free. */
lt_status lt_embed_helper_find(const char *named, char **ret_path, lt_err *err);

#endif
