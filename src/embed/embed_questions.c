#include "embed/embed_questions.h"

#include "base/mem.h"
#include "embed/embed_agent.h"
#include "embed/embed_prompt.h"

/* --- Asking ------------------------------------------------------------------------------------------------------- */
static lt_embed_question *embed_questions_make(lt_embed_prompt *prompt, lt_str id, lt_str tool) {
  lt_embed_question *question = lt_mem_zalloc(1, sizeof *question + id.n + tool.n + 2);
  if (question == NULL) {
    return NULL;
  }
  question->base.type = LATHE_EVENT_APPROVAL;
  question->base.is_question = true;
  question->prompt = prompt;
  question->tool = question->id + id.n + 1;
  memcpy(question->id, id.p, id.n);
  memcpy(question->tool, tool.p, tool.n);
  return question;
}

/* Why it is asked, and why the last decision could not be carried out. */
static void embed_questions_put_reason(lt_json request, lt_arena *arena, lt_buf *out) {
  lt_str text;
  if (lt_json_str(lt_json_get(request, "reason"), arena, &text)) {
    lt_buf_add(out, text);
  }
  if (lt_json_str(lt_json_get(request, "refusal"), arena, &text)) {
    lt_buf_addc(out, "; asked again, as the last decision could not be carried out: ");
    lt_buf_add(out, text);
  }
}

static bool embed_questions_put(lt_embed_question *question, const lt_embed_words *words) {
  lt_embed_prompt *prompt = question->prompt;
  lt_embed_event *event = lt_embed_queue_make(LATHE_EVENT_APPROVAL, words);
  if (event == NULL || !lt_embed_calls_put(prompt->run, &question->base, event)) {
    return false;
  }
  question->next = prompt->questions;
  prompt->questions = question;
  return true;
}

bool lt_embed_questions_ask(lt_embed_prompt *prompt, lt_json request, lt_arena *arena) {
  lt_str id, tool;
  LT_AUTO_BUF(reason, 2 * LT_RUN_ERROR_BYTES);
  if (!lt_json_str(lt_json_get(request, "toolCallId"), arena, &id) ||
      !lt_json_str(lt_json_get(request, "toolName"), arena, &tool)) {
    return false;
  }
  embed_questions_put_reason(request, arena, &reason);
  lt_embed_question *question = embed_questions_make(prompt, id, tool);
  const lt_embed_words words = {
      .tool = tool, .text = lt_buf_view(&reason), .json = lt_json_text(lt_json_get(request, "input"))};
  if (question == NULL || !embed_questions_put(question, &words)) {
    lt_mem_free(question);
    return false;
  }
  return true;
}

/* --- Closing ------------------------------------------------------------------------------------------------------ */
static void embed_questions_drop(lt_embed_question **at) {
  lt_embed_question *question = *at;
  *at = question->next;
  uint64_t number = question->base.entry.number;
  if (lt_embed_calls_withdraw(question->prompt->run->env, &question->base)) {
    lt_embed_calls_tell_cancelled(question->prompt->run, number, lt_str_of(question->tool));
  }
  lt_mem_free(question);
}

void lt_embed_questions_close(lt_embed_prompt *prompt, lt_str id) {
  for (lt_embed_question **at = &prompt->questions; *at != NULL; at = &(*at)->next) {
    if (lt_str_eqc(id, (*at)->id)) {
      embed_questions_drop(at);
      return;
    }
  }
}

void lt_embed_questions_close_all(lt_embed_prompt *prompt) {
  while (prompt->questions != NULL) {
    embed_questions_drop(&prompt->questions);
  }
}

/* --- Deciding ----------------------------------------------------------------------------------------------------- */
typedef struct embed_verdict {
  uint64_t number;
  lt_decision decision;
} embed_verdict;

static lt_status embed_questions_fail(uint64_t number, lt_err *err) {
  return lt_fail(err, LT_E_NOTFOUND, "call %llu does not wait: it was answered, or its answer is not wanted any more",
                 (unsigned long long)number);
}

/* Takes the question out of the table, so that one thread decides; NULL: another one has. The prompt has it still. */
static lt_embed_question *embed_questions_take(lathe_env *env, uint64_t number) {
  pthread_mutex_lock(&env->lock);
  lt_embed_entry *entry = lt_embed_table_find(&env->calls, number);
  lt_embed_question *question = (lt_embed_question *)(void *)entry;
  if (question != NULL) {
    lt_embed_table_remove(&env->calls, entry);
    question->base.is_answered = true;
  }
  pthread_mutex_unlock(&env->lock);
  return question;
}

/* The decision could not be stored: the host may try again, unless the question was closed meanwhile. */
static void embed_questions_put_back(lathe_env *env, lt_str prompt_id, uint64_t number) {
  lt_embed_prompt *prompt = lt_embed_agent_find(env, prompt_id);
  lt_embed_question *question = prompt != NULL ? prompt->questions : NULL;
  while (question != NULL && question->base.entry.number != number) {
    question = question->next;
  }
  if (question != NULL) {
    pthread_mutex_lock(&env->lock);
    question->base.is_answered = false;
    lt_embed_table_add(&env->calls, &question->base.entry, number);
    pthread_mutex_unlock(&env->lock);
  }
}

/* The question may be closed, and its prompt may end, while the decision is stored: that works on copies. */
static lt_status embed_questions_store(lathe_env *env, void *arg, lt_err *err) LT_YIELDS {
  const embed_verdict *verdict = arg;
  LT_AUTO_ARENA(arena, LT_MIB);
  lt_embed_question *question = embed_questions_take(env, verdict->number);
  if (question == NULL) {
    return embed_questions_fail(verdict->number, err);
  }
  char prompt[LT_STORE_ID_BYTES + 1];
  memcpy(prompt, question->prompt->id, sizeof prompt);
  lt_str id = lt_arena_dup(&arena, lt_str_of(question->id));
  lt_str user = lt_arena_dup(&arena, lt_str_of(question->prompt->user));
  lt_status status = id.p == NULL || user.p == NULL ? lt_fail(err, LT_E_NOMEM, "no memory for the decision")
                                                    : lt_embed_agent_enter(env->agent, err);
  if (status == LT_OK) {
    status = lt_agent_decide(env->agent->agent, user, lt_str_of(prompt), id, &verdict->decision, err);
    lt_embed_agent_leave(env->agent);
  }
  if (status == LT_E_INVALID) { /* another process was faster */
    return lt_fail(err, LT_E_NOTFOUND, "%s", lt_err_msg(err));
  }
  if (status != LT_OK && status != LT_E_NOTFOUND) {
    embed_questions_put_back(env, lt_str_of(prompt), verdict->number);
  }
  return status == LT_E_CANCELLED ? lt_fail(err, LT_E_CLOSED, "the environment is being closed") : status;
}

lt_status lt_embed_questions_decide(lathe_env *env, uint64_t number, bool is_approved, const char *text, lt_err *err) {
  lt_str said = lt_str_of(text);
  embed_verdict verdict = {.number = number,
                           .decision = {.is_approved = is_approved,
                                        .input = is_approved ? said : LT_STR(""),
                                        .reason = is_approved ? LT_STR("") : said}};
  return lt_embed_env_do(env, embed_questions_store, &verdict, err);
}
