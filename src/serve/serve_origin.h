/* From where a request may come: hosts that this server is known by, and web pages (CORS, Fetch Standard).
 *
 * Pages of the server itself may do everything, pages of `server.origins` what programs may do with a token, all others
 * nothing. Cookies are not used, so no answer allows credentials. Nothing here suspends.
 */
#ifndef LT_SERVE_ORIGIN_H
#define LT_SERVE_ORIGIN_H

#include "serve/serve_request.h"

/* False: the request is refused, and the answer says why. */
bool lt_serve_origin_admit(lt_serve_request *request, bool is_public);
/* Lets the page of an admitted origin read the answer. */
void lt_serve_origin_put_headers(lt_serve_request *request);
/* Answers a page's question about what it may send. */
void lt_serve_origin_put_preflight(lt_serve_request *request);

#endif
