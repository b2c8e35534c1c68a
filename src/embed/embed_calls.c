#include "embed/embed_calls.h"

#include "base/limits.h"
#include "base/mem.h"
#include "embed/embed_error.h"
#include "embed/embed_questions.h"

/* --- The fiber that waits ----------------------------------------------------------------------------------------- */
/* The call is in the table before the host can know its number. */
bool lt_embed_calls_put(lt_embed_run *run, lt_embed_call *call, lt_embed_event *event) {
  lathe_env *env = run->env;
  lt_embed_run_sign(run, event);
  pthread_mutex_lock(&env->lock);
  bool has_room = lt_embed_queue_has_room(run->queue);
  if (has_room) {
    lt_embed_table_add(&env->calls, &call->entry, ++env->numbered);
    event->base.call = call->entry.number;
    lt_embed_env_put(env, run->queue, event, run->lane == NULL);
  }
  pthread_mutex_unlock(&env->lock);
  if (!has_room) {
    lathe_event_free(&event->base);
  }
  return has_room;
}

static lt_status embed_calls_tell(lt_embed_run *run, lt_embed_call *call, const lt_embed_call_name *name,
                                  const lt_embed_words *words, lt_err *err) {
  lt_embed_event *event = lt_embed_queue_make(call->type, words);
  if (event == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory to tell the host of the call");
  }
  event->base.earlier_call = run->record != NULL ? lt_embed_record_take_number(run->record, name) : 0;
  return lt_embed_calls_put(run, call, event)
             ? LT_OK
             : lt_fail(err, LT_E_LIMIT, "the host does not take its events: %d wait already, or too many bytes",
                       LT_EMBED_EVENTS_MAX);
}

bool lt_embed_calls_withdraw(lathe_env *env, lt_embed_call *call) {
  pthread_mutex_lock(&env->lock);
  bool is_withdrawn = !call->is_answered;
  if (is_withdrawn) {
    lt_embed_table_remove(&env->calls, &call->entry);
  }
  pthread_mutex_unlock(&env->lock);
  return is_withdrawn;
}

/* This event may exceed the queue's limits: there is one for an event that did not. */
void lt_embed_calls_tell_cancelled(lt_embed_run *run, uint64_t number, lt_str tool) {
  lathe_env *env = run->env;
  lt_embed_event *event = lt_embed_queue_make(LATHE_EVENT_CANCELLED, &(lt_embed_words){.tool = tool});
  if (event != NULL) {
    lt_embed_run_sign(run, event);
    event->base.call = number;
    pthread_mutex_lock(&env->lock);
    lt_embed_env_put(env, run->queue, event, run->lane == NULL);
    pthread_mutex_unlock(&env->lock);
  }
}

lt_status lt_embed_calls_ask(lt_embed_run *run, lathe_event_type type, const lt_embed_call_name *name,
                             const lt_embed_words *words, lt_cancel *cancel, lt_embed_call *ret_call, lt_err *err) {
  lt_embed_call *call = ret_call;
  lt_cancel_node node;
  struct embed_recorded *asked = NULL;
  *call = (lt_embed_call){.type = type};
  if (!run->has_listener) {
    return lt_fail(err, LT_E_UNSUPPORTED, "nobody answers in this run: lathe_run was not given an on_event function");
  }
  call->lane = lt_lane_current(run->env->session.loop);
  lt_wait_init(&call->arrival, run->env->session.loop);
  LT_TRY(embed_calls_tell(run, call, name, words, err));
  uint64_t number = call->entry.number;
  if (run->record != NULL) {
    asked = lt_embed_record_ask(run->record, name, type == LATHE_EVENT_CALL, words->tool, number);
  }
  lt_cancel_add(cancel, &node, &call->arrival);
  run->asking++;
  lt_status status = lt_wait_on(&call->arrival, UINT64_MAX);
  run->asking--;
  lt_embed_record_end_ask(asked);
  lt_cancel_remove(cancel, &node);
  if (!call->has_arrived && lt_embed_calls_withdraw(run->env, call)) {
    lt_embed_calls_tell_cancelled(run, number, words->tool);
    return lt_fail(err, status, "no answer is wanted any more");
  }
  while (!call->has_arrived) {
    (void)lt_wait_on(&call->arrival, UINT64_MAX);
  }
  return LT_OK;
}

