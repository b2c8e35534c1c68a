#include "cli/approver.h"

#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "types/typegen_text.h"
#include "cli/json_view.h"
#include "cli/lookalikes.h"
#include "cli/question.h"
#include "cli/write_preview.h"
#include "io/terminal.h"
#include "tool/remembered_decisions.h"

#define ANSWERS  "Allow? [y]es / [n]o / [a]lways for this tool in this run / ne[v]er"
#define QUESTION ANSWERS ": "
#define OR_SHOW  ANSWERS " / [s]how all: "

/* A waiting request for approval. The question of the first one is open. */
typedef struct approver_turn {
  struct approver_turn *next;
  lt_wait wait;
} approver_turn;

typedef struct terminal_approver {
  lt_approver base; /* first */
  lt_loop *loop;
  lt_console *console;
  const char *who; /* the caller's name in questions */
  bool yes;
  approver_turn *first;
  bool leaves_memory; /* the agent remembers */
  lt_remembered_decisions remembered;
  lt_terminal *terminal; /* set while a question is open */
  lt_write_preview preview;
} terminal_approver;

/* --- Answers ------------------------------------------------------------------------------------------------------ */
static bool approver_is_answer_word(lt_str word, const char *whole) {
  return (word.n == 1 && (word.p[0] | 0x20) == whole[0]) || lt_str_distance(word, lt_str_of(whole), 0) == 0;
}

lt_answer lt_approver_read_answer(lt_str line, lt_str *ret_reason) {
  line = lt_str_trim(line);
  if (lt_str_starts(line, LT_STR("/"))) { /* also accepts a command of the dialogue */
    line = lt_str_sub(line, 1, line.n);
  }
  size_t end = 0;
  while (end < line.n && strchr(" \t,.:;-!", line.p[end]) == NULL) {
    end++;
  }
  lt_str word = lt_str_sub(line, 0, end);
  while (end < line.n && strchr(" \t,.:;-!", line.p[end]) != NULL) {
    end++;
  }
  lt_str rest = lt_str_sub(line, end, line.n);
  if (approver_is_answer_word(word, "no") || lt_str_distance(word, LT_STR("reject"), 0) == 0) {
    bool because = lt_str_distance(lt_str_sub(rest, 0, 8), LT_STR("because "), 0) == 0;
    *ret_reason = because ? lt_str_trim(lt_str_sub(rest, 8, rest.n)) : rest;
    return LT_ANSWER_NO;
  }
  if (approver_is_answer_word(word, "show") && (rest.n == 0 || lt_str_distance(rest, LT_STR("all"), 0) == 0)) {
    return LT_ANSWER_SHOW;
  }
  if (rest.n > 0) { /* "yes, but ..." is no yes */
    return LT_ANSWER_UNCLEAR;
  }
  bool approve = lt_str_distance(word, LT_STR("approve"), 0) == 0;
  return approver_is_answer_word(word, "yes") || approve                                        ? LT_ANSWER_YES
         : approver_is_answer_word(word, "always")                                              ? LT_ANSWER_ALWAYS
         : approver_is_answer_word(word, "v") || lt_str_distance(word, LT_STR("never"), 0) == 0 ? LT_ANSWER_NEVER
                                                                                                : LT_ANSWER_UNCLEAR;
}

/* LT_E_NOMEM: the reason does not fit into the arena. */
static lt_status approver_put_decision(terminal_approver *a, const lt_approval *what, lt_answer answer, lt_str reason,
                                       lt_arena *arena, lt_decision *ret_decision, lt_err *err) {
  LT_AUTO_BUF(text, LT_RUN_ERROR_BYTES);
  bool holds = answer == LT_ANSWER_ALWAYS || answer == LT_ANSWER_NEVER;
  if (answer == LT_ANSWER_NEVER) {
    reason = LT_STR("the user does not want this tool to be called in this run; do not try again");
  }
  lt_typegen_put_line(&text, reason, LT_RUN_ERROR_BYTES / 4);
  const lt_decision decision = {.is_approved = answer == LT_ANSWER_YES || answer == LT_ANSWER_ALWAYS,
                                .reason = lt_buf_view(&text),
                                .remember = holds ? LT_REMEMBER_TOOL : LT_REMEMBER_NOTHING};
  bool is_unclear = what->is_masked && decision.remember == LT_REMEMBER_CALL; /* equal masks are not equal inputs */
  if (!a->leaves_memory && !is_unclear) {
    lt_remembered_decisions_add(&a->remembered, what->tool->id, what->input, &decision);
  }
  return lt_decision_copy(arena, &decision, ret_decision) == LT_OK
             ? LT_OK
             : lt_fail(err, LT_E_NOMEM, "no memory for a decision");
}

