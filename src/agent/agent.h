/* The agent carries out the prompts of conversations, each in an execution mode. It stores an output before it shows
 * it.
 *
 * A prompt runs on its own fiber from lt_agent_start to its end, and reports each step as an event. Any front end can
 * decide about a call that waits for approval, with lt_agent_decide. Loop thread only.
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
#include "tool/monitor.h"
#include "trace/sampler.h"

typedef struct lt_agent lt_agent;

/* The maximum number of model requests for one prompt in a mode; never more than LT_ROUNDS_MAX. */
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
  lt_monitor *monitor;       /* is told of prompts and of questions to models; may be NULL */
  const lt_sampler *sampler; /* says which prompts are traced; NULL: none is */
  /* Refs are unique, or empty: a place for a model that comes later. "high" falls back to "normal", "normal" to the
   * first. */
  const lt_model *models;
  size_t model_count;
  const lt_str *model_modes;    /* for each model its preferred mode, or empty; may be NULL */
  lt_str default_model;         /* a ref; empty: "normal" */
  lt_str default_mode;          /* empty: "classic" */
  const lt_mode_rounds *rounds; /* configured limits; may be NULL */
  size_t rounds_count;
  lt_str instructions;   /* added to the system message of every mode; may be empty */
  size_t listing_tokens; /* ceiling of code mode's list of tools; 0: LT_LISTING_TOKENS */
  /* Limits, modules and functions of programs; code, input and caller are ignored. The agent adds llm() and llmJson().
   * Without modules or functions, programs get those that plugins have registered. */
  lt_run_request defaults;
  /* Returns the runner for a language, and creates it at first use. NULL: `err` says why there is none. */
  lt_runner *(*runner)(void *runner_arg, lt_lang lang, lt_err *err);
  void *runner_arg;
  /* The configuration of this process, as JSON: {"folder", "files": [{"path", "hash", "why", "user": of the user's
   * layer}]}. Prompts record it, and only a process with the same files resumes them. Empty: prompts of any
   * configuration are resumed. */
  lt_str origin;
  /* true: lt_agent_free does not end running prompts, so that the next process can resume them (lt_agent_resume).
   * false: it cancels them. */
  bool leave_open;
  /* Checks prompts that lt_agent_resume carries out again; NULL: lt_replay_observer_none. */
  lt_replay_observer *observer;
  /* Every event of every call that the prompt makes or its programs make, progress included; secrets are masked. Must
   * not yield. May be NULL: then servers are not asked for progress. `arg` is that of on_event. */
  void (*on_call)(void *arg, lt_str prompt, const lt_call_event *event);
  /* Every text that the prompt's programs put out or log, when they do; of a prompt that is carried out again, from its
   * beginning. Secrets are not masked. Must not yield. May be NULL. `arg` is that of on_event. */
  void (*on_said)(void *arg, lt_str prompt, lt_said said, lt_str text);
  /* Every event, in order; must not yield. `data` is JSON:
   * - prompt.created {promptId, userId, conversationId, model, mode, attachments?: [{id, name, mimeType, bytes}]}
   * - prompt.resumed, with the same data: the prompt continues in this process. Of the earlier process's outputs, only
   *   pending ones are sent again, and those that no reader has got (lt_agent_shown)
   * - prompt.output {promptId, change, output}: sent after the output is stored, and again when the output changes in
   *   place (same id). `change` numbers the changes of the prompt's outputs, from 1; it is for lt_agent_shown
   * - prompt.stream {promptId, delta, incomplete?}: a piece of text; with `incomplete` no part of an answer. Each text
   * output is sent completely in such pieces before its prompt.output event: a reader that shows the pieces need not
   * show the texts
   * - prompt.stream {promptId, delta, program: true, function?, index?, restart?}: a piece of a program that the model
   * is writing, as the model writes it, code fences included. Readers of texts leave these out. `function`: that of the
   *   output to come, which says the language. `restart`: all pieces of programs
   *   of this prompt before this one do not count; so does the first piece of each reply say, and an empty piece when
   * the reply breaks off or is no program after all. `index`: which program of the reply, where it has several; absent:
   * 0. The outputs of the reply's programs come in this order and replace the pieces, and so does the prompt's end.
   * Pieces are no promise: a reply on record has none, and neither has one that does not come in pieces
   * - prompt.retrying {promptId, reason, waitMs, try, tries}: the model could not be asked, and is asked again after
   *   that time, for the `try`-th time of at most `tries`
   * - prompt.summarized {promptId, conversationId, prompts}: the model has summarised so many of the conversation's
   *   earliest prompts, before the prompt's first request
   * - prompt.approval-requested {promptId, request: {toolCallId, toolName, input, reason, refusal?}}; `refusal`: why
   * the input that a decision brought cannot be used; the call still waits
   * - prompt.approval-decided {promptId, toolCallId, decision: "approve" or "reject", reason?, input?, remember?}: the
   *   call waits no more
   * - prompt.completed {promptId, output: [...], usage, incomplete?: {reason}}; `incomplete`: there is no whole answer
   *   (incomplete.h), and a text output with the same member says so
   * - prompt.cancelled {promptId}
   * - prompt.error {promptId, error}
   * - conversation.updated {conversationId, title}
   * - conversation.retrying {conversationId, reason, waitMs, try, tries}: as prompt.retrying, when the model is asked
   * for a title
   *
   * An output is {"type": "text", "id", "content", "incomplete"?: {"reason"}, "start"}, or {"type": "tool", "id",
   * "parent"?, "function", "input", "editedInput"?, "result", "start", "decided"? (when a question about it was
   * decided), "end"?} with a result {"type": "pending", "reason", "question"? (it waits for an approval)}, {"type":
   * "success", "output"} or {"type": "error", "error"} and perhaps "logs", or {"type": "file", "id", "path",
   * "mimeType", "description"?, "artifact", "start"}. The parent of a call that a program made is the output of that
   * program. */
  void (*on_event)(void *arg, lt_str user, const char *event, lt_str data);
  void *arg;
} lt_agent_options;

