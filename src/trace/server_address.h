/* The host and the port of a URL, as the attributes server.address and server.port want them. Pure. */
#ifndef LT_TRACE_SERVER_ADDRESS_H
#define LT_TRACE_SERVER_ADDRESS_H

#include <stdbool.h>

#include "base/str.h"

/* Of an http or https URL, without a user, path and query. The brackets of an IPv6 address are left out. False: another
 * text, or a port that is none. Borrows. */
bool lt_server_address_read(lt_str url, lt_str *ret_host, unsigned *ret_port);

#endif
