/* The messages of failed tool calls.
 *
 * Most of the door's own messages are sentences about the tool: `Tool "x" is not allowed: ...`. The messages of
 * providers do not name the tool. Records of runs and stored conversations keep a message as text only, also those of
 * older releases, so the text itself has to tell both kinds apart. This is the only place that looks at it.
 */
#ifndef LT_TOOL_FAILURE_MESSAGE_H
#define LT_TOOL_FAILURE_MESSAGE_H

#include <stdbool.h>

#include "base/buf.h"

/* Whether the message says already which tool failed. */
bool lt_failure_message_names_tool(lt_str message);
/* Appends `Tool "x" failed: why`, or only `why` when it names the tool. */
void lt_failure_message_put(lt_buf *out, lt_str tool, lt_str why);

#endif
