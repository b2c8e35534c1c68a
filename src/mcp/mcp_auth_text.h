/* Texts of OAuth: form fields, queries, base64url, challenges of HTTP, lists of scopes. Pure. */
#ifndef LT_MCP_MCP_AUTH_TEXT_H
#define LT_MCP_MCP_AUTH_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends text percent-encoded: all but the unreserved characters of RFC 3986, section 2.3. */
void lt_mcp_auth_text_escape(lt_str text, lt_buf *out);
/* Appends "name=value" of application/x-www-form-urlencoded, with "&" before it where the buffer is not empty. Nothing
 * for an empty value. */
void lt_mcp_auth_text_field(lt_buf *form, const char *name, lt_str value);
/* Appends the decoded value of the first field of this name in a query. False: there is none. */
bool lt_mcp_auth_text_query(lt_str query, const char *name, lt_buf *out);
/* The part of an address behind its "?", without a fragment; empty where there is none. Borrows. */
lt_str lt_mcp_auth_text_query_of(lt_str url);
/* Appends the code challenge S256 of a verifier (RFC 7636, section 4.2). */
void lt_mcp_auth_text_code_challenge(lt_str verifier, lt_buf *out);
/* Appends the value of a parameter of the scheme Bearer in a WWW-Authenticate header (RFC 9110, section 11.6.1). False:
 * there is none. */
bool lt_mcp_auth_text_challenge(lt_str header, const char *parameter, lt_buf *out);
/* Adds the scopes (words between spaces) that the list does not have yet. */
void lt_mcp_auth_text_add_scopes(lt_buf *scopes, lt_str more);
/* Whether all scopes of `wanted` are in `scopes`. */
bool lt_mcp_auth_text_has_scopes(lt_str scopes, lt_str wanted);

#endif
