/* Names of variables, headers and keys that probably hold a secret. Pure. */
#ifndef LT_TEXT_SECRET_NAME_H
#define LT_TEXT_SECRET_NAME_H

#include <stdbool.h>

#include "base/str.h"

/* Whether a variable or a header of this name probably holds a secret: GITHUB_TOKEN, apiKey, Authorization, X-Api-Key;
 * not KEYBOARD or GIT_AUTHOR_NAME. */
bool lt_secret_name_sounds(lt_str name);
/* Whether the value behind such a name is a count: MAX_TOKENS=200000. */
bool lt_secret_name_is_count(lt_str value);

#endif
