/* One prompt while it runs: what every mode builds on. Internal to agent/.
 *
 * A mode is one file and one entry in the table of modes.c: a function that asks the model, runs what it wants and puts
 * out what comes of it, with the functions below, until it is done. It reads like the loop of seed 013.
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
  lt_prepared prepared; /* catalog and context items */
  lt_values *values;    /* store() and recall(), for this turn */
  lt_cancel cancel;
  lt_usage usage;
  lt_buf history; /* the JSON array of earlier prompts */
  lt_prompt_state state;
  void *owned; /* turn.c's */
};

/* --- Asking ------------------------------------------------------------------------------------ */
/* Asks the turn's model, counts its usage. `stream`: text goes out as prompt.stream events while it comes. LT_YIELDS.
 */
lt_status lt_turn_ask(lt_turn *turn, lt_str messages, lt_str tools, bool stream, lt_completion *completion,
                      lt_err *err) LT_YIELDS;

/* --- Putting out: stored, then told of; in order. LT_YIELDS --------------------------------------- */
lt_status lt_turn_text(lt_turn *turn, lt_str text, lt_err *err) LT_YIELDS;
/* A tool output, pending; `ret_number` is for the two below. `id`: the model's or made up. */
lt_status lt_turn_tool_begin(lt_turn *turn, lt_str id, lt_str function, lt_str input, lt_str reason,
                             uint32_t *ret_number, lt_err *err) LT_YIELDS;
/* Completes it in place: LT_OK with the value (JSON text), else with the message. */
lt_status lt_turn_tool_end(lt_turn *turn, uint32_t number, lt_status status, lt_str answer, lt_err *err) LT_YIELDS;

/* --- Doing ------------------------------------------------------------------------------------- */
/* A tool call of the model's own, recorded as an output. `answer` is the value, or the message. LT_YIELDS. */
lt_status lt_turn_call(lt_turn *turn, lt_str call_id, lt_str tool, lt_str input, lt_buf *answer, lt_err *err) LT_YIELDS;
/* Runs a program of the model's with the turn's tools, values and functions (llm, llmJson and the plugins'). What it
 * says is put out or collected as it comes; its tool calls are recorded as outputs. LT_YIELDS. */
typedef struct lt_turn_program {
  lt_str code;
  lt_lang lang;
  uint64_t timeout_ms; /* 0: the configured one */
  bool streams;        /* output() is text for the user; otherwise it is collected in the result only */
} lt_turn_program;
lt_status lt_turn_run(lt_turn *turn, const lt_turn_program *program, lt_run_result *result, lt_err *err) LT_YIELDS;

/* --- History (history.c) --------------------------------------------------------------------------- */
/* Appends the messages of earlier prompts, in the form a mode shows them to its model, to an array that is being
 * written; compacted to fit `max_tokens`, oldest feedback first, never the user's own words. */
lt_status lt_history_classic(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_err *err);
lt_status lt_history_code(const lt_turn *turn, lt_json_writer *w, size_t max_tokens, lt_err *err);

#endif
