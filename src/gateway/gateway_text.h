/* What a model reads about the gateway: instructions, descriptions, the listing of the tools. Internal to gateway/.
 *
 * The same servers and tools give the same bytes, so that prompt caches keep working.
 */
#ifndef LT_GATEWAY_GATEWAY_TEXT_H
#define LT_GATEWAY_GATEWAY_TEXT_H

#include "gateway/gateway_state.h"

/* The instructions of `initialize` and server/discover, under LT_GATEWAY_INSTRUCTIONS_BYTES: some clients cut there. */
lt_status lt_gateway_text_instructions(lt_gateway *gateway, lt_buf *out, lt_err *err);
/* "files (14 tools), memory (9 tools)": what is behind the gateway, without the tools of Lathe's own. */
lt_status lt_gateway_text_servers(lt_gateway *gateway, lt_buf *out, lt_err *err);
/* The listing of all tools that are shown, shortened to LT_GATEWAY_LISTING_TOKENS. */
lt_status lt_gateway_text_listing(lt_gateway *gateway, lt_buf *out, lt_err *err);

/* When to call a listed tool directly, and when to write a program; nothing where no tool is listed by itself. */
void lt_gateway_text_routing(lt_gateway *gateway, lt_buf *out);

/* Whether a client is told of the tool. Programs that run programs are for models that have no execute_code. */
bool lt_gateway_text_is_shown(const lt_tool *tool);

/* The tools of programs. Owns: the caller, lt_catalog_unref. */
lt_status lt_gateway_text_catalog(lt_gateway *gateway, lt_catalog **ret_catalog, lt_err *err);

#endif
