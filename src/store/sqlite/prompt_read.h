/* Helpers of the prompt_*.c files. For sqlite/ only. */
#ifndef LT_STORE_SQLITE_PROMPT_READ_H
#define LT_STORE_SQLITE_PROMPT_READ_H

#include "base/err.h"
#include "base/str.h"

/* Fails with LT_E_NOTFOUND. */
lt_status lt_prompt_not_found(lt_str id, lt_err *err);

#endif
