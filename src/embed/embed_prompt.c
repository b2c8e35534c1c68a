#include "embed/embed_prompt.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "embed/embed_agent.h"
#include "embed/embed_error.h"
#include "embed/embed_questions.h"
#include "store/store_prompts.h"

/* --- Events ------------------------------------------------------------------------------------------------------- */
/* A question that the host cannot see would wait for ever. */
static void embed_prompt_ask(lt_embed_prompt *prompt, lt_json data, lt_arena *arena) {
  const lathe_env *env = prompt->run->env;
  if (!lt_embed_questions_ask(prompt, lt_json_get(data, "request"), arena)) {
    prompt->is_unheard = true;
    (void)lt_agent_stop(env->agent->agent, lt_str_of(prompt->user), lt_str_of(prompt->id));
  }
}

void lt_embed_prompt_take(lt_embed_prompt *prompt, const char *event, lt_json data, lt_arena *arena) {
  lt_embed_run *run = prompt->run;
  const lt_embed_words words = {.text = lt_str_of(event), .json = lt_json_text(data)};
  lt_embed_event *told = lt_embed_queue_make(LATHE_EVENT_PROMPT, &words);
  lt_str call;
  if (told != NULL) {
    lt_embed_run_sign(run, told);
    (void)lt_embed_env_say(run->env, run->queue, told);
  }
  if (strcmp(event, "prompt.approval-requested") == 0) {
    embed_prompt_ask(prompt, data, arena);
  } else if (strcmp(event, "prompt.approval-decided") == 0 &&
             lt_json_str(lt_json_get(data, "toolCallId"), arena, &call)) {
    lt_embed_questions_close(prompt, call);
  }
}

/* --- Carrying out ------------------------------------------------------------------------------------------------- */
/* A program as a prompt asks no model. */
static lt_status embed_prompt_check_key(lt_embed_agent *agent, const lt_embed_prompt *prompt, lt_err *err) {
  const lt_model *model;
  LT_ERR_VAR(why);
  bool has_model = prompt->mode == NULL || strcmp(prompt->mode, "program") != 0;
  lt_status status = has_model ? lt_models_find(&agent->models, lt_str_of(prompt->model), &model, &why) : LT_OK;
  return status == LT_E_CONFIG ? lt_err_copy(err, &why) : LT_OK;
}

static lt_status embed_prompt_read_attachments(const lt_embed_prompt *prompt, lt_arena *arena,
                                               lt_prompt_request *request, lt_err *err) {
  lt_json_doc doc;
  lt_attachment *attachments = NULL;
  if (prompt->attachments == NULL) {
    return LT_OK;
  }
  if (lt_json_parse(arena, lt_str_of(prompt->attachments), &doc, err) != LT_OK) {
    return lt_err_prefix(err, "the attachments are not JSON");
  }
  LT_TRY(lt_agent_read_attachments(lt_json_root(&doc), arena, &attachments, &request->attachment_count, err));
  request->attachments = attachments;
  return LT_OK;
}

static lt_status embed_prompt_ask_agent(lt_embed_agent *agent, const lt_embed_prompt *prompt, lt_err *err) LT_YIELDS {
  lt_prompt_ids ids;
  if (prompt->is_resumed) {
    return lt_agent_resume(agent->agent, lt_str_of(prompt->user), lt_str_of(prompt->id), err);
  }
  LT_TRY(embed_prompt_check_key(agent, prompt, err));
  LT_AUTO_ARENA(arena, LT_PROMPT_MEMORY_BYTES);
  lt_prompt_request request = {.user = lt_str_of(prompt->user),
                               .conversation = lt_str_of(prompt->conversation),
                               .input = lt_str_of(prompt->input),
                               .model = lt_str_of(prompt->model),
                               .mode = lt_str_of(prompt->mode),
                               .id = lt_str_of(prompt->id)};
  LT_TRY(embed_prompt_read_attachments(prompt, &arena, &request, err));
  return lt_agent_start(agent->agent, &request, &ids, err);
}

static lt_status embed_prompt_begin(lt_embed_agent *agent, const lt_embed_prompt *prompt, lt_err *err) LT_YIELDS {
  LT_TRY(lt_embed_agent_enter(agent, err));
  lt_status status = embed_prompt_ask_agent(agent, prompt, err);
  lt_embed_agent_leave(agent);
  return status;
}

