/* The description of an execution mode, and the list of all modes. Internal to agent/. */
#ifndef LT_AGENT_MODES_MODE_TABLE_H
#define LT_AGENT_MODES_MODE_TABLE_H

#include "agent/history/history.h"
#include "agent/modes/mode_list.h"
#include "agent/program_draft.h"
#include "agent/turn.h"

struct lt_mode {
  const char *id;
  const char *name;  /* for people */
  uint32_t rounds;   /* maximum model requests for one prompt; a configured number replaces it */
  bool for_programs; /* only programs call tools: tools that are not for programs are left out */
  /* Whether the message is a call of one tool, which is no program: then `for_programs` counts as false. NULL: never.
   */
  bool (*is_call)(lt_str message);
  lt_history_form history;    /* how its model is shown earlier prompts */
  lt_programs_in programs_in; /* what is shown while its model writes it (program_draft.h) */
  const char *program;        /* the `function` of outputs that are programs; NULL: its model writes no programs */
  /* Appends what its model reads of the tools in each request; NULL: nothing, or a plugin knows. */
  lt_status (*put_tools)(const lt_agent *agent, const lt_catalog *catalog, lt_buf *out, lt_err *err);
  const lt_freeform_tool *freeform; /* the tool that its model calls with a text instead of JSON; NULL: none */
  /* LT_OK: the prompt is completed. Anything else: it failed or was cancelled; its outputs stay. LT_YIELDS. */
  lt_status (*run)(lt_turn *turn, lt_err *err) LT_YIELDS;
};

#define LT_MODE_DECLARE(id, help, kind) extern const lt_mode lt_##id##_mode;
LT_MODES(LT_MODE_DECLARE)

/* The built-in modes, sorted by id. */
extern const lt_mode *const lt_mode_table[];
extern const size_t lt_mode_count;

/* The built-in modes and those that plugins have registered with `host` (may be NULL), sorted by id. False: the index
 * or id is unknown. Borrows: the texts, as long as the host lives. */
bool lt_mode_at(const lt_host *host, size_t at, lt_mode *ret_mode);
bool lt_mode_find(const lt_host *host, lt_str id, lt_mode *ret_mode);

#endif
