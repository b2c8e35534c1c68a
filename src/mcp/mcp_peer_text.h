/* Prepares a server's text for our messages: its stderr, a stray line, the text of an error. */
#ifndef LT_MCP_MCP_PEER_TEXT_H
#define LT_MCP_MCP_PEER_TEXT_H

#include "base/buf.h"
#include "base/str.h"
#include "text/secrets.h"

typedef enum lt_mcp_end {
  LT_MCP_HEAD, /* keep the beginning */
  LT_MCP_TAIL, /* keep the end, from the start of a line where possible */
} lt_mcp_end;

/* Appends at most about `max` bytes of `text`: without terminal escapes (text/plain.h), without white space at the ends
 * and without secrets; `secrets` may be NULL. */
void lt_mcp_peer_text_add(lt_buf *out, lt_str text, lt_mcp_end end, size_t max, const lt_secrets *secrets);

#endif
