/* Secrets: values that are taken out of text before anybody is shown it or it is stored.
 *
 * Filled while the configuration is read, then only read, by any thread. What is found is replaced by "***", as the
 * value stands and as it stands inside JSON text, however that escapes it, also in JSON text inside a JSON string; its
 * beginning, too, where a text is cut in the middle of it (LT_SECRET_CUT_BYTES).
 * Values too short to be told from ordinary words are left alone (LT_SECRET_MIN_BYTES). Nothing here suspends.
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

/* Keeps a copy; a value that is there already or too short is not an error. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_secrets_add(lt_secrets *secrets, lt_str value);

/* Whether a variable or a header of this name sounds as if it held one: GITHUB_TOKEN, apiKey, Authorization, X-Api-Key;
 * not KEYBOARD or GIT_AUTHOR_NAME. */
bool lt_secrets_sounds(lt_str name);

/* Whether there is one in `text`. `secrets` may be NULL: no. */
bool lt_secrets_in(const lt_secrets *secrets, lt_str text);
/* Appends `text` without them. `secrets` may be NULL: as it is. */
void lt_secrets_mask(const lt_secrets *secrets, lt_str text, lt_buf *out);
/* The same for JSON text, which stays JSON: a number that is a secret becomes a string; where that cannot be, all of it
 * does. */
void lt_secrets_mask_json(const lt_secrets *secrets, lt_str json, lt_buf *out);
/* Masks what is in the buffer already; cheap when there is nothing to mask. On failure the buffer is empty and its
 * status says why: rather nothing than a secret. */
void lt_secrets_mask_buf(const lt_secrets *secrets, lt_buf *buf);

#endif
