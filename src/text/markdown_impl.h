/* Parts of the renderer of Markdown. Private to it (markdown.h). */
#ifndef LT_TEXT_MARKDOWN_IMPL_H
#define LT_TEXT_MARKDOWN_IMPL_H

#include "text/code_words.h"
#include "text/markdown.h"
#include "text/markdown_inline.h"

/* What is known of the line that is being read. */
typedef enum lt_markdown_place {
  LT_MARKDOWN_START,  /* spaces and marks of quotes and lists */
  LT_MARKDOWN_HASHES, /* perhaps a heading; `head` has the line so far, likewise below */
  LT_MARKDOWN_NUMBER, /* perhaps a numbered item */
  LT_MARKDOWN_BULLET, /* perhaps an item, a rule or emphasis */
  LT_MARKDOWN_FENCE,  /* perhaps the first line of a block of code */
  LT_MARKDOWN_ROW,    /* perhaps a row of a table */
  LT_MARKDOWN_CODE,   /* a line of code */
  LT_MARKDOWN_WORDS,  /* anything else; `head` has the piece so far */
} lt_markdown_place;

/* Rows of a table that are held until its columns can be measured. */
typedef struct lt_markdown_table {
  lt_buf rows;     /* lines */
  size_t count;    /* of them; 0: there is no table */
  size_t indent;   /* of the first one */
  unsigned quotes; /* likewise */
  size_t columns;
  size_t widths[LT_MARKDOWN_COLUMNS];
  char alignment[LT_MARKDOWN_COLUMNS]; /* 'l', 'r' or 'c' */
  bool is_measured;                    /* the widths hold for the rows that follow */
} lt_markdown_table;

struct lt_markdown {
  lt_wrap wrap;
  lt_markdown_place place;
  lt_markdown_scan scan;
  lt_buf head;
  size_t indent;         /* spaces at the line's beginning */
  bool skips_space;      /* behind the mark of a quote */
  const char *rule_mark; /* NULL: the line cannot be a rule any more */
  unsigned style;        /* of the line: a heading's */
  char first[16];        /* the mark of a list's item, until it is written */
  bool is_in_list, was_blank, was_code;
  char fence; /* of the open block of code; 0: none is open */
  size_t fence_length, fence_indent;
  unsigned fence_quotes;
  lt_code_reader code;
  lt_markdown_table table;
  lt_markdown_piece piece;
  lt_glyph glyphs[LT_MARKDOWN_SPAN_BYTES + LT_MARKDOWN_NESTED];
};

#define LT_MARKDOWN_GLYPHS (LT_MARKDOWN_SPAN_BYTES + LT_MARKDOWN_NESTED)

/* Keeps a line that begins with |, without its line break. */
void lt_markdown_table_add(lt_markdown *m, lt_str line, lt_buf *out);
/* Writes what is held: the table has ended, or the lines are none. */
void lt_markdown_table_end(lt_markdown *m, lt_buf *out);

/* Writes a whole line of words. */
void lt_markdown_put_line(lt_markdown *m, lt_str line, lt_buf *out);

#endif
