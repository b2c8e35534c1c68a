/* Finds the parts of a secret that are secrets of their own.
 *
 * Peers repeat a part where they were sent the whole: one line of a PEM key, the password of a URL, the credentials
 * behind "Bearer ". Pure functions; nothing here suspends.
 */
#ifndef LT_TEXT_SECRET_PARTS_H
#define LT_TEXT_SECRET_PARTS_H

#include "base/err.h"
#include "base/str.h"

typedef enum lt_secret_part_kind {
  LT_SECRET_CREDENTIAL, /* may be sent as it is: its base64 forms are masked, too */
  LT_SECRET_LINE        /* one line of a longer value */
} lt_secret_part_kind;

/* Borrows `part`: until it returns. */
typedef lt_status lt_secret_part_fn(void *arg, lt_secret_part_kind kind, lt_str part);

/* Calls `fn` for each part of a secret `value`: the value without white space at its ends, its lines (also behind a
 * literal "\n"), what stands behind "Bearer ", "Basic " or "Token ", the decoded credentials of "Basic ", the password
 * of "user:password", the members of a JSON object whose names sound secret, and what lt_secret_parts_of_url finds.
 * Parts that are as short as ordinary words are left out. Returns the first error of `fn`, or LT_E_NOMEM. */
lt_status lt_secret_parts_of(lt_str value, lt_secret_part_fn *fn, void *arg);

/* The same for a text that is no secret as a whole, such as a URL in the configuration: passwords in
 * "scheme://user:password@host" and values in "key=value" whose keys sound secret, as they stand and percent-decoded.
 */
lt_status lt_secret_parts_of_url(lt_str text, lt_secret_part_fn *fn, void *arg);

#endif
