/* The loop of modes whose models call tools: ask, carry out what is asked for, answer with the results, ask again.
 * Internal to agent/.
 */
#ifndef LT_AGENT_TOOL_ROUNDS_H
#define LT_AGENT_TOOL_ROUNDS_H

#include "agent/turn.h"
#include "agent/tool_definitions.h"

/* A call of one reply on its way. */
typedef struct lt_tool_round_call {
  const lt_requested_call *asked; /* as the model wrote it */
  lt_str id;                      /* of [A-Za-z0-9_-], unique within the prompt */
  const lt_tool *tool;            /* classic mode's; NULL: no tool has that name */
  lt_str input;                   /* what was asked with: JSON text; "{}" where nothing was written */
  bool broken;                    /* what was written is no JSON: `answer` says so, and it is not to be carried out */
  lt_buf answer;                  /* for the model: text, or when `is_json` a value */
  bool is_json;
} lt_tool_round_call;

typedef struct lt_tool_round {
  lt_turn *turn;
  const lt_tool_definitions *tool_names; /* may be NULL */
  lt_tool_round_call *calls;
  size_t count;
  bool cut; /* the model's reply reached its limit of tokens */
} lt_tool_round;

/* Carries out all calls of a reply; every answer is there afterwards. Not LT_OK: the turn is over. LT_YIELDS. */
typedef lt_status lt_tool_round_fn(lt_tool_round *round, lt_err *err) LT_YIELDS;

/* The tools that the model is asked with. */
typedef struct lt_tool_round_tools {
  lt_str definitions;                    /* a JSON array, or empty */
  const lt_tool_definitions *tool_names; /* their names, or NULL */
} lt_tool_round_tools;

typedef struct lt_tool_rounds {
  /* Before each asking; `round` counts from 0. The turn's plugins may have prepared anew. What it gives lasts until the
   * next time. LT_YIELDS. */
  lt_status (*define)(void *arg, lt_turn *turn, uint32_t round, lt_tool_round_tools *ret_tools, lt_err *err) LT_YIELDS;
  lt_tool_round_fn *carry_out;
  void *arg;
} lt_tool_rounds;

/* From the first message to the last reply. LT_YIELDS. */
lt_status lt_tool_rounds_run(lt_turn *turn, const lt_tool_rounds *rounds, lt_err *err) LT_YIELDS;

/* A call that is not made, as an output of the prompt: its answer is the failure. LT_YIELDS. */
lt_status lt_tool_rounds_refuse(lt_tool_round *round, lt_tool_round_call *call, lt_status status,
                                lt_err *err) LT_YIELDS;

#endif
