/* Who may ask a server over HTTP: checks on the head of a request, as pure functions.
 *
 * A browser sends requests of any page to servers on the loopback address. A page cannot choose the Host header, and
 * its Origin is told: so a request counts only when it names a host that the server is known by (DNS rebinding), and
 * comes from no other site. Programs that are no browsers send no Origin. Nothing here suspends or allocates.
 */
#ifndef LT_IO_HTTP_GUARD_H
#define LT_IO_HTTP_GUARD_H

#include <stdbool.h>

#include "base/str.h"

/* Whether a Host header (RFC 9110, section 7.2) names the loopback address, "localhost", or one of `hosts` (NULL last;
 * NULL: none). Ports do not matter, unless an entry of `hosts` has one. Empty: false. */
bool lt_http_guard_admits_host(lt_str host, const char *const *hosts);
/* Whether a request with this Origin header may be answered: it has none, it is the server's own (`host` is the Host
 * header of the same request), or one of `origins` (NULL last; NULL: none). "null" is nobody's. */
bool lt_http_guard_admits_origin(lt_str origin, lt_str host, const char *const *origins);

/* Whether a browser says that a page of another site asks, by the headers Sec-Fetch-Site and Sec-Fetch-Mode (Fetch
 * Metadata; programs do not send them), other than by a link that a person follows. */
bool lt_http_guard_is_foreign_fetch(lt_str site, lt_str mode, lt_str method);

/* The token of an Authorization header with the scheme "Bearer" (RFC 6750, section 2.1), or empty. */
lt_str lt_http_guard_bearer(lt_str authorization);
/* Whether two texts are equal, in a time that depends on their lengths only. */
bool lt_http_guard_is_same_secret(lt_str a, lt_str b);

#endif
