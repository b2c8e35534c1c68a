/* The list of files that the person trusts: $XDG_STATE_HOME/lathe/trust.
 *
 * A file is trusted by its path and the SHA-256 of its content, so that neither a copy elsewhere nor an edited file is.
 * The list is a text file, mode 0600: a first line with its version, then a line "HASH PATH" for each file, where bytes
 * of the path that are not letters, digits or "/._-+,@" are %XX. It is replaced as a whole under a lock, so several
 * processes may change it at once. A list that belongs to somebody else, or that others may write, counts for nothing.
 *
 * These functions block the thread: use them before the loop starts.
 */
#ifndef LT_APP_TRUST_H
#define LT_APP_TRUST_H

#include "base/arena.h"
#include "base/sha256.h"
#include "config/config.h"

typedef struct lt_trust_entry {
  const char *path;
  lt_sha256_hex hash;
} lt_trust_entry;

typedef struct lt_trust {
  lt_arena arena;
  const lt_trust_entry *entries; /* in the order in which they were trusted */
  size_t count;
} lt_trust;

/* No list, or no place for one, is an empty list. Errors: LT_E_CONFIG (it cannot be read, or is not safe), LT_E_LIMIT,
 * LT_E_NOMEM. The caller calls lt_trust_release also after an error. */
lt_status lt_trust_read(lt_trust *ret_trust, lt_err *err);
void lt_trust_release(lt_trust *trust);

lt_config_trust lt_trust_of(const lt_trust *trust, const lt_config_file *file);

/* Keeps that this path is trusted with this content, in place of an earlier content. Errors: LT_E_CONFIG (no place, or
 * an unsafe list), LT_E_IO, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_trust_add(const lt_config_file *file, lt_err *err);
/* Removes the path. Errors: lt_trust_add's, LT_E_NOTFOUND. */
lt_status lt_trust_revoke(const char *path, lt_err *err);

#endif