/* A cancel of the host is stored, so that no later process goes on with the prompt. When the environment closes, the
 * end of the agent ends the prompt. */
static void embed_prompt_cancel(lt_embed_agent *agent, const lt_embed_prompt *prompt) LT_YIELDS {
  lt_str id = lt_str_of(prompt->id), user = lt_str_of(prompt->user);
  if (lt_embed_agent_enter(agent, NULL) != LT_OK) {
    return;
  }
  if (lt_agent_cancel(agent->agent, user, id, NULL) != LT_OK) {
    (void)lt_agent_stop(agent->agent, user, id);
  }
  lt_embed_agent_leave(agent);
}

/* Waits for a prompt whose end was not waited for while it was being cancelled, and which may have ended then. */
static void embed_prompt_await_cancelled(const lt_embed_agent *agent, const lt_embed_prompt *prompt,
                                         lt_buf *ret_report) LT_YIELDS {
  lt_str id = lt_str_of(prompt->id), user = lt_str_of(prompt->user);
  if (agent->agent != NULL && lt_agent_wait_for(agent->agent, id, NULL, ret_report, NULL) == LT_E_NOTFOUND) {
    (void)lt_store_prompt_get(lt_toolbox_db(agent->env->session.toolbox), user, id, ret_report, NULL);
  }
}

/* Until nothing of it runs any more: its calls are this run's. */
static void embed_prompt_await(lt_embed_agent *agent, const lt_embed_prompt *prompt, lt_buf *ret_report) LT_YIELDS {
  if (lt_agent_wait_for(agent->agent, lt_str_of(prompt->id), &prompt->run->cancel, ret_report, NULL) != LT_OK) {
    embed_prompt_cancel(agent, prompt);
    embed_prompt_await_cancelled(agent, prompt, ret_report);
  }
}

/* How the prompt ended, by the agent's words. */
static lt_status embed_prompt_read_end(const lt_embed_prompt *prompt, const lt_buf *report, lt_buf *ret_message) {
  lt_json_doc doc;
  lt_str error;
  LT_AUTO_ARENA(arena, LT_CALL_INDEX_MAX_BYTES);
  lt_status read = report->status;
  if (read == LT_OK && report->n == 0) {
    return LT_E_CANCELLED; /* left to the next process */
  }
  read = read == LT_OK ? lt_json_parse(&arena, lt_buf_view(report), &doc, NULL) : read;
  if (read != LT_OK) {
    lt_buf_addc(ret_message, "the prompt has ended, but its report is too long, or there is no memory for it");
    return read;
  }
  lt_json root = lt_json_root(&doc);
  if (lt_json_str_eq(lt_json_get(root, "state"), LT_STR("completed"))) {
    return LT_OK;
  }
  if (lt_json_str_eq(lt_json_get(root, "state"), LT_STR("cancelled"))) {
    lt_buf_addc(ret_message, prompt->is_unheard ? "a question about a call found no room among the events" : "");
    return LT_E_CANCELLED;
  }
  if (lt_json_str(lt_json_get(root, "error"), &arena, &error)) {
    lt_buf_add(ret_message, error);
  }
  return LT_E_PROGRAM;
}

static lt_status embed_prompt_run(lt_embed_agent *agent, lt_embed_prompt *prompt, lt_buf *ret_report,
                                  lt_err *err) LT_YIELDS {
  lt_embed_agent_add(agent, prompt);
  lt_status status = embed_prompt_begin(agent, prompt, err);
  if (status == LT_OK) {
    embed_prompt_await(agent, prompt, ret_report);
  }
  lt_embed_questions_close_all(prompt);
  lt_embed_agent_remove(agent, prompt);
  return status;
}

lt_status lt_embed_prompt_carry_out(lt_embed_prompt *prompt, lt_buf *ret_report, lt_buf *ret_message) {
  LT_ERR_VAR(err);
  lathe_env *env = prompt->run->env;
  lt_status status = lt_embed_agent_open(env, &err);
  if (status == LT_OK && lt_embed_agent_find(env, lt_str_of(prompt->id)) != NULL) {
    status = lt_fail(&err, LT_E_INVALID, "the prompt runs already");
  }
  status = status == LT_OK ? embed_prompt_run(env->agent, prompt, ret_report, &err) : status;
  if (status != LT_OK) {
    lt_buf_addc(ret_message, lt_err_msg(&err));
    return status;
  }
  return embed_prompt_read_end(prompt, ret_report, ret_message);
}

