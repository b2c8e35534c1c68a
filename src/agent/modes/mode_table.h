/* What an execution mode is, and which there are. Internal to agent/. */
#ifndef LT_AGENT_MODES_MODE_TABLE_H
#define LT_AGENT_MODES_MODE_TABLE_H

#include "agent/history/history.h"
#include "agent/modes/mode_list.h"
#include "agent/turn.h"

struct lt_mode {
  const char *id;
  const char *name;        /* for people */
  uint32_t rounds;         /* how often its model is asked for one prompt, at most; a configured number replaces it */
  bool for_programs;       /* all its tool calls come from programs: tools that are not for programs are left out */
  lt_history_form history; /* how its model is shown earlier prompts */
  const char *program;     /* the function of the outputs that are its programs; NULL: its model writes none */
  /* LT_OK: the prompt is completed. Anything else: it failed or was cancelled; what was put out stays. LT_YIELDS. */
  lt_status (*run)(lt_turn *turn, lt_err *err) LT_YIELDS;
};

#define LT_MODE_DECLARE(id, help) extern const lt_mode lt_##id##_mode;
LT_MODES(LT_MODE_DECLARE)

/* The built-in modes, sorted by id. */
extern const lt_mode *const lt_mode_table[];
extern const size_t lt_mode_count;

/* The built-in modes and those that plugins have registered with `host` (may be NULL), sorted by id. False: there are
 * no more, or none has that id. Borrows: the texts, as long as the host lives. */
bool lt_mode_at(const lt_host *host, size_t at, lt_mode *ret_mode);
bool lt_mode_find(const lt_host *host, lt_str id, lt_mode *ret_mode);

#endif
