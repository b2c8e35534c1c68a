/* The loop of modes whose models call tools: ask the model, make the requested calls, send the results, ask again.
 * Internal to agent/.
 */
#ifndef LT_AGENT_TOOL_ROUNDS_H
#define LT_AGENT_TOOL_ROUNDS_H

#include "agent/turn.h"
#include "agent/tool_definitions.h"

/* A call that a model's reply requests. */
typedef struct lt_tool_round_call {
  const lt_requested_call *asked; /* the request as the model wrote it */
  lt_str id;                      /* of [A-Za-z0-9_-], unique within the prompt */
  const lt_tool *tool;            /* classic mode's; NULL: no tool has that name */
  lt_str input;                   /* the arguments as JSON text; "{}" when the model wrote none */
  bool broken;                    /* the arguments are not JSON: the call is not made, and `answer` says why */
  lt_buf answer;                  /* for the model: text, or a JSON value when `is_json` */
  bool is_json;
  lt_buf parts; /* images and files that belong to the answer, JSON with commas between them (media_parts.h) */
} lt_tool_round_call;

typedef struct lt_tool_round {
  lt_turn *turn;
  const lt_tool_definitions *tool_names; /* may be NULL */
  lt_tool_round_call *calls;
  size_t count;
  void *arg; /* lt_tool_rounds.arg */
  bool cut;  /* the reply ended at the model's limit of tokens */
} lt_tool_round;

/* Makes all calls of a reply and fills every answer. Not LT_OK: the turn is over. LT_YIELDS. */
typedef lt_status lt_tool_round_fn(lt_tool_round *round, lt_err *err) LT_YIELDS;

/* The tools of a model request. */
typedef struct lt_tool_round_tools {
  lt_str definitions;                    /* a JSON array, or empty */
  const lt_tool_definitions *tool_names; /* their names, or NULL */
} lt_tool_round_tools;

typedef struct lt_tool_rounds {
  /* Called before each model request; `round` counts from 0. The turn's plugins may have changed the catalog. The
   * returned tools are valid until the next call. LT_YIELDS. */
  lt_status (*define)(void *arg, lt_turn *turn, uint32_t round, lt_tool_round_tools *ret_tools, lt_err *err) LT_YIELDS;
  lt_tool_round_fn *carry_out;
  const char *system; /* what the mode tells the model */
  void *arg;
} lt_tool_rounds;

/* Runs the loop from the first message to the last reply. LT_YIELDS. */
lt_status lt_tool_rounds_run(lt_turn *turn, const lt_tool_rounds *rounds, lt_err *err) LT_YIELDS;

/* Records a call that is not made as an output, with the failure as its result. LT_YIELDS. */
lt_status lt_tool_rounds_refuse(lt_tool_round *round, lt_tool_round_call *call, lt_status status,
                                lt_err *err) LT_YIELDS;

#endif
