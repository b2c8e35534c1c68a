/* Addresses of MCP servers: their origin, and addresses relative to them (RFC 3986, section 5.2). Pure. */
#ifndef LT_MCP_MCP_URL_H
#define LT_MCP_MCP_URL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* "https://example.com:8443" of an http or https URL, without a user; empty for another text. Borrows the text where
 * that has no user; else the part behind it is missing, and the origin is empty. */
lt_str lt_mcp_url_origin(lt_str url);
/* Whether both have the same scheme, host and port; false where one has no origin. */
bool lt_mcp_url_same_origin(lt_str a, lt_str b);
/* Whether the host is this machine: 127.x.x.x, [::1], localhost. */
bool lt_mcp_url_is_loopback(lt_str url);
/* Appends `reference`, as it is meant on the page `base`: an absolute URL, or a path. Dot segments stay as they are. */
void lt_mcp_url_join(lt_str base, lt_str reference, lt_buf *out);

#endif
