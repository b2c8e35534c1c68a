/* One prompt while it runs: what every mode builds on. Internal to agent/.
 *
 * A mode is one file and one entry in the table of modes.c, or a plugin's (plugged.c): a function that asks the model,
 * runs what it wants and puts out what comes of it, with the functions below, until it is done. It reads like the loop
 * of seed 013.
 */
#ifndef LT_AGENT_TURN_H
#define LT_AGENT_TURN_H

#include "agent/agent.h"
#include "base/arena.h"

typedef struct lt_turn lt_turn;

typedef struct lt_mode {
  const char *id;
  const char *name;
  uint32_t rounds; /* unless configured */
  /* LT_OK: the prompt is completed. Anything else: it failed or was cancelled; what was put out stays. LT_YIELDS. */
  lt_status (*run)(lt_turn *turn, lt_err *err) LT_YIELDS;
} lt_mode;

/* modes.c; sorted by id. */
extern const lt_mode *const lt_modes[];
extern const size_t lt_mode_count;
extern const lt_mode lt_mode_classic, lt_mode_code, lt_mode_typescript;
/* These and those that plugins have registered with `host` (may be NULL), sorted by id. False: there are no more, or
 * there is none of that id. The texts are there as long as the host is. */
bool lt_mode_at(const lt_host *host, size_t at, lt_mode *ret);
bool lt_mode_find(const lt_host *host, lt_str id, lt_mode *ret);
/* plugged.c: runs the turn's mode, which is a plugin's. LT_YIELDS. */
lt_status lt_plugin_mode_run(lt_turn *turn, lt_err *err) LT_YIELDS;

struct lt_turn {
  lt_agent *agent;
  lt_prompt_ids ids;
  lt_str user;
  lt_str input;
  const lt_model *model;
  const lt_mode *mode;
  uint32_t rounds;
  lt_arena arena; /* of the prompt: ids, texts */
  lt_caller caller;
  lt_prepared prepared;     /* catalog, context items, and `defaults`: the modules and functions of its programs */
  lt_stored_values *values; /* store() and recall(), for this turn */
  lt_cancel cancel;
  lt_usage usage;
  lt_buf history; /* the JSON array of earlier prompts */
  lt_prompt_state state;
  uint64_t messages_hash;    /* of this prompt's own part of what the model is asked with next */
  struct lt_turn_state *own; /* turn.c's */
};

/* --- Preparing ---------------------------------------------------------------------------------------------------- */
/* Plugins prepare once more: the tools and the context may be others afterwards. No call of the turn may be open.
 * LT_YIELDS. */
lt_status lt_turn_prepare(lt_turn *turn, lt_err *err) LT_YIELDS;

/* --- Asking ------------------------------------------------------------------------------------------------------- */
/* Asks the turn's model, or the record where the prompt is carried out again; counts its usage. `stream`: text goes out
 * as prompt.stream events while it comes; it is to be put out with lt_turn_text afterwards, also what there is of it
 * when this fails. `completion` is initialised. LT_YIELDS. */
lt_status lt_turn_ask(lt_turn *turn, lt_str messages, lt_str tools, bool stream, lt_completion *completion,
                      lt_err *err) LT_YIELDS;

/* --- Putting out: stored, then told of; in order. LT_YIELDS ------------------------------------------------------- */
/* Text for the user. */
lt_status lt_turn_text(lt_turn *turn, lt_str text, lt_err *err) LT_YIELDS;
/* A tool output, pending, and on its way to the store; `ret_number` is for those below. `id`: the model's; empty, or
 * there already in this prompt: one is made up. `input`: JSON text, or else it is kept as a string. */
lt_status lt_turn_tool_begin(lt_turn *turn, lt_str id, lt_str function, lt_str input, lt_str reason,
                             uint32_t *ret_number, lt_err *err) LT_YIELDS;
/* Completes it in place: LT_OK with the value (JSON text; empty: no "output", undefined), else with the message. A
 * value over LT_ANSWER_MAX_BYTES is kept as an artifact, with a preview in its place. */
lt_status lt_turn_tool_end(lt_turn *turn, uint32_t number, lt_status status, lt_str answer, lt_err *err) LT_YIELDS;
/* What a program logged, kept beside its result ("logs", a string); before the end. Does not yield. */
lt_status lt_turn_tool_logs(lt_turn *turn, uint32_t number, lt_str logs, lt_err *err);

/* --- Doing -------------------------------------------------------------------------------------------------------- */
/* A tool call of the model's own, recorded as an output. `answer` is the value, or the message; a value over
 * LT_ANSWER_MAX_BYTES is a preview and an artifact. Calls may go on side by side, on fibers of their own. LT_YIELDS. */
lt_status lt_turn_call(lt_turn *turn, lt_str call_id, lt_str tool, lt_str input, lt_buf *answer, lt_err *err) LT_YIELDS;
/* The same in the name of somebody who works for the turn, with their options (cancel, caller and so on). LT_YIELDS. */
lt_status lt_turn_call_with(lt_turn *turn, lt_str call_id, lt_str tool, lt_str input, const lt_invoke_options *options,
                            lt_buf *answer, lt_err *err) LT_YIELDS;
typedef struct lt_turn_program {
  uint32_t output; /* the tool output that it is: its run is named after that */
  lt_str code;
  lt_lang lang;
  uint64_t timeout_ms; /* 0: the configured one */
  bool streams;        /* output() is text for the user; otherwise it is collected in the result only */
} lt_turn_program;
/* Runs a program of the model's, again if it is on record, with the turn's tools, values and functions (llm, llmJson
 * and the plugins'). What it says is put out or collected as it comes; its tool calls are recorded as outputs. `result`
 * is initialised and says how it ended; the status is about the run as such: not LT_OK when the turn is over
 * (cancelled, nothing can be stored). LT_YIELDS. */
lt_status lt_turn_run(lt_turn *turn, const lt_turn_program *program, lt_run_result *result, lt_err *err) LT_YIELDS;

/* --- Words for the model (feedback.c) ----------------------------------------------------------------------------- */
/* Appends `text`, at most about `max_tokens` of it: a longer one loses its middle, which is said in its place. */
void lt_program_feedback_cut(lt_buf *out, lt_str text, size_t max_tokens);
/* How a program ended, as a user message: logs, then its result or its error with line, column and the tool calls that
 * have happened; what is said of a program that told nothing. At most LT_FEEDBACK_TOKENS. `value`: what is told as the
 * result, JSON text (empty: undefined). */
void lt_program_feedback_put(lt_buf *out, const lt_turn *turn, const lt_run_result *result, lt_str value);
/* Its parts: all that was logged, a line each; the error with line, column and the line itself. */
void lt_program_feedback_put_logs(lt_buf *out, const lt_run_result *result);
void lt_program_feedback_put_error(lt_buf *out, const lt_run_result *result);
/* Why a reply is not whole, as words for the user; empty: it is. */
lt_str lt_completion_incomplete_reason(lt_finish finish);
/* How much a program of the turn may output, as words: "64 KiB". */
void lt_program_feedback_put_output_limit(lt_buf *out, const lt_turn *turn);

/* --- History (history.c) ------------------------------------------------------------------------------------------ */
/* Appends the messages of earlier prompts, in the form a mode shows them to its model, to an array that is being
 * written; compacted to fit `max_tokens`, oldest feedback first, never the user's own words. A long history is read off
 * the loop. LT_YIELDS. */
lt_status lt_history_classic(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_err *err) LT_YIELDS;
lt_status lt_history_code(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_err *err) LT_YIELDS;

#endif
