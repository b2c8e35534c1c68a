/* The commands of the dialogue: one table, from which help, completion and "did you mean" come. */
#ifndef LT_CLI_CHAT_COMMANDS_H
#define LT_CLI_CHAT_COMMANDS_H

#include "cli/chat.h"
#include "io/line_completion.h"

/* Carries out "/name rest". `*ret_leaves` becomes true when the dialogue is to end. LT_YIELDS. */
void lt_chat_commands_run(lt_chat *chat, lt_str line, bool *ret_leaves) LT_YIELDS;
/* Whether a line is a command. "/etc/hosts is what?" is a message, and so is a text of several lines. */
bool lt_chat_commands_is_one(lt_str line);

/* Completes commands, modes, models and tools, and files behind "@". */
void lt_chat_commands_complete(const lt_chat *chat, lt_line_completion *completion);

/* Shows the last messages and answers of the conversation, at most `count`. False: it has none. LT_YIELDS. */
bool lt_chat_commands_show_history(lt_chat *chat, size_t count) LT_YIELDS;

#endif
