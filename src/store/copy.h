/* A prompt that is to be looked at without touching it: found by its name, and copied elsewhere. */
#ifndef LT_STORE_COPY_H
#define LT_STORE_COPY_H

#include "store/prompts.h"

/* The user's prompt whose id begins with `wanted`, or the newest: "last"; where there is none, the newest of the
 * conversation whose id begins so. LT_YIELDS. LT_E_NOTFOUND: there is none, or there are several. */
lt_status lt_store_prompt_find(lt_db *db, lt_str user, lt_str wanted, char ret_id[LT_STORE_ID_BYTES + 1],
                               lt_err *err) LT_YIELDS;

/* Copies a prompt of the file `from`, as it was while it ran and nobody's, with what came before it in its conversation
 * and all that is on record of it, into a database that has nothing of it. `from` is only read. LT_YIELDS. */
lt_status lt_store_prompt_copy(lt_db *to, lt_db *from, lt_str id, lt_err *err) LT_YIELDS;

#endif
