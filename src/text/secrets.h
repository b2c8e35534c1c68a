/* Secrets: values that are masked in text before it is shown or stored.
 *
 * The set is filled while the configuration is read. Afterwards any thread may read it, and it grows by being replaced
 * as a whole: a reader has the set of before or the one of after. A found value is replaced by "***": in plain text, in
 * JSON text with any escapes, in JSON text inside a JSON string, percent-encoded, and in base64, also inside longer
 * base64. Parts of a value are masked, too: secret_parts.h. Where the text ends within a value, its beginning is
 * replaced, too (LT_SECRET_CUT_BYTES). Values as short as ordinary words are not masked (LT_SECRET_MIN_BYTES). Nothing
 * here suspends.
 */
#ifndef LT_TEXT_SECRETS_H
#define LT_TEXT_SECRETS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

typedef struct lt_secrets lt_secrets;

/* NULL when there is no memory. Owns: the caller, lt_secrets_free. */
lt_secrets *lt_secrets_new(void);
void lt_secrets_free(lt_secrets *secrets); /* NULL is allowed; the values are overwritten first */

/* Adds copies of the value and of its parts (secret_parts.h), in all their forms. A value that is known already or too
 * short is not an error. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_secrets_add(lt_secrets *secrets, lt_str value);
/* The same for the passwords and keys inside a text that is no secret as a whole. */
lt_status lt_secrets_add_url(lt_secrets *secrets, lt_str text);

/* A set with the same values, to be added to. NULL: no memory. Borrows: the values, until `secrets` is freed. Owns: the
 * caller, lt_secrets_free or lt_secrets_replace. */
lt_secrets *lt_secrets_copy(const lt_secrets *secrets);
/* From now on everybody who reads `secrets` reads `grown`, a copy of it with more values. Other threads may be reading:
 * the sets before are kept until `secrets` is freed. One thread replaces at a time. Takes `grown`. */
void lt_secrets_replace(lt_secrets *secrets, lt_secrets *grown);

/* Whether `text` contains a secret. `secrets` may be NULL: false. */
bool lt_secrets_in(const lt_secrets *secrets, lt_str text);
/* Appends `text` with all secrets masked. `secrets` may be NULL: nothing is masked. */
void lt_secrets_mask(const lt_secrets *secrets, lt_str text, lt_buf *out);
/* The same for the beginning of a text whose rest is still to come. It ends before what may be the beginning of a
 * secret, or of an escape. Returns the number of bytes of `text` that were taken; the others come again, with more
 * behind them, or to lt_secrets_mask when the text has ended. All parts together are the masked text. At most about the
 * length of the longest secret in its longest notation is left. */
size_t lt_secrets_mask_piece(const lt_secrets *secrets, lt_str text, lt_buf *out);
/* The same for whole JSON text. The result is JSON: a number that is a secret becomes a string; if that is not
 * possible, the whole text becomes one string. */
void lt_secrets_mask_json(const lt_secrets *secrets, lt_str json, lt_buf *out);
/* Masks the content of the buffer; cheap when it contains no secret. On failure the buffer is empty and its status is
 * the reason: no output is better than a secret. */
void lt_secrets_mask_buf(const lt_secrets *secrets, lt_buf *buf);
/* The same for JSON text, which stays JSON. */
void lt_secrets_mask_json_buf(const lt_secrets *secrets, lt_buf *buf);

#endif
