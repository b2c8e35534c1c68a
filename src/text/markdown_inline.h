/* The marks inside a line of Markdown: emphasis, code, links. Private to the renderer (markdown.h).
 *
 * lt_markdown_inline makes glyphs of a piece of a line. lt_markdown_scan cuts a line into such pieces while it streams:
 * a piece is one word, or all words between the beginning and the end of a mark.
 */
#ifndef LT_TEXT_MARKDOWN_INLINE_H
#define LT_TEXT_MARKDOWN_INLINE_H

#include "base/limits.h"
#include "text/styled_text.h"

#define LT_MARKDOWN_NESTED 32 /* marks in marks; deeper ones are shown as they are written */

/* A run of marks that may begin emphasis. */
typedef struct lt_markdown_mark {
  char c;
  size_t end;   /* one past its last unused character */
  size_t count; /* of unused characters */
} lt_markdown_mark;

/* What is found out about the bytes of a piece. `text` is its cleaned copy. */
typedef struct lt_markdown_piece {
  lt_buf text;
  uint8_t flags[LT_MARKDOWN_SPAN_BYTES + 1];
  int8_t bold[LT_MARKDOWN_SPAN_BYTES + 1]; /* +1 where it begins, -1 behind its end; likewise the next ones */
  int8_t italic[LT_MARKDOWN_SPAN_BYTES + 1];
  int8_t strike[LT_MARKDOWN_SPAN_BYTES + 1];
  lt_markdown_mark marks[LT_MARKDOWN_NESTED]; /* open ones, the innermost last */
  size_t mark_count;
  size_t brackets[LT_MARKDOWN_NESTED]; /* offsets of open [ */
  size_t bracket_count;
  uint64_t no_code_end; /* bit n: no run of n backticks is to come */
  bool no_link_end;     /* no ) is to come */
} lt_markdown_piece;

/* Makes at most `max` glyphs of a text, of at most LT_MARKDOWN_SPAN_BYTES; more is left out. `style` is the line's own.
 * Returns their number. */
size_t lt_markdown_inline(lt_markdown_piece *piece, lt_str text, unsigned style, lt_glyph *glyphs, size_t max);

/* Where a line is, for cutting it. Starts as {0} at each line. */
typedef struct lt_markdown_scan {
  char run;        /* the mark that has just been read: ` * _ ~, or \ or ]; 0: none */
  char before_run; /* 0: the line begins */
  char last;       /* 0: the line begins */
  size_t run_length;
  size_t code;       /* backticks that began the open code; 0: none is open */
  unsigned open[3];  /* unmatched * _ ~ */
  unsigned brackets; /* open [ */
  unsigned parens;   /* open ( of a link's address; 0: none */
} lt_markdown_scan;

/* Reads the next byte of a line. True: the text before this byte, which is a space, is a piece. */
bool lt_markdown_scan_byte(lt_markdown_scan *scan, char c);

#endif
