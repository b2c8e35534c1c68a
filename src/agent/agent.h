/* The agent: prompts of conversations, each carried out in an execution mode, stored before it is shown.
 *
 * A prompt runs on a fiber of its own from lt_agent_start to its end. What it does goes out as events. A call that
 * waits for a person is decided by lt_agent_approve and lt_agent_reject, from any front end. Loop thread only.
 */
#ifndef LT_AGENT_AGENT_H
#define LT_AGENT_AGENT_H

#include "text/secrets.h"
#include "plugin/host.h"
#include "model/model.h"
#include "replay/replay_observer.h"
#include "runner/runner.h"
#include "store/store_prompts.h"
#include "store/store.h"
#include "tool/door.h"

typedef struct lt_agent lt_agent;

/* How often a model is asked for one prompt in a mode, at most; never more than LT_ROUNDS_MAX. */
typedef struct lt_mode_rounds {
  lt_str mode;
  uint32_t rounds;
} lt_mode_rounds;

typedef struct lt_agent_options {
  lt_loop *loop;
  lt_door *door;
  lt_store *db;
  lt_http *http;
  lt_host *host;
  lt_journal *journal;       /* may be NULL */
  lt_artifacts *artifacts;   /* may be NULL */
  const lt_policy *policy;   /* may be NULL */
  const lt_secrets *secrets; /* may be NULL */
  const lt_model *models;    /* refs are unique; "high" falls back to "normal", that to the first */
  size_t model_count;
  const lt_str *model_modes;    /* of each model the mode it is meant for, or empty; may be NULL */
  lt_str default_model;         /* a ref; empty: "normal" */
  lt_str default_mode;          /* empty: "classic" */
  const lt_mode_rounds *rounds; /* of other modes LT_ROUNDS_CLASSIC and so on, or what their plugin says; may be NULL */
  size_t rounds_count;
  size_t listing_tokens; /* what code mode's listing of the tools may take; 0: LT_LISTING_TOKENS */
  /* Limits, modules and functions of programs; code, input, caller do not count. llm() and llmJson() are added; without
   * modules or functions, those that plugins have registered are taken. */
  lt_run_request defaults;
  /* Gives what runs programs in a language, made when it is first needed; NULL with `err` when it cannot be had. */
  lt_runner *(*runner)(void *runner_arg, lt_lang lang, lt_err *err);
  void *runner_arg;
  /* lt_agent_free leaves prompts that run as they are, for lt_agent_resume in the next process; otherwise it cancels
   * them. */
  bool leave_open;
  /* Watches prompts that lt_agent_resume carries out again, to check them; NULL: lt_replay_observer_none. */
  lt_replay_observer *observer;
  /* Every event, in order; must not yield. `data` is JSON:
   * - prompt.created {promptId, userId, conversationId, model, mode}
   * - prompt.resumed, the same: it goes on in this process. Outputs of the earlier process are not sent again, but for
   *   those that were still pending
   * - prompt.output {promptId, output}: stored before; again when an output changes in place (same id)
   * - prompt.stream {promptId, delta}: a piece of text. All of a text output comes in such pieces before its own
   *   prompt.output: a reader that shows the pieces need not show the texts
   * - prompt.approval-requested {promptId, request: {toolCallId, toolName, input, reason}}
   * - prompt.completed {promptId, output: [...], usage}
   * - prompt.cancelled {promptId}
   * - prompt.error {promptId, error}
   * - conversation.updated {conversationId, title}
   *
   * An output is {"type": "text", "id", "content", "start"}, or {"type": "tool", "id", "parent"?, "function", "input",
   * "result", "start", "end"?} with a result {"type": "pending", "reason"}, {"type": "success", "output"} or {"type":
   * "error", "error"} and perhaps "logs", or {"type": "file", "id", "path", "mimeType", "description"?, "artifact",
   * "start"}. The parent of a call that a program made is the output of that program. */
  void (*on_event)(void *arg, lt_str user, const char *event, lt_str data);
  void *arg;
} lt_agent_options;

/* Borrows everything in the options. Owns: the caller, lt_agent_free. Errors: LT_E_NOMEM, LT_E_CONFIG (a default model
 * or mode that does not exist). */
