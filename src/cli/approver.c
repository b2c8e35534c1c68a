#include "cli/approver.h"

#include "base/limits.h"
#include "base/mem.h"
#include "types/typegen_text.h"
#include "cli/approval_answer.h"
#include "cli/input_edit.h"
#include "cli/json_view.h"
#include "cli/lookalikes.h"
#include "cli/question.h"
#include "cli/question_queue.h"
#include "cli/rule_file.h"
#include "cli/write_view.h"
#include "io/terminal.h"
#include "tool/remembered_decisions.h"

#define QUESTION "Allow? [y]es / [n]o / [e]dit / [?] help / [a]lways... / ne[v]er: "
#define OR_SHOW  "Allow? [y]es / [n]o / [e]dit / [s]how all / [?] help / [a]lways... / ne[v]er: "

typedef struct terminal_approver {
  lt_approver base; /* first */
  lt_loop *loop;
  lt_console *console;
  const char *who; /* the caller's name in questions */
  bool yes;
  lt_answer_scope scope;
  bool leaves_memory; /* the agent remembers */
  lt_remembered_decisions remembered;
  lt_terminal *terminal; /* set while a question is open */
  lt_write_preview preview;
} terminal_approver;

/* One request, from its first question to the decision. */
typedef struct approval_dialogue {
  terminal_approver *approver;
  const lt_approval *what;
  lt_cancel *cancel;
  lt_str input;  /* as it was asked, or edited */
  lt_buf edited; /* empty: it was not */
  lt_buf header, body;
  lt_buf note; /* a line about the last answer; may be empty */
  lt_buf line;
  bool is_whole; /* all of the input is shown */
} approval_dialogue;

/* --- Decisions ---------------------------------------------------------------------------------------------------- */
static lt_remember approver_remember_of(lt_answer answer) {
  return answer == LT_ANSWER_CALL                                  ? LT_REMEMBER_CALL
         : answer == LT_ANSWER_TOOL || answer == LT_ANSWER_NEVER   ? LT_REMEMBER_TOOL
         : answer == LT_ANSWER_SESSION || answer == LT_ANSWER_RULE ? LT_REMEMBER_SESSION
                                                                   : LT_REMEMBER_NOTHING;
}

/* LT_E_NOMEM: the texts do not fit into the arena. */
static lt_status approver_put_decision(const approval_dialogue *d, lt_answer answer, lt_str reason, lt_arena *arena,
                                       lt_decision *ret_decision, lt_err *err) {
  terminal_approver *a = d->approver;
  LT_AUTO_BUF(text, LT_RUN_ERROR_BYTES);
  if (answer == LT_ANSWER_NEVER) {
    lt_buf_printf(&text, "the user does not want this tool to be called, %s; do not try again", a->scope.until_end);
  }
  lt_typegen_put_line(&text, reason, LT_RUN_ERROR_BYTES / 4);
  const lt_decision decision = {.is_approved = answer != LT_ANSWER_NO && answer != LT_ANSWER_NEVER,
                                .reason = lt_buf_view(&text),
                                .input = lt_buf_view(&d->edited),
                                .remember = approver_remember_of(answer)};
  if (!a->leaves_memory) {
    lt_remembered_decisions_add(&a->remembered, d->what->tool->id, d->what->input, &decision);
  }
  return lt_decision_copy(arena, &decision, ret_decision) == LT_OK
             ? LT_OK
             : lt_fail(err, LT_E_NOMEM, "no memory for a decision");
}

/* --- The question ------------------------------------------------------------------------------------------------- */
static void approver_put_header(approval_dialogue *d) {
  lt_buf_clear(&d->header);
  lt_buf_printf(&d->header, "%s wants to call ", d->approver->who);
  lt_typegen_put_line(&d->header, d->what->tool->id, 200);
  lt_buf_addc(&d->header, d->edited.n > 0 ? ", with the input as you have edited it\n" : "\n");
}

static void approver_put_reasons(approval_dialogue *d) {
  if (d->what->reason.n > 0) {
    lt_buf_addc(&d->body, "  why it is asked: ");
    lt_typegen_put_line(&d->body, d->what->reason, 500);
    lt_buf_byte(&d->body, '\n');
  }
  if (d->what->refusal.n > 0) {
    lt_buf_addc(&d->body, "  asked again, as the last decision could not be carried out: ");
    lt_typegen_put_line(&d->body, d->what->refusal, 500);
    lt_buf_byte(&d->body, '\n');
  }
}

