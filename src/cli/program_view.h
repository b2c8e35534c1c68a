/* Shows programs of a model: each line while it is written, or the whole program once it is known.
 *
 * At a terminal a long program is folded: the first lines are shown, the others are counted. Loop thread only.
 */
#ifndef LT_CLI_PROGRAM_VIEW_H
#define LT_CLI_PROGRAM_VIEW_H

#include "cli/console.h"
#include "text/code_words.h"

typedef struct lt_program_view {
  lt_console *console;
  bool has_styles;
  size_t most_lines; /* shown of a program; the rest is counted */
  lt_buf line;       /* of a draft, so far */
  lt_code_reader code;
  size_t lines, draft; /* lines shown and counted; which program of the reply is written */
  bool is_drafting;    /* lines of a draft are shown, and its program is not known yet */
  lt_buf last;         /* the last whole program */
  const char *last_language;
} lt_program_view;

/* Borrows `console`. `is_terminal`: programs are coloured where the terminal can, and folded unless `verbose`. */
void lt_program_view_init(lt_program_view *view, lt_console *console, bool is_terminal, bool verbose);
void lt_program_view_release(lt_program_view *view);

/* A piece of a program that is being written (prompt.stream in agent/agent.h). `language` has static storage. */
typedef struct lt_program_piece {
  lt_str text;
  const char *language; /* NULL: not known */
  size_t index;
  bool restarts;
} lt_program_piece;
void lt_program_view_draft(lt_program_view *view, const lt_program_piece *piece);
/* The number of lines of the draft so far; 0: no program is being written. */
size_t lt_program_view_draft_lines(const lt_program_view *view);
/* The program that runs: its lines are shown, unless its draft's were. Copies the code; `language` has static storage.
 */
void lt_program_view_whole(lt_program_view *view, lt_str code, const char *language);
/* Shows all lines of the last program. False: there is none. */
bool lt_program_view_show_last(lt_program_view *view);

#endif
