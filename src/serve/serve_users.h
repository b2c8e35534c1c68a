/* Who asks: tokens and their users. Internal to serve/.
 *
 * Without tokens in the store, everybody who reaches the loopback address is the user "local". With at least one, each
 * request needs a token; a running server does not open again when the last one is removed. Tokens are known by their
 * SHA-256 only.
 *
 * The list is read again every LT_SERVE_TOKENS_MS, never for a request: a stranger causes no work, and is refused
 * before a body is read. What a removed token has begun, such as a stream of events, is ended then.
 */
#ifndef LT_SERVE_SERVE_USERS_H
#define LT_SERVE_SERVE_USERS_H

#include "serve/serve_request.h"

/* Reads the tokens, and watches them. LT_YIELDS. Errors: the store's, LT_E_NOMEM. */
lt_status lt_serve_users_open(lt_serve *serve, lt_err *err) LT_YIELDS;
/* After `serve->closing` was fired: waits until nothing watches them, and frees them. LT_YIELDS. */
void lt_serve_users_close(lt_serve *serve) LT_YIELDS;
/* Sets the request's user and token. False: the answer says who may ask. Does not yield. */
bool lt_serve_users_identify(lt_serve_request *request);

/* While a request is carried out, it is known here, and cancelled when its token is removed. */
void lt_serve_users_enter(lt_serve_request *request);
void lt_serve_users_leave(lt_serve_request *request);

#endif
