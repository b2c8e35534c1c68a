#include "cli/attach_files.h"
#include "cli/chat.h"

#include <stdio.h>

#include "agent/waiting_calls.h"
#include "base/mem.h"
#include "json/json.h"
#include "app/agent_options.h"
#include "cli/approver.h"
#include "cli/chat_default.h"
#include "cli/chat_questions.h"
#include "cli/decision_lines.h"
#include "cli/type_ahead.h"

static void chat_on_event(void *arg, lt_str user, const char *event, lt_str data) {
  (void)user;
  lt_chat *chat = arg;
  if (chat->on_event != NULL) {
    chat->on_event(chat->arg, event, data);
  } else {
    lt_chat_view_event(&chat->view, event, data);
  }
  if (strcmp(event, "prompt.approval-requested") == 0) {
    lt_chat_questions_begin(chat, data);
  } else if (strcmp(event, "prompt.approval-decided") == 0) {
    lt_chat_questions_decided(chat, data);
  }
}

static void chat_on_call(void *arg, lt_str prompt, const lt_call_event *event) {
  (void)prompt;
  lt_chat_view_call(&((lt_chat *)arg)->view, event);
}

static void chat_on_said(void *arg, lt_str prompt, lt_said said, lt_str text) {
  (void)prompt;
  const lt_chat *chat = arg;
  chat->on_said(chat->arg, said, text);
}

