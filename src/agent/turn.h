/* One prompt while it runs: what every mode builds on. Internal to agent/.
 *
 * A mode is a function that asks the model, carries out what the reply says and puts out the results, with the
 * functions below, until the prompt is answered. It is one file and one row (modes/mode_list.h), or a plugin's.
 */
#ifndef LT_AGENT_TURN_H
#define LT_AGENT_TURN_H

#include "agent/agent.h"
#include "base/arena.h"

typedef struct lt_turn lt_turn;

typedef struct lt_mode lt_mode; /* modes/mode_table.h */

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
  lt_prepared_prompt prepared; /* catalog, context items, and `defaults`: the modules and functions of its programs */
  lt_stored_values *values;    /* store() and recall(), for this turn */
  lt_cancel cancel;
  lt_usage usage;
  lt_buf history; /* the JSON array of earlier prompts */
  lt_prompt_state state;
  struct lt_turn_state *own; /* what modes need not know (turn_state.h) */
};

/* --- Preparing ---------------------------------------------------------------------------------------------------- */
/* Plugins prepare once more: tools and context may change. No call of the turn may be open.
 * LT_YIELDS. */
lt_status lt_turn_prepare(lt_turn *turn, lt_err *err) LT_YIELDS;

/* --- Asking ------------------------------------------------------------------------------------------------------- */
typedef struct lt_turn_question {
  lt_str messages; /* a JSON array */
  lt_str tools;    /* a JSON array, or empty */
  uint64_t hash;   /* of this prompt's own messages: a prompt that is carried out again compares it with the record */
  bool streams;    /* text goes out as prompt.stream events while it comes */
} lt_turn_question;

/* Asks the turn's model, or the record where the prompt is carried out again, and counts its usage. What was streamed
 * is to be put out with lt_turn_text afterwards, also what there is of it when this fails. `completion` is initialised.
 * LT_YIELDS. */
lt_status lt_turn_ask(lt_turn *turn, const lt_turn_question *question, lt_completion *completion,
                      lt_err *err) LT_YIELDS;

/* --- Putting out: in order, stored before it is reported. LT_YIELDS ----------------------------------------------- */
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
/* The same with options of one's own (cancel, caller and so on), such as a plugin's call has. LT_YIELDS. */
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

#endif
