/* Saved programs: texts that are kept under a name, every change as a new version. They are tools and modules of
 * prompts that use this database (plugin/program_tools.h).
 *
 * Every user sees the programs of the user LT_SAVED_FOR_ALL. Each other user has programs of its own, too, which nobody
 * else sees. A deleted program is in no list. Its text stays for LT_SAVED_DELETED_DAYS, because a prompt that was cut
 * short may go on with it.
 */
#ifndef LT_STORE_STORE_PROGRAMS_H
#define LT_STORE_STORE_PROGRAMS_H

#include "base/limits.h"
#include "store/store.h"

#define LT_SAVED_FOR_ALL        "local" /* the user of the command line */
#define LT_SAVED_LANGUAGE_BYTES 8

typedef struct lt_saved_program {
  lt_str user;        /* whose it is */
  lt_str name;        /* lt_store_program_check_name */
  lt_str language;    /* "js", "ts" or "python" */
  lt_str description; /* may be empty */
  lt_str schema;      /* of its input, JSON text of an object schema */
  lt_str code;
} lt_saved_program;

/* Whether a name can be a tool's: a letter, then letters, digits, "_" and "-", and not "save", which is a tool itself.
 * LT_E_INVALID says how names look. */
lt_status lt_store_program_check_name(lt_str name, lt_err *err);
/* False: nothing was ever saved in this database. Does not open it. */
bool lt_store_programs_may_exist(const lt_store *store);
/* Keeps a new version, unless the latest one is the same, and forgets the oldest one of more than
 * LT_SAVED_VERSIONS_MAX. LT_YIELDS. Errors: LT_E_INVALID (the name), LT_E_LIMIT (too long, or too many programs), the
 * store's. */
lt_status lt_store_program_save(lt_store *store, const lt_saved_program *program, int64_t *ret_version,
                                bool *ret_is_new, lt_err *err) LT_YIELDS;
/* Appends the latest version of each program of a user, by name, or with `name` all versions of that one, the latest
 * first: a JSON array of {"name", "version", "savedAt", "language", "description", "schema", "code"}. `has_code` false:
 * without the texts. LT_YIELDS. */
lt_status lt_store_programs_list(lt_store *store, lt_str user, lt_str name, bool has_code, lt_buf *out,
                                 lt_err *err) LT_YIELDS;
/* Appends the text of a program's version, and says its language: the version whose text has that lt_str_hash, of
 * deleted programs too, or for 0 the latest. LT_YIELDS. LT_E_NOTFOUND. */
lt_status lt_store_program_code(lt_store *store, lt_str user, lt_str name, uint64_t hash, lt_buf *out,
                                char ret_language[LT_SAVED_LANGUAGE_BYTES], lt_err *err) LT_YIELDS;
/* Deletes a program. LT_YIELDS. LT_E_NOTFOUND. */
lt_status lt_store_program_delete(lt_store *store, lt_str user, lt_str name, lt_err *err) LT_YIELDS;

#endif
