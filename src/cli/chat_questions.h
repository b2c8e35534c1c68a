/* The questions of a chat: calls of its prompt that wait for an approval. Each is asked on a fiber of its own, until
 * the person at the terminal, a line on standard input or another process has decided. */
#ifndef LT_CLI_CHAT_QUESTIONS_H
#define LT_CLI_CHAT_QUESTIONS_H

#include "cli/chat.h"

/* prompt.approval-requested: begins a question. */
void lt_chat_questions_begin(lt_chat *chat, lt_str data);
/* prompt.approval-decided: ends the question about that call, if it is still open. */
void lt_chat_questions_decided(lt_chat *chat, lt_str data);
/* Ends all questions of the turn; nothing is decided. */
void lt_chat_questions_cancel(lt_chat *chat);
/* The same, and cancels the prompt: the person has ended it, or cannot be asked. */
void lt_chat_questions_stop(lt_chat *chat);
/* Waits until no question is open. LT_YIELDS. */
void lt_chat_questions_wait(lt_chat *chat) LT_YIELDS;

#endif
