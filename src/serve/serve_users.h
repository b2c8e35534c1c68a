/* Who asks: tokens and their users. Internal to serve/.
 *
 * Without tokens in the store, everybody who reaches the loopback address is the user "local". With at least one, each
 * request needs a token; a running server does not open again when the last one is removed. Tokens are known by their
 * SHA-256 only.
 */
#ifndef LT_SERVE_SERVE_USERS_H
#define LT_SERVE_SERVE_USERS_H

#include "serve/serve_request.h"

/* Reads the tokens again when they are older than LT_SERVE_TOKENS_MS. LT_YIELDS. Errors: the store's. */
lt_status lt_serve_users_refresh(lt_serve *serve, lt_err *err) LT_YIELDS;
void lt_serve_users_release(lt_serve_users *users);
/* The user of the token with this index. False: there are no more. Borrows: until the next refresh. */
bool lt_serve_users_at(const lt_serve_users *users, size_t i, lt_str *ret_user);
/* Sets the request's user. False: the answer is 401. `is_final`: the tokens are fresh, so that an unknown one is
 * refused; else only a missing one is. Does not yield. */
bool lt_serve_users_identify(lt_serve_request *request, bool is_final);

#endif