/* Input that does not fit is hidden even after a request to show all; then a note says so. */
static void approver_put_body(approval_dialogue *d, bool whole) LT_YIELDS {
  lt_buf *out = &d->body;
  lt_buf_clear(out);
  approver_put_reasons(d);
  size_t from = out->n;
  d->is_whole = false;
  if (!whole && lt_write_view_add(&d->approver->preview, d->what->tool->id, d->input, d->cancel, out)) {
    lt_buf_addc(out, "  Answer s to see the input as it is.\n");
  } else {
    lt_buf_addc(out, "  input: ");
    d->is_whole = lt_json_view_add(out, d->input, "  ", whole);
    lt_buf_addc(out,
                d->is_whole ? "\n" : "\n  Part of the input is hidden: answer s to see all of it before you decide.\n");
  }
  lt_lookalikes_add(out, d->input);
  lt_buf_add(out, lt_buf_view(&d->note));
  if (out->status != LT_OK) {
    out->n = from;
    out->status = LT_OK;
    lt_buf_addc(out, "  input: it is too long to be shown\n");
  }
}

static void approver_show_again(approval_dialogue *d, bool whole) LT_YIELDS {
  approver_put_header(d);
  approver_put_body(d, whole);
  lt_buf_clear(&d->note);
}

/* Asks for one line. */
static lt_status approver_ask_line(approval_dialogue *d, lt_str header, lt_str body, const char *ask, bool is_shown,
                                   lt_err *err) LT_YIELDS {
  const lt_question question = {.terminal = d->approver->terminal, .header = header, .body = body, .ask = ask};
  lt_buf_clear(&d->line);
  return lt_question_ask(&question, is_shown, d->cancel, &d->line, err);
}

/* --- Answers that ask more ---------------------------------------------------------------------------------------- */
/* A masked secret makes equal texts of different inputs. */
static bool approver_offers_call(const approval_dialogue *d) {
  return !d->what->is_masked && lt_str_find(d->what->input, LT_STR("***"), 0) == SIZE_MAX;
}

/* The answer is one of the choices, or unclear: none of them. */
static lt_status approver_ask_choice(approval_dialogue *d, lt_answer *ret_answer, lt_err *err) LT_YIELDS {
  const lt_answer_scope *scope = &d->approver->scope;
  lt_str reason;
  LT_AUTO_BUF(choices, LT_MIB);
  lt_approval_answer_put_choices(&choices, scope, approver_offers_call(d));
  LT_TRY(approver_ask_line(d, LT_STR("Make this call, and later ones without a question:\n"), lt_buf_view(&choices),
                           lt_approval_answer_choice_line(scope, approver_offers_call(d)), false, err));
  lt_answer answer = lt_approval_answer_read(lt_buf_view(&d->line), &reason);
  bool is_choice = (answer == LT_ANSWER_CALL && approver_offers_call(d)) || answer == LT_ANSWER_TOOL ||
                   (answer == LT_ANSWER_SESSION && scope->until_session != NULL) || answer == LT_ANSWER_RULE;
  *ret_answer = is_choice ? answer : LT_ANSWER_UNCLEAR;
  return LT_OK;
}

static void approver_put_rule_question(const lt_rule_file *file, lt_buf *header, lt_buf *body) {
  bool can_write = file->text.n > 0;
  lt_buf_addc(header, can_write ? "Write this rule to " : "Lathe cannot write this rule to ");
  lt_typegen_put_string(header, lt_buf_view(&file->path));
  if (can_write) {
    lt_buf_printf(header, ", before line %zu?\n", file->line);
  } else {
    lt_buf_printf(header, ", as %s.\n", file->why);
  }
  lt_str lines = can_write ? lt_buf_view(&file->added) : lt_buf_view(&file->rule);
  for (size_t at = 0; at < lines.n;) {
    size_t end = lt_str_find(lines, LT_STR("\n"), at);
    lt_buf_addc(body, "  + ");
    lt_buf_add(body, lt_str_sub(lines, at, end + 1));
    at = end + 1;
  }
  lt_buf_addc(body, can_write ? "It holds until you remove it. A project's rule that is stricter holds beside it.\n"
                              : "Add these lines yourself.\n");
}

/* The answer is the rule when it was written, else unclear, with a note. */
static lt_status approver_write_rule(approval_dialogue *d, lt_rule_file *file, lt_answer *ret_answer,
                                     lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(header, LT_MIB);
  LT_AUTO_BUF(body, LT_MIB);
  LT_ERR_VAR(why);
  lt_str reason;
  *ret_answer = LT_ANSWER_UNCLEAR;
  if (lt_rule_file_prepare(d->what->tool->id, file, &why) != LT_OK) {
    lt_buf_printf(&d->note, "  No rule was written: %s\n", lt_err_msg(&why));
    return LT_OK;
  }
  bool can_write = file->text.n > 0;
  approver_put_rule_question(file, &header, &body);
  LT_TRY(approver_ask_line(
      d, lt_buf_view(&header), lt_buf_view(&body),
      can_write ? "Write it, and make this call? [y]es / [n]o: " : "Enter goes back to the question: ", false, err));
  bool is_agreed = can_write && lt_approval_answer_read(lt_buf_view(&d->line), &reason) == LT_ANSWER_YES;
  if (is_agreed && lt_rule_file_write(file, &why) == LT_OK) {
    *ret_answer = LT_ANSWER_RULE;
  } else {
    lt_buf_printf(&d->note, "  No rule was written%s%s\n", is_agreed ? ": " : ".", is_agreed ? lt_err_msg(&why) : "");
  }
  return LT_OK;
}

