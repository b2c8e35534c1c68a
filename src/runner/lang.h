/* The languages of programs, and the names that people, hosts and clients have for them. */
#ifndef LT_RUNNER_LANG_H
#define LT_RUNNER_LANG_H

#include <stdbool.h>

#include "base/str.h"

typedef enum lt_lang { LT_LANG_JAVASCRIPT, LT_LANG_TYPESCRIPT, LT_LANG_PYTHON } lt_lang;

/* The language of a name, short ("js", "ts", "py") or long, in capital letters or not. False: there is none. */
bool lt_lang_find(const char *name, lt_lang *ret_lang);
/* The long name, such as "typescript". The text is constant. */
lt_str lt_lang_name(lt_lang lang);

#endif
