/* Errors and structs across the border of the library (lathe.h). */
#ifndef LT_EMBED_EMBED_ERROR_H
#define LT_EMBED_EMBED_ERROR_H

#include "base/err.h"
#include "base/str.h"
#include "lathe.h"
#include "runner/lang.h"

/* The status that a host is told. */
lathe_status lt_embed_error_status(lt_status status);
/* Writes the error into the host's struct (which may be NULL) and returns its status; LATHE_OK changes nothing. */
lathe_status lt_embed_error_tell(lt_status status, const lt_err *err, lathe_error *error);
/* The same with a status that only the library has. */
lathe_status lt_embed_error_put(lathe_status status, const char *message, lathe_error *error);

/* The bytes of a struct up to, and with, a member: what its first version had. */
#define LT_EMBED_BYTES_TO(type, member) (offsetof(type, member) + sizeof(((type *)NULL)->member))

/* Copies a host's struct, which begins with its size, into one of `size` bytes, in which members that are missing are
 * 0. `least` is the size of its first version. Errors: LT_E_INVALID: no such size; LT_E_UNSUPPORTED: it has a member
 * that this library does not know. */
lt_status lt_embed_error_take_struct(const void *theirs, size_t least, size_t size, void *ret_ours, const char *name,
                                     lt_err *err);

/* A text of the host that is there. Errors: LT_E_INVALID, with the member's name. */
lt_status lt_embed_error_check_text(const char *text, const char *name, lt_err *err);
/* JSON text, or none: that of NULL. Errors: LT_E_SYNTAX, LT_E_LIMIT, with the member's name. */
lt_status lt_embed_error_check_json(lt_str json, const char *name, lt_err *err);
/* The language of a name; NULL is JavaScript. Errors: LT_E_INVALID: there is no such language. */
lt_status lt_embed_error_take_language(const char *name, lt_lang *ret_lang, lt_err *err);

#endif