/* --- The host's thread -------------------------------------------------------------------------------------------- */
static const char *embed_prompt_copy(char **at, const char *text) {
  if (text == NULL) {
    return NULL;
  }
  char *copy = *at;
  size_t bytes = strlen(text) + 1;
  memcpy(copy, text, bytes);
  *at += bytes;
  return copy;
}

/* NULL: no memory. */
static lt_embed_prompt *embed_prompt_make(const lathe_prompt_options *o) {
  const char *texts[] = {
      o->user != NULL ? o->user : "local", o->input, o->model, o->mode, o->conversation, o->attachments};
  size_t bytes = sizeof(lt_embed_prompt);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    bytes += texts[i] != NULL ? strlen(texts[i]) + 1 : 0;
  }
  lt_embed_prompt *prompt = lt_mem_zalloc(1, bytes);
  if (prompt == NULL) {
    return NULL;
  }
  char *at = (char *)(prompt + 1);
  prompt->user = embed_prompt_copy(&at, texts[0]);
  prompt->input = embed_prompt_copy(&at, texts[1]);
  prompt->model = embed_prompt_copy(&at, texts[2]);
  prompt->mode = embed_prompt_copy(&at, texts[3]);
  prompt->conversation = embed_prompt_copy(&at, texts[4]);
  prompt->attachments = embed_prompt_copy(&at, texts[5]);
  prompt->is_resumed = o->prompt != NULL;
  return prompt;
}

static lt_status embed_prompt_check(const lathe_prompt_options *o, lt_err *err) {
  bool has_others =
      o->input != NULL || o->model != NULL || o->mode != NULL || o->conversation != NULL || o->attachments != NULL;
  if (o->prompt != NULL && has_others) {
    return lt_fail(err, LT_E_INVALID, "a prompt that goes on has everything but its user and data already");
  }
  if (o->prompt != NULL && strlen(o->prompt) != LT_STORE_ID_BYTES) {
    return lt_fail(err, LT_E_INVALID, "the id of a prompt has %d characters", LT_STORE_ID_BYTES);
  }
  if (o->user != NULL && (o->user[0] == '\0' || strlen(o->user) > LT_EMBED_USER_BYTES)) {
    return lt_fail(err, LT_E_INVALID, "the name of the user has 1 to %d bytes", LT_EMBED_USER_BYTES);
  }
  return o->prompt != NULL ? LT_OK : lt_embed_error_check_text(o->input, "input", err);
}

static lt_status embed_prompt_start(lathe_env *env, const lathe_prompt_options *theirs, uint64_t *ret_run,
                                    lt_err *err) {
  lathe_prompt_options o;
  LT_TRY(lt_embed_error_take_struct(theirs, LT_EMBED_BYTES_TO(lathe_prompt_options, data), sizeof o, &o,
                                    "lathe_prompt_options", err));
  LT_TRY(embed_prompt_check(&o, err));
  lt_embed_run *run = lt_embed_run_new(env, o.data);
  if (run == NULL || (run->prompt = embed_prompt_make(&o)) == NULL) {
    lt_embed_run_free(run);
    return lt_fail(err, LT_E_NOMEM, "no memory for a prompt");
  }
  run->prompt->run = run;
  if (o.prompt != NULL) {
    memcpy(run->prompt->id, o.prompt, LT_STORE_ID_BYTES);
  } else {
    lt_status status = lt_store_new_prompt_id(run->prompt->id, err);
    if (status != LT_OK) {
      lt_embed_run_free(run);
      return status;
    }
  }
  return lt_embed_run_start(run, ret_run, err);
}

lathe_status lathe_prompt(lathe_env *env, const lathe_prompt_options *options, uint64_t *ret_run, lathe_error *error) {
  LT_ERR_VAR(err);
  uint64_t number = 0;
  lathe_status entered = lt_embed_env_enter(env, error);
  if (entered != LATHE_OK) {
    return entered;
  }
  lt_status status = embed_prompt_start(env, options, &number, &err);
  if (ret_run != NULL) {
    *ret_run = number;
  }
  return lt_embed_env_leave(env, status, &err, error);
}