/* Borrows everything in the options. Owns: the caller, lt_agent_free. Errors: LT_E_NOMEM, LT_E_CONFIG (a default model
 * or mode that does not exist). */
lt_status lt_agent_new(const lt_agent_options *options, lt_agent **ret_agent, lt_err *err);
/* Takes from `options` models, modes, rounds, bounds of programs and the origin, for prompts that begin from now on;
 * the others go on with what they have. Borrows: as lt_agent_new, and what was borrowed before as well. Errors: those
 * of lt_agent_new; then nothing has changed. */
lt_status lt_agent_change(lt_agent *agent, const lt_agent_options *options, lt_err *err);
/* Cancels running prompts, or leaves them open (leave_open), and waits for their fibers. LT_YIELDS. NULL is allowed. */
void lt_agent_free(lt_agent *agent) LT_YIELDS;

/* How many prompts do something now: those that only wait for approvals do not count. */
size_t lt_agent_busy(const lt_agent *agent);
/* Takes no further prompts (LT_E_CLOSED), and waits until none does anything any more, or for `ms`, or until `hurry` is
 * fired. Prompts go on meanwhile, with all that they need; calls that end are not interrupted by the agent's end.
 * LT_YIELDS. */
void lt_agent_drain(lt_agent *agent, uint64_t ms, lt_cancel *hurry) LT_YIELDS;

/* A file that goes with a message: an image (PNG, JPEG, GIF, WebP), a PDF or a text. Its content says which. */
typedef struct lt_attachment {
  lt_str name; /* what the model is told; a path's folders are left out */
  lt_str data;
  lt_str mime_type; /* what the sender takes it for; empty: not said */
} lt_attachment;

typedef struct lt_prompt_request {
  lt_str user;
  lt_str conversation; /* empty: a new one */
  lt_str input;
  const lt_attachment *attachments; /* kept as artifacts; not with is_deferred */
  size_t attachment_count;
  lt_str model; /* a ref; empty: the default */
  lt_str mode;  /* empty: the model's or the default */
  /* The prompt of a new conversation is stored at its first call that is not read-only, when it waits for a decision,
   * or by lt_agent_store; else when its record or what it puts out is long. If it ends before, it leaves nothing in the
   * store, and its outputs are reported without being stored. */
  bool is_deferred;
  lt_str id; /* of the prompt, from lt_store_new_prompt_id; empty: a new one. LT_E_INVALID: it is taken */
  const lt_trace_context *trace; /* the span that the prompt is for; NULL or not set: its trace begins with it */
} lt_prompt_request;

