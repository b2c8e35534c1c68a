/* A chat: an agent on a session, its models, one conversation, and a person who is asked and may interrupt.
 *
 * chat_command.c has the options and says one message; chat_repl.c talks on; chat_list.c finds conversations.
 */
#ifndef LT_CLI_CHAT_H
#define LT_CLI_CHAT_H

#include "agent/agent.h"
#include "cli/chat_view.h"
#include "app/models.h"
#include "app/modules.h"
#include "cli/command_session.h"

#define LT_CHAT_USER LT_STR("local")

typedef struct lt_chat_options {
  const char *conversation; /* -c: an id, its beginning, or "last"; NULL: a new one */
  const char *mode;
  const char *model;
  const char *message; /* NULL: a dialogue, or it is on standard input */
  lt_config_sources sources;
  bool yes;
  bool json;
  bool list;
} lt_chat_options;

typedef struct lt_chat {
  const lt_chat_options *options;
  lt_command_session *session;
  lt_models models;
  lt_modules modules;
  lt_http *http;
  lt_journal *journal;
  lt_approver *approver;
  lt_agent *agent; /* NULL: not open */
  lt_chat_view view;
  /* Gets the events instead of the view; NULL: the view has them. Must not yield. */
  void (*on_event)(void *arg, const char *event, lt_str data);
  void *arg;
  char conversation[LT_STORE_ID_BYTES + 1]; /* empty: a new one */
  char prompt[LT_STORE_ID_BYTES + 1];       /* that runs; empty: none does */
  lt_buf mode, model;                       /* as chosen, or the conversation's; empty: the default */
  bool mode_chosen, model_chosen;           /* by -m, /mode and so on: holds for a new conversation, too */
  bool busy;                                /* a turn is under way ... */
  bool interrupted;                         /* ... and was to be ended by Ctrl-C */
  bool keeps;                               /* a prompt outlives this process ... */
  bool left;                                /* ... and was left to the next one, as this one was told to end */
  lt_cancel asking;                         /* ends what a person is asked in this turn */
  unsigned asks;
  lt_wait asked;               /* woken when the last of them has ended */
  unsigned titles;             /* that are being made ... */
  lt_wait titled;              /* ... woken when none is any more */
  struct lt_line_input *input; /* of a dialogue */
  lt_cancel *reading;          /* of the line that is being typed; NULL: none is */
} lt_chat;

/* Makes agent and view. `chat` has options, session and models. LT_YIELDS. Errors: LT_E_CONFIG, LT_E_INVALID (no such
 * mode), LT_E_NOMEM. lt_chat_close, in either case. */
lt_status lt_chat_open(lt_chat *chat, lt_err *err) LT_YIELDS;
void lt_chat_close(lt_chat *chat) LT_YIELDS;

/* Goes on with the conversation's last prompt, where that was cut short with the process that ran it, and waits until
 * it has ended; LT_OK also when there is nothing to be gone on with (view.end is LT_CHAT_UNFINISHED then). LT_YIELDS.
 * Errors: those of lt_agent_resume; LT_E_UNSUPPORTED: a call of it waits for approval and there is nobody to ask, so
 * nothing was begun; LT_E_CANCELLED when the session ends: the prompt is left open then for the next process. */
lt_status lt_chat_catch_up(lt_chat *chat, lt_err *err) LT_YIELDS;
/* Says a message and waits until the prompt has ended; how, the view knows. LT_YIELDS. Errors: those of lt_agent_start,
 * and LT_E_CANCELLED when the session ends: the prompt is left open then for the next process. */
lt_status lt_chat_say(lt_chat *chat, lt_str message, lt_err *err) LT_YIELDS;
/* Ctrl-C. False: there is nothing that could be ended, or it was asked for already. */
bool lt_chat_interrupt(lt_chat *chat);

/* Whether there is such a mode. Before plugins are there it says so only where none could bring it. LT_E_INVALID, with
 * those there are. */
lt_status lt_chat_check_mode(const lt_command_session *session, lt_str mode, lt_err *err);
/* The same of the default mode. LT_E_CONFIG. */
lt_status lt_chat_check_default(const lt_command_session *session, const lt_models *models, lt_err *err);
/* Chooses a mode or a model by name, for this conversation and others. LT_E_INVALID or LT_E_NOTFOUND, with those there
 * are; LT_E_CONFIG: no key. */
lt_status lt_chat_set_mode(lt_chat *chat, lt_str mode, lt_err *err);
lt_status lt_chat_set_model(lt_chat *chat, lt_str ref, lt_err *err);

/* Goes back to no conversation, and to the default mode and model but for what was chosen. */
void lt_chat_leave(lt_chat *chat);

/* Talks until the person leaves. LT_YIELDS. Returns an exit code. */
int lt_chat_repl(lt_chat *chat) LT_YIELDS;

/* chat_list.c: the conversation that `wanted` is the beginning of, or the last one. LT_YIELDS. LT_E_NOTFOUND: there is
 * none, or several. */
lt_status lt_chat_find(lt_store *db, lt_str wanted, char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err) LT_YIELDS;
/* A conversation's last prompt. */
typedef struct lt_chat_last {
  lt_str id, mode, model; /* in the arena */
  bool open;              /* it has not ended */
} lt_chat_last;
/* False: there is none, or it cannot be read. LT_YIELDS. */
bool lt_chat_find_last(lt_store *db, lt_str conversation, lt_arena *arena, lt_chat_last *ret_last) LT_YIELDS;
/* Whether its last prompt waits for approval, and the process that asked is gone. LT_YIELDS. */
bool lt_chat_waits(lt_store *db, lt_str conversation) LT_YIELDS;
/* Prints the conversations there are; a command of its own, without a session. Returns an exit code. */
int lt_chat_list(const lt_chat_options *options);

#endif
