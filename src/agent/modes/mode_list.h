/* The built-in execution modes: one row each.
 *
 * A mode is one file, modes/NAME.c, which ends in `const lt_mode lt_NAME_mode` (mode_table.h), and one row here, sorted
 * by id. All other code, including help texts, reads this list or that struct.
 */
#ifndef LT_AGENT_MODES_MODE_LIST_H
#define LT_AGENT_MODES_MODE_LIST_H

/* ROW(id, what its model does: a clause for help texts, whether a model is asked: MODEL or NO_MODEL) */
#define LT_MODES(ROW)                                                                    \
  ROW(classic, "its replies are text and calls of tools", MODEL)                         \
  ROW(code, "each reply is a JavaScript program that calls tools", MODEL)                \
  ROW(codex, "its tools exec and wait run JavaScript, as those of the Codex CLI", MODEL) \
  ROW(program, "the message is a program, and no model is asked", NO_MODEL)              \
  ROW(typescript, "its one tool runs TypeScript that calls tools", MODEL)

/* One line for each mode, for help texts: "  classic: ...\n". */
#define LT_MODE_HELP_LINE(id, help, kind) "  " #id ": " help "\n"
#define LT_MODES_HELP                     LT_MODES(LT_MODE_HELP_LINE)

/* The ids of those that ask a model, with commas between: "classic,code,...". */
#define LT_MODE_COMMA_MODEL(id)          "," #id
#define LT_MODE_COMMA_NO_MODEL(id)       ""
#define LT_MODE_COMMA_ID(id, help, kind) LT_MODE_COMMA_##kind(id)
#define LT_MODEL_MODE_IDS                (LT_MODES(LT_MODE_COMMA_ID) + 1)

#endif