void lt_embed_calls_release(lt_embed_call *call) {
  lt_mem_free(call->text);
  call->text = NULL;
}

/* --- The host's thread -------------------------------------------------------------------------------------------- */
typedef struct embed_answer {
  lathe_event_type type;
  bool is_yes;
  lt_str text; /* of NULL: none */
} embed_answer;

static void embed_calls_on_post(void *arg) {
  lt_embed_call *call = arg;
  call->has_arrived = true;
  lt_wait_wake(&call->arrival, LT_OK);
}

/* Under the lock. Takes the text, unless the agent decides (*ret_is_question). */
static lt_status embed_calls_give(lathe_env *env, uint64_t number, const embed_answer *answer, char **text,
                                  bool *ret_is_question, lt_err *err) {
  lt_embed_call *call = (lt_embed_call *)(void *)lt_embed_table_find(&env->calls, number);
  if (call == NULL) {
    return lt_fail(err, LT_E_NOTFOUND, "call %llu does not wait: it was answered, or its answer is not wanted any more",
                   (unsigned long long)number);
  }
  if (call->type != answer->type) {
    return lt_fail(err, LT_E_INVALID, "call %llu waits for %s", (unsigned long long)number,
                   call->type == LATHE_EVENT_CALL ? "lathe_answer or lathe_fail" : "lathe_approve or lathe_reject");
  }
  *ret_is_question = call->is_question;
  if (call->is_question) {
    return LT_OK;
  }
  lt_embed_table_remove(&env->calls, &call->entry);
  call->is_answered = true;
  call->is_yes = answer->is_yes;
  call->text = *text;
  call->text_bytes = answer->text.n;
  *text = NULL;
  call->post = (lt_post){.fn = embed_calls_on_post, .arg = call};
  lt_lane_post(call->lane, &call->post);
  return LT_OK;
}

static lt_status embed_calls_answer(lathe_env *env, uint64_t number, const embed_answer *answer, lt_err *err) {
  char *text = answer->text.p != NULL ? lt_mem_strdup(answer->text) : NULL;
  if (answer->text.p != NULL && text == NULL) {
    return lt_fail(err, LT_E_NOMEM, "no memory for the answer");
  }
  bool is_question = false;
  pthread_mutex_lock(&env->lock);
  lt_status status = embed_calls_give(env, number, answer, &text, &is_question, err);
  pthread_mutex_unlock(&env->lock);
  if (status == LT_OK && is_question) {
    status = lt_embed_questions_decide(env, number, answer->is_yes, text, err);
  }
  lt_mem_free(text);
  return status;
}

/* What comes with a yes is JSON, with a no it is text. */
static lathe_status embed_calls_take(lathe_env *env, uint64_t number, const embed_answer *how, const char *text,
                                     const char *name, lathe_error *error) {
  lt_err err;
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_err_clear(&err);
  const embed_answer answer = {.type = how->type, .is_yes = how->is_yes, .text = lt_str_of(text)};
  lt_status status = answer.is_yes ? lt_embed_error_check_json(answer.text, name, &err) : LT_OK;
  status = status == LT_OK ? embed_calls_answer(env, number, &answer, &err) : status;
  return lt_embed_env_leave(env, status, &err, error);
}

lathe_status lathe_answer(lathe_env *env, uint64_t call, const char *json, lathe_error *error) {
  return embed_calls_take(env, call, &(embed_answer){.type = LATHE_EVENT_CALL, .is_yes = true}, json, "answer", error);
}

lathe_status lathe_fail(lathe_env *env, uint64_t call, const char *message, lathe_error *error) {
  return embed_calls_take(env, call, &(embed_answer){.type = LATHE_EVENT_CALL}, message, "message", error);
}

lathe_status lathe_approve(lathe_env *env, uint64_t call, const char *input, lathe_error *error) {
  return embed_calls_take(env, call, &(embed_answer){.type = LATHE_EVENT_APPROVAL, .is_yes = true}, input, "input",
                          error);
}

lathe_status lathe_reject(lathe_env *env, uint64_t call, const char *reason, lathe_error *error) {
  return embed_calls_take(env, call, &(embed_answer){.type = LATHE_EVENT_APPROVAL}, reason, "reason", error);
}
