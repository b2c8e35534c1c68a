/* Who gives out tokens for an MCP server: protected resource metadata (RFC 9728), authorization server metadata (RFC
 * 8414, OpenID Connect Discovery), and what the version 2025-03-26 of MCP falls back to. */
#ifndef LT_MCP_MCP_AUTH_METADATA_H
#define LT_MCP_MCP_AUTH_METADATA_H

#include "mcp/mcp_auth_fetch.h"

/* How a client says who it is at the token endpoint, by the names of RFC 7591, section 2. */
typedef enum lt_mcp_auth_method { LT_MCP_AUTH_NONE, LT_MCP_AUTH_BASIC, LT_MCP_AUTH_POST } lt_mcp_auth_method;

typedef struct lt_mcp_auth_metadata {
  lt_str resource; /* as published; where nothing is published, the server's address */
  lt_str issuer;
  lt_str authorization_endpoint, token_endpoint;
  lt_str registration_endpoint, revocation_endpoint; /* may be empty */
  lt_str scopes;                                     /* of the resource, between spaces; may be empty */
  unsigned methods;       /* 1 << lt_mcp_auth_method: what the token endpoint takes; 0: it does not say */
  bool has_offline_scope; /* offline_access is a scope there */
  bool has_iss;           /* "authorization_response_iss_parameter_supported" (RFC 9207, section 3) */
  bool has_client_documents;
  bool is_guessed; /* nothing was published at all: the endpoints are those of 2025-03-26 */
} lt_mcp_auth_metadata;

typedef struct lt_mcp_auth_search {
  lt_http *http;
  lt_str server_url;
  lt_str document; /* resource_metadata of a challenge; may be empty */
  lt_cancel *cancel;
} lt_mcp_auth_search;

/* LT_YIELDS. Owns: the arena. Errors: LT_E_DENIED (a document does not belong to the server or the issuer, or an
 * address is not https), LT_E_UNSUPPORTED (no PKCE with S256), LT_E_PROTOCOL, those of lt_mcp_auth_fetch_run. */
lt_status lt_mcp_auth_metadata_find(const lt_mcp_auth_search *search, lt_arena *arena,
                                    lt_mcp_auth_metadata *ret_metadata, lt_err *err) LT_YIELDS;
const char *lt_mcp_auth_method_name(lt_mcp_auth_method method);
/* The method of this name. False: there is none. */
bool lt_mcp_auth_method_find(lt_str name, lt_mcp_auth_method *ret_method);

#endif