/* --- The question ------------------------------------------------------------------------------------------------- */
static void approver_put_header(const terminal_approver *a, const lt_approval *what, lt_buf *out) {
  lt_buf_printf(out, "%s wants to call ", a->who);
  lt_typegen_put_line(out, what->tool->id, 200);
  lt_buf_byte(out, '\n');
}

/* Input that does not fit is hidden even after a request to show all; then a note says so. False: a part is hidden. */
static bool approver_put_body(const terminal_approver *a, const lt_approval *what, bool whole, lt_cancel *cancel,
                              lt_buf *out) LT_YIELDS {
  lt_buf_clear(out);
  if (what->reason.n > 0) {
    lt_buf_addc(out, "  why it is asked: ");
    lt_typegen_put_line(out, what->reason, 500);
    lt_buf_byte(out, '\n');
  }
  size_t from = out->n;
  bool complete = false;
  if (!whole && lt_write_preview_add(&a->preview, what->tool->id, what->input, cancel, out)) {
    lt_buf_addc(out, "  Answer s to see the input as it is.\n");
  } else {
    lt_buf_addc(out, "  input: ");
    complete = lt_json_view_add(out, what->input, "  ", whole);
    lt_buf_addc(out, complete ? "\n" : "\n  Part of the input is hidden: answer s to see all of it before you decide.\n");
  }
  lt_lookalikes_add(out, what->input);
  if (out->status != LT_OK) {
    out->n = from;
    out->status = LT_OK;
    lt_buf_addc(out, "  input: it is too long to be shown\n");
  }
  return complete;
}

/* Asks until the answer is clear. The end of input counts as no. */
static lt_status approver_read_approval_answer(terminal_approver *a, const lt_approval *what, lt_cancel *cancel,
                                               lt_arena *arena, lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(line, LT_RUN_ERROR_BYTES);
  LT_AUTO_BUF(header, LT_KIB);
  LT_AUTO_BUF(body, 2 * LT_JSON_MAX_BYTES);
  lt_status status = LT_OK;
  lt_answer answer = LT_ANSWER_SHOW;
  lt_str reason = LT_STR_NULL;
  bool is_whole = approver_put_body(a, what, false, cancel, &body);
  approver_put_header(a, what, &header);
  while (status == LT_OK && (answer == LT_ANSWER_UNCLEAR || answer == LT_ANSWER_SHOW)) {
    const lt_question question = {.terminal = a->terminal,
                                  .header = lt_buf_view(&header),
                                  .body = lt_buf_view(&body),
                                  .ask = is_whole ? QUESTION : OR_SHOW};
    lt_buf_clear(&line);
    status = lt_question_ask(&question, answer == LT_ANSWER_UNCLEAR, cancel, &line, err);
    if (status == LT_OK) {
      answer = lt_approver_read_answer(lt_buf_view(&line), &reason);
    }
    if (status == LT_OK && answer == LT_ANSWER_SHOW) {
      is_whole = approver_put_body(a, what, true, cancel, &body);
    }
  }
  if (status != LT_OK) {
    lt_terminal_write(a->terminal, LT_STR("\n"));
  }
  if (status == LT_E_CLOSED) {
    status = LT_OK;
    answer = LT_ANSWER_NO;
    reason = LT_STR("nobody answered, the terminal's input has ended");
  }
  if (status == LT_OK) {
    status = approver_put_decision(a, what, answer, reason, arena, ret_decision, err);
  }
  return status;
}

static lt_status approver_fail_no_terminal(lt_str tool, lt_err *err) {
  return lt_fail(
      err, LT_E_UNSUPPORTED,
      "Tool \"%.*s\" needs approval and there is no terminal to ask on: run it in a terminal, or allow it in "
      "the configuration: tools: {policy: [{match: \"%.*s\", action: allow}]}",
      LT_STR_ARG(tool), LT_STR_ARG(tool));
}

/* If neither input nor messages are on a terminal, no person can be asked. */
static bool approver_open_approval_terminal(const terminal_approver *a, lt_terminal **ret) {
  return (isatty(STDIN_FILENO) || isatty(STDERR_FILENO)) && lt_terminal_open(a->loop, "/dev/tty", ret, NULL) == LT_OK;
}