typedef struct lt_prompt_ids {
  char prompt[LT_STORE_ID_BYTES + 1];
  char conversation[LT_STORE_ID_BYTES + 1];
} lt_prompt_ids;

/* Checks attachments as lt_agent_start does, before there is an agent. Errors: LT_E_INVALID, LT_E_LIMIT; the message
 * names the file and says what to do. */
lt_status lt_agent_check_attachments(const lt_attachment *attachments, size_t count, lt_err *err);

/* Reads attachments from JSON: [{"name", "data": base64, "mimeType"?} or {"name", "text"}]; nothing where `list` is
 * missing. Owns: the arena. Errors: LT_E_INVALID, LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_agent_read_attachments(lt_json list, lt_arena *arena, lt_attachment **ret_attachments, size_t *ret_count,
                                    lt_err *err);
/* What a checked attachment is, by its content: "image/png", "text/plain". */
const char *lt_agent_attachment_type(const lt_attachment *attachment);

/* Stores the prompt, starts it and returns. The prompt first runs in the next turn of the loop, so lt_agent_wait finds
 * it if called at once. LT_YIELDS. Errors: LT_E_INVALID (`Unknown execution mode: "x"`, an unknown model, an empty
 * input, a conversation that is busy, an attachment that models cannot take), LT_E_NOTFOUND (the conversation),
 * LT_E_LIMIT, LT_E_NOMEM, the store's. */
lt_status lt_agent_start(lt_agent *agent, const lt_prompt_request *request, lt_prompt_ids *ret_ids,
                         lt_err *err) LT_YIELDS;
/* Whether a prompt of an earlier process belongs to this configuration. Appends the paths of configuration files that
 * have changed since the prompt began or was resumed. LT_YIELDS. Errors: LT_E_CONFIG: it does not, and the message says
 * where it goes on; the store's. */
lt_status lt_agent_check_origin(lt_agent *agent, lt_str user, lt_str prompt, lt_buf *changed, lt_err *err) LT_YIELDS;
/* Resumes a prompt whose process has ended (lt_store_prompt_orphans_of). The prompt runs again from its beginning.
 * Recorded replies and results replace model requests and calls until the record ends; then the prompt continues
 * normally. Calls that waited for approval wait again, with the same ids. The prompt fails with `diverged: ...` when it
 * differs from its record (docs/internals/replay.md). LT_YIELDS. Errors:
 * LT_E_NOTFOUND (the user has no such prompt), LT_E_INVALID (it has ended, or runs in another process, whose pid the
 * message gives), LT_E_CONFIG (it belongs to another configuration, as lt_agent_check_origin says, and stays as it is;
 * or no model is configured), LT_E_CLOSED, LT_E_LIMIT (its record is too long), LT_E_NOMEM, the store's. */
lt_status lt_agent_resume(lt_agent *agent, lt_str user, lt_str prompt, lt_err *err) LT_YIELDS;
/* A reader has got the outputs of a prompt up to this change of a prompt.output event. The way in decides what "got"
 * means: written to a terminal or a pipe, or acknowledged by a client. Outputs without it are sent again by the process
 * that resumes the prompt: none is lost, and those of the last moment before a kill may come twice, with the same id. A
 * way in that never calls it gets all outputs again. May be called while the event is sent, and later. Does not yield.
 */
void lt_agent_shown(lt_agent *agent, lt_str prompt, uint64_t change);
/* Appends the lists of tools that a prompt saw, in order: [{"tools": as in tool/tool_list.h, "silent": names of sources
 * without tools, or null}]. LT_YIELDS. LT_E_NOTFOUND: the prompt has no record, or a list was removed. */
lt_status lt_agent_recorded_tools(lt_store *db, lt_journal *journal, lt_str prompt, lt_buf *out, lt_err *err) LT_YIELDS;
/* Waits for the end of a prompt. LT_OK also when the prompt failed: its state says so. LT_E_NOTFOUND: the prompt does
 * not run in this process. */
