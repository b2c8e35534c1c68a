/* One running prompt, and the functions with which every mode is written. Internal to agent/.
 *
 * A mode is a function that asks the model, carries out its reply and puts out the results, until the prompt is
 * answered. A mode is one file and one row (modes/mode_list.h), or a plugin's.
 */
#ifndef LT_AGENT_TURN_H
#define LT_AGENT_TURN_H

#include "agent/agent.h"
#include "agent/incomplete.h"
#include "base/arena.h"

typedef struct lt_turn lt_turn;

typedef struct lt_mode lt_mode; /* modes/mode_table.h */

struct lt_turn {
  lt_agent *agent;
  lt_prompt_ids ids;
  lt_str user;
  lt_str input;
  lt_str attachments; /* to the input, as JSON (store_prompts.h); empty: none */
  const lt_model *model;
  const lt_mode *mode;
  uint32_t rounds;
  lt_arena arena; /* ids and texts of the prompt */
  lt_caller caller;
  lt_prepared_prompt prepared; /* catalog, context items, and `defaults`: the modules and functions of its programs */
  lt_stored_values *values;    /* store() and recall(), for this turn */
  lt_cancel cancel;
  lt_usage usage;
  lt_buf history; /* the JSON array of earlier prompts */
  lt_prompt_state state;
  struct lt_turn_state *internal; /* state that modes do not use (turn_state.h) */
};

/* --- Preparing ---------------------------------------------------------------------------------------------------- */
/* Lets plugins prepare again: tools and context may change. No call of the turn may be open. LT_YIELDS. */
lt_status lt_turn_prepare(lt_turn *turn, lt_err *err) LT_YIELDS;

/* --- Asking ------------------------------------------------------------------------------------------------------- */
typedef struct lt_turn_question {
  lt_str messages; /* a JSON array */
  lt_str tools;    /* a JSON array, or empty */
  uint64_t hash;   /* hash of this prompt's messages; compared with the record when the prompt is carried out again */
  bool streams;    /* text is sent as prompt.stream events while it arrives */
} lt_turn_question;

/* Asks the turn's model, or reads the reply from the record, and counts its usage. The caller then puts out the
 * streamed text with lt_turn_text, also a partial text after a failure. `completion` is initialised. LT_YIELDS. */
lt_status lt_turn_ask(lt_turn *turn, const lt_turn_question *question, lt_completion *completion,
                      lt_err *err) LT_YIELDS;

/* --- Putting out: in order, stored before it is reported. LT_YIELDS ----------------------------------------------- */
/* Puts out a text for the user. */
lt_status lt_turn_text(lt_turn *turn, lt_str text, lt_err *err) LT_YIELDS;
/* Puts out a text that says why there is no answer, or no whole one: the prompt ends as incomplete. Only a reader that
 * asks for such texts shows it as text. */
lt_status lt_turn_incomplete(lt_turn *turn, lt_incomplete reason, lt_str text, lt_err *err) LT_YIELDS;
/* Begins a tool output as pending and queues it for the store. `ret_number` identifies it in the functions below. `id`:
 * the model's; when it is empty or already used in this prompt, an id is generated. `input`: JSON text; any other text
 * is stored as a string. */
lt_status lt_turn_tool_begin(lt_turn *turn, lt_str id, lt_str function, lt_str input, lt_str reason,
                             uint32_t *ret_number, lt_err *err) LT_YIELDS;
/* Completes a tool output in place: with the value for LT_OK (JSON text; empty: undefined, no "output"), otherwise with
 * the message. A value over LT_ANSWER_MAX_BYTES becomes an artifact, and a preview replaces it. */
lt_status lt_turn_tool_end(lt_turn *turn, uint32_t number, lt_status status, lt_str answer, lt_err *err) LT_YIELDS;
/* Stores a program's logs beside its result ("logs", a string). Call it before the output's end. Does not yield. */
lt_status lt_turn_tool_logs(lt_turn *turn, uint32_t number, lt_str logs, lt_err *err);

/* --- Doing -------------------------------------------------------------------------------------------------------- */
/* Makes a tool call that the model requested, and records it as an output. `answer` gets the value, or the message. A
 * value over LT_ANSWER_MAX_BYTES becomes an artifact, and a preview replaces it. Several fibers may make calls at the
 * same time. LT_YIELDS. */
lt_status lt_turn_call(lt_turn *turn, lt_str call_id, lt_str tool, lt_str input, lt_buf *answer, lt_err *err) LT_YIELDS;
/* The same with the caller's options (cancel, caller and so on), for example those of a plugin's call. LT_YIELDS. */
lt_status lt_turn_call_with(lt_turn *turn, lt_str call_id, lt_str tool, lt_str input, const lt_invoke_options *options,
                            lt_buf *answer, lt_err *err) LT_YIELDS;
/* A program of mode codex (modes/cell.h). */
typedef struct lt_turn_cell {
  lt_cancel *cancel; /* follows the turn's; when it is fired with LT_E_CLOSED, the program has ended for good */
  lt_stored_values *values;
  void (*on_text)(void *arg, lt_said said, lt_str text); /* each text; borrowed until the result is released */
  void *arg;
} lt_turn_cell;
typedef struct lt_turn_program {
  uint32_t output; /* the program's tool output, which also names its run */
  lt_str code;
  lt_lang lang;
  uint64_t timeout_ms;        /* 0: the configured one */
  bool shows_value, is_typed; /* as of lt_run_request */
  bool streams;               /* output() is text for the user; otherwise only the result has it */
  bool takes_images;        /* what it shows with image() becomes files of the prompt; for a cell its mode does that */
  const lt_turn_cell *cell; /* NULL: it is none */
  lt_run_session *session;  /* may be NULL */
} lt_turn_program;
/* Runs a model's program with the turn's tools, values and functions (llm, llmJson and the plugins'). A recorded
 * program runs by its record. The program's texts are put out or collected as they arrive; its tool calls are recorded
 * as outputs. `result` is initialised, and gets how the program ended. The returned status is not LT_OK only when the
 * turn is over (cancelled, or the store failed). LT_YIELDS. */
lt_status lt_turn_run(lt_turn *turn, const lt_turn_program *program, lt_run_result *result, lt_err *err) LT_YIELDS;

#endif