static lt_status approver_ask_approval_person(terminal_approver *a, const lt_approval *what, lt_cancel *cancel,
                                              lt_arena *arena, lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  if (!approver_open_approval_terminal(a, &a->terminal)) {
    return approver_fail_no_terminal(what->tool->id, err);
  }
  lt_status status = lt_console_hold(a->console, err);
  if (status == LT_OK) {
    status = approver_read_approval_answer(a, what, cancel, arena, ret_decision, err);
    lt_console_release(a->console);
  }
  lt_terminal_close(a->terminal);
  a->terminal = NULL;
  return status;
}

/* --- The queue of questions --------------------------------------------------------------------------------------- */
static lt_status approver_take_turn(terminal_approver *a, approver_turn *mine, lt_cancel *cancel,
                                    lt_err *err) LT_YIELDS {
  approver_turn **end = &a->first;
  while (*end != NULL) {
    end = &(*end)->next;
  }
  *end = mine;
  lt_status status = LT_OK;
  lt_cancel_node node;
  lt_cancel_add(cancel, &node, &mine->wait);
  while (a->first != mine && status == LT_OK) {
    status = lt_wait_on(&mine->wait, UINT64_MAX);
  }
  lt_cancel_remove(cancel, &node);
  return status == LT_OK ? LT_OK : lt_fail(err, status, "%s while waiting for approval", lt_status_text(status));
}

static void approver_end_turn(terminal_approver *a, approver_turn *mine) {
  approver_turn **link = &a->first;
  while (*link != mine) {
    link = &(*link)->next;
  }
  *link = mine->next;
  if (a->first != NULL) {
    lt_wait_wake(&a->first->wait, LT_OK);
  }
}

/* After an edited input that cannot be used, the person is asked whatever was remembered with it. */
static bool approver_is_known(const terminal_approver *a, const lt_approval *what, lt_decision *ret_decision) {
  lt_decision found;
  if (what->refusal.n > 0 ||
      !lt_remembered_decisions_find(&a->remembered, what->tool->id, what->input, &found) ||
      (what->is_masked && found.remember == LT_REMEMBER_CALL)) {
    return false;
  }
  *ret_decision = found;
  return true;
}

static lt_status approver_ask(lt_approver *self, const lt_approval *what, lt_cancel *cancel, lt_arena *arena,
                              lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  terminal_approver *a = (terminal_approver *)self;
  if (a->yes) {
    *ret_decision = (lt_decision){.is_approved = true};
    return LT_OK;
  }
  approver_turn mine = {0};
  lt_wait_init(&mine.wait, a->loop);
  lt_status status = approver_take_turn(a, &mine, cancel, err);
  if (status == LT_OK) { /* an earlier "always" or "never" may decide this call */
    bool is_known = approver_is_known(a, what, ret_decision);
    status = is_known ? LT_OK : approver_ask_approval_person(a, what, cancel, arena, ret_decision, err);
  }
  approver_end_turn(a, &mine);
  return status;
}

lt_approver *lt_approver_new(lt_loop *loop, lt_console *console, bool yes) {
  terminal_approver *a = lt_mem_zalloc(1, sizeof *a);
  if (a == NULL) {
    return NULL;
  }
  *a = (terminal_approver){
      .base = {.ask = approver_ask}, .loop = loop, .console = console, .who = "The program", .yes = yes};
  return &a->base;
}

bool lt_approver_can_ask(const lt_approver *self) {
  const terminal_approver *a = (const terminal_approver *)self;
  lt_terminal *terminal;
  if (a->yes) {
    return true;
  }
  if (!approver_open_approval_terminal(a, &terminal)) {
    return false;
  }
  lt_terminal_close(terminal);
  return true;
}

void lt_approver_set_preview(lt_approver *self, lt_door *door, const lt_policy *policy) {
  ((terminal_approver *)self)->preview = (lt_write_preview){.door = door, .policy = policy};
}

void lt_approver_leave_memory(lt_approver *self) {
  ((terminal_approver *)self)->leaves_memory = true;
}

void lt_approver_set_who(lt_approver *self, const char *who) {
  ((terminal_approver *)self)->who = who;
}

void lt_approver_free(lt_approver *self) {
  terminal_approver *a = (terminal_approver *)self;
  if (a != NULL) {
    lt_remembered_decisions_release(&a->remembered);
  }
  lt_mem_free(a);
}
