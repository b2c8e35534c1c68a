/* The built-in execution modes: one row each.
 *
 * A mode is one file, modes/NAME.c, which ends in `const lt_mode lt_NAME_mode` (mode_table.h), and one row here, sorted
 * by id. All other code, including help texts, reads this list or that struct.
 */
#ifndef LT_AGENT_MODES_MODE_LIST_H
#define LT_AGENT_MODES_MODE_LIST_H

/* ROW(id, what its model does: a clause for help texts) */
#define LT_MODES(ROW)                                              \
  ROW(classic, "its replies are text and calls of tools")          \
  ROW(code, "each reply is a JavaScript program that calls tools") \
  ROW(typescript, "its one tool runs TypeScript that calls tools")

/* One line for each mode, for help texts: "  classic: ...\n". */
#define LT_MODE_HELP_LINE(id, help) "  " #id ": " help "\n"
#define LT_MODES_HELP               LT_MODES(LT_MODE_HELP_LINE)

/* Their ids, with commas between: "classic,code,...". */
#define LT_MODE_COMMA_ID(id, help) "," #id
#define LT_MODE_IDS                (LT_MODES(LT_MODE_COMMA_ID) + 1)

#endif