lt_status lt_agent_new(const lt_agent_options *options, lt_agent **ret_agent, lt_err *err);
/* Cancels what runs, or leaves it (leave_open), and waits for it. LT_YIELDS. NULL is allowed. */
void lt_agent_free(lt_agent *agent) LT_YIELDS;

typedef struct lt_prompt_request {
  lt_str user;
  lt_str conversation; /* empty: a new one */
  lt_str input;
  lt_str model; /* a ref; empty: the default */
  lt_str mode;  /* empty: the model's or the default */
} lt_prompt_request;

typedef struct lt_prompt_ids {
  char prompt[LT_STORE_ID_BYTES + 1];
  char conversation[LT_STORE_ID_BYTES + 1];
} lt_prompt_ids;

/* Stores the prompt, starts it and returns. It runs from the next turn of the loop on, so that lt_agent_wait finds it
 * if called at once. LT_YIELDS. Errors: LT_E_INVALID (`Unknown execution mode: "x"`, an unknown model, an empty input,
 * a conversation that is busy), LT_E_NOTFOUND (the conversation), LT_E_LIMIT, LT_E_NOMEM, the store's. */
lt_status lt_agent_start(lt_agent *agent, const lt_prompt_request *request, lt_prompt_ids *ret_ids,
                         lt_err *err) LT_YIELDS;
/* Goes on with a prompt whose process is gone (lt_store_prompt_orphans_of): carries it out again by its record, without
 * asking the model or making calls a second time, up to where it was cut short, and from there for real. What waited
 * for approval waits again, with the same ids. It ends as failed (`diverged: ...`) where it cannot: with another Lathe,
 * or when it does not do again what is on record (docs/internals/replay.md). LT_YIELDS. Errors: LT_E_NOTFOUND (no such
 * prompt of the user's), LT_E_INVALID (it has ended, or runs in another process: its pid), LT_E_CONFIG (no model is
 * configured), LT_E_CLOSED, LT_E_LIMIT (its record is too long), LT_E_NOMEM, the store's. */
lt_status lt_agent_resume(lt_agent *agent, lt_str user, lt_str prompt, lt_err *err) LT_YIELDS;
/* Appends the tools that a prompt saw (tool/tool_list.h), which are kept once for all prompts that saw the same.
 * LT_YIELDS. LT_E_NOTFOUND: there is no record of the prompt, or its tools are not kept any more. */
lt_status lt_agent_recorded_tools(lt_store *db, lt_journal *journal, lt_str prompt, lt_buf *out, lt_err *err) LT_YIELDS;
/* Waits until it has ended. LT_OK also when it failed: its state says so. LT_E_NOTFOUND: it does not run here, or no
 * longer. */
lt_status lt_agent_wait(lt_agent *agent, lt_str prompt, lt_cancel *cancel, lt_err *err) LT_YIELDS;

/* Decides about a tool call that waits. LT_E_NOTFOUND: no call of that id waits for a decision by this user. */
lt_status lt_agent_approve(lt_agent *agent, lt_str user, lt_str prompt, lt_str call, lt_err *err);
lt_status lt_agent_reject(lt_agent *agent, lt_str user, lt_str prompt, lt_str call, lt_str reason, lt_err *err);
/* Cancels a prompt: it ends as soon as its current step can be stopped. LT_E_NOTFOUND: it does not run here. */
lt_status lt_agent_cancel(lt_agent *agent, lt_str user, lt_str prompt, lt_err *err);

/* Gives a conversation a title by one short model call, if it has none; failures are ignored. LT_YIELDS. */
void lt_agent_title(lt_agent *agent, lt_str user, lt_str conversation) LT_YIELDS;

/* The modes there are: [{"id", "name"}], sorted. */
void lt_agent_modes(const lt_agent *agent, lt_buf *out);
/* Whether the mode needs no plugin. */
bool lt_agent_is_built_in_mode(lt_str id);
/* LT_OK where there is a mode of that name, built in or registered with `host` (NULL: built in). LT_E_INVALID
 * otherwise, with those there are. Needs no agent: a front end can ask before it starts anything. */
lt_status lt_agent_check_mode(const lt_host *host, lt_str mode, lt_err *err);
/* Appends the names of those modes, with commas between them. */
void lt_agent_mode_names(const lt_host *host, lt_buf *out);

#endif
