/* A chat: an agent on a session, its models, one conversation, and a person who answers questions and may interrupt.
 *
 * chat_command.c has the options and sends one message; chat_repl.c is the dialogue; chat_list.c finds conversations.
 */
#ifndef LT_CLI_CHAT_H
#define LT_CLI_CHAT_H

#include "agent/agent.h"
#include "cli/chat_view.h"
#include "app/models.h"
#include "app/modules.h"
#include "cli/command_options.h"
#include "cli/command_session.h"
#include "tool/masked_records.h"

#define LT_CHAT_USER LT_STR("local")

typedef struct lt_chat_options {
  const char *conversation; /* -c: an id, its beginning, or "last"; NULL: a new one */
  const char *mode;
  const char *model;
  const char *system;     /* further instructions, or "@FILE" */
  const char *message;    /* NULL: a dialogue, or the message is on standard input */
  lt_option_texts attach; /* files that go with it */
  lt_config_sources sources;
  bool yes;
  bool verbose;      /* long programs are not folded */
  bool is_unchecked; /* TypeScript's types are not checked */
  bool json;
  bool decisions; /* standard input has decisions */
  bool list;
} lt_chat_options;

typedef struct lt_chat {
  const lt_chat_options *options;
  lt_command_session *session;
  lt_models models;
  lt_buf instructions; /* the caller's of lt_chat_open; empty: the configuration's */
  lt_modules modules;
  lt_http *http;
  lt_journal *journal;              /* the store's */
  lt_masked_journal masked_journal; /* in front of it */
  lt_approver *approver;
  lt_agent *agent; /* NULL: not open */
  lt_chat_view view;
  /* Gets the events instead of the view; NULL: the view gets them. Must not yield. */
  void (*on_event)(void *arg, const char *event, lt_str data);
  /* Gets what programs say, when they say it; may be NULL. Must not yield. */
  void (*on_said)(void *arg, lt_said said, lt_str text);
  void *arg;
  char conversation[LT_STORE_ID_BYTES + 1]; /* empty: a new one */
  char prompt[LT_STORE_ID_BYTES + 1];       /* the running prompt; empty: none */
  lt_buf mode, model;                       /* chosen, or from the conversation; empty: the default */
  bool mode_chosen, model_chosen;           /* by an option or /mode, /model: also valid for a new conversation */
  const struct lt_attach_files *attached;   /* files that go with the next message; NULL: none do */
  bool busy;                                /* a turn runs */
  bool interrupted;                         /* Ctrl-C ends the turn */
  bool keeps;                               /* prompts outlive this process */
  bool left;                                /* the prompt is left to the next process, because this one ends */
  lt_cancel asking;                         /* ends the questions of this turn */
  struct chat_question *questions;          /* open ones */
  struct lt_decision_lines *lines;          /* decisions on standard input; NULL: none are read */
  lt_wait asked;                            /* woken when the last question has ended */
  unsigned titles;                          /* number of titles in the making */
  lt_wait titled;                           /* woken when `titles` becomes 0 */
  struct lt_type_ahead *ahead;              /* only in a dialogue; NULL: typed text waits in the terminal */
  struct lt_line_input *input;              /* only in a dialogue */
  lt_cancel *reading;                       /* cancels the line that is being typed; NULL: none */
} lt_chat;

/* Makes agent and view. `chat` has options, session and models. LT_YIELDS. Errors: LT_E_CONFIG, LT_E_INVALID (no such
 * mode), LT_E_NOMEM. The caller calls lt_chat_close also after an error. */
lt_status lt_chat_open(lt_chat *chat, lt_err *err) LT_YIELDS;
void lt_chat_close(lt_chat *chat) LT_YIELDS;

/* Resumes the conversation's last prompt if its process ended before the prompt did, and waits until the prompt has
 * ended. LT_OK also when there is nothing to resume; view.end is LT_CHAT_UNFINISHED then. LT_YIELDS. Errors: those of
 * lt_agent_resume; LT_E_UNSUPPORTED: a call of the prompt waits for approval and no person can be asked, so nothing was
 * begun; LT_E_CANCELLED when the session ends: the prompt stays open for the next process. */
lt_status lt_chat_catch_up(lt_chat *chat, lt_err *err) LT_YIELDS;
/* Sends a message and waits until the prompt has ended; view.end says how. LT_YIELDS. Errors: those of lt_agent_start,
 * and LT_E_CANCELLED when the session ends: the prompt stays open for the next process. */
lt_status lt_chat_say(lt_chat *chat, lt_str message, lt_err *err) LT_YIELDS;
/* Handles Ctrl-C. False: there is nothing to end, or Ctrl-C was typed before. */
bool lt_chat_interrupt(lt_chat *chat);

/* Checks that a mode exists. Before plugins are loaded, a mode that a plugin may add passes. LT_E_INVALID lists the
 * modes. */
lt_status lt_chat_check_mode(const lt_command_session *session, lt_str mode, lt_err *err);
/* The same for the default mode. LT_E_CONFIG. */
lt_status lt_chat_check_default(const lt_command_session *session, const lt_models *models, lt_err *err);
/* Chooses a mode or a model by name, for this conversation and later ones. LT_E_INVALID or LT_E_NOTFOUND lists the
 * names; LT_E_CONFIG: the model has no key. */
lt_status lt_chat_set_mode(lt_chat *chat, lt_str mode, lt_err *err);
lt_status lt_chat_set_model(lt_chat *chat, lt_str ref, lt_err *err);

/* Leaves the conversation. A chosen mode or model stays; otherwise the default returns. */
void lt_chat_leave(lt_chat *chat);

/* Runs the dialogue until the person leaves. LT_YIELDS. Returns an exit code. */
int lt_chat_repl(lt_chat *chat) LT_YIELDS;

/* chat_list.c: finds the conversation whose id begins with `wanted`, or the last one. LT_YIELDS. LT_E_NOTFOUND: no
 * conversation, or several. */
lt_status lt_chat_find(lt_store *db, lt_str wanted, char ret_id[LT_STORE_ID_BYTES + 1], lt_err *err) LT_YIELDS;
/* A conversation's last prompt that was not taken back. */
typedef struct lt_chat_last {
  lt_str id, mode, model, input; /* in the arena */
  bool open;                     /* it has not ended */
} lt_chat_last;
/* False: the conversation has no prompt, or it cannot be read. LT_YIELDS. */
bool lt_chat_find_last(lt_store *db, lt_str conversation, lt_arena *arena, lt_chat_last *ret_last) LT_YIELDS;
/* Whether the conversation's last prompt waits for approval and its process is gone. LT_YIELDS. */
bool lt_chat_waits(lt_store *db, lt_str conversation) LT_YIELDS;
/* The columns of the terminal that standard output is; 0: it is none, or they are not known. */
size_t lt_chat_list_columns(void);
/* Appends a line for each conversation of the list (lt_store_conversation_list); `open`: lt_store_prompt_orphans_of.
 * `columns`: what a line may take, so that ids and titles are shortened; 0: as much as they need. Errors: LT_E_INVALID,
 * LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_chat_list_put(lt_str list, lt_str open, size_t columns, lt_buf *out, lt_err *err);
/* Prints the list of conversations, without a session. Returns an exit code. */
int lt_chat_list(const lt_chat_options *options);

#endif
