/* What can be completed in a line of the dialogue. Each function adds the names that begin with the completion's word.
 */
#ifndef LT_CLI_CHAT_COMPLETE_H
#define LT_CLI_CHAT_COMPLETE_H

#include "cli/chat.h"
#include "io/line_completion.h"

/* The built-in modes and those of plugins. */
void lt_chat_complete_mode(const lt_chat *chat, lt_line_completion *completion);
/* The configured models; PROVIDER/, and behind it the model of a provider that Lathe knows a usual one of. */
void lt_chat_complete_model(const lt_chat *chat, lt_line_completion *completion);
void lt_chat_complete_tool(const lt_chat *chat, lt_line_completion *completion);
/* Files and folders; a folder ends in "/". Hidden ones only when the word's last part begins with a dot. */
void lt_chat_complete_file(lt_line_completion *completion);

#endif