static void chat_on_shown(void *arg, lt_str prompt, uint64_t change) {
  const lt_chat *chat = arg;
  lt_agent_shown(chat->agent, prompt, change);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */
static lt_agent_options chat_make_agent_options(lt_chat *chat) {
  lt_chat_default_choose(chat);
  lt_agent_options options = lt_agent_options_of(&chat->session->app, &chat->models, &chat->modules);
  options.http = chat->http;
  options.journal = lt_masked_records_journal(&chat->masked_journal, chat->journal, chat->session->app.secrets);
  options.policy = lt_toolbox_policy(chat->session->app.toolbox);
  options.instructions = chat->instructions.n > 0 ? lt_buf_view(&chat->instructions) : options.instructions;
  options.model_modes = chat->models.modes;
  options.default_mode = chat->models.default_mode;
  options.leave_open = true; /* all cancels have been made before */
  options.on_event = chat_on_event;
  options.on_call = chat->session->activity != NULL ? chat_on_call : NULL;
  options.on_said = chat->on_said != NULL ? chat_on_said : NULL;
  options.arg = chat;
  return options;
}

/* The mode was not checked before the plugins were loaded, because they may add modes. */
static void chat_warn_of_rounds(const lt_chat *chat) {
  const lt_config_defaults *defaults = &chat->session->app.config.defaults;
  for (size_t i = 0; i < defaults->rounds_count; i++) {
    LT_ERR_VAR(err);
    if (lt_chat_check_mode(chat->session, lt_str_of(defaults->rounds[i].name), &err) != LT_OK) {
      lt_err_prefix(&err, "defaults.maxRounds");
      lt_console_warning(&chat->session->console, lt_str_of(lt_err_msg(&err)));
    }
  }
}

static void chat_on_usage(void *arg, lt_str run, const lt_usage *usage) {
  const lt_chat *chat = arg;
  lt_agent_count_usage(chat->agent, run, usage);
}

static lt_status chat_open_parts(lt_chat *chat, lt_err *err) {
  lt_command_session *s = chat->session;
  const lt_chat_view_options view = {.loop = s->app.loop,
                                     .console = &s->console,
                                     .activity = s->activity,
                                     .json = chat->options->json,
                                     .verbose = chat->options->verbose};
  LT_TRY(lt_chat_view_init(&chat->view, &view, err));
  chat->view.on_shown = chat_on_shown;
  chat->view.arg = chat;
  LT_TRY(lt_modules_load(&s->app, &chat->modules, err));
  LT_TRY(lt_http_new(s->app.loop, &chat->http, err));
  chat->journal = lt_store_journal_new(lt_toolbox_db(s->app.toolbox));
  chat->approver = lt_approver_new(s->app.loop, &s->console, chat->options->yes);
  if (chat->journal == NULL || chat->approver == NULL) {
    return lt_fail(err, LT_E_NOMEM, "out of memory");
  }
  lt_approver_set_who(chat->approver, "The model", lt_approval_answer_prompt_scope());
  lt_approver_leave_memory(chat->approver);
  lt_approver_set_preview(chat->approver, s->app.door, lt_toolbox_policy(s->app.toolbox));
  return LT_OK;
}

static void chat_warn_of_default(const lt_chat *chat, const char *what, const lt_err *err) {
  LT_AUTO_BUF(line, 2 * LT_ERR_MSG_MAX);
  lt_buf_printf(&line, "going on with the default %s, as the conversation's cannot be had any more: %s", what,
                lt_err_msg(err));
  lt_console_warning(&chat->session->console, lt_buf_view(&line));
}

/* The conversation keeps the mode and the model of its last prompt, unless others were chosen. */
static void chat_take_choices_after(lt_chat *chat, lt_store *db) LT_YIELDS {
  lt_chat_last last;
  LT_ERR_VAR(err);
  const lt_model *model;
  LT_AUTO_ARENA(arena, LT_MIB);
  if (lt_chat_find_last(db, lt_str_of(chat->conversation), &arena, &last)) {
    if (!chat->mode_chosen && lt_chat_check_mode(chat->session, last.mode, &err) == LT_OK) {
      lt_buf_add(&chat->mode, last.mode);
    } else if (!chat->mode_chosen) {
      chat_warn_of_default(chat, "mode", &err);
    }
    if (!chat->model_chosen && lt_models_find(&chat->models, last.model, &model, &err) == LT_OK) {
      lt_buf_add(&chat->model, last.model);
    } else if (!chat->model_chosen) {
      chat_warn_of_default(chat, "model", &err);
    }
  }
}

/* Says once which files of the configuration have changed since the conversation's open prompt began. */
static lt_status chat_check_origin(lt_chat *chat, lt_str prompt, bool says, lt_err *err) LT_YIELDS {
  LT_AUTO_BUF(changed, LT_MIB);
  LT_AUTO_BUF(line, LT_MIB);
  LT_TRY(lt_agent_check_origin(chat->agent, LT_CHAT_USER, prompt, &changed, err));
  if (says && changed.n > 0) {
    lt_buf_addc(&line, "the configuration has changed since the prompt began: ");
    lt_buf_add(&line, lt_buf_view(&changed));
    lt_console_warning(&chat->session->console, lt_buf_view(&line));
  }
  return LT_OK;
}

/* A prompt that is open and belongs to another configuration stays as it is. */
static lt_status chat_check_last(lt_chat *chat, lt_store *db, lt_err *err) LT_YIELDS {
  lt_chat_last last = {.open = false};
  LT_AUTO_ARENA(arena, LT_MIB);
  (void)lt_chat_find_last(db, lt_str_of(chat->conversation), &arena, &last);
  return last.open ? chat_check_origin(chat, last.id, false, err) : LT_OK;
}

lt_status lt_chat_open(lt_chat *chat, lt_err *err) {
  const lt_model *model;
  lt_cancel_init(&chat->asking);
  lt_wait_init(&chat->asked, chat->session->app.loop);
  lt_buf_init(&chat->mode, LT_KIB);
  lt_buf_init(&chat->model, LT_KIB);
  LT_TRY(chat_open_parts(chat, err));
  lt_toolbox_warm(chat->session->app.toolbox); /* while the model is asked */
  const lt_agent_options options = chat_make_agent_options(chat);
  LT_TRY(lt_agent_new(&options, &chat->agent, err));
  chat->session->app.answers.on_usage = chat_on_usage;
  chat->session->app.answers.arg = chat;
  if (chat->options->decisions) {
    LT_TRY(lt_decision_lines_open(chat, &chat->lines, err));
  }
  chat_warn_of_rounds(chat);
  if (chat->options->mode != NULL) {
    LT_TRY(lt_chat_set_mode(chat, lt_str_of(chat->options->mode), err));
  }
  if (chat->options->model != NULL) {
    LT_TRY(lt_chat_set_model(chat, lt_str_of(chat->options->model), err));
  }
  if (chat->options->conversation != NULL) {
    lt_store *db = lt_toolbox_db(chat->session->app.toolbox);
    LT_TRY(lt_chat_find(db, lt_str_of(chat->options->conversation), chat->conversation, err));
    LT_TRY(chat_check_last(chat, db, err));
    chat_take_choices_after(chat, db);
    LT_TRY(lt_models_find(&chat->models, lt_buf_view(&chat->model), &model, err));
  }
  chat->keeps = lt_toolbox_keeps(chat->session->app.toolbox) && chat->on_event == NULL;
  if (!lt_toolbox_keeps(chat->session->app.toolbox)) {
    lt_console_warning(
        &chat->session->console,
        LT_STR("there is no home to keep conversations in: this one ends with the program; set $HOME, or "
               "store: sqlite:PATH in the configuration"));
  }
  return LT_OK;
}

void lt_chat_close(lt_chat *chat) {
  lt_decision_lines_close(chat->lines);
  chat->lines = NULL;
  chat->session->app.answers.on_usage = NULL;
  lt_agent_free(chat->agent);
  chat->agent = NULL;
  lt_approver_free(chat->approver);
  lt_store_journal_free(chat->journal);
  lt_http_free(chat->http);
  lt_modules_release(&chat->modules);
  lt_chat_view_release(&chat->view);
  lt_buf_release(&chat->mode);
  lt_buf_release(&chat->model);
}

/* --- Choosing ----------------------------------------------------------------------------------------------------- */
lt_status lt_chat_check_mode(const lt_command_session *session, lt_str mode, lt_err *err) {
  const lt_host *host = session->app.toolbox != NULL ? lt_toolbox_host(session->app.toolbox) : NULL;
  bool too_early = host == NULL && lt_config_may_add_modes(&session->app.config);
  return too_early ? LT_OK : lt_agent_check_mode(host, mode, err);
}

lt_status lt_chat_check_default(const lt_command_session *session, const lt_models *models, lt_err *err) {
  if (models->default_mode.n == 0 || lt_chat_check_mode(session, models->default_mode, err) == LT_OK) {
    return LT_OK;
  }
  lt_err_prefix(err, "%s: defaults.mode", session->app.config.defaults.mode_file);
  return LT_E_CONFIG;
}

lt_status lt_chat_set_mode(lt_chat *chat, lt_str mode, lt_err *err) {
  LT_TRY(lt_chat_check_mode(chat->session, mode, err));
  lt_buf_clear(&chat->mode);
  lt_buf_add(&chat->mode, mode);
  chat->mode_chosen = true;
  return LT_OK;
}

lt_status lt_chat_set_model(lt_chat *chat, lt_str ref, lt_err *err) {
  const lt_model *model;
  LT_TRY(lt_models_find(&chat->models, ref, &model, err));
  lt_buf_clear(&chat->model);
  lt_buf_add(&chat->model, ref);
  chat->model_chosen = true;
  return LT_OK;
}

void lt_chat_leave(lt_chat *chat) {
  chat->conversation[0] = '\0';
  if (!chat->mode_chosen) {
    lt_buf_clear(&chat->mode);
  }
  if (!chat->model_chosen) {
    lt_buf_clear(&chat->model);
  }
}

/* --- A turn ------------------------------------------------------------------------------------------------------- */
bool lt_chat_interrupt(lt_chat *chat) {
  if (chat->busy && !chat->interrupted) {
    lt_chat_questions_stop(chat);
    return true;
  }
  if (!chat->busy && chat->reading != NULL) {
    lt_cancel_fire(chat->reading, LT_E_CANCELLED);
    return true;
  }
  return false;
}

static void chat_note_conversation(lt_chat *chat, const char *id) {
  if (chat->on_event != NULL) {
    return;
  }
  if (strcmp(chat->conversation, id) != 0 || chat->options->conversation != NULL) {
    LT_AUTO_BUF(line, LT_KIB);
    lt_buf_printf(&line, "conversation %s", id);
    lt_chat_view_note(&chat->view, lt_buf_view(&line));
  }
}

/* An end of the process loses nothing: lt_agent_free leaves the prompt to the next process. */
static void chat_leave_prompt(lt_chat *chat) {
  chat->left = true;
  if (chat->on_event == NULL) {
    lt_console_format(&chat->session->console, "lathe chat: told to end: lathe chat -c %s continues with this prompt",
                      chat->conversation);
  }
}

/* Waits until the prompt or the session ends. At the session's end, prompts that are not stored and cancelled prompts
 * end, too. */
static lt_status chat_wait_for_end(lt_chat *chat, lt_err *err) LT_YIELDS {
  lt_str prompt = lt_str_of(chat->prompt);
  lt_status status = lt_agent_wait(chat->agent, prompt, &chat->session->app.cancel, err);
  if (status == LT_OK || status == LT_E_NOTFOUND) {
    return LT_OK;
  }
  lt_chat_questions_cancel(chat);
  if (!chat->interrupted && chat->keeps) {
    chat_leave_prompt(chat);
  } else if (lt_agent_stop(chat->agent, LT_CHAT_USER, prompt)) {
    (void)lt_agent_wait(chat->agent, prompt, NULL, NULL);
  }
  return status;
}

static lt_status chat_start_prompt(lt_chat *chat, lt_str message, lt_err *err) LT_YIELDS {
  lt_prompt_ids ids;
  const lt_prompt_request request = {
      .user = LT_CHAT_USER,
      .conversation = lt_str_of(chat->conversation),
      .input = message,
      .attachments = chat->attached != NULL ? chat->attached->list : NULL,
      .attachment_count = chat->attached != NULL ? chat->attached->count : 0,
      .model = lt_buf_view(&chat->model),
      .mode = lt_buf_view(&chat->mode),
  };
  LT_TRY(lt_agent_start(chat->agent, &request, &ids, err));
  chat_note_conversation(chat, ids.conversation);
  memcpy(chat->prompt, ids.prompt, sizeof chat->prompt);
  memcpy(chat->conversation, ids.conversation, sizeof chat->conversation);
  if (chat->interrupted) {
    (void)lt_agent_stop(chat->agent, LT_CHAT_USER, lt_str_of(chat->prompt));
  }
  return LT_OK;
}

/* The events of a resumed prompt come with the next turn of the loop. This line is printed before them. */
static lt_status chat_resume_prompt(lt_chat *chat, const char *prompt, lt_err *err) LT_YIELDS {
  LT_TRY(chat_check_origin(chat, lt_str_of(prompt), true, err));
  LT_TRY(lt_agent_resume(chat->agent, LT_CHAT_USER, lt_str_of(prompt), err));
  memcpy(chat->prompt, prompt, sizeof chat->prompt);
  if (chat->on_event == NULL) {
    lt_chat_view_note(&chat->view, LT_STR("continuing the prompt that was cut short"));
  }
  if (chat->interrupted) {
    (void)lt_agent_stop(chat->agent, LT_CHAT_USER, lt_str_of(chat->prompt));
  }
  return LT_OK;
}

/* While the model writes its first program, the compiler starts. A model's own mode is not looked up. */
static void chat_warm_types(lt_chat *chat) {
  lt_str mode = chat->mode.n > 0 ? lt_buf_view(&chat->mode) : chat->models.default_mode;
  if (lt_str_eqc(mode, "typescript")) {
    lt_toolbox_warm_types(chat->session->app.toolbox);
  }
}

static void chat_begin_turn(lt_chat *chat) {
  chat_warm_types(chat);
  lt_cancel_init(&chat->asking);
  chat->busy = true;
  chat->interrupted = false;
  lt_chat_view_begin(&chat->view);
  lt_type_ahead_begin(chat->ahead);
}

/* Waits for the prompt, if it was started. */
static lt_status chat_end_turn(lt_chat *chat, lt_status status, lt_err *err) LT_YIELDS {
  if (status == LT_OK) {
    status = chat_wait_for_end(chat, err);
  }
  lt_chat_questions_cancel(chat);
  lt_chat_questions_wait(chat);
  lt_type_ahead_end(chat->ahead);
  lt_chat_view_finish(&chat->view);
  chat->prompt[0] = '\0';
  chat->busy = false;
  return status;
}

/* A call waits that nobody has decided about. An older Lathe did not store which calls wait. */
static bool chat_waits_for_person(const lt_chat *chat, const char *prompt) LT_YIELDS {
  lt_store *db = lt_toolbox_db(chat->session->app.toolbox);
  lt_waiting_calls calls;
  if (!lt_chat_waits(db, lt_str_of(chat->conversation))) {
    return false;
  }
  lt_status status = lt_waiting_calls_read(db, LT_CHAT_USER, lt_str_of(prompt), &calls, NULL);
  bool waits = status != LT_OK || calls.count == 0 || lt_waiting_calls_has_open(&calls);
  lt_waiting_calls_release(&calls);
  return waits;
}

/* The unfinished prompt of the conversation, or "". */
static void chat_find_unfinished(const lt_chat *chat, char ret_prompt[LT_STORE_ID_BYTES + 1]) LT_YIELDS {
  lt_chat_last last = {.open = false};
  LT_AUTO_ARENA(arena, LT_MIB);
  if (chat->conversation[0] != '\0') {
    (void)lt_chat_find_last(lt_toolbox_db(chat->session->app.toolbox), lt_str_of(chat->conversation), &arena, &last);
  }
  snprintf(ret_prompt, LT_STORE_ID_BYTES + 1, "%.*s", LT_STR_ARG(last.open ? last.id : LT_STR("")));
}

/* Another process may end the prompt between the look at it and the attempt to own it: nothing is left to resume. */
static lt_status chat_resume_or_find_ended(lt_chat *chat, const char *prompt, lt_err *err) LT_YIELDS {
  char unfinished[LT_STORE_ID_BYTES + 1];
  lt_status status = chat_resume_prompt(chat, prompt, err);
  if (status != LT_E_INVALID) {
    return status;
  }
  chat_find_unfinished(chat, unfinished);
  return strcmp(unfinished, prompt) == 0 ? status : LT_OK;
}

lt_status lt_chat_catch_up(lt_chat *chat, lt_err *err) {
  char prompt[LT_STORE_ID_BYTES + 1];
  chat_find_unfinished(chat, prompt);
  if (prompt[0] == '\0') {
    return LT_OK;
  }
  if (!lt_approver_can_ask(chat->approver) && !lt_decision_lines_may_come(chat->lines) &&
      chat_waits_for_person(chat, prompt)) {
    return lt_fail(err, LT_E_UNSUPPORTED,
                   "a tool call of this conversation waits for approval, and there is no terminal to ask on: go on at "
                   "one with lathe chat -c %s, decide with lathe approve %s, or approve it with --yes",
                   chat->conversation, prompt);
  }
  chat_begin_turn(chat);
  return chat_end_turn(chat, chat_resume_or_find_ended(chat, prompt, err), err);
}

lt_status lt_chat_say(lt_chat *chat, lt_str message, lt_err *err) {
  chat_begin_turn(chat);
  return chat_end_turn(chat, chat_start_prompt(chat, message, err), err);
}
