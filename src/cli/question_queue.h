/* One question at a time: who wants to ask the person at the terminal waits for its turn, in the order of arrival. */
#ifndef LT_CLI_QUESTION_QUEUE_H
#define LT_CLI_QUESTION_QUEUE_H

#include "cli/console.h"
#include "io/loop.h"

/* In the frame of the asking fiber. */
typedef struct lt_question_turn {
  struct lt_question_turn *next;
  lt_wait wait;
} lt_question_turn;

/* Waits until no question is open on this console. LT_YIELDS. Errors: the cancel's reason (it may be NULL). In any case
 * the caller calls lt_question_queue_leave. */
lt_status lt_question_queue_enter(lt_console *console, lt_loop *loop, lt_question_turn *turn, lt_cancel *cancel,
                                  lt_err *err) LT_YIELDS;
void lt_question_queue_leave(lt_console *console, lt_question_turn *turn);

/* Opens the terminal of a person who may be asked. False: neither input nor messages are on one. Owns: the caller,
 * lt_terminal_close. */
struct lt_terminal;
bool lt_question_queue_open_terminal(lt_loop *loop, struct lt_terminal **ret_terminal);

#endif
