#include "cli/chat_questions.h"

#include "base/mem.h"
#include "cli/approver.h"
#include "cli/decision_lines.h"
#include "json/json.h"
#include "types/typegen_text.h"

typedef struct chat_question {
  struct chat_question *next;
  lt_chat *chat;
  lt_arena arena;
  lt_str call, tool, input, reason, refusal;
  lt_cancel cancel;
  bool is_decided; /* not by this question */
  bool is_open;    /* the person is asked now, or waits for its turn */
} chat_question;

/* --- The open questions ------------------------------------------------------------------------------------------- */
static void chat_questions_add(chat_question *q) {
  chat_question **place = &q->chat->questions;
  while (*place != NULL) {
    place = &(*place)->next;
  }
  *place = q;
}

static void chat_questions_remove(chat_question *q) {
  lt_chat *chat = q->chat;
  chat_question **place = &chat->questions;
  while (*place != NULL && *place != q) {
    place = &(*place)->next;
  }
  if (*place == q) {
    *place = q->next;
  }
  lt_arena_release(&q->arena);
  lt_mem_free(q);
  if (chat->questions == NULL) {
    lt_wait_wake(&chat->asked, LT_OK);
  }
}

void lt_chat_questions_cancel(lt_chat *chat) {
  lt_cancel_fire(&chat->asking, LT_E_CANCELLED);
  for (chat_question *q = chat->questions; q != NULL; q = q->next) {
    lt_cancel_fire(&q->cancel, LT_E_CANCELLED);
  }
}

void lt_chat_questions_stop(lt_chat *chat) {
  chat->interrupted = true;
  lt_chat_questions_cancel(chat);
  if (chat->prompt[0] != '\0') {
    (void)lt_agent_stop(chat->agent, LT_CHAT_USER, lt_str_of(chat->prompt));
  }
}

void lt_chat_questions_wait(lt_chat *chat) {
  while (chat->questions != NULL) {
    lt_wait_on(&chat->asked, UINT64_MAX);
  }
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */
/* It is no error when the prompt was cancelled meanwhile, or when somebody else has decided. If the decision cannot be
 * stored, the call would wait for ever: so the prompt is cancelled. */
static void chat_question_decide(const chat_question *q, const lt_decision *decision) LT_YIELDS {
  lt_chat *chat = q->chat;
  LT_ERR_VAR(err);
  if (!decision->is_approved && chat->asking.why != LT_OK) {
    return;
  }
  lt_status status = lt_agent_decide(chat->agent, LT_CHAT_USER, lt_str_of(chat->prompt), q->call, decision, &err);
  if (status != LT_OK && status != LT_E_NOTFOUND && status != LT_E_INVALID) {
    lt_console_format(&chat->session->console, "lathe chat: the decision cannot be stored: %s: the prompt is cancelled",
                      lt_err_msg(&err));
    lt_chat_questions_stop(chat);
  }
}

/* The person has gone and a signal follows (LT_E_IO): nothing is decided. No person could be asked: a no. */
static void chat_question_reject_unasked(const chat_question *q, const lt_err *err) LT_YIELDS {
  lt_chat *chat = q->chat;
  const lt_decision no = {.reason = lt_str_of(lt_err_msg(err))};
  if (err->status == LT_E_IO) {
    lt_cancel_fire(&chat->session->app.cancel, LT_E_CANCELLED);
    lt_chat_questions_cancel(chat);
  } else if (chat->asking.why == LT_OK) {
    lt_console_warning(&chat->session->console, no.reason);
  }
  chat_question_decide(q, &no);
}

static void chat_question_on_fiber(void *arg) {
  chat_question *q = arg;
  lt_chat *chat = q->chat;
  LT_ERR_VAR(err);
  lt_decision decision = {0};
  const lt_tool tool = {.id = q->tool};
  const lt_approval what = {.tool = &tool, .input = q->input, .reason = q->reason, .refusal = q->refusal};
  if (lt_decision_lines_may_come(chat->lines) && !lt_approver_can_ask(chat->approver)) {
    lt_decision_lines_wait(chat->lines, &q->cancel);
  }
  lt_chat_view_hold(&chat->view);
  lt_status status = chat->approver->ask(chat->approver, &what, &q->cancel, &q->arena, &decision, &err);
  lt_chat_view_unhold(&chat->view);
  q->is_open = false;
  if (!q->is_decided && status == LT_OK) {
    chat_question_decide(q, &decision);
  } else if (!q->is_decided) {
    chat_question_reject_unasked(q, &err);
  }
  chat_questions_remove(q);
}

static bool chat_question_read(chat_question *q, lt_str data) {
  lt_json_doc doc;
  lt_str text = lt_arena_dup(&q->arena, data);
  if (text.p == NULL || lt_json_parse(&q->arena, text, &doc, NULL) != LT_OK) {
    return false;
  }
  lt_json request = lt_json_get(lt_json_root(&doc), "request");
  (void)lt_json_str(lt_json_get(request, "reason"), &q->arena, &q->reason);
  (void)lt_json_str(lt_json_get(request, "refusal"), &q->arena, &q->refusal);
  q->input = lt_json_text(lt_json_get(request, "input"));
  return lt_json_str(lt_json_get(request, "toolCallId"), &q->arena, &q->call) &&
         lt_json_str(lt_json_get(request, "toolName"), &q->arena, &q->tool);
}

/* A question without an answer would block the prompt for ever. */
void lt_chat_questions_begin(lt_chat *chat, lt_str data) {
  chat_question *q = lt_mem_zalloc(1, sizeof *q);
  if (q != NULL) {
    q->chat = chat;
    q->is_open = true;
    lt_cancel_init(&q->cancel);
    if (chat->asking.why != LT_OK) { /* the turn ends */
      lt_cancel_fire(&q->cancel, chat->asking.why);
    }
    lt_arena_init(&q->arena, LT_PROMPT_MEMORY_BYTES);
    chat_questions_add(q);
    if (chat_question_read(q, data) &&
        lt_loop_spawn(chat->session->app.loop, chat_question_on_fiber, q, NULL) == LT_OK) {
      return;
    }
    chat_questions_remove(q);
  }
  lt_console_format(&chat->session->console, "lathe chat: no memory to ask for approval: the prompt is cancelled");
  lt_chat_questions_stop(chat);
}

/* --- Decided elsewhere -------------------------------------------------------------------------------------------- */
static void chat_question_say_decided(const chat_question *q, lt_json decided) {
  LT_AUTO_BUF(line, LT_MIB);
  bool is_approved = lt_json_str_eq(lt_json_get(decided, "decision"), LT_STR("approve"));
  if (q->chat->on_event == NULL && !q->chat->options->json) {
    lt_typegen_put_line(&line, q->tool, 200);
    lt_buf_addc(&line, is_approved ? ": approved, the question is closed" : ": rejected, the question is closed");
    lt_chat_view_note(&q->chat->view, lt_buf_view(&line));
  }
}

void lt_chat_questions_decided(lt_chat *chat, lt_str data) {
  lt_json_doc doc;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  if (lt_json_parse(&arena, data, &doc, NULL) != LT_OK) {
    return;
  }
  for (chat_question *q = chat->questions; q != NULL; q = q->next) {
    if (q->is_open && !q->is_decided && lt_json_str_eq(lt_json_get(lt_json_root(&doc), "toolCallId"), q->call)) {
      q->is_decided = true;
      lt_cancel_fire(&q->cancel, LT_E_CANCELLED);
      chat_question_say_decided(q, lt_json_root(&doc));
    }
  }
}