lt_status lt_agent_wait(lt_agent *agent, lt_str prompt, lt_cancel *cancel, lt_err *err) LT_YIELDS;
/* The same, and appends the prompt as it ended, from memory: {"id", "mode", "state", "isStored", "input", "output":
 * [...], "usage", "error"?, "incomplete"?}, as lt_store_prompt_get has them. Appends nothing after an error, and when
 * the prompt is left to the next process. LT_YIELDS. */
lt_status lt_agent_wait_for(lt_agent *agent, lt_str prompt, lt_cancel *cancel, lt_buf *ret_prompt,
                            lt_err *err) LT_YIELDS;
/* Stores a prompt whose start was deferred (is_deferred), with what is on record of it. Does nothing when it is stored
 * or has ended. LT_YIELDS. Errors: the store's. */
lt_status lt_agent_store(lt_agent *agent, lt_str prompt, lt_err *err) LT_YIELDS;
/* False: the store has nothing of the prompt, whose start was deferred and is not stored so far. */
bool lt_agent_is_stored(const lt_agent *agent, lt_str prompt);

/* Approves or rejects a tool call of a prompt, whichever process runs the prompt. The decision is stored when this
 * returns; a prompt of this process goes on with it. Borrows everything until then. An edited input that the tool does
 * not take is asked about again (prompt.approval-requested with `refusal`). LT_YIELDS. Errors: LT_E_NOTFOUND: no call
 * with that id waits for a decision of this user; LT_E_INVALID: somebody has decided about it already; the store's. */
lt_status lt_agent_decide(lt_agent *agent, lt_str user, lt_str prompt, lt_str call, const lt_decision *decision,
                          lt_err *err) LT_YIELDS;
/* Cancels a prompt in the same way; twice is as good as once. The prompt ends as soon as its current step can be
 * stopped. LT_YIELDS. Errors: LT_E_NOTFOUND: the user has no such prompt, or it has ended; the store's. */
lt_status lt_agent_cancel(lt_agent *agent, lt_str user, lt_str prompt, lt_err *err) LT_YIELDS;
/* Cancels a prompt of this process that nobody is promised the end of: after a kill the next process may go on with it.
 * False: no such prompt runs here. Does not yield. */
bool lt_agent_stop(lt_agent *agent, lt_str user, lt_str prompt);
/* Counts tokens that were used for a prompt outside of its own requests: a server has asked the model in one of its
 * calls. Nothing where the prompt does not run here. */
void lt_agent_count_usage(lt_agent *agent, lt_str prompt, const lt_usage *usage);
/* How many prompts of a user run here, those that wait for approval among them. */
size_t lt_agent_count(const lt_agent *agent, lt_str user);

/* Asks the model for a title of a conversation that has none. Failures are ignored. LT_YIELDS. */
void lt_agent_title(lt_agent *agent, lt_str user, lt_str conversation) LT_YIELDS;

/* How many prompts run in this process, and how many others wait for a decision. */
void lt_agent_count_prompts(const lt_agent *agent, size_t *ret_running, size_t *ret_waiting);

/* Appends all modes: [{"id", "name", "isDefault"}], sorted. The default is the mode of a prompt that names neither a
 * mode nor a model. */
void lt_agent_modes(const lt_agent *agent, lt_buf *out);
/* About how many tokens a request of the mode takes for the tools that there are: their definitions, or their listing.
 * 0: the mode sends none, or it is a plugin's. Errors: LT_E_LIMIT, LT_E_NOMEM. */
lt_status lt_agent_tools_tokens(const lt_agent *agent, lt_str mode, size_t *ret_tokens, lt_err *err);
/* Whether the mode is built in, not a plugin's. */
bool lt_agent_is_built_in_mode(lt_str id);
/* LT_OK when a mode of that name is built in or registered with `host` (may be NULL). LT_E_INVALID otherwise; the
 * message lists the existing modes. Needs no agent: a front end can check before it starts one. */
lt_status lt_agent_check_mode(const lt_host *host, lt_str mode, lt_err *err);
/* Appends the names of all such modes, with commas between them. */
void lt_agent_mode_names(const lt_host *host, lt_buf *out);

#endif