static lt_status approver_ask_rule(approval_dialogue *d, lt_answer *ret_answer, lt_err *err) LT_YIELDS {
  lt_rule_file file;
  lt_status status = approver_write_rule(d, &file, ret_answer, err);
  lt_rule_file_release(&file);
  return status;
}

/* An edit that is no JSON object changes nothing. */
static lt_status approver_edit(approval_dialogue *d) LT_YIELDS {
  LT_AUTO_BUF(text, LT_JSON_MAX_BYTES);
  LT_ERR_VAR(why);
  lt_status status = lt_input_edit(d->approver->loop, d->input, d->cancel, &text, &why);
  if (d->cancel != NULL && d->cancel->why != LT_OK) {
    return d->cancel->why;
  }
  if (status != LT_OK) {
    lt_buf_addc(&d->note, "  Nothing was changed: ");
    lt_typegen_put_line(&d->note, lt_str_of(lt_err_msg(&why)), 300);
    lt_buf_byte(&d->note, '\n');
    return LT_OK;
  }
  lt_buf_clear(&d->edited);
  lt_buf_add(&d->edited, lt_buf_view(&text));
  d->input = lt_buf_view(&d->edited);
  return LT_OK;
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */
static bool approver_is_decision(lt_answer answer) {
  return answer == LT_ANSWER_YES || answer == LT_ANSWER_NO || answer == LT_ANSWER_CALL || answer == LT_ANSWER_TOOL ||
         answer == LT_ANSWER_SESSION || answer == LT_ANSWER_NEVER;
}

/* What is behind an answer that does not decide yet. `*ret_answer`: the decision, or unclear. */
static lt_status approver_follow_answer(approval_dialogue *d, lt_answer answer, lt_answer *ret_answer,
                                        lt_err *err) LT_YIELDS {
  *ret_answer = LT_ANSWER_UNCLEAR;
  if (answer == LT_ANSWER_ALWAYS) {
    LT_TRY(approver_ask_choice(d, &answer, err));
    *ret_answer = answer == LT_ANSWER_RULE ? LT_ANSWER_UNCLEAR : answer;
  }
  if (answer == LT_ANSWER_RULE) {
    LT_TRY(approver_ask_rule(d, ret_answer, err));
  } else if (answer == LT_ANSWER_EDIT) {
    LT_TRY(approver_edit(d));
  } else if (answer == LT_ANSWER_HELP) {
    lt_approval_answer_put_help(&d->note, &d->approver->scope, approver_offers_call(d));
  }
  if (*ret_answer == LT_ANSWER_UNCLEAR) {
    approver_show_again(d, answer == LT_ANSWER_SHOW);
  }
  return LT_OK;
}

/* "c" where it is not offered is unclear, and so is "u". */
static lt_answer approver_read_line(const approval_dialogue *d, lt_str *ret_reason) {
  lt_answer answer = lt_approval_answer_read(lt_buf_view(&d->line), ret_reason);
  bool is_offered = (answer != LT_ANSWER_CALL || approver_offers_call(d)) &&
                    (answer != LT_ANSWER_SESSION || d->approver->scope.until_session != NULL);
  return is_offered ? answer : LT_ANSWER_UNCLEAR;
}

/* Asks until the answer is clear. */
static lt_status approver_ask_until_clear(approval_dialogue *d, lt_answer *ret_answer, lt_str *ret_reason,
                                          lt_err *err) LT_YIELDS {
  bool is_shown = false;
  approver_show_again(d, false);
  for (*ret_answer = LT_ANSWER_UNCLEAR; *ret_answer == LT_ANSWER_UNCLEAR;) {
    LT_TRY(approver_ask_line(d, lt_buf_view(&d->header), lt_buf_view(&d->body), d->is_whole ? QUESTION : OR_SHOW,
                             is_shown, err));
    lt_answer answer = approver_read_line(d, ret_reason);
    is_shown = answer == LT_ANSWER_UNCLEAR;
    if (approver_is_decision(answer)) {
      *ret_answer = answer;
    } else if (!is_shown) {
      LT_TRY(approver_follow_answer(d, answer, ret_answer, err));
    }
  }
  return LT_OK;
}

/* The end of input counts as no. */
static lt_status approver_hold_dialogue(approval_dialogue *d, lt_arena *arena, lt_decision *ret_decision,
                                        lt_err *err) LT_YIELDS {
  lt_answer answer;
  lt_str reason = LT_STR_NULL;
  lt_status status = approver_ask_until_clear(d, &answer, &reason, err);
  if (status != LT_OK) {
    lt_terminal_write(d->approver->terminal, LT_STR("\n"));
  }
  if (status == LT_E_CLOSED) {
    status = LT_OK;
    answer = LT_ANSWER_NO;
    reason = LT_STR("nobody answered, the terminal's input has ended");
  }
  return status == LT_OK ? approver_put_decision(d, answer, reason, arena, ret_decision, err) : status;
}

static lt_status approver_read_approval_answer(terminal_approver *a, const lt_approval *what, lt_cancel *cancel,
                                               lt_arena *arena, lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  approval_dialogue d = {.approver = a, .what = what, .cancel = cancel, .input = what->input};
  lt_buf_init(&d.edited, LT_JSON_MAX_BYTES);
  lt_buf_init(&d.header, LT_KIB);
  lt_buf_init(&d.body, 2 * LT_JSON_MAX_BYTES);
  lt_buf_init(&d.note, LT_MIB);
  lt_buf_init(&d.line, LT_RUN_ERROR_BYTES);
  lt_status status = approver_hold_dialogue(&d, arena, ret_decision, err);
  lt_buf_release(&d.edited);
  lt_buf_release(&d.header);
  lt_buf_release(&d.body);
  lt_buf_release(&d.note);
  lt_buf_release(&d.line);
  return status;
}

static lt_status approver_fail_no_terminal(lt_str tool, lt_err *err) {
  return lt_fail(
      err, LT_E_UNSUPPORTED,
      "Tool \"%.*s\" needs approval and there is no terminal to ask on: run it in a terminal, or allow it in "
      "the configuration: tools: {policy: [{match: \"%.*s\", action: allow}]}",
      LT_STR_ARG(tool), LT_STR_ARG(tool));
}

static lt_status approver_ask_approval_person(terminal_approver *a, const lt_approval *what, lt_cancel *cancel,
                                              lt_arena *arena, lt_decision *ret_decision, lt_err *err) LT_YIELDS {
  if (!lt_question_queue_open_terminal(a->loop, &a->terminal)) {
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

/* --- Its turn ----------------------------------------------------------------------------------------------------- */
/* After an edited input that cannot be used, the person is asked whatever was remembered with it. */
static bool approver_is_known(const terminal_approver *a, const lt_approval *what, lt_decision *ret_decision) {
  lt_decision found;
  if (what->refusal.n > 0 || !lt_remembered_decisions_find(&a->remembered, what->tool->id, what->input, &found) ||
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
  lt_question_turn mine;
  lt_status status = lt_question_queue_enter(a->console, a->loop, &mine, cancel, err);
  if (status == LT_OK) { /* an earlier "always" or "never" may decide this call */
    bool is_known = approver_is_known(a, what, ret_decision);
    status = is_known ? LT_OK : approver_ask_approval_person(a, what, cancel, arena, ret_decision, err);
  }
  lt_question_queue_leave(a->console, &mine);
  return status;
}

lt_approver *lt_approver_new(lt_loop *loop, lt_console *console, bool yes) {
  terminal_approver *a = lt_mem_zalloc(1, sizeof *a);
  if (a == NULL) {
    return NULL;
  }
  *a = (terminal_approver){
      .base = {.ask = approver_ask}, .loop = loop, .console = console, .who = "The program", .yes = yes};
  a->scope.until_end = "until this run ends";
  return &a->base;
}

bool lt_approver_can_ask(const lt_approver *self) {
  const terminal_approver *a = (const terminal_approver *)self;
  lt_terminal *terminal;
  if (a->yes) {
    return true;
  }
  if (!lt_question_queue_open_terminal(a->loop, &terminal)) {
    return false;
  }
  lt_terminal_close(terminal);
  return true;
}

void lt_approver_set_preview(lt_approver *self, lt_door *door, const lt_policy *policy) {
  ((terminal_approver *)self)->preview = (lt_write_preview){.door = door, .policy = policy, .user = LT_STR("local")};
}

void lt_approver_leave_memory(lt_approver *self) {
  ((terminal_approver *)self)->leaves_memory = true;
}

void lt_approver_set_who(lt_approver *self, const char *who, lt_answer_scope scope) {
  terminal_approver *a = (terminal_approver *)self;
  a->who = who;
  a->scope = scope;
}

void lt_approver_free(lt_approver *self) {
  terminal_approver *a = (terminal_approver *)self;
  if (a != NULL) {
    lt_remembered_decisions_release(&a->remembered);
  }
  lt_mem_free(a);
}
