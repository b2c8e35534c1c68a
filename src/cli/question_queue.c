#include "cli/question_queue.h"

#include <unistd.h>

#include "io/terminal.h"

lt_status lt_question_queue_enter(lt_console *console, lt_loop *loop, lt_question_turn *turn, lt_cancel *cancel,
                                  lt_err *err) {
  lt_question_turn **end = &console->questions;
  while (*end != NULL) {
    end = &(*end)->next;
  }
  turn->next = NULL;
  *end = turn;
  lt_wait_init(&turn->wait, loop);
  lt_status status = LT_OK;
  lt_cancel_node node;
  lt_cancel_add(cancel, &node, &turn->wait);
  while (console->questions != turn && status == LT_OK) {
    status = lt_wait_on(&turn->wait, UINT64_MAX);
  }
  lt_cancel_remove(cancel, &node);
  return status == LT_OK ? LT_OK : lt_fail(err, status, "%s while waiting for approval", lt_status_text(status));
}

void lt_question_queue_leave(lt_console *console, lt_question_turn *turn) {
  lt_question_turn **link = &console->questions;
  while (*link != turn) {
    link = &(*link)->next;
  }
  *link = turn->next;
  if (console->questions != NULL) {
    lt_wait_wake(&console->questions->wait, LT_OK);
  }
}

bool lt_question_queue_open_terminal(lt_loop *loop, lt_terminal **ret_terminal) {
  return (isatty(STDIN_FILENO) || isatty(STDERR_FILENO)) &&
         lt_terminal_open(loop, "/dev/tty", ret_terminal, NULL) == LT_OK;
}
