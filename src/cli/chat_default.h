/* Which mode a conversation begins in where nobody has said one, and the greeting of a dialogue, which tells it.
 *
 * With few tools the model gets them as they are (classic). With more than LT_CLASSIC_TOOLS_MAX their definitions would
 * cost more than all that code mode sends, in every request. */
#ifndef LT_CLI_CHAT_DEFAULT_H
#define LT_CLI_CHAT_DEFAULT_H

#include "cli/chat.h"

/* Sets the default mode of the chat's models, unless the configuration has. Call it when the tools are known. */
void lt_chat_default_choose(lt_chat *chat);
/* Appends two lines: mode, model, tools and what they cost; how to change that. */
void lt_chat_default_greet(lt_chat *chat, lt_buf *out);

#endif
